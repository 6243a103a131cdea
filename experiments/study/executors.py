"""Where trials run: in threads of this process, or anywhere that joblib reaches."""

import os
import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from biped.errors import InputError
from experiments.trial import Result, Trial

#: What is done for a trial, in a thread, a process, or on another machine.
Work = Callable[[Trial], Result]
BACKENDS = ("threads", "loky", "dask", "ray")


class Executor(Protocol):
    """Runs trials somewhere."""

    workers: int

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
    if workers is not None and workers < 1:
        raise InputError(f"workers = {workers}: it must be one or more")
    if scheduler is not None and backend != "dask":
        raise InputError(f"scheduler = {scheduler}: only the backend dask has one")
    if backend == "threads":
        return Threads(workers or cores())
    raise InputError(f"backend = {backend!r}: it must be one of {', '.join(BACKENDS)}")


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Threads:
    """Threads of this process: compiled loops let go of the interpreter, so that all cores work, on the same kernels.

    Attributes:
        workers: the number of threads.
    """

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
        finally:
            stop.set()
            for thread in threads:
                thread.join()
