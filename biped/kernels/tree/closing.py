"""What is solved for with joints that close loops, and the workspace of such a solve."""

from typing import NamedTuple

import numpy as np

from biped.kernels.tree.dynamics import TreeData, new_tree_data
from biped.kernels.tree.tree import ClosingJoints
from contact.arrays import Floats, Integers

# Places in ``Closing.worst``.
POSITION = 0  # [m] of rows of translations
ROTATION = 1  # [rad] of rows of turns
GAPS = 2


class Closing(NamedTuple):
    """Joints that close loops of a tree of n bodies, and what is solved for with them."""

    joints: ClosingJoints
    nothing: Floats  # (k,) zeros: no row counts on from a value before
    gap: Floats  # (k,) [m or rad] of the candidate
    rows: Floats  # (2 k, 6) gradients of the rows by the twists of the inboard and the outboard body about O
    gradient: Floats  # (k, nv) C: of the rows at k by the unit twists there
    noise: Floats  # (k,) what rounding leaves of a row's response
    response: Floats  # (k, nv) what a unit impulse of a row does to the unknowns
    response_twist: Floats  # (k, n, 6) and to the bodies
    twist: Floats  # (n, 6) of the bodies, loops open, then closed
    matrix: Floats  # (k, k) of the rows' responses
    load: Floats  # (k,)
    order: Integers  # (k,) of pivots
    free: Integers  # (k,) 1: a row of its own; 0: others imply it
    change: Floats  # (k,) of the impulses
    impulse: Floats  # (k,) [N·s or N·m·s] λ of the candidate
    base_impulse: Floats  # (k,) where a line search begins
    start: Floats  # (m, 6) [N·s, N·m·s] on the outboard body at its point, world axes, at the beginning of a step
    end: Floats  # (m, 6) at its end
    worst: Floats  # (GAPS,) gaps of the steps since the last recorded row
    ahead: TreeData  # the tree at the end of a step


def new_closing(joints: ClosingJoints, n: int, nv: int, nc: int) -> Closing:
    """Room for a tree."""
    m, k = len(joints.inboard), len(joints.joint)

    def room(*shape: int) -> Floats:
        return np.full(shape, np.nan)

    return Closing(
        joints=joints, nothing=np.zeros(k), gap=room(k), rows=room(2 * k, 6), gradient=room(k, nv), noise=room(k),
        response=room(k, nv), response_twist=room(k, n, 6), twist=room(n, 6), matrix=room(k, k), load=room(k),
        order=np.zeros(k, dtype=np.int64), free=np.ones(k, dtype=np.int64), change=room(k), impulse=room(k),
        base_impulse=room(k), start=np.zeros((m, 6)), end=np.zeros((m, 6)), worst=np.zeros(GAPS),
        ahead=new_tree_data(n, nv, nc),
    )  # fmt: skip
