"""Timing on a shared machine: on one core, in one thread, with all cases in turn, by minimum and median.

``timeit`` and ``pyperf`` time one case after the other, so that a disturbance of the machine affects only one case.
"""

import ast
import json
import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")
K = TypeVar("K")

#: Environment of processes that time NumPy's linear algebra, set before NumPy is imported.
ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), "1")
#: Cores that this process may use, before ``one_core`` or ``cores`` restrict it.
ALLOWED = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else frozenset()


@dataclass(frozen=True)
class Spread:
    """Repeated measurements of one number."""

    least: float
    median: float
    most: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread":
        return cls(min(values), statistics.median(values), max(values))


class UnitOfWork:
    """A fixed piece of Python work, timed every few seconds during a measurement, as a measure of the machine's speed.

    Other processes that use caches and memory change the processor time of a measurement, but hardly its ratio to the
    unit's time: like a compiler, the unit allocates small objects and follows pointers.
    """

    _SOURCE = "\n".join(
        f"def f{k}(x, y=({k}, 'a')):\n    return (x, [x + i * y[0] for i in range({k})]) if x > {k} else {{'b{k}': y}}"
        for k in range(250)
    )

    def __init__(self, every: float = 2.0) -> None:
        self._every, self._ended = every, threading.Event()
        self._taken: list[float] = []
        self._thread = threading.Thread(target=self._repeat, daemon=True)

    def __enter__(self) -> "UnitOfWork":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    @property
    def seconds(self) -> float:
        """Mean processor time [s] of the unit so far."""
        return statistics.fmean(self._taken or [self._once()])

    def _repeat(self) -> None:
        while True:
            self._taken.append(self._once())
            if self._ended.wait(self._every):
                return

    def _once(self) -> float:
        return min(seconds(self._work, time.thread_time) for _ in range(3))  # the first fills the caches

    def _work(self) -> None:
        compile(ast.unparse(ast.parse(self._SOURCE)), "unit of work", "exec")


@contextmanager
def one_core() -> Iterator[int | None]:
    """Keep this process on one core, if the system can; yields its number."""
    with _restricted(lambda allowed: {max(allowed)}) as kept:
        yield next(iter(kept), None)


@contextmanager
def cores(count: int) -> Iterator[None]:
    """Keep this process on a number of its cores, if the system can."""
    with _restricted(lambda _: set(sorted(ALLOWED)[-count:])):
        yield


@contextmanager
def _restricted(chosen: Callable[[set[int]], set[int]]) -> Iterator[set[int]]:
    if not hasattr(os, "sched_setaffinity"):
        yield set()
        return
    before = os.sched_getaffinity(0)
    kept = chosen(before)
    os.sched_setaffinity(0, kept)
    try:
        yield kept
    finally:
        os.sched_setaffinity(0, before)


def interleaved(
    cases: Mapping[K, Callable[[], T]],
    repeats: int,
    *,
    warm_up: bool = True,
    progress: Callable[[float], None] = lambda _: None,
) -> dict[K, list[T]]:
    """Return results of cases that run in turn (A B C A B C …), so that disturbances affect all; first to warm up."""
    results: dict[K, list[T]] = {name: [] for name in cases}
    turns = repeats + warm_up
    for turn in range(turns):
        for k, (name, work) in enumerate(cases.items()):
            result = work()
            if turn or not warm_up:
                results[name].append(result)
            progress((turn + (k + 1) / len(cases)) / turns)
    return results


def seconds(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """Return the time [s] that ``work`` takes; ``time.process_time`` as clock excludes other processes."""
    begin = clock()
    work()
    return clock() - begin


def ratios(times: Sequence[float], reference: Sequence[float]) -> list[float]:
    """Return the ratios of ``times`` to ``reference``, pair by pair."""
    return [mine / other for mine, other in zip(times, reference, strict=True)]


def in_one_thread(module: str, *arguments: str) -> Any:
    """Run a module as a program in a process of one thread, and return the JSON that it prints.

    Raises:
        RuntimeError: the program failed; the message contains its standard error.
    """
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(command, env=os.environ | ONE_THREAD, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed: {done.stderr.strip()}")
    return json.loads(done.stdout)


def halved(coarsest: float, count: int) -> tuple[float, ...]:
    """Return a grid of step sizes [s]: the coarsest, a half of it, a quarter, …."""
    return tuple(coarsest / 2**k for k in range(count))


def slope(x: Sequence[float], y: Sequence[float]) -> float:
    """Return the exponent of x in the growth of y: the slope of the line fitted to the logarithms."""
    import numpy as np

    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def part(progress: Callable[[float], None], k: int, count: int, total: float = 1.0) -> Callable[[float], None]:
    """Return the progress of part ``k`` of ``count`` parts, each of which counts up to ``total``."""
    return lambda done: progress((k + min(done / total, 1.0)) / count)
