"""Executors of trials: threads of this process, other processes, or other machines.

Threads need nothing copied and share the compiled kernels. Processes are loky's, which need no guard around a user's
script. Dask is used through its own client: joblib would wait forever for a trial that kills its worker each time.
"""

import math
import os
import re
import signal
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, as_completed, wait
from contextlib import nullcontext
from typing import Any, Protocol

from biped.errors import InputError
from biped.inputs.checks import above_zero
from biped.inputs.extras import need
from experiments.catalogue.experiment import Experiment
from experiments.catalogue.parameters.parameter import Value
from experiments.studies.failures import OutOfTimeError, Result, failed
from experiments.studies.trial import Trial, waits_for_python

#: Work for a trial, in a thread, a process, or on another machine.
Work = Callable[[Trial], Result]
BACKENDS = ("threads", "loky")
#: [s] default time limit of a trial under a user's own controller.
TIME_LIMIT = 120.0
#: [s] between two checks of a worker that its study still exists.
WATCHED_EVERY = 1.0


class Executor(Protocol):
    """Base class of executors, which run trials."""

    workers: int  # number of trials that run in parallel
    is_local: bool  # True if trials run in this process

    def run(self, work: Work, trials: Iterable[Trial]) -> Iterator[tuple[Trial, Result]]:
        """Yield each trial with its result, as soon as it has one, in any order.

        An exception of ``work`` ends it. Closing the iterator ends it too, after the trials that are being run.
        """
        ...


def executor_named(backend: str = "threads", workers: int | None = None, scheduler: str | None = None) -> Executor:
    """Return the executor of this name.

    Args:
        backend: one of ``BACKENDS``; not needed with a scheduler.
        workers: number of trials that run in parallel; by default the number of cores for this process.
        scheduler: address of the Dask scheduler of a cluster that is to run the trials.

    Raises:
        InputError: there is none of this name, or a package or machine that it needs is missing.
    """
    if workers is not None and workers < 1:
        raise InputError(f"workers = {workers}: it must be 1 or above; there are {cores()} cores")
    if backend not in BACKENDS:
        raise InputError(f"backend = {backend!r}: it must be one of {', '.join(BACKENDS)}")
    if scheduler is not None:
        need("distributed")
        return Dask(scheduler)
    return (Threads if backend == "threads" else Processes)(workers or cores())


def executor_for(
    experiment: Experiment,
    backend: str | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    limit: float = TIME_LIMIT,
    samples: Iterable[Mapping[str, Value]] = ({},),
) -> Executor:
    """Return an executor for the trials of an experiment.

    Controllers and engines that run in Python hold the interpreter's lock: by default they run in processes.

    Args:
        experiment: experiment with its controller.
        backend: as in ``executor_named``; by default the one that suits the experiment.
        workers: as in ``executor_named``.
        scheduler: as in ``executor_named``.
        limit: [s] time limit of a trial in such a process.
        samples: changes of sample trials, one for each integrator.

    Raises:
        InputError: as ``executor_named``; or the limit is not above zero.
    """
    above_zero(limit, "time limit of a trial")
    if backend is None:
        backend = "loky" if any(waits_for_python(experiment, changes) for changes in samples) else "threads"
    found = executor_named(backend, workers, scheduler)
    if isinstance(found, Processes) and any(experiment.under(changes).sources for changes in samples):
        return Processes(found.workers, limit)
    return found


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Threads:
    """Executor in threads of this process: compiled loops release the interpreter lock and use all cores."""

    is_local = True

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def run(self, work: Work, trials: Iterable[Trial]) -> Iterator[tuple[Trial, Result]]:
        pool = ThreadPoolExecutor(self.workers)
        waiting: dict[Future[Result], Trial] = {pool.submit(work, trial): trial for trial in trials}
        try:
            for future in as_completed(list(waiting)):
                yield waiting.pop(future), future.result()
        except (KeyboardInterrupt, RuntimeError) as stop:
            # An interrupt during a wait may raise "release unlocked lock".
            if not any(isinstance(error, KeyboardInterrupt) for error in (stop, stop.__context__)):
                raise
            pool.shutdown(cancel_futures=True)
            for future, trial in waiting.items():  # running trials are finished, and not lost
                if not future.cancelled() and future.exception() is None:
                    yield trial, future.result()
            raise KeyboardInterrupt from stop
        finally:
            pool.shutdown(cancel_futures=True)


class Processes:
    """Executor in processes with one trial at a time; processes of a finished run are reused.

    With a ``limit`` [s], for trials that run user code, a trial that takes longer or kills its process gets a result
    that reports it. Without a limit, a trial whose process was killed runs again.
    """

    is_local = False
    #: [s] for a process to begin and to load its kernels, and for a trial beyond its limit to end by itself.
    START, GRACE = 120.0, 5.0
    #: Number of processes that may be killed in a row before any trial ends.
    DEATHS = 3

    def __init__(self, workers: int, limit: float | None = None) -> None:
        self.workers, self.limit = workers, limit
        self._idle: list[Any] = [None] * workers  # pools of one process; None for one that is not started
        self._running: dict[Future[Result], tuple[Any, Trial, float]] = {}  # its pool, the trial, and its deadline

    def run(self, work: Work, trials: Iterable[Trial]) -> Iterator[tuple[Trial, Result]]:
        """See ``Executor``; raises ChildProcessError if ``DEATHS`` processes are killed without a result."""
        waiting, deaths = deque(trials), 0
        try:
            while waiting or self._running:
                while waiting and self._idle:
                    self._begin(self._idle.pop(), work, waiting.popleft())
                for pool, trial, result in self._ended():
                    self._idle.append(pool)
                    deaths = 0 if result is not None else deaths + 1
                    if deaths == self.DEATHS:
                        raise ChildProcessError(
                            f"worker processes were killed again and again, {len(waiting) + len(self._running) + 1} "
                            f"trials are left: is there enough memory for {self.workers} of them?"
                        )
                    if result is None:
                        waiting.append(trial)
                    else:
                        yield trial, result
        finally:
            for pool, *_ in self._running.values():
                pool.shutdown(kill_workers=True)
            self._idle += [None] * len(self._running)
            self._running.clear()

    def _begin(self, pool: Any, work: Work, trial: Trial) -> None:
        from joblib.externals.loky import ProcessPoolExecutor

        start = 0.0 if pool is not None else self.START
        pool = pool or ProcessPoolExecutor(1, initializer=begin_worker, initargs=(os.getpid(),))
        limit = math.inf if self.limit is None else start + self.limit + self.GRACE
        self._running[pool.submit(work, trial)] = pool, trial, time.monotonic() + limit

    def _ended(self) -> Iterator[tuple[Any, Trial, Result | None]]:
        """Yield the trials that have ended since, at least one, with its pool, None if killed, and its result."""
        from joblib.externals.loky.process_executor import TerminatedWorkerError

        soonest = min(deadline for *_, deadline in self._running.values())
        patience = None if soonest == math.inf else max(0.0, soonest - time.monotonic())
        done, _ = wait(self._running, patience, FIRST_COMPLETED)
        late = {future for future, (*_, deadline) in self._running.items() if deadline <= time.monotonic()}
        for future in done | late:
            pool, trial, _ = self._running.pop(future)
            result: Result | None = None
            try:
                yield pool, trial, future.result(timeout=0.0)
                continue
            except TimeoutError:
                text = f"not finished after {self.limit:g} s, and did not stop when asked to: killed"
                result = failed(OutOfTimeError.__name__, text)
            except TerminatedWorkerError as error:
                if self.limit is not None:
                    result = failed("ProcessDied", f"the process of this trial died: {_exit_code(error)}")
            pool.shutdown(kill_workers=True)
            yield None, trial, result


def _exit_code(error: Exception) -> str:
    found = re.search(r"exit codes? of the workers (?:is|are) \{(.*?)\}", str(error))
    return found[1] if found else " ".join(str(error).split())


def begin_worker(parent: int) -> None:
    """Initialize a worker process of the process ``parent``: it ignores Ctrl-C, and ends with its parent.

    The parent hears Ctrl-C and ends it. Workers of a killed parent, which may be gone already, would wait for minutes.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(WATCHED_EVERY)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


class Dask:
    """Executor on the Dask cluster of a scheduler, which repeats the trials of a lost worker on another one."""

    is_local = False
    #: [s] to wait for the scheduler, and for its first worker.
    PATIENCE = 60.0

    def __init__(self, scheduler: str | None = None, client: Any = None) -> None:
        self.workers = 0  # number of threads of the cluster, once it is used
        self.scheduler = scheduler  # its address, if there is no client yet
        self._client = client

    def run(self, work: Work, trials: Iterable[Trial]) -> Iterator[tuple[Trial, Result]]:
        """See ``Executor``; raises ChildProcessError if some trials killed each worker; all others are done by then."""
        with nullcontext(self._client) if self._client is not None else self._connected() as client:
            yield from self._serve(client, work, trials)

    def _connected(self) -> Any:
        from distributed import Client

        try:
            return Client(self.scheduler, set_as_default=False, timeout=self.PATIENCE)
        except (OSError, ValueError) as error:
            message = " ".join(str(error).split())
            raise InputError(f"scheduler {self.scheduler}: cannot be reached ({message})") from None

    def _serve(self, client: Any, work: Work, trials: Iterable[Trial]) -> Iterator[tuple[Trial, Result]]:
        from distributed import KilledWorker, as_completed

        self.workers = self._threads(client)
        sent = {
            client.submit(work, trial, pure=False, key=f"trial-{trial.number}-{uuid.uuid4().hex}"): trial
            for trial in trials
        }
        lost: list[int] = []
        try:
            for future in as_completed(list(sent), loop=client.loop):
                trial = sent.pop(future)
                try:
                    result = future.result()
                except KilledWorker:
                    lost.append(trial.number)
                else:
                    yield trial, result
        finally:
            client.cancel(list(sent))
        if lost:
            numbers = ", ".join(map(str, sorted(lost)))
            raise ChildProcessError(f"each worker that tried one of these trials was killed: {numbers}; all others ran")

    def _threads(self, client: Any) -> int:
        try:
            client.wait_for_workers(1, timeout=self.PATIENCE)
        except TimeoutError:
            raise InputError(
                f"scheduler {self.scheduler}: no worker has come within {self.PATIENCE:g} s; start some with "
                "`dask worker ADDRESS`"
            ) from None
        return sum(client.nthreads().values())
