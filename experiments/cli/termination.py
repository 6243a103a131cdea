"""How a command is stopped: by SIGTERM as by Ctrl-C."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

#: Exit status of a process that SIGTERM has ended, as shells tell it.
TERMINATED = 128 + signal.SIGTERM


@contextmanager
def interrupt_on_sigterm() -> Iterator[list[int]]:
    """SIGTERM within is heard as Ctrl-C is, also where that is ignored, as in a shell's background.

    Only a process's main thread can hear signals; elsewhere this does nothing.

    Yields:
        The signals that were heard, none so far.
    """
    heard: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield heard
        return

    def interrupt(number: int, _: object) -> None:
        heard.append(number)
        if len(heard) > 1:  # ``timeout`` sends it twice
            return
        if not callable(signal.getsignal(signal.SIGINT)):
            raise KeyboardInterrupt
        signal.raise_signal(signal.SIGINT)  # who defers Ctrl-C, as until a step is booked, defers this too

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield heard
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL if before is None else before)
