"""Motions of mechanisms by our integrator and by PyBullet, in one form."""

import time
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from biped.mechanism import Mechanism
from contact.arrays import Floats
from experiments.benchmarks.timing import seconds
from experiments.engines.pybullet.linkage import Linkage, LinkageSettings
from experiments.papers.item import Progress
from experiments.visualization.figures import style

#: PyBullet as it comes, whose solver is of ODE's kind, and with a solver that leaves no residual.
ITERATIVE, DIRECT = LinkageSettings(), LinkageSettings(direct=True)
BULLETS = {"PyBullet": ITERATIVE, "PyBullet, direct solver": DIRECT}
OURS = "variational integrator (ours)"
#: The paper's: black is the variational integrator, grey is ODE.
COLORS = {OURS: style.BLACK, "PyBullet": style.GREY, "PyBullet, direct solver": style.SKY}

BASELINE = (
    "in place of ODE, which has no maintained Python package: PyBullet, free bodies held by point constraints that "
    "its solver of sequential impulses satisfies approximately (50 iterations at most, error reduction 0.2, its "
    "defaults; all damping set to zero), and once more with its direct solver (Dantzig's)"
)
POINTS = f"points get {ITERATIVE.point_inertia:g} kg m² in PyBullet, whose bodies must have some"


@dataclass(frozen=True)
class Motion:
    """A coordinate and the energy over time."""

    time: Floats  # (k,) [s]
    angle: Floats  # (k,) [rad] of the coordinate asked for
    energy: Floats  # (k,) [J]
    defect: float  # [m] how far apart points were at most that are one
    seconds: float  # [s] it took


def ours(
    mechanism: Mechanism,
    q: Mapping[str, float],
    name: str,
    *,
    duration: float,
    step: float,
    every: int = 1,
    progress: Progress = lambda _: None,
) -> Motion:
    """From rest at ``q``, by the midpoint rule with α = ½; the coordinate ``name``, a row ``every`` so many steps."""
    mechanism.simulate(step, step, q=q)  # compiled before the clock starts
    begin = time.perf_counter()
    run = mechanism.simulate(duration, step, q=q, record_every=every, progress=progress)
    taken = time.perf_counter() - begin
    frame = run.frame
    energy = (frame["ledger_kinetic"] + frame["ledger_potential"]).to_numpy()
    violations = [frame[column].abs().max() for column in frame if str(column).startswith("constraint_")]
    defect = float(max(violations, default=0.0))
    return Motion(frame["time"].to_numpy(), frame[f"q_{name}"].to_numpy(), energy, defect, taken)


def steps_cost(mechanism: Mechanism, q: Mapping[str, float], *, step: float, steps: int) -> float:
    """[s] of a step: of so many from rest, without a row but the first and the last."""

    def run() -> None:
        mechanism.simulate(steps * step, step, q=q, record_every=steps)

    mechanism.simulate(step, step, q=q)  # compiled before the clock starts
    return seconds(run, time.process_time) / steps


def bullet(
    linkage: Linkage, name: str, *, duration: float, every: float, progress: Progress = lambda _: None
) -> Motion:
    """From rest; ``seconds`` are those of the steps alone."""
    between = max(1, round(every / linkage.step))
    count = round(duration / (between * linkage.step))
    looks, taken = [(0.0, linkage.angle(name), linkage.energy(), linkage.defect())], 0.0
    for k in range(1, count + 1):
        taken += seconds(lambda: linkage.advance(between))
        looks.append((k * between * linkage.step, linkage.angle(name), linkage.energy(), linkage.defect()))
        progress(k / count)
    when, angle, energy, defect = np.array(looks).T
    return Motion(when, angle, energy, float(defect.max()), taken)


def in_turn(progress: Progress, number: int, count: int) -> Progress:
    """Of one of ``count`` computations that are done one after the other."""
    return lambda done: progress((number + min(done, 1.0)) / count)
