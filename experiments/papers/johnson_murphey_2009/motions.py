"""Motions of mechanisms by our integrator and by PyBullet, in one form."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from contact.arrays import Floats
from experiments.engines.pybullet.linkage import Linkage, LinkageSettings
from experiments.papers.criteria import below, stated
from experiments.papers.item import Finding, Progress
from experiments.timing import seconds
from experiments.visualization.figures import style
from formulations.mechanism import Mechanism

#: PyBullet as it comes, whose solver is of ODE's kind, and with a solver that leaves no residual.
ITERATIVE, DIRECT = LinkageSettings(), LinkageSettings(direct=True)
OURS, BULLET, BULLET_DIRECT = "variational integrator (ours)", "PyBullet", "PyBullet, direct solver"
BULLETS = {BULLET: ITERATIVE, BULLET_DIRECT: DIRECT}
#: The paper's: black is the variational integrator, grey is ODE.
COLORS = {OURS: style.BLACK, BULLET: style.GREY, BULLET_DIRECT: style.SKY}

#: [m] below which points count as one.
TOUCHING = 1e-9
#: At how many configurations of a long run it is seen how far apart points are that should be one.
LOOKS = 3000

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
    seconds: float  # [s] that its steps took, without tables


def joined(motion: Motion) -> Finding:
    """State that points which should be one stay together."""
    return stated("points apart that should be one, at most [m]", "trajectories that always satisfy the constraint",
                  motion.defect, below(TOUCHING))  # fmt: skip


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
    """Move from rest at ``q`` by the midpoint rule (α = ½); the coordinate ``name`` is kept every so many steps."""
    mechanism.simulate(step, step, q=q)  # compiled before the clock starts
    run = mechanism.simulate(duration, step, q=q, record_every=every, progress=progress)
    defect = float(mechanism.largest_constraints(run.q[:: max(1, len(run.q) // LOOKS)]).max(initial=0.0))
    angle, energy = run.frame[f"angle_{name}"].to_numpy(), run.frame["energy"].to_numpy()
    return Motion(run.frame["time"].to_numpy(), angle, energy, defect, float(run.summary["wall_time"]))


def bullet(
    linkage: Linkage, name: str, *, duration: float, every: float, progress: Progress = lambda _: None
) -> Motion:
    """Move a linkage from rest in PyBullet; ``seconds`` are those of the steps alone."""
    between = max(1, round(every / linkage.step))
    count = round(duration / (between * linkage.step))
    looks, taken = [(0.0, linkage.angle(name), linkage.energy(), linkage.defect())], 0.0
    for k in range(1, count + 1):
        taken += seconds(lambda: linkage.advance(between))
        looks.append((k * between * linkage.step, linkage.angle(name), linkage.energy(), linkage.defect()))
        progress(k / count)
    when, angle, energy, defect = np.array(looks).T
    return Motion(when, angle, energy, float(defect.max()), taken)
