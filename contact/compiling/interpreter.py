"""What the interpreter does beside, as a compiler runs in it: a sixth of a first run's time, of use to nobody."""

import contextlib
import gc
from collections.abc import Callable, Iterator
from typing import Any


def undisturbed(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function gives back, called where no garbage is looked for, and with room on the stack."""
    with _without_garbage_collection():
        return _with_room(function, *arguments)


@contextlib.contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Nobody looks for garbage meanwhile, nor, when this has ended, among all that is new since it began.

    A compiler makes millions of objects that live as long as it does. By freezing and unfreezing they are taken for
    old ones, which are looked at when there are many more of them.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        if not gc.get_freeze_count():  # nobody has frozen objects for good
            gc.freeze()
            gc.unfreeze()
        gc.enable()


def _with_room(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function with half a megabyte of the interpreter's stack in one piece.

    CPython maps that stack by 16 KB as calls need it, and unmaps it as they return: a loop that calls something from
    just below an end does so at each turn. A compiler, which calls deeply, did half a million times in a first run. A
    frame that does not fit gets a piece of twice its size at most, a power of two; what is left of it is there for
    what it calls.
    """
    return function(*arguments)


_with_room.__code__ = _with_room.__code__.replace(co_stacksize=(1 << 16) + 1)  # words of 8 bytes
