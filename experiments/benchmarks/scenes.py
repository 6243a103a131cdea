"""Scenes that are timed: the human standing under two controllers, tumbling freely, and in whole experiments."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from biped.control.controller import Controller
from biped.model import Model, human
from biped.runs.run import Run
from biped.runs.state import State
from biped.simulation.simulate import simulate
from contact.arrays import Floats
from controllers.impedance import JointImpedance
from experiments.benchmarks.timing import seconds
from experiments.catalogue.registry import experiment_named

#: [s] the steps that are measured.
STEPS = (5e-4, 1e-3, 2e-3)


@dataclass(frozen=True)
class Timed:
    """One timed run."""

    compiled: float  # [s] in the compiled loops (``summary["wall_time"]``)
    wall: float  # [s] of the whole call, with the run's set-up and its evaluation
    steps: int  # how many were taken
    simulated: float  # [s]
    newton_mean: float  # iterations a step

    @property
    def per_step(self) -> float:
        return self.compiled / self.steps

    @property
    def real_time_factor(self) -> float:
        return self.simulated / self.compiled


def timed(
    model: Model, controller: Controller | None, state: State, step: float, duration: float, **options: Any
) -> Timed:
    return timed_run(lambda: simulate(model, controller, state=state, step=step, duration=duration, **options))


def timed_run(work: Callable[[], Run]) -> Timed:
    runs: list[Run] = []
    wall = seconds(lambda: runs.append(work()))
    summary = runs[0].summary
    simulated = runs[0].state.time
    return Timed(summary["wall_time"], wall, summary["steps"], simulated, summary["newton_mean"])


def stance(step: float, duration: float, **options: Any) -> Callable[[], Timed]:
    """Experiment 2 without its block: the human rises and stands, under the workspace controller."""
    setup = experiment_named("thrown-block").build()
    return lambda: timed(setup.model, setup.controller, setup.initial_state, step, duration, **options)


def stiff_stance(step: float, duration: float, **options: Any) -> Callable[[], Timed]:
    """The human stands in its home configuration, held by stiff joints; first it sags into the floor."""
    model = human()
    state = State.at(model)
    return lambda: timed(model, JointImpedance(), state, step, duration, **options)


def flight(step: float, duration: float, **options: Any) -> Callable[[], Timed]:
    model = human().with_gravity((0.0, 0.0, 0.0))
    state = State.at(model, *tumbling(model))
    return lambda: timed(model, None, state, step, duration, **options)


def tumbling(model: Model) -> tuple[Floats, Floats]:
    """A configuration and a velocity of about 2 rad/s in every joint and about every axis, always the same."""
    rng = np.random.default_rng(0)
    q, v = model.neutral(), np.zeros(model.nv)
    q[2] += 100.0
    q[7:] += rng.normal(0.0, 0.3, model.nq - 7)
    v[3:] = rng.normal(0.0, 2.0, model.nv - 3)
    return q, v


def closed_loops(
    duration: float, steps: Sequence[float] = STEPS, **options: Any
) -> dict[tuple[str, float], Callable[[], Timed]]:
    """Return all scenes by name and step [s]; ``options`` go to ``simulate``."""
    scenes = {"workspace stance": stance, "impedance stance": stiff_stance, "flight": flight}
    return {(name, step): scene(step, duration, **options) for name, scene in scenes.items() for step in steps}


def whole_experiment(name: str) -> Callable[[], Timed]:
    """A published experiment: 3 s at 0.5 ms, with everything in it."""
    setup = replace(experiment_named(name).build(), step=5e-4, duration=3.0)
    return lambda: timed_run(setup.run)
