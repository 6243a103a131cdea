"""Executors of trials: threads of this process, other processes, or other machines.

Threads share all data and the compiled kernels. Processes are loky's, which need no ``__main__`` guard in a user's
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

#: Function that runs a trial, in a thread, a process, or on another machine.
Work = Callable[[Trial], Result]
BACKENDS = ("threads", "loky")
#: [s] default time limit of a trial under a user's own controller.
TIME_LIMIT = 120.0
#: [s] interval at which a worker checks that its parent process still runs.
WATCHED_EVERY = 1.0


class Executor(Protocol):
    """Interface of objects that run the trials of a study in parallel."""

    workers: int  # number of trials that run in parallel
    is_local: bool  # True if trials run in this process

    def run(self, work: Work, trials: Iterable[Trial]) -> Iterator[tuple[Trial, Result]]:
        """Yield each trial with its result as soon as it is finished, in any order.

        An exception of ``work`` ends the iteration. If the iterator is closed, running trials are finished first.
        """
        ...


def executor_named(backend: str = "threads", workers: int | None = None, scheduler: str | None = None) -> Executor:
    """Return an executor that runs trials in threads, in processes, or on a Dask cluster.

    Args:
        backend: ``"threads"`` or ``"loky"`` (processes); ignored with a scheduler.
        workers: number of trials that run in parallel; None: the number of cores that this process may use.
        scheduler: address of the Dask scheduler of the cluster that runs the trials; None: trials run on this machine.

    Raises:
        InputError: the backend is unknown, ``workers`` is below 1, or a package is not installed.
    """
    if workers is not None and workers < 1:
        raise InputError(f"workers = {workers}: it must be 1 or above; {cores()} cores are available")
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

    By default, compiled trials run in threads. Controllers and engines in Python run in processes, because they hold
    the interpreter's lock.

    Args:
        experiment: experiment with its controller.
        backend: ``"threads"`` or ``"loky"`` (processes); None: the default for the experiment.
        workers: number of trials that run in parallel; None: the number of cores that this process may use.
        scheduler: address of a Dask scheduler; None: trials run on this machine.
        limit: [s] time limit of a trial in a process, if the experiment has user code.
        samples: changes of sample trials, one for each integrator and controller.

    Raises:
        InputError: as in ``executor_named``, or the limit is not above zero.
    """
    above_zero(limit, "time limit of a trial")
    if backend is None:
        backend = "loky" if any(waits_for_python(experiment, changes) for changes in samples) else "threads"
    executor = executor_named(backend, workers, scheduler)
    if isinstance(executor, Processes) and any(experiment.under(changes).sources for changes in samples):
        return Processes(executor.workers, limit)
    return executor


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Threads:
    """Executor that runs ``workers`` trials in parallel, in threads of this process; compiled loops release the GIL."""

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
            for future, trial in waiting.items():  # running trials are finished, so that they are not lost
                if not future.cancelled() and future.exception() is None:
                    yield trial, future.result()
            raise KeyboardInterrupt from stop
        finally:
            pool.shutdown(cancel_futures=True)


class Processes:
    """Executor that runs trials in processes, which are reused by the next run.

    With a ``limit`` [s], for trials with user code, a trial that takes longer or kills its process has a result with
    the verdict ``failed``. Without a limit, a trial whose process was killed is run again.
    """

    is_local = False
    #: [s] time for a process to start and load kernels, and for a trial that exceeded its limit to end by itself.
    START, GRACE = 120.0, 5.0
    #: Number of processes killed in a row, without a finished trial, at which the run ends with an error.
    DEATHS = 3

    def __init__(self, workers: int, limit: float | None = None) -> None:
        self.workers, self.limit = workers, limit
        self._idle: list[Any] = [None] * workers  # pools of one process each; None for one that is not started
        self._running: dict[Future[Result], tuple[Any, Trial, float]] = {}  # pool, trial, and deadline of each future

    def run(self, work: Work, trials: Iterable[Trial]) -> Iterator[tuple[Trial, Result]]:
        """Yield trials and results as ``Executor.run``; raise ChildProcessError after ``DEATHS`` killed processes."""
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
                            f"{deaths} worker processes in a row were killed, {len(waiting) + len(self._running) + 1} "
                            f"trials are left: check that memory suffices for {self.workers} workers, or use fewer"
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
        """Wait for trials to end; yield pool (None if killed), trial, and result (None if it must be repeated)."""
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
                text = f"not finished after {self.limit:g} s and did not stop by itself: its process was killed"
                result = failed(OutOfTimeError.__name__, text)
            except TerminatedWorkerError as error:
                if self.limit is not None:
                    result = failed("ProcessDied", f"the process of this trial died; exit code: {_exit_code(error)}")
            pool.shutdown(kill_workers=True)
            yield None, trial, result


def _exit_code(error: Exception) -> str:
    match = re.search(r"exit codes? of the workers (?:is|are) \{(.*?)\}", str(error))
    return match[1] if match else " ".join(str(error).split())


def begin_worker(parent: int) -> None:
    """Initialize a worker process of the process ``parent``: it ignores Ctrl-C, and ends when its parent ends.

    On Ctrl-C, the parent ends its workers. Without the check, workers of a killed parent would wait for minutes.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(WATCHED_EVERY)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


class Dask:
    """Executor that runs trials on a Dask cluster; trials of a lost worker are repeated on another worker."""

    is_local = False
    #: [s] longest wait for the scheduler, and for the first worker.
    PATIENCE = 60.0

    def __init__(self, scheduler: str | None = None, client: Any = None) -> None:
        self.workers = 0  # number of threads of the cluster, once it is used
        self.scheduler = scheduler  # address of the scheduler; None if a client is given
        self._client = client

    def run(self, work: Work, trials: Iterable[Trial]) -> Iterator[tuple[Trial, Result]]:
        """Yield trials and results as ``Executor.run``; finally raise ChildProcessError if trials killed workers."""
        with nullcontext(self._client) if self._client is not None else self._connected() as client:
            yield from self._serve(client, work, trials)

    def _connected(self) -> Any:
        from distributed import Client

        try:
            return Client(self.scheduler, set_as_default=False, timeout=self.PATIENCE)
        except (OSError, ValueError) as error:
            message = " ".join(str(error).split())
            raise InputError(f"the Dask scheduler {self.scheduler} cannot be reached ({message})") from None

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
            raise ChildProcessError(f"these trials killed each worker that ran them: {numbers}; all others are done")

    def _threads(self, client: Any) -> int:
        try:
            client.wait_for_workers(1, timeout=self.PATIENCE)
        except TimeoutError:
            raise InputError(
                f"no worker joined the Dask scheduler {self.scheduler} in {self.PATIENCE:g} s; start workers with "
                "`dask worker ADDRESS`"
            ) from None
        return sum(client.nthreads().values())
