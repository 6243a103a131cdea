"""What a run needs is compiled by processes side by side: threads would wait for Numba's one lock.

This process takes the largest share; others, one for each further core, are handed the rest by name and types, and
leave machine code in the cache, from where it is loaded. Whatever they do not manage is compiled here.
"""

import contextlib
import gc
import importlib
import importlib.util
import io
import multiprocessing
import os
import pickle
import subprocess
import sys
import types as python_types
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from numba.core.event import trigger_event

from contact.compiling.cache import cache_folder
from contact.compiling.keys import Closure, classes_in

#: Kernels that a process must have to compile to be worth starting: one takes about a second to start, a kernel 50 ms.
WORTHWHILE = 60


class Job(NamedTuple):
    """Something to compile: a dispatcher, and Numba's types of its arguments."""

    dispatcher: Any
    kinds: tuple[Any, ...]

    @property
    def closure(self) -> Closure:
        """What it is compiled from."""
        found = Closure()
        for kind in self.kinds:
            found.classes.update(classes_in(kind))
        found.add(self.dispatcher.py_func)
        return found

    @property
    def is_done(self) -> bool:
        """Whether it is loaded, or on disk."""
        overloads, cache = self.dispatcher.overloads, self.dispatcher._cache
        return self.kinds in overloads or bool(
            hasattr(cache, "has") and cache.has(self.kinds, self.dispatcher.targetctx.codegen())
        )


def cores() -> int:
    """How many processes may compile at once: one for each core, and one alone in a process of a study's."""
    if multiprocessing.parent_process() is not None:
        return 1
    affinity = getattr(os, "sched_getaffinity", None)  # not on macOS
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def compile_all(jobs: Sequence[Job]) -> None:
    """Compile what is not on disk yet, side by side with others where that is worth it; ends when all have ended."""
    shares = _shares([job for job in jobs if not job.is_done], cores())
    with _working(shares[1:]):
        _compile(shares[0])


def _compile(jobs: Iterable[Job]) -> None:
    """A compiler makes millions of objects that live as long as it does: looking for garbage costs it a tenth."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        for job in jobs:
            job.dispatcher.compile(job.kinds)
    finally:
        if was_enabled:
            gc.enable()


def _shares(jobs: list[Job], processes: int) -> list[list[Job]]:
    """Who compiles what: the largest first, each to whoever has least; the first share is that of this process."""
    sizes = {id(job): len(job.closure.functions) for job in jobs}
    here = [job for job in jobs if not _can_be_named(job)]
    shares: list[list[Job]] = [here] + [[] for _ in range(processes - 1)]
    load = [sum(sizes[id(job)] for job in share) for share in shares]
    for job in sorted((job for job in jobs if job not in here), key=lambda job: -sizes[id(job)]):
        place = min(range(len(shares)), key=lambda k: load[k])
        shares[place].append(job)
        load[place] += sizes[id(job)]
    small = [job for share, size in zip(shares[1:], load[1:], strict=True) if size < WORTHWHILE for job in share]
    shares[0] += small
    return [shares[0], *(share for share, size in zip(shares[1:], load[1:], strict=True) if size >= WORTHWHILE)]


@contextlib.contextmanager
def _working(shares: list[list[Job]]) -> Iterator[None]:
    """Processes that compile shares of the work meanwhile; they are waited for, unless something is raised here."""
    processes = []
    try:
        for share in shares:
            environment = os.environ | {"BIPED_CACHE_DIR": str(cache_folder().parent)}
            process = subprocess.Popen(
                [sys.executable, "-c", "from contact.compiling.beside import main; main()"],
                stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment,
            )  # fmt: skip
            processes.append(process)
            assert process.stdin is not None
            with contextlib.suppress(BrokenPipeError), process.stdin:  # it ended: its share is compiled here
                process.stdin.write(_written(share))
        yield
        with trigger_event("numba:compile"):  # for who shows that something is compiled
            for process in processes:
                process.wait()
    finally:
        for process in processes:
            process.kill()
            process.wait()


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


def _address(function: Any) -> tuple[str, str, type | None] | None:
    """Module, name, and for one of ``part_for_each`` the class; None if it is not found there."""
    name, kind = getattr(function, "for_each", (function.__qualname__, None))
    found = getattr(sys.modules.get(function.__module__), name, None)
    is_it = found is not None and (kind is not None or getattr(found, "py_func", None) is function)
    return (function.__module__, name, kind) if is_it else None


def _written(jobs: list[Job]) -> bytes:
    """What another process needs to know: where modules are found, which to import, and the jobs."""
    modules = {
        found.__module__: None for job in jobs for found in (*job.closure.functions, *job.closure.classes)
    }  # in this order
    files = [(name, str(sys.modules[name].__file__)) for name in modules]
    plain = io.BytesIO()
    pickle.dump((sys.path, files), plain)
    pickle.dump([(_address(job.dispatcher.py_func), job.kinds) for job in jobs], plain)
    return plain.getvalue()


def main() -> None:
    """Compile the jobs that another process has written to the standard input."""
    path, files = pickle.load(sys.stdin.buffer)
    sys.path[:] = path
    for name, file in files:
        _module(name, file)
    for (module, name, kind), kinds in pickle.load(sys.stdin.buffer):
        found = getattr(sys.modules[module], name)
        dispatcher = found if kind is None else found.of(kind)
        job = Job(dispatcher, kinds)
        with contextlib.suppress(Exception):  # whoever asked meets it too, and says so
            if not job.is_done:
                _compile([job])


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
