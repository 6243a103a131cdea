"""Step refinement of the experiment: distance of each engine's runs from the engine's finest run.

Each engine is compared with itself at its finest time step. This does not show whether it converges to the right
motion, and holds for these steps only.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from biped.errors import InputError
from biped.runs.run import Run
from biped.simulation.clock import DEFAULT_PERIOD
from biped.simulation.driver import Progress
from experiments.catalogue.experiment import Experiment
from experiments.catalogue.parameters.parameter import Value
from experiments.catalogue.rollout import Rollout
from experiments.comparison.backends import Backend
from experiments.comparison.outcome import CUT_SHORT, REFUSED, distances
from experiments.comparison.table import quantity
from experiments.timing import halved

#: [m] distances below it are rounding errors.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Refinement:
    """Row of the table of step refinement: the experiment in an engine at one time step."""

    engine: str = quantity("", "name of the engine")
    step: float = quantity("s", "time step")
    verdict: str = quantity("", "how the run ended")
    simulated: float = quantity("s", "simulated time")
    peak: float | None = quantity("m", "greatest distance of the root from its position with the finest time step")
    final: float | None = quantity("m", "distance, at the end, of the root from its position with the finest time step")
    failure: str = quantity("", "reason why the run ended early", "")

    @property
    def out(self) -> str:
        """Verdict of a run that ended early; empty for a complete run."""
        return self.verdict if self.verdict in (*CUT_SHORT, REFUSED) else ""


def step_sizes(experiment: Experiment, changes: Mapping[str, Value], count: int) -> tuple[float, ...]:
    """Return the control period [s], a half of it, a quarter, …."""
    values = experiment.values(changes)
    return halved(values.number("controller.period") if "controller.period" in values else DEFAULT_PERIOD, count)


def run_at(
    backend: Backend, experiment: Experiment, changes: Mapping[str, Value], step: float, progress: Progress
) -> Rollout | InputError:
    try:
        return backend.run(experiment, {**changes, "run.step": step}, progress)
    except InputError as error:
        return error


def refinements_of(label: str, made: Mapping[float, Rollout | InputError]) -> list[Refinement]:
    """Return the rows of an engine, from the coarsest step; distances are from its finest run, if complete."""
    finest = made[min(made)]
    truth = None if isinstance(finest, InputError) or finest.run.summary["verdict"] in CUT_SHORT else finest.run
    rows = []
    for step, rollout in sorted(made.items(), reverse=True):
        if isinstance(rollout, InputError):
            rows.append(Refinement(label, step, REFUSED, 0.0, None, None, str(rollout)))
            continue
        summary = rollout.run.summary
        errors = (None, None) if step == min(made) else _errors(rollout.run, truth)
        time = float(summary["simulated_time"])
        rows.append(Refinement(label, step, summary["verdict"], time, *errors, rollout.error or ""))
    return rows


def _errors(run: Run, truth: Run | None) -> tuple[float | None, float | None]:
    if truth is None or run.summary["verdict"] in CUT_SHORT:
        return None, None
    between = distances(run, truth)
    return (float(between.max()), float(between[-1])) if len(between) > 1 else (None, None)  # more than the start
