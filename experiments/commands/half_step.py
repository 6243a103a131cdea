"""A run again with half the step: whether what it says depends on the step."""

from collections.abc import Mapping

from biped.errors import IntegrationError
from biped.runs.run import Run
from biped.runs.trust import FAILED, OK, WARNING, Check, Passed
from biped.runs.verdict import verdict_line
from biped.simulation.driver import Announce, Progress
from experiments.catalogue.experiment import Experiment
from experiments.catalogue.parameters.parameter import Value

#: By this part a metric may change.
CHANGE = 0.05
#: The metrics that are compared, and changes [in their unit] that are too small to matter.
COMPARED = {"settling_time": 0.02, "peak_position_error": 1e-3, "margin_of_stability_min": 1e-3, "peak_torque": 1.0}


def check_step(
    experiment: Experiment,
    changes: Mapping[str, Value],
    run: Run,
    *,
    progress: Progress | None = None,
    announce: Announce | None = None,
) -> Check:
    """Run it again with half the step, and put the outcome among the checks of the first run.

    Another verdict makes that one unreliable; a metric that changes by more than 5 % is warned of.

    Raises:
        InputError, RunInterrupted: as ``Experiment.run``.
    """
    step = experiment.values(changes).number("run.step")
    try:
        half = experiment.run({**changes, "run.step": step / 2.0}, progress=progress, announce=announce)
    except IntegrationError as error:
        if error.run is None:
            raise
        half = error.run
    found = compared(run, half)
    run.add_check(found)
    return found


def compared(run: Run, half: Run) -> Check:
    """The check of a run against the same with half the step."""
    changes = {name: _change(run.metrics.get(name), half.metrics.get(name), small) for name, small in COMPARED.items()}
    worst = max(changes, key=lambda name: changes[name])
    text = f"with half the step {worst} changes by {100.0 * changes[worst]:.2g} %"
    passed: Passed = OK if changes[worst] <= CHANGE else WARNING
    if run.summary["verdict"] != half.summary["verdict"]:
        text, passed = f"with half the step it is: {verdict_line(half.summary)}", FAILED
    return Check("half the step", changes[worst], CHANGE, "1", passed, text)


def _change(value: float | None, other: float | None, small: float) -> float:
    """By which part of it a metric changes: nothing where that is too little to matter, all where one has none."""
    if value is None or other is None:
        return float(value is not other)
    difference = abs(other - value)
    return 0.0 if difference <= small else difference / max(abs(value), abs(other))
