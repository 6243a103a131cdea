"""Deferral of Ctrl-C until a step from Python is complete with its energy balance."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def interrupts_afterwards() -> Iterator[None]:
    """Defer Ctrl-C to the end of the block."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield  # Ctrl-C raises nothing here
        return
    caught: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: caught.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    for number in caught[:1]:
        signal.raise_signal(number)
