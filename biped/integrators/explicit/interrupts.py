"""Deferral of Ctrl-C until a step from Python is complete with its energy balance."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

#: Numbers of the signals that the outermost block of the main thread defers; None outside of blocks.
_caught: list[int] | None = None


@contextmanager
def interrupts_afterwards() -> Iterator[None]:
    """Defer Ctrl-C to the end of the block, or of the outermost of nested blocks."""
    global _caught
    if _caught is not None or threading.current_thread() is not threading.main_thread():
        yield  # it is deferred already, or raises nothing in this thread
        return
    before = signal.getsignal(signal.SIGINT)
    if not callable(before):
        yield  # it raises nothing
        return
    caught = _caught = []
    signal.signal(signal.SIGINT, lambda number, _: caught.append(number))
    try:
        yield
    finally:
        _caught = None
        signal.signal(signal.SIGINT, before)
    for number in caught[:1]:
        signal.raise_signal(number)
