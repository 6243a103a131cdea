"""The method's named tuples: what an interior point method for the contacts of a tree needs, and what is recorded."""

from typing import Any, NamedTuple

import numpy as np

from biped.kernels.solve.contacts import Contacts, friction_directions, pairs_of
from biped.kernels.solve.interior import MEASURES
from biped.kernels.state.method import Solver
from biped.kernels.tree.dynamics import TreeData, new_tree_data
from biped.kernels.tree.tree import Tree
from contact.arrays import Floats, Integers

# Places in ``ContactUnknowns.worst``: of all steps since the last recorded row.
RESIDUAL = 0  # [N·s, with lengths as impulses of a mean body] of the equations
COMPLEMENTARITY = 1  # [N·s·m] the greatest product of a pair
DEPTH = 2  # [m] of the deepest contact point
UNRESOLVED = 3  # how many steps ended without impulses for their velocities
WORSTS = 4


class BodyPairs(NamedTuple):
    """p pairs of capsules of two bodies that may touch, which are the last of the contacts, and the room of m ≤ p near.

    What there is of the first body stands at 2 k, what of the second at 2 k + 1.
    """

    body: Integers  # (p, 2)
    center: Floats  # (2 p, 3) [m] the capsule's middle from the body's centre of mass, home axes
    half: Floats  # (2 p, 3) [m] from there to an end of its axis
    radius: Floats  # (p, 2) [m]
    frame: Floats  # (p, 9) rows: normal from the first to the second, and two tangents, where the step begins
    local: Floats  # (2 p, 3) [m] the material point that touches there, from the centre of mass, home axes
    begin_rows: Floats  # (6 p, 6) by the bodies' twists about O: along normal and tangents where the step begins
    end_rows: Floats  # (6 p, 6) how gap and way change where it ends
    response: Floats  # (3 m, nv) what unit impulses do to the unknowns
    response_twist: Floats  # (3 m, n, 6) and to the bodies
    compliance: Floats  # (3 m, 3 m) and to the pairs' points
    matrix: Floats  # (3 m, 3 m)
    load: Floats  # (3 m,)
    impulse: Floats  # (3 m,)
    swaps: Integers  # (3 m,) of the matrix's rows
    order: Integers  # (m,) of those that are near
    work: Floats  # (p,) [J] of the impulse where the step begins


class BodyParts(NamedTuple):
    """What ``BodyPairs`` has of the model."""

    body: Integers
    center: Floats
    half: Floats
    radius: Floats
    friction: float


def new_body_pairs(parts: BodyParts, n: int, nv: int) -> BodyPairs:
    """Room, filled with NaN."""
    p = len(parts.body)

    def room(*shape: int) -> Floats:
        return np.full(shape, np.nan)

    return BodyPairs(
        parts.body, parts.center, parts.half, parts.radius, frame=room(p, 9), local=room(2 * p, 3),
        begin_rows=room(6 * p, 6), end_rows=room(6 * p, 6), response=room(3 * p, nv),
        response_twist=room(3 * p, n, 6), compliance=room(3 * p, 3 * p), matrix=room(3 * p, 3 * p), load=room(3 * p),
        impulse=room(3 * p), swaps=np.zeros(3 * p, dtype=np.int64), order=np.zeros(p, dtype=np.int64), work=np.zeros(p),
    )  # fmt: skip


class Arms(NamedTuple):
    """From O to where the c points or balls touch the floor: [m] each (c, 3), of points the points themselves."""

    begin: Floats  # where the step begins
    moved: Floats  # the same material point where the candidate ends
    end: Floats  # where it touches at the end of the step


class ContactUnknowns(NamedTuple):
    """What is solved for at the c contacts, K pairs in all, first of the step, then of the velocity at its end.

    It is the ``motion`` and the ``room`` of ``biped.kernels.solve.contacts``.
    """

    slack: Floats  # (K,)
    dual: Floats  # (K,)
    dimension: Integers  # (K,) of the cone that begins there: 1 of a pair, CONE of friction's, 0 within one
    target: Floats  # (K,) of the products
    slack_change: Floats  # (K,)
    dual_change: Floats  # (K,)
    base_slack: Floats  # (K,) where a line search begins
    base_dual: Floats  # (K,)
    watched: Integers  # (c,) 1 of points that are looked at in each step, 0 of those that are where they are near
    active: Integers  # (c,) whether a point is looked at
    used: Integers  # (1,) one more than the last that is looked at in the step
    gap_begin: Floats  # (c,) [m] where the step begins
    slide: Floats  # (c, 3) [m] along the normal, and from the anchor along the floor
    offset: Floats  # (c, 2) [m] from the anchor where the step begins
    contact_impulse: Floats  # (c, 3) [N·s] along the normal and the floor
    first: Floats  # (c, 3) [N·s] that of the step, world axes; of a pair in its frame
    last: Floats  # (c, 3) [N·s] that of the velocity at its end, likewise
    velocity: Floats  # (c, 3) [m/s] of the point where the step begins, world axes
    floor_velocity: Floats  # (c, 3) [m/s] of the floor there where the step ends
    mode: Integers  # (c,) before the step
    first_mode: Integers  # (c,) in it, of points that touch the floor
    place: Floats  # (c, 2) [m] on the floor where the step begins
    force: Floats  # (c, 3) before the step
    momentum: Floats  # (nv,) before the step
    impulse: Floats  # (nv,) [N·s] the momentum that the rates are of
    measure: Floats  # (MEASURES,)
    worst: Floats  # (WORSTS,)


def new_contact_unknowns(watched: Integers, nv: int, pairs: int) -> ContactUnknowns:
    """Room, filled with NaN."""
    nc = len(watched)

    def room(*shape: int) -> Floats:
        return np.full(shape, np.nan)

    return ContactUnknowns(
        slack=np.ones(pairs), dual=np.ones(pairs), dimension=np.ones(pairs, dtype=np.int64), target=room(pairs),
        slack_change=room(pairs), dual_change=room(pairs), base_slack=room(pairs), base_dual=room(pairs),
        watched=watched, active=np.ones(nc, dtype=np.int64), used=np.array([nc]), gap_begin=room(nc),
        slide=room(nc, 3), offset=room(nc, 2), contact_impulse=room(nc, 3), first=np.zeros((nc, 3)),
        last=np.zeros((nc, 3)), velocity=room(nc, 3), floor_velocity=np.zeros((nc, 3)),
        mode=np.ones(nc, dtype=np.int64),
        first_mode=np.ones(nc, dtype=np.int64), place=room(nc, 2), force=room(nc, 3), momentum=room(nv),
        impulse=room(nv), measure=room(MEASURES), worst=np.zeros(WORSTS),
    )  # fmt: skip


class RigidContact(NamedTuple):
    """A variational step with rigid contact, and the velocity at its end; its room is good for one tree."""

    body: Any
    guess: Any
    solver: Solver
    complementarity: float  # [N·s·m] the greatest product of a pair
    restitution: float  # the part of a velocity of approach that an impact gives back
    contacts: Contacts  # with the floor, then of bodies with one another
    pairs: BodyPairs
    arms: Arms
    unknowns: ContactUnknowns
    closing: Any  # the ``Closing`` of a tree whose loops are closed, or ``Nothing``
    loops: Any  # its ``Loops``, or ``Nothing``
    ahead: TreeData  # the tree at the end of the step


def contact_room(tree: Tree, directions: int, radius: Floats, watched: Integers, parts: BodyParts) -> dict[str, Any]:
    """The fields of ``RigidContact`` from ``contacts`` to ``unknowns``, and ``ahead``: room for a tree.

    With so many directions of friction, or with none in the true cone. ``ContactUnknowns`` has ``watched``; ``radius``
    (nc,) [m] is that of balls, 0 of points.
    """
    n, nv, nc = tree.parent.shape[0], tree.armature.shape[0], tree.contact_body.shape[0]
    width, count = pairs_of(1.0, directions), nc + len(parts.body)
    contacts = Contacts(
        body=np.append(tree.contact_body, parts.body[:, 1]),
        point=np.vstack([tree.contact_offset, np.zeros((count - nc, 3))]),
        frame=np.tile([0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0], (count, 1)),
        height=np.zeros(count),
        friction=np.append(np.zeros(nc), np.full(count - nc, parts.friction)),
        directions=friction_directions(directions),
        pair=width * np.arange(count),
        radius=np.append(radius, np.zeros(count - nc)),
        other=np.append(np.full(nc, -1), parts.body[:, 0]),
        other_point=np.zeros((count, 3)),
        edge=np.full(count, -1),
        is_upper=np.zeros(count, dtype=np.int64),
    )
    unknowns = new_contact_unknowns(np.append(watched, np.zeros(count - nc, dtype=np.int64)), nv, width * count)
    arms = Arms(*(np.full((nc, 3), np.nan) for _ in Arms._fields))
    return {
        "contacts": contacts, "pairs": new_body_pairs(parts, n, nv), "arms": arms, "unknowns": unknowns,
        "ahead": new_tree_data(n, nv, nc),
    }  # fmt: skip
