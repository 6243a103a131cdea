"""What the commands that run studies share: options, and how they end."""

import argparse

from biped.errors import InputError
from experiments.cli.failures import FAILURE, INTERRUPTED, describe
from experiments.cli.main import fail
from experiments.studies.execution.executors import BACKENDS, Executor, executor_named
from experiments.studies.store.folder import Study

#: For the help of every such command.
STOPPING = """\
Every finished trial is kept at once. Stop with Ctrl-C, or let the machine die: the same command goes on where it was.
Results do not depend on the number of workers.
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Where trials run."""
    parser.add_argument("--workers", metavar="N", type=int, help="trials at a time (default: one on each core)")
    parser.add_argument(
        "--backend",
        metavar="NAME",
        default="threads",
        choices=BACKENDS,
        help=f"where trials run: {', '.join(BACKENDS)} (default: threads of this process)",
    )
    parser.add_argument(
        "--scheduler", metavar="ADDRESS", help="of a cluster: Dask's, such as tcp://10.0.0.1:8786, or Ray's"
    )


def executor_of(options: argparse.Namespace) -> Executor:
    """The executor that the options ask for.

    Raises:
        InputError: they do not fit together, or what they need is not installed.
    """
    backend = "dask" if options.scheduler is not None and options.backend == "threads" else options.backend
    if options.scheduler is not None and options.workers is not None:
        raise InputError("--workers says nothing about a cluster that has a scheduler: leave one of them out")
    return executor_named(backend, options.workers, options.scheduler)


def stopped(study: Study, error: BaseException, total: int | None = None) -> int:
    """Say why a study ended before its end, and that it can go on; the exit status.

    Args:
        study: its folder may be closed.
        error: ``KeyboardInterrupt`` or an ``OSError``.
        total: trials that there would be, where that is known.
    """
    of = f"{len(study.finished)} of {total} trials are" if total is not None else "what is finished is"
    kept = f"{of} in {study.folder}; the same command goes on from there"
    if isinstance(error, KeyboardInterrupt):
        return fail(f"interrupted; {kept}", INTERRUPTED, "")
    assert isinstance(error, Exception)
    return fail(f"{describe(error) or error}; {kept}", FAILURE)
