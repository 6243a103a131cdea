"""Trajectories of least cost within limits of the torques: iterated backward passes and line searches on the simulator.

Each iteration linearizes the simulator's own steps along the present trajectory, contact modes as they are, finds the
best change of the torques for the quadratic model, and tries it on the simulator itself: what is taken is a trajectory
that was simulated, with whatever stuck, slipped and lifted then. The optimum is local.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np

from biped.dynamics.numerics import armijo
from biped.optimal import regulator
from biped.recovery.descent import Direction, backward
from biped.recovery.quadratic import Quadratic
from biped.recovery.rollout import HeldTorques, NotLinearizedError, Path
from contact.arrays import Floats

#: Parts of a step that are tried, and what of the promised decrease they must bring (Armijo).
SHRINK, TRIES, ENOUGH = 0.5, 7, 1e-4
#: Damping, in terms of the cost of torques: least, at first, and where nothing is found any more.
LEAST, FIRST, MOST = 1e-3, 1.0, 1e7


class Cost(Protocol):
    """A cost of trajectories, with its derivatives, such as ``biped.recovery.quadratic.LeastSquares``."""

    input: Floats  # (m, m) R: ½ u·R u a tick is the cost of torques
    damping: Floats  # (m, m) what a change of torques by as much as is a lot costs, for the damping to be counted in

    def value(self, path: Path) -> float:
        """The cost of a path."""

    def quadratic(self, path: Path) -> Quadratic:
        """The quadratic model of the cost along a path."""


@dataclass(frozen=True, eq=False)
class Iterate:
    """Where a search has got to.

    Attributes:
        path: the trajectory, which was simulated.
        cost: of it.
        part: of the step that was taken to it; 0 where none was any good, and at the start.
        count: of iterations.
        gains: (N, joints, nx) of the last backward pass, by which small deviations are met best; None at the start.
        ended: nothing is found any more.
    """

    path: Path
    cost: float
    part: float
    count: int
    gains: Floats | None = None
    ended: bool = False


def improved(
    held: HeldTorques, cost: Cost, path: Path, low: Floats, high: Floats, *, damping: float = FIRST
) -> Iterator[Iterate]:
    """Ever better trajectories from one on, without an end until nothing better is found.

    Args:
        held: the scene.
        cost: of its trajectories.
        path: a trajectory of the scene.
        low: (joints,) [N·m] least torques.
        high: (joints,) [N·m] greatest.
        damping: to begin with.
    """
    value, count, gains = cost.value(path), 0, None
    yield Iterate(path, value, 0.0, count)
    limits = np.broadcast_to(low, path.u.shape), np.broadcast_to(high, path.u.shape)
    while damping < MOST:
        try:
            A, B = held.linearize(path)
        except NotLinearizedError:
            break
        model = cost.quadratic(path)
        found, direction = None, None
        while found is None and damping < MOST:
            direction = backward(A, B, model.slope, model.curve, cost.input, path.u, *limits, damping * cost.damping)
            if direction is not None:
                follow = partial(_followed, held, path, direction, limits)
                found = armijo(follow, cost.value, value, direction.slope, SHRINK, TRIES, ENOUGH)
            if found is None:
                damping *= 10.0
        count += 1
        if found is None or direction is None:
            break
        path, value, part = found
        damping = max(damping / 3.0, LEAST) if part > 0.3 else damping * 2.0 if part < 0.1 else damping
        gains = direction.gains
        yield Iterate(path, value, part, count, gains)
    yield Iterate(path, value, 0.0, count, gains, ended=True)


def _followed(
    held: HeldTorques, path: Path, direction: Direction, limits: tuple[Floats, Floats], part: float
) -> Path | None:
    """A part of the step along a direction, simulated."""
    return held.follow(path, direction.gains, part * direction.change, limits)


def tracking_gains(held: HeldTorques, path: Path, state: Floats, torque: Floats) -> Floats:
    """(N, joints, 2 nv) gains that keep to a trajectory: the regulator along it, anchors left where they are.

    Args:
        held: the scene.
        path: its trajectory.
        state: (2 nv, 2 nv) what deviations cost.
        torque: (joints, joints) what torques cost.
    """
    A, B = held.linearize(path)
    n = 2 * held.model.nv
    return regulator(A[:, :n, :n], B[:, :n], state, torque).gains
