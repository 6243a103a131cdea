"""Named tuples of the rigid method: contacts, unknowns and buffers of the interior point method, recorded numbers."""

from typing import Any, NamedTuple

import numpy as np

from biped.kernels.solve.contacts import Contacts, friction_directions, pairs_of
from biped.kernels.solve.interior import MEASURES
from biped.kernels.state.method import Solver
from biped.kernels.tree.dynamics import TreeData, new_tree_data
from biped.kernels.tree.tree import Tree
from contact.arrays import Floats, Integers

# Indices of ``ContactUnknowns.worst``, over all steps since the last recorded row.
RESIDUAL = 0  # [N·s, with lengths as impulses of a mean body] residual of the equations
COMPLEMENTARITY = 1  # [N·s·m] the greatest product of a pair
DEPTH = 2  # [m] depth of the deepest contact point
UNRESOLVED = 3  # number of steps without a solution for the velocities at the end
WORSTS = 4


class BodyPairs(NamedTuple):
    """The p pairs of capsules of bodies that may touch, the last of the contacts, with buffers for m ≤ p near ones.

    Rows of the first body are at 2 k, of the second at 2 k + 1.
    """

    body: Integers  # (p, 2)
    center: Floats  # (2 p, 3) [m] the capsule's middle from the body's centre of mass, home axes
    half: Floats  # (2 p, 3) [m] from there to an end of its axis
    radius: Floats  # (p, 2) [m]
    frame: Floats  # (p, 9) rows: normal from the first to the second, and two tangents, at the start of the step
    local: Floats  # (2 p, 3) [m] the material point that touches there, from the centre of mass, home axes
    begin_rows: Floats  # (6 p, 6) gradients by the bodies' twists about O, of normal and tangents, at the step's start
    end_rows: Floats  # (6 p, 6) gradients of gap and displacement at its end
    response: Floats  # (3 m, nv) response of the unknowns to unit impulses
    response_twist: Floats  # (3 m, n, 6) response of the bodies
    compliance: Floats  # (3 m, 3 m) response of the pairs' points
    matrix: Floats  # (3 m, 3 m)
    load: Floats  # (3 m,)
    impulse: Floats  # (3 m,)
    swaps: Integers  # (3 m,) row swaps of the matrix
    order: Integers  # (m,) indices of the near pairs
    work: Floats  # (p,) [J] work of the impulse at the start of the step


class BodyParts(NamedTuple):
    """The parts of ``BodyPairs`` that come from the model."""

    body: Integers
    center: Floats
    half: Floats
    radius: Floats
    friction: float


def new_body_pairs(parts: BodyParts, n: int, nv: int) -> BodyPairs:
    """Return buffers filled with NaN."""
    p = len(parts.body)

    def unset(*shape: int) -> Floats:
        return np.full(shape, np.nan)

    return BodyPairs(
        parts.body, parts.center, parts.half, parts.radius, frame=unset(p, 9), local=unset(2 * p, 3),
        begin_rows=unset(6 * p, 6), end_rows=unset(6 * p, 6), response=unset(3 * p, nv),
        response_twist=unset(3 * p, n, 6), compliance=unset(3 * p, 3 * p), matrix=unset(3 * p, 3 * p),
        load=unset(3 * p), impulse=unset(3 * p), swaps=np.zeros(3 * p, dtype=np.int64),
        order=np.zeros(p, dtype=np.int64), work=np.zeros(p),
    )  # fmt: skip


class Arms(NamedTuple):
    """Arms from O to the touching points of the c points or balls, (c, 3) [m] each; a point touches itself."""

    begin: Floats  # at the start of the step
    moved: Floats  # the same material point at the end of the candidate
    end: Floats  # the touching point at the end of the step


class ContactUnknowns(NamedTuple):
    """Unknowns of the c contacts, K pairs in all, first of the step, then of the velocity at its end.

    They are both ``motion`` and ``buffers`` of ``biped.kernels.solve.contacts``.
    """

    slack: Floats  # (K,)
    dual: Floats  # (K,)
    dimension: Integers  # (K,) 1 for a pair, CONE at the first index of a friction cone, 0 within one
    target: Floats  # (K,) target products
    slack_change: Floats  # (K,)
    dual_change: Floats  # (K,)
    base_slack: Floats  # (K,) slacks at the start of a line search
    base_dual: Floats  # (K,)
    watched: Integers  # (c,) 1 for points checked in each step, 0 for those checked when they are near
    active: Integers  # (c,) 1 for points in the equations
    used: Integers  # (1,) one more than the last active point of the step
    gap_begin: Floats  # (c,) [m] gap at the start of the step
    slide: Floats  # (c, 3) [m] displacement along the normal, and from the anchor along the floor
    offset: Floats  # (c, 2) [m] offset from the anchor at the start of the step
    contact_impulse: Floats  # (c, 3) [N·s] along the normal and the floor
    first: Floats  # (c, 3) [N·s] impulse of the step, world axes; for a pair in its frame
    last: Floats  # (c, 3) [N·s] impulse of the velocity at the end of the step, in the axes of ``first``
    velocity: Floats  # (c, 3) [m/s] velocity of the point at the start of the step, world axes
    floor_velocity: Floats  # (c, 3) [m/s] velocity of the floor below it at the end of the step
    mode: Integers  # (c,) mode before the step
    first_mode: Integers  # (c,) mode in the step, of points that touch the floor
    place: Floats  # (c, 2) [m] position on the floor at the start of the step
    force: Floats  # (c, 3) force before the step
    momentum: Floats  # (nv,) momentum before the step
    impulse: Floats  # (nv,) [N·s] momentum that belongs to the rates
    measure: Floats  # (MEASURES,)
    worst: Floats  # (WORSTS,)


def new_contact_unknowns(watched: Integers, nv: int, pairs: int) -> ContactUnknowns:
    """Return buffers filled with NaN."""
    nc = len(watched)

    def unset(*shape: int) -> Floats:
        return np.full(shape, np.nan)

    return ContactUnknowns(
        slack=np.ones(pairs), dual=np.ones(pairs), dimension=np.ones(pairs, dtype=np.int64), target=unset(pairs),
        slack_change=unset(pairs), dual_change=unset(pairs), base_slack=unset(pairs), base_dual=unset(pairs),
        watched=watched, active=np.ones(nc, dtype=np.int64), used=np.array([nc]), gap_begin=unset(nc),
        slide=unset(nc, 3), offset=unset(nc, 2), contact_impulse=unset(nc, 3), first=np.zeros((nc, 3)),
        last=np.zeros((nc, 3)), velocity=unset(nc, 3), floor_velocity=np.zeros((nc, 3)),
        mode=np.ones(nc, dtype=np.int64),
        first_mode=np.ones(nc, dtype=np.int64), place=unset(nc, 2), force=unset(nc, 3), momentum=unset(nv),
        impulse=unset(nv), measure=unset(MEASURES), worst=np.zeros(WORSTS),
    )  # fmt: skip


class RigidContact(NamedTuple):
    """A variational step with rigid contact, and the velocity at its end, with buffers for one tree."""

    body: Any
    guess: Any
    solver: Solver
    complementarity: float  # [N·s·m] the greatest product of a pair
    restitution: float  # velocity after an impact / velocity of approach
    contacts: Contacts  # contacts with the floor, then of bodies with one another
    pairs: BodyPairs
    arms: Arms
    unknowns: ContactUnknowns
    closing: Any  # the ``Closing`` of a tree with loops, or ``Nothing``
    loops: Any  # the ``Loops`` of a tree with loops, or ``Nothing``
    ahead: TreeData  # the tree at the end of the step


def contact_buffers(tree: Tree, directions: int, radius: Floats, watched: Integers, parts: BodyParts) -> dict[str, Any]:
    """Return the fields of ``RigidContact`` from ``contacts`` to ``unknowns``, and ``ahead``, for a tree.

    ``directions`` is the number of directions of friction, 0 for the true cone; ``radius`` (nc,) [m] is that of balls,
    0 for points; ``watched`` is documented in ``ContactUnknowns``.
    """
    n, nv, nc = tree.parent.shape[0], tree.armature.shape[0], tree.contact_body.shape[0]
    width, count = pairs_of(1.0, directions), nc + len(parts.body)
    contacts = Contacts(
        body=np.append(tree.contact_body, parts.body[:, 1]),
        point=np.vstack([tree.contact_offset, np.zeros((count - nc, 3))]),
        frame=np.tile([0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0], (count, 1)), height=np.zeros(count),
        friction=np.append(np.zeros(nc), np.full(count - nc, parts.friction)),
        directions=friction_directions(directions), pair=width * np.arange(count),
        radius=np.append(radius, np.zeros(count - nc)), other=np.append(np.full(nc, -1), parts.body[:, 0]),
        other_point=np.zeros((count, 3)), edge=np.full(count, -1), is_upper=np.zeros(count, dtype=np.int64),
    )  # fmt: skip
    unknowns = new_contact_unknowns(np.append(watched, np.zeros(count - nc, dtype=np.int64)), nv, width * count)
    arms = Arms(*(np.full((nc, 3), np.nan) for _ in Arms._fields))
    return {
        "contacts": contacts, "pairs": new_body_pairs(parts, n, nv), "arms": arms, "unknowns": unknowns,
        "ahead": new_tree_data(n, nv, nc),
    }  # fmt: skip
