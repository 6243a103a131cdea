"""What a run needs is compiled by processes side by side: threads would wait for Numba's one lock.

Processes are handed what to compile by name and types, and leave machine code in the cache, from where it is loaded.
What they do not manage is compiled where it is needed.
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
import sysconfig
import threading
import types as python_types
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from numba.core.event import trigger_event

from kernelcache.cache import cache_folder
from kernelcache.keys import Closure

#: Functions to compile that a process is worth starting for: that takes about a second, a function 50 ms.
WORTHWHILE = 40
#: Functions after which a process makes room for another one: a compiler gives nothing back, by then 1.3 GB.
MOST = 1500

_ALONE = "BIPED_COMPILES_ALONE"  # set in an environment: that process has others beside it
_END = b"\0\n"  # the last line of an answer of a process that goes on

_elsewhere = False

#: Called when a job has ended: with nothing, or, in a line, why it has failed.
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
        overloads, cache = self.dispatcher.overloads, self.dispatcher._cache
        return self.kinds in overloads or bool(
            hasattr(cache, "has") and cache.has(self.kinds, self.dispatcher.targetctx.codegen())
        )


class Call(NamedTuple):
    """A function, found by its name, that compiles what it needs when it is called with what can be pickled."""

    function: Callable[..., None]
    arguments: tuple[Any, ...]
    size: int  # about how many kernels it compiles


Work = Job | Call


def cores() -> int:
    """How many processes may compile at once: one for each core, and one alone in a process of several."""
    if _ALONE in os.environ or multiprocessing.parent_process() is not None:
        return 1
    affinity = getattr(os, "sched_getaffinity", None)  # not on macOS
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def compile_all(jobs: Sequence[Job], calls: Sequence[Call] = ()) -> None:
    """Compile what is not on disk yet, side by side where that is worth it; ends when all have ended.

    This process takes a share itself. ``calls`` are made where something is compiled at all: nobody knows what they
    would compile.
    """
    left = [job for job in jobs if not job.is_done]
    here, *others = _shares(left, calls if left else (), cores() + _elsewhere)
    with _working(others, len(others)):
        for job in here:
            if isinstance(job, Job):
                job.dispatcher.compile(job.kinds)


def compile_elsewhere() -> None:
    """From now on, let other processes compile all that they can, and this one only load it.

    A compiler keeps what it has made for as long as its process lives: one that meets hundreds of kernels, as tests
    do, would grow by gigabytes.
    """
    global _elsewhere
    _elsewhere = True


def leave_to_others(job: Job) -> None:
    """Compile a job in another process, if this one is to compile nothing that is worth another one."""
    if _elsewhere and not job.is_done and job.size >= WORTHWHILE and _can_be_named(job):
        compile_all([job])


def compile_ahead(calls: Sequence[Call], progress: Progress) -> None:
    """Let other processes compile what calls need, as many at once as there are cores; load nothing."""
    largest_first = sorted(calls, key=lambda call: -call.size)
    with _working([[call] for call in largest_first], cores(), progress):
        pass


def _shares(jobs: list[Job], calls: Sequence[Call], processes: int) -> list[list[Work]]:
    """Who compiles what: the largest first, each to whoever has least; the first share is that of this process."""
    here = [job for job in jobs if not _can_be_named(job)]
    shares: list[list[Work]] = [[*here], *([] for _ in range(processes - 1))]
    load = [math.inf if _elsewhere else sum(job.size for job in here), *[0] * (processes - 1)]
    movable: list[Work] = [*calls, *(job for job in jobs if job not in here)]
    for job in sorted(movable, key=lambda job: -job.size):
        place = load.index(min(load))
        shares[place].append(job)
        load[place] += job.size
    busy = [share for share, size in zip(shares[1:], load[1:], strict=True) if size >= WORTHWHILE]
    others = [job for share, size in zip(shares[1:], load[1:], strict=True) if size < WORTHWHILE for job in share]
    return [shares[0] + others, *busy]


@contextlib.contextmanager
def _working(bundles: list[list[Work]], processes: int, progress: Progress = lambda _: None) -> Iterator[None]:
    """Processes that compile bundles of work meanwhile; they are waited for, unless something is raised here."""
    left, running = list(reversed(bundles)), set[_Worker]()
    idle = _idle if _elsewhere else list[_Worker]()
    try:
        while left and len(running) < processes:
            running.add(_Worker.with_work(left.pop(), idle, progress, more=bool(left)))
        yield
        with trigger_event("numba:compile"):  # for who shows that something is compiled
            while running:
                ended = _Worker.wait_for_any(running)
                running.remove(ended)
                if ended.has_time and (left or idle is _idle):
                    idle.append(ended)
                else:
                    ended.end()
                if left:
                    running.add(_Worker.with_work(left.pop(), idle, progress, more=bool(left)))
    finally:
        for worker in running:
            worker.end()


class _Worker:
    """A process that compiles bundles of work, one after the other."""

    _ended = threading.Condition()

    def __init__(self) -> None:
        self._begun_by, self._settings = os.getpid(), _settings()
        self._size = 0
        path = [str(folder) for folder in sys.path]
        begin = f"import sys; sys.path[:] = {path}; from kernelcache.beside import main; main()"
        self._process = subprocess.Popen(
            [sys.executable, "-c", begin],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env=os.environ | {"BIPED_CACHE_DIR": str(cache_folder().parent), _ALONE: "1"},
        )  # fmt: skip

    @classmethod
    def with_work(cls, bundle: list[Work], idle: list["_Worker"], progress: Progress, *, more: bool) -> "_Worker":
        """One of the idle ones, or a new one, that has a bundle to compile, and may be given ``more``."""
        worker = cls._one_of(idle) or cls()
        worker._take(bundle, progress, more=more)
        return worker

    @classmethod
    def _one_of(cls, idle: list["_Worker"]) -> "_Worker | None":
        with contextlib.suppress(IndexError):  # none is left: threads may take them side by side
            while not (worker := idle.pop())._is_of_use():
                worker.end()
            return worker
        return None

    def _is_of_use(self) -> bool:
        """Whether it is alive, set as this process is, and begun by it, not by one that it was forked from."""
        same = (self._begun_by, self._settings) == (os.getpid(), _settings())
        return same and self._process.poll() is None

    def _take(self, bundle: list[Work], progress: Progress, *, more: bool) -> None:
        self._size += sum(work.size for work in bundle)
        words = _written(bundle, more=(more or _elsewhere) and self._size < MOST)
        self.has_ended = self.has_time = False
        self._thread = threading.Thread(target=self._follow, args=(words, len(bundle), progress), daemon=True)
        self._thread.start()

    def _follow(self, words: bytes, left: int, progress: Progress) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            with contextlib.suppress(BrokenPipeError):  # it has ended
                self._process.stdin.write(words)
                self._process.stdin.flush()
            for line in self._process.stdout:
                self.has_time = line == _END
                if self.has_time:
                    break
                progress(line.decode(errors="replace").strip())
                left -= 1
            for _ in range(left):
                progress(f"the process that compiles it has ended with {self._process.wait()}")
        finally:
            with self._ended:
                self.has_ended = True
                self._ended.notify_all()

    @classmethod
    def wait_for_any(cls, workers: "set[_Worker]") -> "_Worker":
        """One of some that has ended its bundle."""
        with cls._ended:
            cls._ended.wait_for(lambda: any(worker.has_ended for worker in workers))
        return next(worker for worker in workers if worker.has_ended)

    def end(self) -> None:
        """Let it end now: it may be that a forked process keeps open what would tell it to end."""
        self._process.kill()
        self._thread.join()
        with contextlib.suppress(BrokenPipeError), self._process:
            pass


_idle: list[_Worker] = []  # of a process that has others compile


def end_idle() -> None:
    """Let the processes end that wait for more to compile."""
    while _idle:
        _idle.pop().end()


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


def _settings() -> dict[str, str]:
    """What of this process another one is begun with, and keeps."""
    ours = {name: value for name, value in os.environ.items() if name.startswith(("BIPED_", "NUMBA_"))}
    return ours | {"BIPED_CACHE_DIR": str(cache_folder())}


def _written(share: list[Work], *, more: bool) -> bytes:
    """What another process needs to know: whether there may be more, where it is, what to import, and the jobs."""
    closures = [job.closure for job in share if isinstance(job, Job)]
    modules = {found.__module__: None for closure in closures for found in (*closure.functions, *closure.classes)}
    files = [(name, str(sys.modules[name].__file__)) for name in modules]
    jobs = [(_address(job.dispatcher.py_func), job.kinds) if isinstance(job, Job) else _picklable(job) for job in share]
    return pickle.dumps((more, _elsewhere, _folder(), sys.path, files)) + pickle.dumps(jobs)


def _folder() -> str | None:
    """Where this process is; None if that is gone."""
    with contextlib.suppress(FileNotFoundError):
        return os.getcwd()
    return None


def _picklable(call: Call) -> Call:
    try:
        pickle.dumps(call)
    except Exception:  # of a user's model: what it needs is compiled when it is called
        return Call(_refuse, (getattr(call.function, "__name__", "something"),), 0)
    return call


def _refuse(name: str) -> None:
    raise TypeError(f"a call of {name} cannot be handed to another process")


def main() -> None:
    """Compile the jobs that another process writes to the standard input, as long as that is there.

    The answer is a line for each job that has ended, and one that says so if this process goes on.
    """
    asked_by = os.getppid()
    asked, answer = (os.fdopen(os.dup(number), mode) for number, mode in ((0, "rb"), (1, "wb")))
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1):  # a job that reads, or writes, is not to be part of the conversation
        os.dup2(nothing, number)
    more = True
    while more:
        try:
            more, for_long, folder, sys.path[:], files = pickle.load(asked)
        except EOFError:
            return
        if folder is not None:
            os.chdir(folder)
        importlib.invalidate_caches()
        for name, file in files:
            _module(name, file)
        for job in pickle.load(asked):
            if os.getppid() != asked_by:
                return
            problem = ""
            try:
                _do(job)
            except Exception as error:  # whoever needs it meets it too
                problem = f"{getattr(job, 'arguments', '')} {type(error).__name__}: {error}"
            answer.write(" ".join(problem.split()).encode() + b"\n")
            answer.flush()
        more = more and (_is_lasting() or not for_long)
        if more:
            answer.write(_END)
            answer.flush()


def _is_lasting() -> bool:
    """Whether all that was imported is installed, or in biped's own folder: what is elsewhere, users may be writing."""
    installed = (sysconfig.get_paths()[kind] for kind in ("stdlib", "platstdlib", "purelib", "platlib"))
    ours = (str(Path(__file__).parents[1]), str(cache_folder()))
    lasting = tuple(os.path.join(folder, "") for folder in (*installed, *ours))
    files = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    return all(file is None or file.startswith(lasting) for file in files)


def _do(job: Any) -> None:
    if isinstance(job, Call):
        job.function(*job.arguments)
        return
    (module, name, kind), kinds = job
    found = getattr(sys.modules[module], name)
    left = Job(found if kind is None else found.of(kind), kinds)
    if not left.is_done:
        left.dispatcher.compile(left.kinds)


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
