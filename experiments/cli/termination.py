"""How a command is stopped: by SIGTERM as by Ctrl-C, and by Ctrl-C wherever it comes."""

import _thread
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

#: Exit status of a process that SIGTERM has ended, as shells tell it.
TERMINATED = 128 + signal.SIGTERM
#: [s] after which an interrupt that was lost comes again.
AGAIN = 0.01


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
        if not callable(signal.getsignal(signal.SIGINT)):
            raise KeyboardInterrupt
        signal.raise_signal(signal.SIGINT)  # who defers Ctrl-C, as until a step is booked, defers this too

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield heard
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL if before is None else before)


@contextmanager
def no_interrupt_is_lost() -> Iterator[None]:
    """Ctrl-C within a destructor or a collector's callback, where Python prints and forgets it, comes again.

    Only a process's main thread is interrupted; elsewhere this does nothing.
    """
    before = sys.unraisablehook

    def hook(what: "sys.UnraisableHookArgs") -> None:
        if not issubclass(what.exc_type, KeyboardInterrupt):
            before(what)
            return
        # Where Ctrl-C is ignored, as in a shell's background, it was SIGTERM.
        number = signal.SIGINT if callable(signal.getsignal(signal.SIGINT)) else signal.SIGTERM
        # At once it would be within this hook, and lost too.
        again = threading.Timer(AGAIN, _thread.interrupt_main, (number,))
        again.daemon = True
        again.start()

    if threading.current_thread() is threading.main_thread():
        sys.unraisablehook = hook
    try:
        yield
    finally:
        sys.unraisablehook = before
