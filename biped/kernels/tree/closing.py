"""Unknowns and buffers of joints that close loops."""

from typing import NamedTuple

import numpy as np

from biped.kernels.tree.dynamics import TreeData, new_tree_data
from biped.kernels.tree.tree import ClosingJoints
from contact.arrays import Floats, Integers

# Indices of ``Closing.worst``.
POSITION = 0  # [m] rows of translations
ROTATION = 1  # [rad] rows of turns
GAPS = 2


class Closing(NamedTuple):
    """Joints that close loops of a tree of n bodies, with unknowns and buffers."""

    joints: ClosingJoints
    nothing: Floats  # (k,) zeros: angles of the rows are not continued over turns
    gap: Floats  # (k,) [m or rad] gaps of the candidate
    rows: Floats  # (2 k, 6) gradients of the rows by the twists of the inboard and the outboard body about O
    gradient: Floats  # (k, nv) C: gradients of the rows at k by the unit twists there
    noise: Floats  # (k,) rounding error of a row's response
    response: Floats  # (k, nv) response of the unknowns to a unit impulse of a row
    response_twist: Floats  # (k, n, 6) response of the bodies
    twist: Floats  # (n, 6) twists of the bodies, with loops open, then closed
    matrix: Floats  # (k, k) responses of the rows
    load: Floats  # (k,)
    order: Integers  # (k,) order of the pivots
    free: Integers  # (k,) 1 for an independent row, 0 for one that others imply
    change: Floats  # (k,) changes of the impulses
    impulse: Floats  # (k,) [N·s or N·m·s] λ of the candidate
    base_impulse: Floats  # (k,) λ at the start of a line search
    start: Floats  # (m, 6) [N·s, N·m·s] impulse on the outboard body at its point, world axes, at the start of a step
    end: Floats  # (m, 6) [N·s, N·m·s] this impulse at the end of the step
    worst: Floats  # (GAPS,) largest gaps of the steps since the last recorded row
    ahead: TreeData  # the tree at the end of a step


def new_closing(joints: ClosingJoints, n: int, nv: int, nc: int) -> Closing:
    """Return buffers for the closing joints of a tree."""
    m, k = len(joints.inboard), len(joints.joint)

    def unset(*shape: int) -> Floats:
        return np.full(shape, np.nan)

    return Closing(
        joints=joints, nothing=np.zeros(k), gap=unset(k), rows=unset(2 * k, 6), gradient=unset(k, nv), noise=unset(k),
        response=unset(k, nv), response_twist=unset(k, n, 6), twist=unset(n, 6), matrix=unset(k, k), load=unset(k),
        order=np.zeros(k, dtype=np.int64), free=np.ones(k, dtype=np.int64), change=unset(k), impulse=unset(k),
        base_impulse=unset(k), start=np.zeros((m, 6)), end=np.zeros((m, 6)), worst=np.zeros(GAPS),
        ahead=new_tree_data(n, nv, nc),
    )  # fmt: skip
