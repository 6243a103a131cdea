"""What is taken of what a page sends: messages of its own, with values that its elements can have.

viser lets every client set any property of any element to anything, its callbacks among them; hand over files, which it
keeps in memory; and open a tunnel from this machine to the network. It tells on the terminal what could not be done.
What no page of ours would send is dropped here without a word.
"""

import math
from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from typing import Any

#: Messages of viser's that our pages send: where the camera is, what a hand does, and a picture that was asked for.
TAKEN = (
    "ViewerCameraMessage",
    "GuiUpdateMessage",
    "CommandTriggerMessage",
    "SceneNodeDragMessage",
    "GetRenderResponseMessage",
)
#: Characters of a text that is typed in: a name, a value.
LONGEST = 1000
#: A slider's end is met up to this part of its span: the browser counts in steps.
ROUNDING = 1e-9


def take_possible(receive: Callable[[], Awaitable[Any]], elements: Callable[[], Mapping[str, Any]]) -> Any:
    """A connection's ``recv`` that goes on to the next message where one is not to be taken.

    ``elements`` are those that have values, by identifier.
    """

    async def next_possible() -> Any:
        while True:
            raw = await receive()
            if is_taken(raw, elements()):
                return raw

    return next_possible


def is_taken(raw: Any, elements: Mapping[str, Any]) -> bool:
    """Whether a message is one that a page of ours could send: of a kind that is taken, of its types, and finite."""
    import msgspec

    try:
        content = msgspec.msgpack.decode(raw)
        message = msgspec.convert(content, _kinds()[content.pop("type")])
    except (msgspec.MsgspecError, UnicodeError, RecursionError, AttributeError, TypeError, KeyError):
        return False
    if not _is_finite(content):
        return False
    if not hasattr(message, "updates"):
        return True
    element = elements.get(message.uuid)
    return element is not None and set(message.updates) == {"value"} and is_possible(element, message.updates["value"])


@cache
def _kinds() -> dict[str, Any]:
    from viser import _messages

    return {name: getattr(_messages, name) for name in TAKEN}


def _is_finite(content: Any) -> bool:
    if isinstance(content, dict):
        return all(map(_is_finite, content.values()))
    if isinstance(content, list):
        return all(map(_is_finite, content))
    return not isinstance(content, float) or math.isfinite(content)


def is_possible(element: Any, value: Any) -> bool:
    """Whether an element can have this value: one of its choices, or of the kind that it has now, within its ends."""
    choices = getattr(element, "options", None)
    if choices is not None:
        return isinstance(value, str) and value in choices
    return _is_alike(element.value, value) and _is_within(element, value)


def _is_alike(now: Any, value: Any) -> bool:
    if isinstance(now, tuple):
        return (
            isinstance(value, (list, tuple))
            and len(value) == len(now)
            and all(_is_alike(old, new) for old, new in zip(now, value, strict=True))
        )
    if isinstance(now, str):
        return isinstance(value, str) and len(value) <= LONGEST
    if isinstance(now, bool):
        return isinstance(value, bool)
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _is_within(element: Any, value: Any) -> bool:
    low, high = getattr(element, "min", None), getattr(element, "max", None)
    if not isinstance(value, (int, float)) or low is None or high is None:
        return True
    slack = ROUNDING * (high - low)
    return bool(low - slack <= value <= high + slack)
