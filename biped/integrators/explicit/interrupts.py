"""Ctrl-C, where a step from Python must not be left half booked."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def interrupts_afterwards() -> Iterator[None]:
    """Let Ctrl-C wait until what is inside is done."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield  # it raises nothing here
        return
    caught: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: caught.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    for number in caught[:1]:
        signal.raise_signal(number)
