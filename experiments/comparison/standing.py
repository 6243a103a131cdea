"""Creep in stance: how far the feet of a standing human drift under a force that does not change."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from biped.errors import InputError
from biped.runs.run import Run
from biped.simulation.driver import Announce
from contact.arrays import Floats
from experiments.benchmarks.comparison.backends import Backend
from experiments.benchmarks.comparison.budget import Progress
from experiments.benchmarks.comparison.outcome import CUT_SHORT, REFUSED
from experiments.benchmarks.comparison.table import quantity
from experiments.catalogue.parameters.parameter import Value
from experiments.catalogue.registry import experiment_named
from experiments.catalogue.rollout import Rollout

EXPERIMENT = "balance"
#: [N] of the horizontal force on the trunk, from the start to the end.
FORCE = 30.0
#: [s] until the human leans on the force; creep counts from then on.
SETTLED = 2.0
#: [s] between two rows, about.
RECORDED = 0.02
#: Parameters of the compared experiment that the standing human has in common with it.
COMMON = ("floor.", "run.step", "controller.period", "controller.kp_", "controller.kd_", "integrator.")


@dataclass(frozen=True)
class Creep:
    """The creep of a standing human's feet in an engine."""

    engine: str = quantity("", "name")
    settings: str = quantity("", "equal settings or vendor defaults")
    verdict: str = quantity("", "how it ended")
    step: float = quantity("s", "step")
    measured: float = quantity("s", "time over which creep was measured")
    creep: float | None = quantity("m", "farthest that a point of the soles moved sideways in that time")
    failure: str = quantity("", "why there is none", "")


@dataclass(frozen=True)
class Drift:
    """Over time: (rows,) [s] since the human leans on the force, and [m] how far the farthest point has moved."""

    time: Floats
    distance: Floats


def standing_changes(changes: Mapping[str, Value], step: float, duration: float) -> dict[str, Value]:
    """The changes of the standing experiment, with those of the compared one that mean the same there."""
    common = {name: value for name, value in changes.items() if name.startswith(COMMON)}
    whole = SETTLED + duration
    return common | {
        "force.size": FORCE,
        "force.start": 0.0,
        "force.duration": whole,
        "run.duration": whole,
        "run.record_every": step * max(1, round(RECORDED / step)),
    }


def stand(
    backend: Backend,
    settings: str,
    changes: Mapping[str, Value],
    duration: float,
    progress: Progress,
    announce: Announce | None = None,
) -> tuple[Creep, Drift | None, Rollout | None]:
    """Let a human stand under the force in an engine; creep is measured over ``duration`` [s].

    ``settings`` are for the table, ``changes`` those of the compared experiment.
    """
    experiment = experiment_named(EXPERIMENT)
    step = float(experiment.values({name: changes[name] for name in changes if name == "run.step"}).number("run.step"))
    try:
        made = backend.run(experiment, standing_changes(changes, step, duration), progress, announce)
    except InputError as error:
        return Creep(backend.label, settings, REFUSED, step, 0.0, None, str(error)), None, None
    verdict = str(made.run.summary["verdict"])
    if verdict in CUT_SHORT:
        why = made.error or made.run.verdict_line
        return Creep(backend.label, settings, verdict, step, 0.0, None, why), None, made
    drift = drift_of(made.run)
    measured, creep = float(drift.time[-1]), float(drift.distance.max())
    return Creep(backend.label, settings, verdict, step, measured, creep), drift, made


def friction_held(changes: Mapping[str, Value]) -> float:
    """[N] of horizontal force that the friction of the standing human's floor holds: static friction times weight."""
    floor = {name: value for name, value in changes.items() if name.startswith("floor.")}
    setup = experiment_named(EXPERIMENT).build(floor)
    return float(setup.floor.mu_s * setup.model.total_mass * np.linalg.norm(setup.model.gravity))


def drift_of(run: Run, since: float = SETTLED) -> Drift:
    """How far the farthest of the contact points has moved sideways since a time [s]."""
    frame = run.frame[run.frame["time"] >= since - 1e-9]
    moved = []
    for point in run.state.model.contact_names:
        track = frame[[f"contact_{point}_{axis}" for axis in "xy"]].to_numpy()
        moved.append(np.linalg.norm(track - track[0], axis=1))
    time = frame["time"].to_numpy()
    return Drift(time - time[0], np.max(moved, axis=0))
