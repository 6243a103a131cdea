"""What a campaign tries: rows of attempts, each of its seed alone, and what one has found."""

import os
import signal
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

#: What may be found: work that is gone, a result or a sentence that is not so, a traceback, no end.
KINDS = ("lost", "false", "traceback", "hung")
#: [s] of processor time after which something hangs.
LIMIT = 20.0
#: How much longer it may take by the clock: other programs run beside it.
PATIENCE = 12.0


class SkipError(Exception):
    """A row cannot be tried on this machine; the message says why."""


class HungError(BaseException):
    """No end in time; nothing that catches every ``Exception`` catches it."""


@dataclass
class Attempt:
    """One attempt of a row.

    Attributes:
        random: all that is drawn at random.
        folder: an empty one of its own, in which it is while it lasts.
        tried: how many things it has tried.
        counts: what came of them, by words.
        findings: (kind, what) of all that should not be.
    """

    random: np.random.Generator
    folder: Path
    tried: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    findings: list[tuple[str, str]] = field(default_factory=list)

    def found(self, kind: str, what: object) -> None:
        assert kind in KINDS
        self.findings.append((kind, str(what)[-1500:]))

    def expect(self, holds: bool, what: object, kind: str = "false") -> None:
        if not holds:
            self.found(kind, what)

    def chance(self, probability: float) -> bool:
        return bool(self.random.random() < probability)

    def one_of(self, *things):
        return things[self.random.integers(len(things))]


@dataclass(frozen=True)
class Row:
    """A row of the campaign.

    Attributes:
        name: on the command line.
        what: is tried, and what is compared.
        unit: what is counted.
        attempt: makes one.
        goal: how many are wanted.
        sample: attempts in a sample of two minutes for all rows; 0: too long for one.
        limit: [s] of this process's time for an attempt, where that is more than one thing.
    """

    name: str
    what: str
    unit: str
    attempt: Callable[[Attempt], None]
    goal: int = 0
    sample: int = 1
    limit: float = LIMIT


@contextmanager
def alarms(limit: float) -> Iterator[None]:
    """Raise HungError in what takes longer than it may; it has to come back to the interpreter for that."""

    def ring(*_: object) -> None:
        raise HungError(f"no end within {limit:g} s of the processor, or {PATIENCE * limit:g} s of the clock")

    timers = ((signal.SIGPROF, signal.ITIMER_PROF, limit), (signal.SIGALRM, signal.ITIMER_REAL, PATIENCE * limit))
    before = {number: signal.signal(number, ring) for number, _, _ in timers}
    for _, timer, seconds in timers:
        signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        for number, timer, _ in timers:
            signal.setitimer(timer, 0.0)
            signal.signal(number, before[number])


def attempt(row: Row, seed: int) -> Attempt:
    """Make the attempt of this seed; raises SkipError."""
    random = np.random.default_rng([seed, *row.name.encode()])
    with tempfile.TemporaryDirectory(prefix="campaign-", ignore_cleanup_errors=True) as name, chdir(name):
        made = Attempt(random, Path(name))
        try:
            with alarms(row.limit):
                row.attempt(made)
        except SkipError:
            raise
        except HungError:
            made.found("hung", traceback.format_exc())
        except Exception:
            made.found("traceback", traceback.format_exc())
    made.tried = made.tried or 1
    return made


def confirmed(row: Row, seed: int) -> Attempt:
    """An attempt, made again if it hung: the first time it may have compiled kernels."""
    made = attempt(row, seed)
    return attempt(row, seed) if any(kind == "hung" for kind, _ in made.findings) else made


def wait_until(holds: Callable[[], bool], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


def is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0
