"""The method's named tuples: what an interior point method for the contacts of a tree needs, and what is recorded."""

from typing import Any, NamedTuple

import numpy as np

from biped.kernels.rigid.system import MEASURES, Contacts, ground_contacts
from biped.kernels.state.method import Solver
from biped.kernels.tree.dynamics import TreeData, new_tree_data
from contact.arrays import Floats, Integers

# Places in ``ContactUnknowns.worst``: of all steps since the last recorded row.
RESIDUAL = 0  # [N·s, with lengths as impulses of a mean body] of the equations
COMPLEMENTARITY = 1  # [N·s·m] the greatest product of a pair
DEPTH = 2  # [m] of the deepest contact point
UNRESOLVED = 3  # how many steps ended without impulses for their velocities
WORSTS = 4


class ContactUnknowns(NamedTuple):
    """What is solved for at the c contact points, K pairs in all, first of the step, then of the velocity at its end.

    It is the ``motion`` and the ``room`` of ``biped.kernels.rigid.contacts``.
    """

    slack: Floats  # (K,)
    dual: Floats  # (K,)
    target: Floats  # (K,) of the products
    slack_change: Floats  # (K,)
    dual_change: Floats  # (K,)
    base_slack: Floats  # (K,) where a line search begins
    base_dual: Floats  # (K,)
    watched: Integers  # (c,) 1 of points that are looked at in each step, 0 of those that are where they are near
    active: Integers  # (c,) whether a point is looked at
    gap_begin: Floats  # (c,) [m] where the step begins
    slide: Floats  # (c, 3) [m] along the normal, and from the anchor along the floor
    offset: Floats  # (c, 2) [m] from the anchor where the step begins
    contact_impulse: Floats  # (c, 3) [N·s] along the normal and the floor
    first: Floats  # (c, 3) [N·s] that of the step, world axes
    last: Floats  # (c, 3) [N·s] that of the velocity at its end
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
        slack=np.ones(pairs), dual=np.ones(pairs), target=room(pairs), slack_change=room(pairs),
        dual_change=room(pairs), base_slack=room(pairs), base_dual=room(pairs), watched=watched,
        active=np.ones(nc, dtype=np.int64),
        gap_begin=room(nc), slide=room(nc, 3), offset=room(nc, 2), contact_impulse=room(nc, 3), first=room(nc, 3),
        last=room(nc, 3), velocity=room(nc, 3), floor_velocity=np.zeros((nc, 3)), mode=np.ones(nc, dtype=np.int64),
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
    contacts: Contacts
    unknowns: ContactUnknowns
    ahead: TreeData  # the tree at the end of the step


def new_rigid_contact(
    body: Any,
    guess: Any,
    solver: Solver,
    complementarity: float,
    restitution: float,
    directions: int,
    tree: Any,
    watched: Integers,
) -> RigidContact:
    """The method with room for a tree, with so many directions of friction; ``ContactUnknowns`` has ``watched``."""
    n, nv, nc = tree.parent.shape[0], tree.armature.shape[0], tree.contact_body.shape[0]
    turns = 2.0 * np.pi * np.arange(directions) / directions
    width = 2 + directions
    contacts = ground_contacts(
        body=tree.contact_body,
        point=tree.contact_offset,
        frame=np.tile([0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0], (nc, 1)),
        height=np.zeros(nc),
        friction=np.zeros(nc),
        directions=np.column_stack([np.cos(turns), np.sin(turns)]),
        pair=width * np.arange(nc),
        radius=np.zeros(nc),
    )
    return RigidContact(
        body, guess, solver, complementarity, restitution, contacts, new_contact_unknowns(watched, nv, width * nc),
        new_tree_data(n, nv, nc),
    )  # fmt: skip
