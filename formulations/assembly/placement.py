"""Placement of an assembly: positions, orientations and velocities of its bodies."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from contact.arrays import Floats
from formulations.assembly.joint import quaternion_product


@dataclass(frozen=True, eq=False)
class Placement:
    """Positions, orientations and velocities of an assembly's bodies.

    Attributes:
        position: (n, 3) [m] positions of the centres of mass.
        orientation: (n, 4) unit quaternions, scalar first, body to world.
        velocity: (n, 6) [m/s, rad/s] velocities of the centres of mass, and angular velocities; world axes.
    """

    position: Floats
    orientation: Floats
    velocity: Floats

    def moving(self, velocity: Floats) -> Placement:
        """Return this placement with velocities (n, 6) [m/s, rad/s] in place of its own."""
        return replace(self, velocity=np.array(velocity, dtype=np.float64).reshape(-1, 6))


def displaced(placement: Placement, step: Floats) -> Placement:
    """Return the placement displaced by ``step`` (n, 6): shifts [m] and rotation vectors [rad], world axes."""
    turned = [
        quaternion_product(_exponential(turn), q) for turn, q in zip(step[:, 3:], placement.orientation, strict=True)
    ]
    return Placement(placement.position + step[:, :3], np.array(turned), placement.velocity)


def _exponential(turn: Floats) -> Floats:
    angle = float(np.linalg.norm(turn))
    if angle == 0.0:
        return np.array([1.0, 0.0, 0.0, 0.0])
    return np.array([np.cos(0.5 * angle), *(np.sin(0.5 * angle) / angle * turn)])
