"""Check of a run against a run with half the time step."""

from collections.abc import Mapping

from biped.errors import IntegrationError
from biped.runs.run import Run
from biped.runs.trust import FAILED, OK, WARNING, Check, Passed
from biped.runs.verdict import verdict_line
from biped.simulation.driver import Announce, Progress
from experiments.catalogue.experiment import Experiment
from experiments.catalogue.parameters.parameter import Value

#: Largest relative change of a metric without a warning.
CHANGE = 0.05
#: Compared metrics, with the changes [in their unit] that are negligible.
COMPARED = {"settling_time": 0.02, "peak_position_error": 1e-3, "margin_of_stability_min": 1e-3, "peak_torque": 1.0}


def check_step(
    experiment: Experiment,
    changes: Mapping[str, Value],
    run: Run,
    *,
    progress: Progress | None = None,
    announce: Announce | None = None,
) -> Check:
    """Repeat a run with half the time step, and add the comparison to the checks of the first run.

    A different verdict makes the run unreliable; a metric that changes by more than 5 % causes a warning.

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
    check = compared(run, half)
    run.add_check(check)
    return check


def compared(run: Run, half: Run) -> Check:
    """Return the check of a run against a run with half the time step."""
    changes = {name: _change(run.metrics.get(name), half.metrics.get(name), small) for name, small in COMPARED.items()}
    worst = max(changes, key=lambda name: changes[name])
    text = f"with half the time step, {worst} changes by {100.0 * changes[worst]:.2g} %"
    passed: Passed = OK if changes[worst] <= CHANGE else WARNING
    if run.summary["verdict"] != half.summary["verdict"]:
        text, passed = f"with half the time step, the verdict is: {verdict_line(half.summary)}", FAILED
    return Check("half the step", changes[worst], CHANGE, "1", passed, text)


def _change(value: float | None, other: float | None, small: float) -> float:
    """Return the relative change of a metric: 0 for small changes, 1 if only one run has it."""
    if value is None or other is None:
        return float(value is not other)
    difference = abs(other - value)
    return 0.0 if difference <= small else difference / max(abs(value), abs(other))
