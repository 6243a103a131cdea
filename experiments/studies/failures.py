"""Results of trials that could not be computed: the error, and the line of code that raised it."""

import inspect
import signal
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from biped.control.controller import Controller
from biped.metrics import METRICS
from biped.runs.verdict import FAILED
from experiments.catalogue.experiment import Experiment
from experiments.lookup.open_registry import is_project_code

#: Result of a trial: metrics by name (None if one does not apply), ``verdict``, ``reason``, ``failure``, ``message``;
#: also ``traceback`` if code of the user or of this project raised an unexpected error.
Result = dict[str, float | int | str | None]

TRACEBACK = "traceback"
#: Number of last frames that a traceback shows for an error in compiled code, which has no frames itself.
LAST = 3


class OutOfTimeError(BaseException):
    """The time limit of a trial is exceeded.

    It is not an ``Exception``, so that a controller that catches every ``Exception`` does not catch it.
    """


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Raise OutOfTimeError in the main thread if the block takes longer than this; None sets no limit."""

    def ring(*_: object) -> None:
        raise OutOfTimeError(f"not finished after {seconds:g} s")

    if seconds is None:
        yield
        return
    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)


def failed(name: str, message: str, trace: str = "") -> Result:
    """Return the result of a trial that could not be computed."""
    result: Result = {"verdict": FAILED, "reason": name, "failure": name, "message": " ".join(message.split())}
    return result | ({TRACEBACK: trace} if trace else {})


def failed_by(error: BaseException, experiment: Experiment, controller: Controller | None) -> Result | None:
    """Return the result of a trial that ended in an error in code; None if the machine or the user stopped it.

    The traceback begins in the first file outside this project, whose code is taken for the cause. Compiled code leaves
    no frames: any error of a run under a user's compiled controller is attributed to that controller. All other errors
    are defects of this project and keep their full traceback.
    """
    files = set(_files(experiment, controller))
    frames = [frame.f_code.co_filename for frame, _ in traceback.walk_tb(error.__traceback__)]
    place = next((k for k, file in enumerate(frames) if file in files), None)
    if place is None and (_is_compiled(controller) or isinstance(error, OutOfTimeError)):
        place = -LAST
    if place is None and isinstance(error, MemoryError | OSError | SystemExit):
        return None
    stack = traceback.extract_tb(error.__traceback__)[place:]
    if isinstance(error, OutOfTimeError):  # the last frame is the timer's
        stack.pop()
    trace = "".join([*traceback.format_list(stack), *traceback.format_exception_only(error)]).rstrip()
    name = type(error).__name__
    at = next((_at(frame) for frame in reversed(stack) if frame.filename in files), "")
    return failed(name, f"{str(error) or name}{at}", trace)


def _at(frame: traceback.FrameSummary) -> str:
    """Return file, line and function of a frame as text."""
    return f" ({Path(frame.filename).name}, line {frame.lineno}, in {frame.name})"


def _files(experiment: Experiment, controller: Controller | None) -> Iterator[str]:
    """Yield the files outside this project that define the experiment, the controller and its bases, and metrics."""
    if experiment.brought is not None:
        yield str(experiment.brought.file)
    things: list[Any] = [*type(controller).__mro__, *(metric.compute for metric in METRICS.values())]
    yield from (inspect.getfile(thing) for thing in things if not is_project_code(thing))


def _is_compiled(controller: Controller | None) -> bool:
    """Return True if the controller is a user's and is compiled."""
    if controller is None:
        return False
    kind = type(controller)
    return not is_project_code(kind) and kind.law is not Controller.law
