"""What the interpreter does beside, as a compiler runs in it: a seventh of a first run's time, of use to nobody."""

import gc
from collections.abc import Callable
from typing import Any

#: Objects that may be new before garbage is looked for among all: some hundred megabytes.
MANY = 3_000_000

_new = 0
_is_swept = False


def undisturbed(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function gives back, called where no garbage is looked for, and with room on the stack."""
    if _is_swept or not gc.isenabled():
        return _with_room(function, *arguments)
    gc.disable()
    try:
        return _with_room(function, *arguments)
    finally:
        _take_for_old()
        gc.enable()


def sweep() -> None:
    """From now on look for garbage meanwhile too: a process that lives long, and compiles little, leaves less of it."""
    global _is_swept
    _is_swept = True


def _take_for_old() -> None:
    """Let garbage not be looked for among what is new: a compiler makes millions of objects that live as long as it.

    Freezing moves objects to where they are not looked at, and thawing to where the old ones are.
    """
    global _new
    _new += gc.get_count()[0]
    if _new > MANY:
        gc.collect()
        _new = 0
    elif not gc.get_freeze_count():  # nobody has frozen objects for good
        gc.freeze()
        gc.unfreeze()


def _with_room(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function with half a megabyte of the interpreter's stack in one piece.

    CPython maps that stack by 16 KB as calls need it, and unmaps it as they return: a loop that calls something from
    just below an end does so at each turn. A compiler, which calls deeply, did half a million times in a first run. A
    frame that does not fit gets a piece of twice its size at most, a power of two; what is left of it is there for
    what it calls.
    """
    return function(*arguments)


_with_room.__code__ = _with_room.__code__.replace(co_stacksize=(1 << 16) + 1)  # words of 8 bytes
