"""The rigid body of section 2.4.1, run as published: initialization, standard, errors."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from biped import lagrangian
from contact.arrays import Floats
from experiments.benchmarks.timing import interleaved, one_core
from experiments.papers.wendlandt_1997.convergence import mean_error
from experiments.papers.wendlandt_1997.printed import STEPS

#: [s]
DURATION = 30.0
#: (2.52)
INERTIA = (1.0, 2.0, 3.0)
OMEGA = np.array([0.0, 3.0, 4.0])
#: [s] of the run that gives the second point of all others.
FIRST_STEP = 1e-5
QUATERNION = ["qw", "qx", "qy", "qz"]
MOMENTUM = ["angular_momentum_x", "angular_momentum_y", "angular_momentum_z"]

ASSUMPTIONS = (
    "The quaternion after the Euler step with h = 1e-5 s is made unit: the printed energies need it.",
    "Energy: that of the discrete angular velocity (2.50) of each step; momentum: the discrete momentum map.",
    "Errors (2.53) are sampled at every step; the components of v count m = 4 (quaternion), 1 and 3 (momentum).",
)


@dataclass(frozen=True)
class Run:
    """One row of table 2.1."""

    h: float  # [s]
    quaternion: float  # error (2.53), as the next two
    energy: float
    momentum: float
    energies: tuple[float, float]  # [J] least and greatest
    momentum_spread: float  # [N·m·s] of any component
    times: Floats  # [s] of the samples for the figures
    path: Floats  # quaternions then


def _chords(q: Floats, h: float) -> Floats:
    """(2.50): the discrete angular velocity of each step, twice the vector part of q̄ₖ ⋆ qₖ₊₁ over h."""
    w, x, y, z = np.moveaxis(q[:-1], 1, 0)
    W, X, Y, Z = np.moveaxis(q[1:], 1, 0)
    turn = [w * X - x * W - y * Z + z * Y, w * Y + x * Z - y * W - z * X, w * Z - x * Y + y * X - z * W]
    return 2.0 / h * np.stack(turn, axis=1)


def _energies(q: Floats, h: float) -> Floats:
    return np.asarray(0.5 * (_chords(q, h) ** 2) @ np.array(INERTIA))


def _run(
    system: "lagrangian.System", q0: Floats, q1: Floats, h: float, duration: float, every: int = 1
) -> "lagrangian.Trajectory":
    return system.integrate("midpoint-dvp", q0, q1=q1, step=h, duration=duration, every=every)


@cache
def start() -> tuple[Floats, dict[float, Floats], float, Floats]:
    """Return (first quaternion, second by step, standard energy, standard momentum), as 2.4.1 describes them."""
    system = lagrangian.rigid_body(INERTIA)
    q0 = np.array([1.0, 0.0, 0.0, 0.0])
    euler = q0 + FIRST_STEP * np.array([0.0, *(OMEGA / 2.0)])
    fine = _run(system, q0, euler / np.linalg.norm(euler), FIRST_STEP, max(STEPS)).frame
    q = fine[QUATERNION].to_numpy()
    second = {h: q[round(h / FIRST_STEP)] for h in STEPS}
    return q0, second, float(_energies(q[:2], FIRST_STEP)[0]), fine[MOMENTUM].to_numpy()[0]


@cache
def runs() -> tuple[Run, ...]:
    """Return the rows of table 2.1, the finest first."""
    system, found = lagrangian.rigid_body(INERTIA), []
    q0, second, energy, momentum = start()
    standard = np.empty((0, 4))
    for h in STEPS:
        frame = _run(system, q0, second[h], h, DURATION).frame
        q, spins = frame[QUATERNION].to_numpy(), frame[MOMENTUM].to_numpy()
        if not standard.size:
            standard = q
        energies = _energies(q, h)
        thin = max(1, round(1e-2 / h))
        found.append(
            Run(
                h,
                mean_error(q, standard[:: round(h / STEPS[0])]),
                mean_error(energies, np.full_like(energies, energy)),
                mean_error(spins, np.broadcast_to(momentum, spins.shape)),
                (float(energies.min()), float(energies.max())),
                float(np.ptp(spins, axis=0).max()),
                frame["time"].to_numpy()[::thin],
                q[::thin],
            )
        )
    return tuple(found)


@cache
def cpu_times(repeats: int) -> Sequence[float]:
    """[s] of the steps of each run, the median of so many, taken in turn."""
    system = lagrangian.rigid_body(INERTIA)
    q0, second, _, _ = start()

    def timed(h: float) -> float:
        return _run(system, q0, second[h], h, DURATION, every=round(DURATION / h)).seconds

    with one_core():
        taken = interleaved({h: lambda h=h: timed(h) for h in STEPS}, repeats)  # type: ignore[misc]
    return tuple(statistics.median(taken[h]) for h in STEPS)
