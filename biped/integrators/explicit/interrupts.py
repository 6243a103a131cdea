"""Deferral of Ctrl-C until steps from Python are complete with their energy balance."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

#: Signals that the outermost block of the main thread has deferred; None outside of blocks.
_caught: list[int] | None = None


@contextmanager
def interrupts_afterwards() -> Iterator[list[int]]:
    """Defer Ctrl-C to the end of the block, or of the outermost of nested blocks; yields the deferred signals."""
    global _caught
    if _caught is not None or threading.current_thread() is not threading.main_thread():
        yield []  # the outermost block has the signals, or Ctrl-C raises nothing in this thread
        return
    before = signal.getsignal(signal.SIGINT)
    if not callable(before):
        yield []  # Ctrl-C raises nothing
        return
    caught: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: caught.append(number))
    _caught = caught
    try:
        yield caught
    finally:
        _caught = None
        signal.signal(signal.SIGINT, before)
    for number in caught[:1]:
        signal.raise_signal(number)
