"""What a page may set: the value of an element, to one that the element can have.

viser lets every client set any property of any element to anything, its callbacks among them, and tells on the terminal
what could not be done with it. What no page of ours would send is dropped here without a word.
"""

import contextlib
import math
from typing import Any


def guard_inputs(server: Any) -> None:
    """Let a viser server take from its clients only values that its elements can have."""
    from viser._messages import GuiUpdateMessage

    gui, handlers = server.gui, server._websock_server._incoming_handlers
    (update,) = handlers[GuiUpdateMessage]

    async def guarded(client_id: Any, message: Any) -> None:
        handle = gui._gui_input_handle_from_uuid.get(message.uuid)
        if handle is not None and set(message.updates) == {"value"} and is_possible(handle, message.updates["value"]):
            with contextlib.suppress(TypeError, ValueError, OverflowError):  # what cannot be cast to the element's type
                await update(client_id, message)

    handlers[GuiUpdateMessage] = [guarded]


def is_possible(handle: Any, value: Any) -> bool:
    """Whether an element can have this value: one of its choices, or of the kind that it has now, and finite."""
    choices = getattr(handle, "options", None)
    if choices is not None:
        return isinstance(value, str) and value in choices
    return _is_alike(handle.value, value)


def _is_alike(now: Any, value: Any) -> bool:
    if isinstance(now, tuple):
        return (
            isinstance(value, (list, tuple))
            and len(value) == len(now)
            and all(_is_alike(old, new) for old, new in zip(now, value, strict=True))
        )
    if isinstance(now, (bool, str)):
        return isinstance(value, type(now))
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
