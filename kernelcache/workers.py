"""Compilation by several processes at once: threads would wait for Numba's one lock.

A process is handed what to compile by name and types, and leaves machine code in the cache, from where it is loaded.
What a process does not manage is compiled where it is needed.
"""

import contextlib
import functools
import importlib
import importlib.util
import math
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
import types as python_types
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from kernelcache.cache import cache_folder
from kernelcache.keys import Closure
from kernelcache.private import cache_of, trigger_event

#: Functions to compile that a process is worth starting for: a start takes about a second, a function 50 ms.
WORTHWHILE = 40
#: Functions that one process compiles at most: a compiler gives no memory back, and has 1.3 GB by then.
MOST = 1500

_ALONE = "BIPED_COMPILES_ALONE"  # set in the environment of a process that has others beside it

#: Called when a job has ended: with nothing, or with the reason of its failure in a line.
Progress = Callable[[str], None]


class Job:
    """Something to compile: a dispatcher, and Numba's types of its arguments."""

    def __init__(self, dispatcher: Any, kinds: tuple[Any, ...]) -> None:
        self.dispatcher, self.kinds = dispatcher, kinds

    @functools.cached_property
    def closure(self) -> Closure:
        """What it is compiled from."""
        return Closure(self.dispatcher.py_func, self.kinds)

    @property
    def size(self) -> int:
        """How many functions it is made of."""
        return len(self.closure.functions)

    @property
    def is_done(self) -> bool:
        """Whether it is loaded, or on disk."""
        overloads, cache = self.dispatcher.overloads, cache_of(self.dispatcher)
        return self.kinds in overloads or bool(
            hasattr(cache, "has") and cache.has(self.kinds, self.dispatcher.targetctx.codegen())
        )


class Call(NamedTuple):
    """A function, found by its name, that compiles what it needs when it is called with these arguments."""

    function: Callable[..., None]
    arguments: tuple[Any, ...]
    size: int  # about how many kernels it compiles


Work = Job | Call


def cores() -> int:
    """Return how many processes may compile at once: one for each core, and one in a process that has others beside."""
    if _ALONE in os.environ or multiprocessing.parent_process() is not None:
        return 1
    affinity = getattr(os, "sched_getaffinity", None)  # not on macOS
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def compile_all(jobs: Sequence[Job]) -> None:
    """Compile in other processes what is not on disk yet, if it is worth that; end when all have ended."""
    left = [job for job in jobs if not job.is_done and _can_be_named(job)]
    if cores() > 1 and sum(job.size for job in left) >= WORTHWHILE:
        _compile(left, cores(), lambda _: None)


def compile_ahead(calls: Sequence[Call], progress: Progress) -> None:
    """Compile what calls need, in as many processes at once as there are cores; load nothing."""
    _compile(calls, max(cores(), math.ceil(sum(call.size for call in calls) / MOST)), progress)


def _compile(works: Sequence[Work], processes: int, progress: Progress) -> None:
    """Distribute work over processes, the largest first, each to the one that has least."""
    bundles: list[list[Work]] = [[] for _ in range(min(processes, len(works)))]
    for work in sorted(works, key=lambda work: -work.size):
        min(bundles, key=lambda bundle: sum(other.size for other in bundle)).append(work)
    running: list[subprocess.Popen[bytes]] = []
    stopped = threading.Event()

    def follow(bundle: list[Work]) -> None:
        if stopped.is_set():
            return
        left = len(bundle)
        with _begin_process() as process:
            running.append(process)
            assert process.stdin is not None
            assert process.stdout is not None
            with contextlib.suppress(BrokenPipeError):  # it has ended
                process.stdin.write(_written(bundle))
                process.stdin.close()
            for line in process.stdout:
                progress(line.decode(errors="replace").strip())
                left -= 1
        for _ in range(left):
            progress(f"the process that compiles it has ended with {process.returncode}")

    with ThreadPoolExecutor(cores()) as pool, trigger_event("numba:compile"):  # for a display of what is compiled
        followers = [pool.submit(follow, bundle) for bundle in bundles]
        try:
            for follower in followers:
                follower.result()
        finally:
            stopped.set()
            for process in running:
                process.kill()


def _begin_process() -> subprocess.Popen[bytes]:
    path = [str(folder) for folder in sys.path]
    begin = f"import sys; sys.path[:] = {path}; from kernelcache.workers import main; main()"
    return subprocess.Popen(
        [sys.executable, "-c", begin],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env=os.environ | {"BIPED_CACHE_DIR": str(cache_folder().parent), _ALONE: "1"},
    )  # fmt: skip


# --- jobs by name ---


def _can_be_named(job: Job) -> bool:
    """Whether another process finds what it is made of: not what was typed in, or is local to a function."""
    closure = job.closure
    names = {found.__module__ for found in (*closure.functions, *closure.classes)}
    local = any("<locals>" in kind.__qualname__ for kind in closure.classes)
    found = _address(job.dispatcher.py_func)
    return not local and found is not None and all(map(_is_there, names))


def _is_there(module: str) -> bool:
    found = sys.modules.get(module)
    return module != "__main__" and found is not None and getattr(found, "__file__", None) is not None


def _address(function: Any) -> tuple[str, str] | None:
    """Return a function's module and name; None if it is not found there."""
    module, name = function.__module__, function.__qualname__
    found = getattr(sys.modules.get(module), name, None)
    return (module, name) if getattr(found, "py_func", None) is function else None


def _written(share: list[Work]) -> bytes:
    """Return what another process needs to know: the modules to import, and the jobs."""
    closures = [job.closure for job in share if isinstance(job, Job)]
    modules = {found.__module__: None for closure in closures for found in (*closure.functions, *closure.classes)}
    files = [(name, str(sys.modules[name].__file__)) for name in modules]
    jobs = [(_address(job.dispatcher.py_func), job.kinds) if isinstance(job, Job) else job for job in share]
    return pickle.dumps(files) + pickle.dumps(jobs)


def main() -> None:
    """Compile the jobs that another process writes to the standard input, as long as that process lives.

    The answer is a line for each job that has ended: empty, or the reason of its failure.
    """
    asked_by = os.getppid()
    answer = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # a job that prints is not to answer
    for name, file in pickle.load(sys.stdin.buffer):
        _module(name, file)
    for job in pickle.load(sys.stdin.buffer):
        if os.getppid() != asked_by:
            return
        problem = ""
        try:
            _do(job)
        except Exception as error:  # where it is needed, it is met again
            problem = f"{getattr(job, 'arguments', '')} {type(error).__name__}: {error}"
        answer.write(" ".join(problem.split()).encode() + b"\n")


def _module(name: str, file: str) -> python_types.ModuleType:
    """A module by its name, or, where it has been given one of its own, from its file."""
    if name in sys.modules:
        return sys.modules[name]
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        spec = importlib.util.spec_from_file_location(name, file)
        assert spec is not None
        assert spec.loader is not None
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module


def _do(job: Any) -> None:
    if isinstance(job, Call):
        job.function(*job.arguments)
        return
    (module, name), kinds = job
    left = Job(getattr(sys.modules[module], name), kinds)
    if not left.is_done:
        left.dispatcher.compile(left.kinds)
