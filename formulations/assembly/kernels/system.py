"""Kernel data of rigid bodies in maximal coordinates: system, motion, buffers of a step.

Bodies have indices 0 … n − 1; the ground is −1. A row is a function of the poses of two bodies. A joint has rigid rows,
which are held at zero, and freedoms with springs, dampers, limits and actuators. Each inequality has a pair of slack
and multiplier, all in one list: two for a freedom with two limits, 2 + f for a contact with f friction directions,
1 + 3 for a contact with a friction cone.
"""

from typing import Any, NamedTuple

import numpy as np

from biped.kernels.solve.contacts import Contacts
from biped.kernels.solve.interior import MEASURES
from contact.arrays import Floats, Integers, unset

# Greatest size of a node of the graph: a body has six displacements, a joint at most six rows.
WIDTH = 6


class Bodies(NamedTuple):
    """Masses and inertias of n bodies."""

    mass: Floats  # (n,) [kg]
    inertia: Floats  # (n, 9) [kg m²] about the centre of mass, in body axes
    gravity: Floats  # (3,) [m/s²]


class Joints(NamedTuple):
    """Joints and the links after them (m) with R rows: of each, rigid rows, then other unknowns, then other rows."""

    inboard: Integers  # (m,) body; −1: the ground
    outboard: Integers  # (m,) body
    inboard_point: Floats  # (m, 3) [m] from the inboard centre of mass, its axes; on the ground from the origin
    outboard_point: Floats  # (m, 3)
    alignment: Floats  # (m, 4) quaternion from outboard to inboard axes at joint position zero
    first: Integers  # (m + 1,) first row of each joint
    rigid: Integers  # (m,) number of rows held at zero
    solved: Integers  # (m,) number of rows that are unknowns of a step: rigid ones, and freedoms with dampers or limits
    kind: Integers  # (R,) kind of each row
    axis: Floats  # (R, 3) unit, inboard axes
    other: Floats  # (R, 3) second axis, unit, in outboard axes; only for rows with two axes
    reference: Floats  # (R, 3) unit vector across the axis of an angle, along which the angle is zero
    pitch: Floats  # (R,) [m/rad] of a helix
    stiffness: Floats  # (R,) [N/m or N·m/rad] of a freedom
    rest: Floats  # (R,) [m or rad] rest position of the spring
    damping: Floats  # (R,) [N·s/m or N·m·s/rad]
    lower: Floats  # (R,) [m or rad] −∞: no limit
    upper: Floats  # (R,) [m or rad] ∞: no limit
    pair: Integers  # (R,) index of the lower limit's slack-multiplier pair, −1: no limits; the upper limit's follows


class Graph(NamedTuple):
    """Order of elimination of the nodes (bodies 0 … n − 1, joints n … n + m − 1), and edges with all fill-in."""

    order: Integers  # (n + m,) nodes, leaves first
    size: Integers  # (n + m,) unknowns of a node
    first_edge: Integers  # (n + m + 1,) first edge from each node to later nodes, by position in the order
    other: Integers  # (edges,) later node of each edge
    first_update: Integers  # (n + m + 1,) first update of each node, by position in the order
    update_row: Integers  # (updates,) edge whose lower block is the left factor
    update_column: Integers  # (updates,) edge whose upper block is the right factor
    update_kind: Integers  # (updates,) ON_DIAGONAL, UPPER or LOWER
    update_target: Integers  # (updates,) node or edge that is updated
    row_edge: Integers  # (R, 2) edges between the joint's node and its inboard and outboard body; −1: the ground
    row_is_upper: Integers  # (R, 2) 1 if the joint is eliminated before the body, else 0


class System(NamedTuple):
    """Constants of an assembly."""

    bodies: Bodies
    joints: Joints
    contacts: Contacts
    graph: Graph
    springs: int  # number of springs, which are the last joints
    links: Any  # ``CustomLinks``, which come before the springs


class Rule(NamedTuple):
    """Settings of steps and their solution."""

    h: float  # [s]
    first_share: float  # share of the forces in the first step: ½ for order 2, 1 for order 1
    tolerance: float  # [N·s, m] greatest norm of the equations' residual
    complementarity: float  # [N·s·m] greatest product of a slack and its multiplier
    max_iterations: int
    max_backtracks: int


class Poses(NamedTuple):
    """Poses of the bodies."""

    com: Floats  # (n, 3) [m]
    quaternion: Floats  # (n, 4) body to world, scalar first
    rotation: Floats  # (n, 9) rotation matrices, body to world


def new_poses(n: int) -> Poses:
    """Return poses for n bodies, filled with NaN."""
    return Poses(np.full((n, 3), np.nan), np.full((n, 4), np.nan), np.full((n, 9), np.nan))


# Indices in ``Motion.counts``.
STEPS = 0  # number of steps taken
FRESH = 1  # 1 if the momentum comes from a velocity, not from a previous step
ITERATIONS = 2  # total number of Newton iterations
MOST_ITERATIONS = 3
LAST_ITERATIONS = 4
COUNTS = 5


class Motion(NamedTuple):
    """State of a motion: arrays that change from step to step."""

    poses: Poses
    momentum: Floats  # (n, 6) [N·s, N·m·s] of the last step, about centres of mass, world axes
    coordinate: Floats  # (R,) [m or rad] values of all rows; angles are continued without jumps from these
    force: Floats  # (R,) [N or N·m] of actuators along freedoms
    wrench: Floats  # (n, 6) [N, N·m] from outside, about centres of mass, world axes
    multiplier: Floats  # (R,) [N·s or N·m·s] impulses of rows in the last step
    contact_impulse: Floats  # (c, 3) [N·s] along normal and tangents in the last step
    node_velocity: Floats  # (n, 6) [m/s, rad/s] at the last step's start, from the mean momentum of both steps
    slack: Floats  # (K,) slacks of all pairs
    dual: Floats  # (K,) multipliers of all pairs
    last_displacement: Floats  # (n, 7) displacement [m] and turn (quaternion) of the last step
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
    inertia: Floats  # (n, 9) [kg m²] in world axes at the start of the step
    moved: Floats  # (n, 3) [m] displacement of each centre of mass in the step
    turn: Floats  # (n, 4) turn of each body in the step (quaternion), world axes
    impulse: Floats  # (n, 6) impulses known before the step: momentum and forces
    balance: Floats  # (n, 6) residual of a body's balance
    rows_begin: Floats  # (2 R, 6) gradients at the start of the step; for each row, by inboard and outboard body
    rows_end: Floats  # (2 R, 6) gradients at the end of the step
    value: Floats  # (R,) values of all rows at the end of the step
    arm_begin: Floats  # (2 c, 3) [m] from centre of mass to the contact's impulse; for each contact, of both bodies
    arm_end: Floats  # (2 c, 3)
    lead_begin: Floats  # (2 c, 3) [m] from there to the body's contact point, whose height is the gap
    lead_end: Floats  # (2 c, 3)
    gap_begin: Floats  # (c,)
    slide: Floats  # (c, 3) [m] displacement of the contact point along normal and tangents, relative to the other body
    diagonal: Floats  # (n + m, WIDTH, WIDTH) diagonal blocks, factored in place
    multipliers: Floats  # (n + m, WIDTH, WIDTH) factors L of the diagonal blocks
    pivots: Integers  # (n + m, WIDTH) rows in the order of the pivots
    rank: Integers  # (n + m,) rank of each diagonal block
    magnitude: Floats  # (n + m, WIDTH) summed magnitudes of the terms on the diagonal
    upper: Floats  # (edges, WIDTH, WIDTH) blocks with the row of the earlier node
    lower: Floats  # (edges, WIDTH, WIDTH) blocks with the row of the later node
    load: Floats  # (n + m, WIDTH) right-hand side, then the solution
    scales: Floats  # (WIDTH,)
    dimension: Integers  # (K,) 1: a simple pair, CONE: start of a friction cone, 0: within a friction cone
    target: Floats  # (K,) targets of the products of slack and multiplier
    slack_change: Floats  # (K,)
    dual_change: Floats  # (K,)
    base_moved: Floats  # (n, 3) ``moved`` at the start of a line search, and so on
    base_turn: Floats  # (n, 4)
    base_multiplier: Floats  # (R,)
    base_slack: Floats  # (K,)
    base_dual: Floats  # (K,)
    measure: Floats  # (MEASURES,)


def new_buffers(n: int, m: int, rows: int, contacts: int, pairs: int, edges: int) -> Buffers:
    """Return the buffers, filled with NaN."""

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
