"""Compilation by several processes in parallel, since threads would wait for Numba's global lock.

A process gets the name of a function and the types of its arguments, and saves the code in the cache. Functions that
other processes cannot import, for example those defined in a notebook, are compiled in the process that calls them.
"""

import functools
import importlib
import math
import multiprocessing
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from kernelcache.cache import cache_folder
from kernelcache.keys import Closure
from kernelcache.private import cache_of, trigger_event

#: Number of functions from which a further process pays off: its start takes about 1 s, a function about 50 ms.
WORTHWHILE = 40
#: Largest number of functions per process: a compiler never frees memory, and uses 1.3 GB for so many.
MOST = 1500

_ALONE = "BIPED_COMPILES_ALONE"  # environment variable that is set in worker processes

#: Function that is called at the end of each job, with '' or the reason of its failure in one line.
Progress = Callable[[str], None]


class Job:
    """A compilation job: a dispatcher and the Numba types of its arguments."""

    def __init__(self, dispatcher: Any, kinds: tuple[Any, ...]) -> None:
        self.dispatcher, self.kinds = dispatcher, kinds

    @functools.cached_property
    def closure(self) -> Closure:
        """All functions and classes from which the function is compiled."""
        return Closure(self.dispatcher.py_func, self.kinds)

    @property
    def size(self) -> int:
        """Number of functions to compile."""
        return len(self.closure.functions)

    @property
    def is_done(self) -> bool:
        """True if the compiled code is loaded or on disk."""
        overloads, cache = self.dispatcher.overloads, cache_of(self.dispatcher)
        return self.kinds in overloads or bool(
            hasattr(cache, "has") and cache.has(self.kinds, self.dispatcher.targetctx.codegen())
        )

    @functools.cached_property
    def written(self) -> bytes:
        """Pickle for another process: modules to import first, and the pickled job; empty if that is impossible."""
        function, closure = self.dispatcher.py_func, self.closure
        modules = sorted({item.__module__ for item in (*closure.functions, *closure.classes)})
        try:
            return pickle.dumps((modules, pickle.dumps((function.__module__, function.__qualname__, self.kinds))))
        except (AttributeError, pickle.PicklingError):  # for example, a class is local to a function
            return b""


class Call(NamedTuple):
    """A call that compiles kernels: an importable function and its arguments."""

    function: Callable[..., None]
    arguments: tuple[Any, ...]
    size: int  # approximate number of kernels

    @property
    def written(self) -> bytes:
        """Pickle for another process."""
        return pickle.dumps(([], pickle.dumps(self)))


Work = Job | Call


def cores() -> int:
    """Return the number of processes that may compile in parallel: one per core, but one in a worker process."""
    if _ALONE in os.environ or multiprocessing.parent_process() is not None:
        return 1
    affinity = getattr(os, "sched_getaffinity", None)  # not on macOS
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def compile_all(jobs: Sequence[Job]) -> None:
    """Compile missing jobs in other processes, if that pays off, and wait for them."""
    left = [job for job in jobs if not job.is_done and job.written]
    if cores() > 1 and sum(job.size for job in left) >= WORTHWHILE:
        _compile(left, cores(), lambda _: None)


def compile_ahead(calls: Sequence[Call], progress: Progress) -> None:
    """Compile the kernels that some calls need in other processes, one per core; load nothing into this process."""
    _compile(calls, max(cores(), math.ceil(sum(call.size for call in calls) / MOST)), progress)


def _compile(works: Sequence[Work], processes: int, progress: Progress) -> None:
    """Distribute work over processes, the largest first, each to the process with least work; one process per core."""
    bundles: list[dict[int, Work]] = [{} for _ in range(min(processes, len(works)))]
    for number, work in sorted(enumerate(works), key=lambda numbered: -numbered[1].size):
        min(bundles, key=lambda bundle: sum(other.size for other in bundle.values()))[number] = work
    with trigger_event("numba:compile"):  # a display of the compilation listens to this event
        for first in range(0, len(bundles), cores()):
            _compile_side_by_side(bundles[first : first + cores()], progress)


def _compile_side_by_side(bundles: Sequence[dict[int, Work]], progress: Progress) -> None:
    """Start a process for each bundle of work, and wait for all; they report the numbers of finished jobs."""
    left = {number: work for bundle in bundles for number, work in bundle.items()}
    reading, writing = os.pipe()
    running = [_begin_process(bundle, writing) for bundle in bundles]
    os.close(writing)
    try:
        with open(reading, encoding="utf-8", errors="replace") as answers:
            for answer in answers:
                number, _, reason = answer.rstrip().partition(" ")
                work = left.pop(int(number))
                progress(reason and f"{getattr(work, 'arguments', '')} {reason}".strip())
    finally:
        for process in running:
            process.kill()
            process.wait()
    for _ in left:
        progress("the process that compiled it ended early")


def _begin_process(bundle: dict[int, Work], answers: int) -> subprocess.Popen[bytes]:
    path = [str(folder) for folder in sys.path]
    begin = f"import sys; sys.path[:] = {path}; from kernelcache.workers import main; main({answers})"
    with tempfile.TemporaryFile() as jobs:
        pickle.dump({number: work.written for number, work in bundle.items()}, jobs)
        jobs.seek(0)
        return subprocess.Popen(
            [sys.executable, "-c", begin],
            stdin=jobs, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, pass_fds=[answers],
            env=os.environ | {"BIPED_CACHE_DIR": str(cache_folder().parent), _ALONE: "1"},
        )  # fmt: skip


def main(answers: int) -> None:
    """Compile the jobs on standard input, as long as the process that requested them exists.

    Args:
        answers: file descriptor of a pipe that gets a line per finished job: its number and, if it failed, the reason.
    """
    asked_by = os.getppid()
    for number, job in pickle.load(sys.stdin.buffer).items():
        if os.getppid() != asked_by:
            return
        problem = ""
        try:
            _do(job)
        except Exception as error:  # it occurs again in the process that needs the code
            problem = f"{type(error).__name__}: {error}"
        os.write(answers, " ".join([str(number), *problem.split()]).encode() + b"\n")


def _do(written: bytes) -> None:
    modules, job = pickle.loads(written)
    for name in modules:
        importlib.import_module(name)
    work = pickle.loads(job)
    if isinstance(work, Call):
        work.function(*work.arguments)
        return
    module, name, kinds = work
    left = Job(getattr(sys.modules[module], name), kinds)
    if not left.is_done:
        left.dispatcher.compile(left.kinds)
