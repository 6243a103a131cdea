"""One trial of a study: an experiment under complete changes, and what it amounts to.

The same experiment and changes give the same result, bit for bit, on the same machine and versions: everything
random has its seed among the changes.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from biped.errors import InputError, IntegrationError, ModelError
from biped.run import Run
from biped.simulation import Announce
from contact import FloorError
from experiments.experiment import Experiment
from experiments.parameter import Value

#: A label of a study: a word or a number.
Label = str | float | int
#: Metrics by name, None where one does not apply; always with ``verdict``, ``failure`` and ``message``.
Result = dict[str, float | int | str | None]

RECOVERED, STEPPED, FELL, FAILED = VERDICTS = ("recovered", "stepped", "fell", "failed")
#: What every result has.
OUTCOME = ("verdict", "failure", "message")
#: What one trial may end in without ending the study: the class's name is the result's ``failure``.
TYPED = (IntegrationError, InputError, ModelError, FloorError)


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
    """Simulate a trial and measure it.

    A step without a solution, or values that no simulation can use, are a result too: verdict ``failed``, the class
    of the error in ``failure``, its words in ``message``. All other exceptions are defects, and are let through.

    Args:
        experiment: what is simulated.
        trial: under which changes.
        announce: called with a sentence before kernels are compiled.
    """
    try:
        run = experiment.run(trial.changes, announce=announce)
    except TYPED as error:
        return {"verdict": FAILED, "failure": type(error).__name__, "message": " ".join(str(error).split())}
    return {"verdict": verdict_of(run), "failure": "", "message": "", **_finite(_measures(run))}


def verdict_of(run: Run) -> str:
    """In one word, how a run that got to its end ended."""
    return FELL if run.summary["outcome"] == "fell" else RECOVERED


#: Units of what ``run_trial`` measures; those that are there for each joint with ``JOINT`` in place of its name.
_UNITS = {
    "fell_at": "s",
    "settling_time": "s",
    "position_error": "m",
    "orientation_error": "rad",
    "peak_torque_JOINT": "N*m",
    "foot_slip": "m",
    "foot_creep": "m",
    "ledger_residual": "J",
    "momentum_defect": "N*s",
    "angular_momentum_defect": "N*m*s",
    "steps": "1",
    "newton_mean": "1",
    "newton_max": "1",
    "retried_steps": "1",
    "simulated_time": "s",
}


def metric_units(experiment: Experiment) -> dict[str, str]:
    """The metrics that results of this experiment have, with their units."""
    joints = experiment.build().model.joint_names
    found: dict[str, str] = {}
    for name, unit in _UNITS.items():
        names = [name.replace("JOINT", joint) for joint in joints] if "JOINT" in name else [name]
        found |= dict.fromkeys(names, unit)
    return found


def _measures(run: Run) -> dict[str, float | int | None]:
    """The summary's numbers, but for those that a clock took."""
    numbers: dict[str, float | int | None] = {}
    for name, value in run.summary.items():
        if name in ("wall_time", "real_time_factor", "outcome", "events"):
            continue
        if isinstance(value, dict):
            numbers |= {f"{name}_{key}": item for key, item in value.items()}
        else:
            numbers[name] = value
    return numbers


def _finite(measures: Mapping[str, float | int | None]) -> Result:
    """None for a number that is not finite: neither JSON nor a mean has a use for it."""
    return {name: None if value is None or not math.isfinite(value) else value for name, value in measures.items()}
