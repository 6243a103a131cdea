"""A command that others end by SIGTERM (``timeout``, a container, a job's limit) cleans up as it does after Ctrl-C."""

import contextlib
import signal
import threading
from collections.abc import Iterator

from experiments.cli.termination import TERMINATED


@contextlib.contextmanager
def exit_on_sigterm() -> Iterator[None]:
    """SIGTERM within raises ``SystemExit``, so that what was begun is ended: browsers, folders, unfinished files.

    A second one changes nothing. Only a process's main thread can hear signals; elsewhere this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def leave(*_: object) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise SystemExit(TERMINATED)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL if before is None else before)
