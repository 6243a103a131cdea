"""Cost of a step of the human, standing and tumbling freely, and of whole experiments."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from statistics import median
from typing import Any

from biped.control.controller import Controller
from biped.model import Model, human
from biped.runs.run import Run
from biped.runs.state import State
from biped.simulation.simulate import simulate
from controllers.impedance import JointImpedance
from experiments.benchmarks import section as table
from experiments.benchmarks.section import Budget, Column, Section, milliseconds
from experiments.catalogue.registry import experiment_named
from experiments.timing import seconds
from experiments.work_precision.problems import tumbling

#: [s] the steps that are measured.
STEPS = (5e-4, 1e-3, 2e-3)


@dataclass(frozen=True)
class Timed:
    """One timed run."""

    compiled: float  # [s] in the compiled loops (``summary["wall_time"]``)
    wall: float  # [s] of the whole call, with the run's set-up and its evaluation
    steps: int
    simulated: float  # [s]
    newton_mean: float  # iterations a step

    @property
    def per_step(self) -> float:
        return self.compiled / self.steps


def timed(
    model: Model, controller: Controller | None, state: State, step: float, duration: float, **options: Any
) -> Timed:
    return timed_run(partial(simulate, model, controller, state=state, step=step, duration=duration, **options))


def timed_run(work: Callable[[], Run]) -> Timed:
    runs: list[Run] = []
    wall = seconds(lambda: runs.append(work()))
    summary = runs[0].summary
    return Timed(summary["wall_time"], wall, summary["steps"], runs[0].state.time, summary["newton_mean"])


def closed_loops(duration: float) -> dict[str, Callable[[], Timed]]:
    """Return all scenes at all steps, by label.

    In ``workspace stance`` the human rises and stands, as in experiment 2 without its block. In ``impedance stance``
    stiff joints hold it; first it sags into the floor.
    """
    rising, still, free = experiment_named("thrown-block").build(), human(), human().with_gravity((0.0, 0.0, 0.0))
    scenes = {
        "workspace stance": (rising.model, rising.controller, rising.initial_state),
        "impedance stance": (still, JointImpedance(), State.at(still)),
        "flight": (free, None, State.at(free, *tumbling(free))),
    }
    return {
        f"{name}, {milliseconds(step)}": partial(timed, *scene, step, duration)
        for name, scene in scenes.items()
        for step in STEPS
    }


def closed_loop_section(work: Budget) -> Section:
    return table.measured(
        "closed_loop",
        "Cost of a step, on one core, compiled",
        (*table.spread_columns(), Column("iterations"), Column("real time", "×", ".0f"), Column("call", "µs")),
        closed_loops(work.duration),
        lambda runs: (
            *table.microseconds([run.per_step for run in runs]), runs[0].newton_mean,
            max(run.simulated / run.compiled for run in runs), *table.in_microseconds([r.wall / r.steps for r in runs]),
        ),
        work.repeats,
        "call: the median of the whole call, with set-up and evaluation in Python, over the number of steps",
    )  # fmt: skip


def whole_experiment(name: str) -> Callable[[], Timed]:
    """Return a published experiment of 3 s at 0.5 ms, with everything in it."""
    return partial(timed_run, replace(experiment_named(name).build(), step=5e-4, duration=3.0).run)


def experiment_section(work: Budget) -> Section:
    return table.measured(
        "experiments",
        "A whole experiment of 3 s at h = 0.5 ms",
        (*table.spread_columns("ms"), Column("call", "ms"), Column("iterations")),
        {name: whole_experiment(name) for name in ("stand-tilted", "thrown-block")},
        lambda runs: (
            *table.spread([run.compiled for run in runs], 1e3), 1e3 * median(run.wall for run in runs),
            runs[0].newton_mean,
        ),
        work.repeats,
        "least, median, most: the compiled part; call: the median with everything but files and figures",
    )  # fmt: skip
