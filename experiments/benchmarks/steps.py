"""Cost of a time step of the human, standing and tumbling, and of complete experiments."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from biped.model import human
from biped.runs.state import State
from biped.simulation.simulate import simulate
from controllers.impedance import JointImpedance
from experiments.benchmarks import section as table
from experiments.benchmarks.section import Budget, Column, Section, milliseconds
from experiments.catalogue.registry import experiment_named
from experiments.work_precision.problems import tumbling

#: [s] measured step sizes.
STEPS = (5e-4, 1e-3, 2e-3)


def summary_of(*scene: Any, **options: Any) -> dict[str, Any]:
    """Return the summary of a run of a model under a controller, by ``simulate``."""
    return simulate(*scene, **options).summary


def per_step(summary: Mapping[str, Any]) -> float:
    """Return the time of a step in the compiled loop [s]."""
    return float(summary["wall_time"] / summary["steps"])


def closed_loops(duration: float) -> dict[str, Callable[[], dict[str, Any]]]:
    """Return functions that run each scene at each step size, by label.

    In ``workspace stance`` the human rises and stands, as in the experiment thrown-block, but without the block. In
    ``impedance stance`` stiff joints hold it.
    """
    rising, still, free = experiment_named("thrown-block").build(), human(), human().with_gravity((0.0, 0.0, 0.0))
    scenes = {
        "workspace stance": (rising.model, rising.controller, rising.initial_state),
        "impedance stance": (still, JointImpedance(), State.at(still)),
        "flight": (free, None, State.at(free, *tumbling(free))),
    }
    return {
        f"{name}, {milliseconds(step)}": partial(summary_of, model, law, state=state, step=step, duration=duration)
        for name, (model, law, state) in scenes.items()
        for step in STEPS
    }


def closed_loop_section(work: Budget) -> Section:
    return table.measured(
        "closed_loop",
        "Cost of a step, on one core, compiled",
        (*table.spread_columns(), Column("iterations")),
        closed_loops(work.duration),
        lambda runs: (*table.microseconds([per_step(run) for run in runs]), runs[0]["newton_mean"]),
        work.repeats,
    )


def whole_experiment(name: str) -> Callable[[], float]:
    """Return a function that returns the time [s] of the compiled part of an experiment of 3 s at 0.5 ms."""
    setup = replace(experiment_named(name).build(), step=5e-4, duration=3.0)
    return lambda: float(setup.run().summary["wall_time"])


def experiment_section(work: Budget) -> Section:
    return table.measured(
        "experiments",
        "A whole experiment of 3 s at h = 0.5 ms, compiled",
        table.spread_columns("ms"),
        {name: whole_experiment(name) for name in ("stand-tilted", "thrown-block")},
        lambda times: table.spread(times, 1e3),
        work.repeats,
    )
