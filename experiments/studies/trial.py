"""One trial of a study: an experiment under complete changes, and what it amounts to.

The same experiment and changes give the same result, bit for bit, on the same machine and versions: everything
random has its seed among the changes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from biped.errors import IntegrationError
from biped.metrics import measure_recording
from biped.simulation.driver import Announce
from biped.simulation.session import Session
from contact.errors import BipedError
from experiments.catalogue.experiment import Experiment
from experiments.catalogue.parameters.parameter import Value

#: A label of a study: a word or a number.
Label = str | float | int
#: Metrics by name, None where one does not apply; always with ``verdict``, ``failure`` and ``message``.
Result = dict[str, float | int | str | None]

RECOVERED, STEPPED, FELL, FAILED = VERDICTS = ("recovered", "stepped", "fell", "failed")
#: What every result has.
OUTCOME = ("verdict", "failure", "message")


@dataclass(frozen=True)
class Trial:
    """One trial.

    Attributes:
        number: it is known by in its study.
        changes: what differs from the experiment's defaults, complete: the result depends on nothing else.
        labels: the study's own words, such as scenario, replica, direction; they change nothing.
    """

    number: int
    changes: Mapping[str, Value]
    labels: Mapping[str, Label] = field(default_factory=dict)


def run_trial(experiment: Experiment, trial: Trial, announce: Announce | None = None) -> Result:
    """Simulate a trial and measure it, without making tables of it.

    A step without a solution, or values that no simulation can use, are a result too: verdict ``failed``, the class
    of the error in ``failure``, its message in ``message``. All other exceptions are defects, and are let through.
    """
    try:
        session = Session(experiment.build(trial.changes), in_one_go=True)
    except BipedError as error:
        return _failed(type(error), str(error))
    if announce is not None:
        session.warm_up(announce)
    recording = session.run()
    if recording.ending.outcome == "interrupted":
        raise KeyboardInterrupt
    if recording.ending.error is not None:
        return _failed(IntegrationError, recording.ending.error)
    measured = measure_recording(recording)
    verdict = measured.pop("verdict")
    if verdict is None:  # it never stood on anything
        verdict = FELL if recording.ending.outcome == "fell" else RECOVERED
    return {"verdict": verdict, "failure": "", "message": "", "fell_at": recording.ending.fell_at} | measured


def _failed(error: type[Exception], message: str) -> Result:
    return {"verdict": FAILED, "failure": error.__name__, "message": " ".join(message.split())}
