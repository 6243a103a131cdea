"""Timing that can be trusted on a shared machine: one core, cases taken in turn, minimum and median."""

import os
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")

#: The cores that this process may use, before anything restricts it.
ALLOWED = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else frozenset()
K = TypeVar("K")


@dataclass(frozen=True)
class Spread:
    """Repeated measurements of one number."""

    least: float
    median: float
    most: float
    repeats: int

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread":
        """The spread of one value or more."""
        return cls(min(values), statistics.median(values), max(values), len(values))

    def scaled(self, factor: float) -> "Spread":
        """The same in another unit."""
        return Spread(self.least * factor, self.median * factor, self.most * factor, self.repeats)


@contextmanager
def one_core() -> Iterator[int | None]:
    """Keep this process on one core, where the system can; yields which."""
    if not hasattr(os, "sched_setaffinity"):
        yield None
        return
    allowed = os.sched_getaffinity(0)
    core = max(allowed)
    os.sched_setaffinity(0, {core})
    try:
        yield core
    finally:
        os.sched_setaffinity(0, allowed)


@contextmanager
def cores(count: int) -> Iterator[None]:
    """Keep this process on so many of the cores that it may use, where the system can."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(ALLOWED)[-count:])
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def interleaved(cases: Mapping[K, Callable[[], T]], repeats: int) -> dict[K, list[T]]:
    """Each case once to warm up, then A B C A B C …: what disturbs the machine for a while disturbs all."""
    for work in cases.values():
        work()
    results: dict[K, list[T]] = {name: [] for name in cases}
    for _ in range(repeats):
        for name, work in cases.items():
            results[name].append(work())
    return results


def seconds(work: Callable[[], object]) -> float:
    """[s] that it takes."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin
