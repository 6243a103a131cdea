"""The command ``biped`` in a process that is split off from this one, which has loaded all that it needs.

That takes some milliseconds in place of seconds, so that tens of thousands of command lines can be tried, each in a
process of its own, which may be killed.
"""

import io
import os
import resource
import signal
import sys
import traceback
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from experiments.cli import main

from .row import LIMIT, PATIENCE, Attempt, wait_until

#: [bytes] that one may have at most: more than any needs.
MEMORY = 8_000_000_000


def quietly(*words: object) -> None:
    """``biped`` with these words in this process, so that those that are split off have what it loads and compiles."""
    said = io.StringIO()
    with redirect_stdout(said), redirect_stderr(said), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        status = main([str(word) for word in words])
    if status not in (0, 1):
        raise RuntimeError(f"{words} -> {status}: {said.getvalue()}")


class Program:
    """``biped`` with these words, or any function, that runs beside this process.

    Args:
        words: of the command line.
        before: called in the new process first.
        seconds: of the processor that it may take.
        work: what is done in place of the command line; its result is the exit status.
    """

    def __init__(
        self,
        *words: object,
        before: Callable[[], object] = lambda: None,
        seconds: float = LIMIT,
        work: Callable[[], int] | None = None,
    ) -> None:
        self.words = [str(word) for word in words]
        self.said = Path(f"said-{os.urandom(6).hex()}").absolute()
        self.status: int | None = None
        ready, begun = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # this process may have threads, of which the new one needs none
            self.pid = os.fork()
        if self.pid == 0:
            self._be(begun, before, seconds, work or (lambda: main(self.words)))
        os.close(begun)
        os.read(ready, 1)
        os.close(ready)

    def _be(self, begun: int, before: Callable[[], object], seconds: float, work: Callable[[], int]) -> None:
        """What the new process does; it does not return."""
        status = 1
        try:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            for number in (signal.SIGTERM, signal.SIGPROF, signal.SIGALRM):
                signal.signal(number, signal.SIG_DFL)
            warnings.simplefilter("ignore")  # whatever this process made of them
            descriptor = os.open(self.said, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            os.dup2(descriptor, 1)
            os.dup2(descriptor, 2)
            os.close(descriptor)
            sys.stdout = open(1, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
            sys.stderr = open(2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
            sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115
            resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 5))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            before()
            os.write(begun, b"1")
            status = work()
        except KeyboardInterrupt:  # before the program began to listen
            status = 130
        except BaseException:
            traceback.print_exc()
        finally:
            for stream in (sys.stdout, sys.stderr):
                try:
                    stream.flush()
                except OSError:
                    status = 2
            os._exit(status)

    def has_ended(self) -> bool:
        if self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
        return self.status is not None

    def send(self, number: int) -> None:
        if not self.has_ended():
            os.kill(self.pid, number)

    def wait(self, seconds: float = PATIENCE * LIMIT) -> "Program":
        """Until it has ended; it is killed if it does not."""
        if not wait_until(self.has_ended, seconds):
            os.kill(self.pid, signal.SIGKILL)
            wait_until(self.has_ended, 60.0)
            self.status = -signal.SIGXCPU
        return self

    @property
    def text(self) -> str:
        """All that it has said."""
        return self.said.read_text(encoding="utf-8", errors="replace") if self.said.exists() else ""

    def judge(self, attempt: Attempt, *statuses: int) -> int:
        """Note what should not be of its end, any other than these statuses too."""
        told = f"{self.words} -> {self.status}\n{self.text[-1200:]}"
        if self.status in (-signal.SIGXCPU, -signal.SIGKILL) and self.status not in statuses:
            attempt.found("hung", told)
        elif "Traceback (most recent call last)" in self.text:
            attempt.found("traceback", told)
        elif self.status not in statuses:
            attempt.found("false" if self.status is None or self.status >= 0 else "traceback", told)
        return -1 if self.status is None else self.status
