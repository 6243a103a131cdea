"""Runs that are timed: the human standing under two controllers and tumbling freely, and whole experiments."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from biped.control.controller import Controller
from biped.model import Model, human
from biped.runs.run import Run
from biped.runs.state import State
from biped.simulation.simulate import simulate
from controllers.impedance import JointImpedance
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


def closed_loops(
    duration: float, steps: Sequence[float] = STEPS, **options: Any
) -> dict[tuple[str, float], Callable[[], Timed]]:
    """Return all scenes by name and step [s]; ``options`` go to ``simulate``.

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
        (name, step): partial(timed, *scene, step, duration, **options)
        for name, scene in scenes.items()
        for step in steps
    }


def whole_experiment(name: str) -> Callable[[], Timed]:
    """Return a published experiment of 3 s at 0.5 ms, with everything in it."""
    setup = replace(experiment_named(name).build(), step=5e-4, duration=3.0)
    return partial(timed_run, setup.run)
