"""Termination of a command by SIGTERM or Ctrl-C."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

#: Exit status of a process ended by SIGTERM, as in shells.
TERMINATED = 128 + signal.SIGTERM


@contextmanager
def interrupt_on_sigterm() -> Iterator[list[int]]:
    """Treat SIGTERM within the context as Ctrl-C, even if Ctrl-C is ignored, as in a shell's background.

    It has no effect outside of a process's main thread, because only that thread receives signals.

    Yields:
        The list of received signals, empty at first.
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
        signal.raise_signal(signal.SIGINT)  # code that defers Ctrl-C, such as until the end of a step, defers this, too

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield heard
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL if before is None else before)
