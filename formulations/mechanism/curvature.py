"""How D²h of constraints changes while a mechanism moves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from contact.arrays import Floats
from formulations.mechanism.custom_derivatives import WIDE
from formulations.mechanism.derivation import Derivation
from formulations.mechanism.kernels.constraints import ALONG, CAM, CONSTANT, DISTANCE, HARMONICS, STRING
from formulations.mechanism.moving_tree import Jet, MovingTree

if TYPE_CHECKING:
    from formulations.mechanism.mechanism import Mechanism

# First difference of order six: of f(−3 h) … f(3 h), over h.
FIRST = np.array([-1.0, 9.0, -45.0, 0.0, 45.0, -9.0, 1.0]) / 60.0


def curvature_rates(mechanism: Mechanism, derivation: Derivation, moving: MovingTree) -> Floats:
    """(m, n, n) d/dt of D²h; of users' constraints by differences along the motion.

    Needs ``derivation``, which is placed where the mechanism is, and writes over what it has of a step's end.
    """
    m, n = mechanism.mechanics.constraints.kind.size, mechanism.size
    found = np.zeros((m, n, n))
    for c, kind in enumerate(mechanism.mechanics.constraints.kind):
        if kind in (ALONG, DISTANCE, STRING, CAM):
            found[c] = _bent(mechanism, moving, c).second[1, :, :, 0]
    rows = [custom.row + c for custom in mechanism.customs for c in range(custom.rows)]
    if rows and derivation.customs is not None:
        found[rows] = _differences(derivation, moving)[rows]
    return found


def _bent(mechanism: Mechanism, moving: MovingTree, c: int) -> Jet:
    """H of row c, but for what is linear in a coordinate."""
    constraints, points = mechanism.mechanics.constraints, mechanism.mechanics.points
    kind, carrier = constraints.kind[c], int(constraints.carrier[c])
    if kind == CAM:
        j = int(constraints.first[c])
        return moving.along(j, _lifts(constraints.number[c], moving.motion[0][j]))
    first, second = (
        moving.carried(int(points.body[p]), (*points.offset[p], 1.0))
        for p in (constraints.first[c], constraints.second[c])
    )
    apart = first - second
    if kind == ALONG:
        return moving.carried(carrier, (*constraints.direction[c], 0.0)).dot(apart)
    square = apart.dot(apart)
    if kind == STRING:
        length = moving.motion[0][carrier]
        factors = 0.5 * np.array([1.0, -1.0, 2.0, -6.0, 24.0]) / length ** np.arange(1, 6)
        return square.dot(moving.along(carrier, factors))
    return Jet(*(part * (0.5 / constraints.number[c, CONSTANT]) for part in square))


def _lifts(number: Floats, angle: float) -> Floats:
    """(5,) a cam's lift and its derivatives; its mean does not matter."""
    pairs = number[HARMONICS : HARMONICS + 2 * ((number.size - HARMONICS) // 2)].reshape(-1, 2)
    k, order = np.arange(1, len(pairs) + 1), np.arange(5)[:, None]
    phase = k * angle + 0.5 * np.pi * order
    lifts: Floats = np.sum(k**order * (pairs[:, 0] * np.cos(phase) + pairs[:, 1] * np.sin(phase)), axis=1)
    return lifts


def _differences(derivation: Derivation, moving: MovingTree) -> Floats:
    """(m, n, n) of users' constraints, whose D²h are differences themselves."""
    q, v, a = moving.motion
    step = WIDE / max(1.0, float(np.abs(v).max()), float(np.sqrt(np.abs(a).max())))
    bent = [derivation.constraint_curvature(q + v * t + 0.5 * a * t * t) for t in step * np.arange(-3, 4)]
    found: Floats = np.tensordot(FIRST, bent, 1) / step
    return found
