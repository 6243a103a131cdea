"""Kernel data of rigid bodies in maximal coordinates: system, motion, buffers of a step.

Bodies have indices 0 … n − 1; the ground is −1. A joint is rows on two bodies: rigid rows hold a function of the
two poses at zero, the others are freedoms with springs, dampers, limits and actuators. Each inequality has a pair of
slack and multiplier, all in one list: two for a freedom with two limits, 2 + f for a contact with f friction
directions, 1 + 3 for one with a friction cone.
"""

from typing import Any, NamedTuple

import numpy as np

from biped.kernels.solve.contacts import Contacts
from biped.kernels.solve.interior import MEASURES
from contact.arrays import Floats, Integers, unset

# Greatest size of a node of the graph: a body has six displacements, a joint at most six rows.
WIDTH = 6


class Bodies(NamedTuple):
    """n bodies: all about the centre of mass."""

    mass: Floats  # (n,) [kg]
    inertia: Floats  # (n, 9) [kg m²] in the body's axes
    gravity: Floats  # (3,) [m/s²]


class Joints(NamedTuple):
    """m joints, and links after them, with R rows in all; of each the rigid ones, those solved for, then the others."""

    inboard: Integers  # (m,) body, −1 the ground
    outboard: Integers  # (m,) body
    inboard_point: Floats  # (m, 3) [m] from the inboard centre of mass, its axes; on the ground from the origin
    outboard_point: Floats  # (m, 3)
    alignment: Floats  # (m, 4) outboard to inboard axes where the joint is at zero
    first: Integers  # (m + 1,) first row of each
    rigid: Integers  # (m,) number of rows held at zero
    solved: Integers  # (m,) number of rows that are unknowns of a step: rigid ones, and freedoms with dampers or limits
    kind: Integers  # (R,)
    axis: Floats  # (R, 3) unit, inboard axes
    other: Floats  # (R, 3) unit, outboard axes, of rows with two axes
    reference: Floats  # (R, 3) unit, across the axis that an angle is about: where it is zero
    pitch: Floats  # (R,) [m/rad] of a helix
    stiffness: Floats  # (R,) [N/m or N·m/rad] of a freedom
    rest: Floats  # (R,) [m or rad] where its spring is at rest
    damping: Floats  # (R,) [N·s/m or N·m·s/rad]
    lower: Floats  # (R,) [m or rad] −∞ where there is no limit
    upper: Floats  # (R,)
    pair: Integers  # (R,) of the freedom's lower limit, −1 without limits; that of the upper one follows


class Graph(NamedTuple):
    """Bodies 0 … n − 1 and joints n … n + m − 1 in the order in which they are eliminated, with all fill-in."""

    order: Integers  # (n + m,) nodes, leaves first
    size: Integers  # (n + m,) unknowns of a node
    first_edge: Integers  # (n + m + 1,) of the edges from a node, by its place in the order, to later ones
    other: Integers  # (edges,) the later node
    first_update: Integers  # (n + m + 1,) by place in the order
    update_row: Integers  # (updates,) the edge whose lower block is the left factor
    update_column: Integers  # (updates,) the edge whose upper block is the right factor
    update_kind: Integers  # (updates,) ON_DIAGONAL, UPPER or LOWER
    update_target: Integers  # (updates,) node or edge
    row_edge: Integers  # (R, 2) of an inboard and an outboard body with the joint's node; −1 of the ground
    row_is_upper: Integers  # (R, 2) 1 where the joint comes before the body


class System(NamedTuple):
    """Constants of an assembly."""

    bodies: Bodies
    joints: Joints
    contacts: Contacts
    graph: Graph
    springs: int  # number of springs, the last of the joints
    links: Any  # the ``CustomLinks`` before them


class Rule(NamedTuple):
    """Settings of steps and their solution."""

    h: float  # [s]
    first_share: float  # of the forces that acts at a start: ½ of the second order, 1 of the first
    tolerance: float  # of the equations' norm [N·s, m]
    complementarity: float  # [N·s·m] greatest product of a slack and its multiplier
    max_iterations: int
    max_backtracks: int


class Poses(NamedTuple):
    """Poses of the bodies."""

    com: Floats  # (n, 3) [m]
    quaternion: Floats  # (n, 4) body to world
    rotation: Floats  # (n, 9)


def new_poses(n: int) -> Poses:
    """Buffers for n bodies, filled with NaN."""
    return Poses(np.full((n, 3), np.nan), np.full((n, 4), np.nan), np.full((n, 9), np.nan))


# Places in ``Motion.counts``.
STEPS = 0  # taken
FRESH = 1  # 1 if the momentum comes from a velocity, not from a previous step
ITERATIONS = 2  # of Newton's method, in all
MOST_ITERATIONS = 3
LAST_ITERATIONS = 4
COUNTS = 5


class Motion(NamedTuple):
    """State of a motion: arrays that change from step to step."""

    poses: Poses
    momentum: Floats  # (n, 6) [N·s, N·m·s] of the last step, about centres of mass, world axes
    coordinate: Floats  # (R,) values of all rows; angles count on from these
    force: Floats  # (R,) [N or N·m] of actuators along freedoms
    wrench: Floats  # (n, 6) [N, N·m] from outside, about centres of mass, world axes
    multiplier: Floats  # (R,) [N·s or N·m·s] of rows in the last step
    contact_impulse: Floats  # (c, 3) [N·s] along normal and tangents in the last step
    node_velocity: Floats  # (n, 6) [m/s, rad/s] where the last step began: mean of the momenta before and after
    slack: Floats  # (K,) of all pairs
    dual: Floats  # (K,)
    last_displacement: Floats  # (n, 7) moved [m] and turn of the last step
    counts: Integers  # (COUNTS,)


def new_motion(n: int, rows: int, contacts: int, pairs: int) -> Motion:
    """Return the arrays of a motion before its start."""
    last = np.zeros((n, 7))
    last[:, 3] = 1.0
    z = np.zeros
    return Motion(
        poses=new_poses(n), momentum=z((n, 6)), coordinate=z(rows), force=z(rows), wrench=z((n, 6)), multiplier=z(rows),
        contact_impulse=z((contacts, 3)), node_velocity=z((n, 6)), slack=np.ones(pairs), dual=np.ones(pairs),
        last_displacement=last, counts=z(COUNTS, dtype=np.int64),
    )  # fmt: skip


class Buffers(NamedTuple):
    """Buffers for a step."""

    next: Poses
    inertia: Floats  # (n, 9) in world axes where the step begins
    moved: Floats  # (n, 3) of a centre of mass in the step
    turn: Floats  # (n, 4) in the step, world axes
    impulse: Floats  # (n, 6) known before the step: momentum and forces
    balance: Floats  # (n, 6) residual of a body's balance
    rows_begin: Floats  # (2 R, 6) gradients where the step begins, by the inboard and by the outboard body in turn
    rows_end: Floats  # (2 R, 6) gradients at the end of the step
    value: Floats  # (R,) of all rows where it ends
    arm_begin: Floats  # (2 c, 3) [m] from centres of mass to where a contact's impulse acts, by the body and the other
    arm_end: Floats  # (2 c, 3)
    lead_begin: Floats  # (2 c, 3) [m] from there to the body's own point, whose height the gap is of
    lead_end: Floats  # (2 c, 3)
    gap_begin: Floats  # (c,)
    slide: Floats  # (c, 3) the contact point's displacement along normal and tangents, relative to the other body's
    diagonal: Floats  # (n + m, WIDTH, WIDTH), decomposed in place
    multipliers: Floats  # (n + m, WIDTH, WIDTH) of the diagonal blocks' decomposition
    pivots: Integers  # (n + m, WIDTH) rows in their order
    rank: Integers  # (n + m,)
    magnitude: Floats  # (n + m, WIDTH) of the terms summed on the diagonal
    upper: Floats  # (edges, WIDTH, WIDTH) from an earlier to a later node
    lower: Floats  # (edges, WIDTH, WIDTH)
    load: Floats  # (n + m, WIDTH) right-hand side, then the solution
    scales: Floats  # (WIDTH,)
    dimension: Integers  # (K,) of the cone that begins there: 1 of a pair, CONE of friction's, 0 within one
    target: Floats  # (K,) of the products
    slack_change: Floats  # (K,)
    dual_change: Floats  # (K,)
    base_moved: Floats  # (n, 3) where a line search begins
    base_turn: Floats  # (n, 4)
    base_multiplier: Floats  # (R,)
    base_slack: Floats  # (K,)
    base_dual: Floats  # (K,)
    measure: Floats  # (MEASURES,)


def new_buffers(n: int, m: int, rows: int, contacts: int, pairs: int, edges: int) -> Buffers:
    """Buffers, filled with NaN."""

    def integers(*shape: int) -> Integers:
        return np.zeros(shape, dtype=np.int64)

    nodes, twice, block = n + m, 2 * contacts, (WIDTH, WIDTH)
    return Buffers(
        next=new_poses(n), inertia=unset(n, 9), moved=unset(n, 3), turn=unset(n, 4), impulse=unset(n, 6),
        balance=unset(n, 6), rows_begin=unset(2 * rows, 6), rows_end=unset(2 * rows, 6), value=unset(rows),
        arm_begin=unset(twice, 3), arm_end=unset(twice, 3), lead_begin=unset(twice, 3), lead_end=unset(twice, 3),
        gap_begin=unset(contacts), slide=unset(contacts, 3), diagonal=unset(nodes, *block),
        multipliers=unset(nodes, *block), pivots=integers(nodes, WIDTH), rank=integers(nodes),
        magnitude=unset(nodes, WIDTH),
        upper=unset(edges, *block), lower=unset(edges, *block), load=unset(nodes, WIDTH), scales=unset(WIDTH),
        dimension=np.ones(pairs, dtype=np.int64), target=unset(pairs), slack_change=unset(pairs),
        dual_change=unset(pairs), base_moved=unset(n, 3), base_turn=unset(n, 4), base_multiplier=unset(rows),
        base_slack=unset(pairs), base_dual=unset(pairs), measure=unset(MEASURES),
    )  # fmt: skip
