"""Detection of singular and nearly singular matrices of a time step or a configuration (section VII, paper of 2014).

A matrix is singular if a pivot of its factorization is small: for M relative to the inertia of the masses beyond the
joint, for the multipliers' matrix relative to its row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from biped.integrators.causes import why
from biped.kernels.midpoint.equations import MidpointBuffers
from contact.arrays import Floats, Integers
from formulations.mechanism.kernels.system import Border, Buffers

if TYPE_CHECKING:
    from formulations.mechanism.mechanism import Mechanism

#: Relative pivots below which a near singularity is reported, and below which a pivot is only rounding.
NEARLY, ROUNDING = 1e-5, 1e-13


def singularity(mechanism: Mechanism, buffers: Buffers, step: float = 1.0) -> str:
    """Return a clause on the singular matrix of the last time step (``step`` [s]) or node; "" if all are regular."""
    last = _of_matrix(mechanism, buffers.middle, buffers.border, step)
    return last or _of_matrix(mechanism, buffers.node, buffers.node_border, 1.0)


def cause_of(
    mechanism: Mechanism, buffers: Buffers, failed: int, step: float = 1.0, iterations: int | None = None
) -> str:
    """Return why a time step of ``step`` [s] has no solution, with the singular matrix if there is one."""
    return "; ".join(filter(None, (why(failed, iterations), singularity(mechanism, buffers, step))))


def _of_matrix(mechanism: Mechanism, buffers: MidpointBuffers, border: Border, step: float) -> str:
    """Return the clause for M or Newton's matrix: first the tree's part, then the multipliers' Schur complement."""
    inverse, free = buffers.factors.d, mechanism.mechanics.prescribed == 0
    if not np.all(np.isfinite(inverse)) or not np.any(free):
        return ""
    sizes = _resistances(mechanism, buffers) / step
    share = np.full(inverse.size, np.inf)
    regular = free & (inverse != 0.0)
    share[free & ~regular] = 0.0
    share[regular] = 1.0 / np.maximum(np.abs(inverse[regular]) * sizes[regular], np.finfo(float).tiny)
    worst = int(np.argmin(share))
    if share[worst] < NEARLY:
        return (
            f"M is {_nearly(share[worst])}singular there (det M = 0): {mechanism.coordinates[worst]!r} moves no mass "
            "that others do not, or the step is too long for it"
        )
    ballast = _rows_of_ballast(mechanism, border)
    return _dependence(border, mechanism.constraint_names, ballast)


def _resistances(mechanism: Mechanism, buffers: MidpointBuffers) -> Floats:
    """Return upper bounds (n,) [kg or kg m²] of the inertia of the masses beyond each joint."""
    tree, motion, com = mechanism.mechanics.tree, buffers.poses.motion, buffers.poses.com
    turn = motion[:, 3:]
    turning = (turn**2).sum(axis=1)
    point = np.cross(turn, motion[:, :3]) / np.where(turning > 0.0, turning, 1.0)[:, None]
    moments = buffers.inertia[:, [0, 4, 8]].sum(axis=1)
    bounds = np.zeros(tree.parent.size)
    for body in range(tree.parent.size):
        j = body
        while j >= 0:
            arm = com[body] - point[j]
            turned = 2.0 * tree.mass[body] * (arm @ arm) + moments[body]
            bounds[j] += turned if turning[j] > 0.0 else tree.mass[body]
            j = tree.parent[j]
    return bounds + tree.armature


def _rows_of_ballast(mechanism: Mechanism, border: Border) -> dict[int, str]:
    """Return the variables that move no mass, by their rows in the border."""
    at_node = border.load.size < int(mechanism.mechanics.border[0])
    first = len(mechanism.labels) if at_node else int(mechanism.mechanics.ballast.first[0])
    return dict(enumerate(mechanism.loose, first))


def _dependence(border: Border, constraints: Sequence[str], ballast: Mapping[int, str]) -> str:
    """Return the clause for dependent constraints, or for massless variables that they should hold."""
    schur = border.schur
    if not schur.size or not np.all(np.isfinite(schur)):
        return ""
    rows = (np.tril(schur, -1) + np.eye(len(schur))) @ np.triu(schur)
    order = _order(border.order)
    sizes = np.maximum(np.abs(rows).max(axis=1), np.abs(np.diag(border.corner))[order])
    share = np.abs(np.diag(schur)) / np.where(sizes > 0.0, sizes, 1.0)
    worst = int(np.argmin(share))
    if share[worst] >= NEARLY:
        return ""
    which = int(order[worst])
    if which in ballast:
        return f"{ballast[which]!r} moves no mass, and no constraint holds it there"
    name = f" at {constraints[which]!r}, which is redundant" if which < len(constraints) else ""
    return f"[Dh M⁻¹ Dhᵀ] is {_nearly(share[worst])}singular there{name}: the constraints depend on each other"


def _nearly(share: float) -> str:
    return f"nearly ({share:.1e}) " if share > ROUNDING else ""


def _order(swaps: Integers) -> Integers:
    """Return the permutation of a matrix's rows by the swaps of its elimination."""
    order = np.arange(swaps.size)
    for k, other in enumerate(swaps):
        order[[k, other]] = order[[other, k]]
    return order
