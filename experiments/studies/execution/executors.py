"""Where trials run: in threads of this process, in processes, or on other machines.

Threads need nothing copied and share the compiled kernels. Processes are joblib's (loky, or what else is registered
there and hands over results as they come). Dask and Ray are used through their own clients: with joblib in between, a
trial that kills its worker each time is waited for without end (Dask), or results come only when all are there (Ray).
"""

import logging
import os
import queue
import signal
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from biped.errors import InputError
from biped.extras import need
from experiments.studies.trial import Result, Trial

#: What is done for a trial, in a thread, a process, or on another machine.
Work = Callable[[Trial], Result]
BACKENDS = ("threads", "loky", "dask", "ray")
#: A trial whose worker died is tried so many times more.
RETRIES = 3


class Executor(Protocol):
    """Runs trials somewhere."""

    workers: int
    #: Whether trials run in this process.
    is_local: bool

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
        scheduler: the address of a Dask scheduler, or of a Ray cluster.

    Raises:
        InputError: there is none of this name, or what it needs is not there.
    """
    if workers is not None and workers < 1:
        raise InputError(f"workers = {workers}: it must be one or more")
    if scheduler is not None and backend not in ("dask", "ray"):
        raise InputError(f"scheduler = {scheduler}: only the backends dask and ray have one")
    if backend not in BACKENDS:
        raise InputError(f"backend = {backend!r}: it must be one of {', '.join(BACKENDS)}")
    if backend == "threads":
        return Threads(workers or cores())
    if backend == "dask":
        need("distributed")
        return Dask(workers, scheduler)
    if backend == "ray":
        need("ray")
        return Ray(workers, scheduler)
    return Joblib(backend, workers or cores())


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Threads:
    """Threads of this process: compiled loops let go of the interpreter, so that all cores work, on the same kernels.

    Attributes:
        workers: the number of threads.
    """

    is_local = True

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def run(self, work: Work, trials: Iterable[Trial]) -> Iterator[tuple[Trial, Result]]:
        """See ``Executor``."""
        waiting = iter(trials)
        taking = threading.Lock()
        stop = threading.Event()
        done: queue.SimpleQueue[tuple[Trial | None, Result | BaseException]] = queue.SimpleQueue()

        def serve() -> None:
            try:
                while not stop.is_set():
                    with taking:
                        trial = next(waiting, None)
                    if trial is None:
                        break
                    done.put((trial, work(trial)))
                done.put((None, {}))
            except BaseException as error:
                done.put((None, error))

        threads = [threading.Thread(target=serve, name=f"trials-{k}", daemon=True) for k in range(self.workers)]
        for thread in threads:
            thread.start()
        busy = len(threads)
        try:
            while busy:
                trial, result = done.get()
                if isinstance(result, BaseException):
                    raise result
                if trial is None:
                    busy -= 1
                else:
                    yield trial, result
        except KeyboardInterrupt:  # what is being run is finished, and not lost
            _end(threads, stop)
            while not done.empty():
                trial, result = done.get()
                if trial is not None and not isinstance(result, BaseException):
                    yield trial, result
            raise
        finally:
            _end(threads, stop)


def _end(threads: list[threading.Thread], stop: threading.Event) -> None:
    stop.set()
    for thread in threads:
        thread.join()


class Joblib:
    """Processes of joblib, or whatever a backend registered there makes of them.

    Workers that are killed are replaced, and their trials run anew.

    Attributes:
        backend: its name there.
        workers: how many processes.
    """

    is_local = False

    def __init__(self, backend: str, workers: int) -> None:
        self.backend, self.workers = backend, workers

    def run(self, work: Work, trials: Iterable[Trial]) -> Iterator[tuple[Trial, Result]]:
        """See ``Executor``.

        Raises:
            ChildProcessError: workers are killed again and again.
        """
        from joblib.externals.loky.process_executor import BrokenProcessPool

        missing = {trial.number: trial for trial in trials}
        while missing:
            before = len(missing)
            try:
                for number, result in self._pass(work, list(missing.values())):
                    yield missing.pop(number), result
            except BrokenProcessPool as error:
                if len(missing) == before:
                    raise ChildProcessError(
                        f"worker processes were killed again and again, {before} trials are left: is there enough "
                        f"memory for {self.workers} of them? ({' '.join(str(error).split())})"
                    ) from None

    def _pass(self, work: Work, trials: list[Trial]) -> Iterator[tuple[int, Result]]:
        import joblib

        # One trial at a time, so that each is kept as soon as it is finished.
        parallel = joblib.Parallel(
            n_jobs=self.workers, backend=self.backend, return_as="generator_unordered", batch_size=1
        )
        results: Any = parallel(joblib.delayed(_numbered)(work, trial) for trial in trials)
        try:
            yield from results
        finally:
            results.close()


def _numbered(work: Work, trial: Trial) -> tuple[int, Result]:
    """The result with the trial's number: what comes back unordered has to say what it is."""
    return trial.number, work(trial)


class Dask:
    """Workers of a Dask cluster: that of a scheduler, or one of processes on this machine.

    The scheduler runs the trials of a lost worker on another one.

    Attributes:
        workers: how many processes, where the cluster is local; else how many threads the cluster has when it is
            first used.
        scheduler: its address; None for a local cluster.
    """

    is_local = False
    #: [s] to wait for the scheduler, and for its first worker.
    PATIENCE = 60.0

    def __init__(self, workers: int | None = None, scheduler: str | None = None, client: Any = None) -> None:
        self.workers = workers or (cores() if scheduler is None else 0)
        self.scheduler = scheduler
        self._client = client

    def run(self, work: Work, trials: Iterable[Trial]) -> Iterator[tuple[Trial, Result]]:
        """See ``Executor``.

        Raises:
            InputError: there is no such scheduler, or it has no worker.
            ChildProcessError: some trials killed each worker that tried them; all others are done by then.
        """
        if self._client is not None:
            yield from self._serve(self._client, work, trials)
            return
        import dask
        from distributed import LocalCluster

        if self.scheduler is not None:
            with _client_of(self.scheduler, self.PATIENCE) as client:
                yield from self._serve(client, work, trials)
            return
        options: dict[str, Any] = {"threads_per_worker": 1, "processes": True, "dashboard_address": None}
        options["silence_logs"] = logging.CRITICAL  # what matters is raised
        # No trial waits at a worker while another one runs there: if that one kills it, only that one is to blame.
        one_at_a_time = {"distributed.scheduler.worker-saturation": 1.0}
        with _children_without_interrupts(), dask.config.set(one_at_a_time):
            cluster = LocalCluster(n_workers=self.workers, **options)
        with cluster, _client_of(cluster, self.PATIENCE) as client:
            yield from self._serve(client, work, trials)

    def _serve(self, client: Any, work: Work, trials: Iterable[Trial]) -> Iterator[tuple[Trial, Result]]:
        from distributed import KilledWorker, as_completed

        self.workers = self._threads(client)
        waiting = iter(trials)
        sent: dict[Any, Trial] = {}
        lost: list[int] = []

        def send() -> list[Any]:
            """As many as keep all workers busy; the others stay here, and can still be taken back."""
            futures = []
            while len(sent) < 4 * self.workers + 4 and (trial := next(waiting, None)) is not None:
                future = client.submit(work, trial, pure=False, key=f"trial-{trial.number}-{uuid.uuid4().hex}")
                sent[future] = trial
                futures.append(future)
            return futures

        arriving = as_completed(send(), loop=client.loop)
        try:
            for future in arriving:
                trial = sent.pop(future)
                try:
                    result = future.result()
                except KilledWorker:
                    lost.append(trial.number)
                    result = None
                arriving.update(send())
                if result is not None:
                    yield trial, result
        finally:
            client.cancel(list(sent))
        if lost:
            raise _killers(lost)

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


def _killers(trials: list[int]) -> ChildProcessError:
    numbers = ", ".join(map(str, sorted(trials)))
    return ChildProcessError(f"each worker that tried one of these trials was killed: {numbers}; all others ran")


def _client_of(where: Any, patience: float) -> Any:
    """A client of a cluster, or of the scheduler at an address."""
    from distributed import Client

    try:
        return Client(where, set_as_default=False, timeout=patience)
    except (OSError, ValueError) as error:
        raise InputError(f"scheduler {where}: cannot be reached ({' '.join(str(error).split())})") from None


class Ray:
    """Workers of a Ray cluster: the one at an address, or one on this machine.

    Attributes:
        workers: how many trials at a time; as many as the cluster has cores, if not given.
        scheduler: the cluster's address; None for this machine.
    """

    is_local = False

    def __init__(self, workers: int | None = None, scheduler: str | None = None) -> None:
        self.workers = workers or (cores() if scheduler is None else 0)
        self.scheduler = scheduler

    def run(self, work: Work, trials: Iterable[Trial]) -> Iterator[tuple[Trial, Result]]:
        """See ``Executor``.

        Raises:
            InputError: there is no such cluster.
            ChildProcessError: some trials killed each worker that tried them; all others are done by then.
        """
        import ray

        try:
            options: dict[str, Any] = {"num_cpus": self.workers} if self.scheduler is None else {}
            ray.init(
                address=self.scheduler, include_dashboard=False, log_to_driver=False, logging_level="ERROR", **options
            )
        except (ConnectionError, ValueError) as error:
            raise InputError(f"scheduler {self.scheduler}: {' '.join(str(error).split())}") from None
        try:
            self.workers = self.workers or int(ray.cluster_resources().get("CPU", 1))
            yield from self._serve(ray, work, trials)
        finally:
            ray.shutdown()

    def _serve(self, ray: Any, work: Work, trials: Iterable[Trial]) -> Iterator[tuple[Trial, Result]]:
        remote = ray.remote(num_cpus=1, max_retries=RETRIES)(_numbered)
        waiting = iter(trials)
        sent: dict[Any, Trial] = {}
        lost: list[int] = []
        while True:
            while len(sent) < 2 * self.workers + 2 and (trial := next(waiting, None)) is not None:
                sent[remote.remote(work, trial)] = trial
            if not sent:
                break
            (first, *_), _ = ray.wait(list(sent), num_returns=1)
            trial = sent.pop(first)
            try:
                _, result = ray.get(first)
            except ray.exceptions.WorkerCrashedError:
                lost.append(trial.number)
                continue
            yield trial, result
        if lost:
            raise _killers(lost)
