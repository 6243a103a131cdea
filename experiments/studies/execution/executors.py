"""Where trials run: in threads of this process, in processes, or on other machines.

Threads need nothing copied and share the compiled kernels. Processes are joblib's (loky), which need no guard around a
user's script and are replaced when they die. Dask is used through its own client: with joblib in between, a trial that
kills its worker each time is waited for without end.
"""

import logging
import os
import re
import signal
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, as_completed, wait
from contextlib import ExitStack, contextmanager
from itertools import islice
from typing import Any, Protocol

from biped.errors import InputError
from biped.inputs.checks import above_zero
from biped.inputs.extras import need
from experiments.catalogue.experiment import Experiment
from experiments.catalogue.parameters.parameter import Value
from experiments.studies.failures import OutOfTimeError, Result, failed
from experiments.studies.trial import Trial, waits_for_python

#: What is done for a trial, in a thread, a process, or on another machine.
Work = Callable[[Trial], Result]
BACKENDS = ("threads", "loky", "dask")
#: More threads or processes than this are a slip of the finger.
MOST_WORKERS = 4096
#: [s] that a trial under somebody's own law may take, where nothing else is said.
TIME_LIMIT = 120.0
#: [s] between two looks of a worker whether its study is still there.
WATCHED_EVERY = 1.0


class Executor(Protocol):
    """A place where trials run."""

    workers: int  # how many trials run at a time
    is_local: bool  # whether they run in this process

    def run(self, work: Work, trials: Iterable[Trial]) -> Iterator[tuple[Trial, Result]]:
        """Each trial with its result, as soon as it has one, in any order.

        An exception of ``work`` ends it. Closing the iterator ends it too, after the trials that are being run.
        """
        ...


def executor_named(backend: str = "threads", workers: int | None = None, scheduler: str | None = None) -> Executor:
    """The executor of this name.

    Args:
        backend: one of ``BACKENDS``.
        workers: how many trials run at a time; as many as there are cores for this process, if not given.
        scheduler: the address of a Dask scheduler.

    Raises:
        InputError: there is none of this name, or what it needs is not there.
    """
    if workers is not None and not 1 <= workers <= MOST_WORKERS:
        raise InputError(f"workers = {workers}: it must be from 1 to {MOST_WORKERS}; there are {cores()} cores")
    if scheduler is not None and backend != "dask":
        raise InputError(f"scheduler = {scheduler}: only the backend dask has one")
    if backend not in BACKENDS:
        raise InputError(f"backend = {backend!r}: it must be one of {', '.join(BACKENDS)}")
    if backend == "dask":
        need("distributed")
        return Dask(workers, scheduler)
    return (Threads if backend == "threads" else Processes)(workers or cores())


def executor_for(
    experiment: Experiment,
    backend: str | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    limit: float = TIME_LIMIT,
    samples: Iterable[Mapping[str, Value]] = ({},),
) -> Executor:
    """The executor for trials of an experiment.

    A controller that is asked from Python, and an engine that takes its steps from there, hold the interpreter's lock:
    unless set otherwise, they run in processes.

    Args:
        experiment: with its controller.
        backend: as in ``executor_named``; where it is not given, that which suits the experiment.
        workers: as in ``executor_named``.
        scheduler: as in ``executor_named``.
        limit: [s] that a trial in such a process may take.
        samples: changes of some trials, one for each integrator that there is.

    Raises:
        InputError: as ``executor_named``; or the limit is not above zero.
    """
    above_zero(limit, "time limit of a trial")
    if scheduler is not None and backend in (None, "threads"):
        backend = "dask"
    if backend is None:
        backend = "loky" if any(waits_for_python(experiment, changes) for changes in samples) else "threads"
    found = executor_named(backend, workers, scheduler)
    if backend == "loky" and any(experiment.under(changes).sources for changes in samples):
        return Separate(found.workers, limit)
    return found


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Threads:
    """Threads of this process: compiled loops let go of the interpreter, so that all cores work on the same kernels."""

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
            # Within a wait an interrupt may find the lock let go, and come out as "release unlocked lock".
            if not any(isinstance(error, KeyboardInterrupt) for error in (stop, stop.__context__)):
                raise
            pool.shutdown(cancel_futures=True)
            for future, trial in waiting.items():  # what is being run is finished, and not lost
                if not future.cancelled() and future.exception() is None:
                    yield trial, future.result()
            raise KeyboardInterrupt from stop
        finally:
            pool.shutdown(cancel_futures=True)


class Processes:
    """Processes of joblib. Those that are killed are replaced, and their trials run anew."""

    is_local = False
    #: How often in a row workers may be killed before any trial ends.
    PASSES = 3

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def run(self, work: Work, trials: Iterable[Trial]) -> Iterator[tuple[Trial, Result]]:
        """See ``Executor``; raises ChildProcessError if workers are killed ``PASSES`` times without a result."""
        from joblib.externals.loky.process_executor import BrokenProcessPool

        missing = {trial.number: trial for trial in trials}
        in_vain = 0
        while missing:
            before = len(missing)
            try:
                for number, result in self._pass(work, list(missing.values())):
                    yield missing.pop(number), result
            except BrokenProcessPool as error:
                in_vain = in_vain + 1 if len(missing) == before else 0
                if in_vain == self.PASSES:
                    raise ChildProcessError(
                        f"worker processes were killed again and again, {before} trials are left: is there enough "
                        f"memory for {self.workers} of them? ({' '.join(str(error).split())})"
                    ) from None

    def _pass(self, work: Work, trials: list[Trial]) -> Iterator[tuple[int, Result]]:
        import joblib

        # One trial at a time, so that each is stored as soon as it is finished.
        parallel = joblib.Parallel(
            n_jobs=self.workers, backend="loky", return_as="generator_unordered", batch_size=1,
            initializer=end_with, initargs=(os.getpid(),),
        )  # fmt: skip
        results: Any = parallel(joblib.delayed(_numbered)(work, trial) for trial in trials)
        try:
            yield from results
        finally:
            results.close()


def _numbered(work: Work, trial: Trial) -> tuple[int, Result]:
    """The result with the trial's number: what comes back unordered has to say what it is."""
    return trial.number, work(trial)


class Separate:
    """Processes for code that is somebody else's, each with one trial at a time.

    A trial that takes too long, or that kills its process, is a result: that of no other trial is lost with it. What
    is done for a trial ends it when it is out of time; this kills the process where that does not help.
    """

    is_local = False
    #: [s] for a process to begin, with loading its kernels, and to end a trial that is out of time by itself.
    START, GRACE = 120.0, 5.0

    def __init__(self, workers: int, limit: float) -> None:
        self.workers = workers
        self.limit = limit  # [s] that a trial may take
        self._running: dict[Future[Result], tuple[Any, Trial, float]] = {}  # its pool, the trial, when it must be over

    def run(self, work: Work, trials: Iterable[Trial]) -> Iterator[tuple[Trial, Result]]:
        waiting, idle = iter(trials), [None] * self.workers
        try:
            while True:
                for trial in islice(waiting, len(idle)):
                    self._begin(idle.pop(), work, trial)
                if not self._running:
                    return
                for pool, trial, result in self._ended():
                    idle.append(pool)
                    yield trial, result
        finally:
            for pool in [*idle, *(pool for pool, *_ in self._running.values())]:
                if pool is not None:
                    pool.shutdown(kill_workers=True)
            self._running.clear()

    def _begin(self, pool: Any, work: Work, trial: Trial) -> None:
        from joblib.externals.loky import ProcessPoolExecutor

        start = 0.0 if pool is not None else self.START
        pool = pool or ProcessPoolExecutor(1, initializer=begin_worker, initargs=(os.getpid(),))
        future = pool.submit(work, trial)
        self._running[future] = pool, trial, time.monotonic() + start + self.limit + self.GRACE

    def _ended(self) -> Iterator[tuple[Any, Trial, Result]]:
        """The trials that have ended since, at least one: its pool, or None where that is no more, and its result."""
        from joblib.externals.loky.process_executor import TerminatedWorkerError

        soonest = min(deadline for *_, deadline in self._running.values())
        done, _ = wait(self._running, max(0.0, soonest - time.monotonic()), FIRST_COMPLETED)
        late = {future for future, (*_, deadline) in self._running.items() if deadline <= time.monotonic()}
        for future in done | late:
            pool, trial, _ = self._running.pop(future)
            try:
                yield pool, trial, future.result(timeout=0.0)
                continue
            except TimeoutError:
                result = failed(
                    OutOfTimeError.__name__, f"not done after {self.limit:g} s, and did not stop when asked to: killed"
                )
            except TerminatedWorkerError as error:
                result = failed("ProcessDied", f"the process of this trial died: {_exit_code(error)}")
            pool.shutdown(kill_workers=True)
            yield None, trial, result


def _exit_code(error: Exception) -> str:
    found = re.search(r"exit codes? of the workers (?:is|are) \{(.*?)\}", str(error))
    return found[1] if found else " ".join(str(error).split())


def begin_worker(parent: int) -> None:
    """Initialize a process that somebody else's executor has started, for the process of this id."""
    ignore_interrupts()
    end_with(parent)


def end_with(parent: int) -> None:
    """Let this process end with the one that started it: loky has workers of a killed one wait for minutes."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(WATCHED_EVERY)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def ignore_interrupts() -> None:
    """Ctrl-C on the terminal is heard by who started this process: that one ends it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


class Dask:
    """Workers of a Dask cluster: that of a scheduler, or one of processes on this machine.

    The scheduler runs the trials of a lost worker on another one.
    """

    is_local = False
    #: [s] to wait for the scheduler, and for its first worker.
    PATIENCE = 60.0

    def __init__(self, workers: int | None = None, scheduler: str | None = None, client: Any = None) -> None:
        #: how many processes, where the cluster is local; else how many threads the cluster has when it is first used
        self.workers = workers or (cores() if scheduler is None else 0)
        self.scheduler = scheduler  # its address; None for a local cluster
        self._client = client

    def run(self, work: Work, trials: Iterable[Trial]) -> Iterator[tuple[Trial, Result]]:
        """See ``Executor``; raises ChildProcessError if some trials killed each worker; all others are done by then."""
        with ExitStack() as opened:
            client = self._client
            if client is None:
                where = self.scheduler or opened.enter_context(self._local_cluster())
                client = opened.enter_context(self._client_of(where))
            yield from self._serve(client, work, trials)

    def _local_cluster(self) -> Any:
        import dask
        from distributed import LocalCluster

        options: dict[str, Any] = {"threads_per_worker": 1, "processes": True, "dashboard_address": None}
        options["silence_logs"] = logging.CRITICAL  # what matters is raised
        # No trial waits at a worker while another one runs there: if that one kills it, only that one is to blame.
        one_at_a_time = {"distributed.scheduler.worker-saturation": 1.0}
        with _children_without_interrupts(), dask.config.set(one_at_a_time):
            return LocalCluster(n_workers=self.workers, **options)

    def _client_of(self, where: Any) -> Any:
        from distributed import Client

        try:
            return Client(where, set_as_default=False, timeout=self.PATIENCE)
        except (OSError, ValueError) as error:
            raise InputError(f"scheduler {where}: cannot be reached ({' '.join(str(error).split())})") from None

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


@contextmanager
def _children_without_interrupts() -> Iterator[None]:
    """Processes that are started in here do not hear a Ctrl-C on the terminal: who started them ends them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
