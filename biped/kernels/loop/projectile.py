"""A thrown box: it flies, hits a box on one of the tree's bodies, and flies on.

The separation of the two boxes changes almost linearly over a step. Before each step it is extrapolated from
the last one; where it would vanish, the step is taken in two parts with the collision between them.
"""

import math
from typing import NamedTuple

import numpy as np

from biped.kernels.loop.log import IMPACT, log_event
from biped.kernels.state.simulation_state import IMPACTS
from biped.kernels.state.status import COLLISION_FAILED, OK
from biped.kernels.tree.dynamics import rates_from_momentum
from biped.kernels.tree.factorization import solve_inboard, solve_outboard
from biped.kernels.tree.kinematics import point_of_body
from biped.kernels.variational.equations import reference_point
from biped.kernels.variational.free_body import STATE, body_pose, body_velocities, fly, inertia_in_world, strike_body
from contact.arrays import Floats, Integers
from contact.boxes import SCRATCH_SHAPE, contact_point, separation
from contact.collision import collision_impulse, rigid_body_collision_matrix
from contact.jit import kernel, routine
from contact.vectors import (
    add,
    cross,
    dot,
    dot6,
    load6,
    load9,
    mat_add,
    quat_matrix,
    scale,
    store_twist,
    sub,
    triple,
)

# Places in ``Projectile.status``.
ARMED = 0  # whether there is a thrown box at all
TARGET = 1  # the body that carries the box to hit
STATUSES = 2

# Boxes whose surrounding spheres are farther apart than this [m] do not meet within a step: 100 m/s for 2 ms.
NEAR = 0.2

# No step is split into parts shorter than this [s]: their displacements would drown in round-off.
SHORTEST = 1e-5


class Projectile(NamedTuple):
    """A free box, and the box on the tree that it may hit."""

    status: Integers  # (STATUSES,)
    state: Floats  # (STATE + 2,) of the free box; then the last separation [m] and the time since it [s]
    mass: Floats  # (1,) [kg]
    inertia: Floats  # (1, 9) [kg m²] own axes
    half: Floats  # (3,) [m] half of the free box's edges
    target_half: Floats  # (3,) [m] half of the target's edges
    target_offset: Floats  # (3,) [m] its middle from its body's centre of mass, home axes
    law: Floats  # (2,) restitution, friction
    scratch: Floats


def new_projectile(box: Floats) -> Projectile:
    """Room for a thrown box in this state; not armed."""
    return Projectile(
        status=np.zeros(STATUSES, dtype=np.int64),
        state=box,
        mass=np.ones(1),
        inertia=np.ones((1, 9)),
        half=np.zeros(3),
        target_half=np.zeros(3),
        target_offset=np.zeros(3),
        law=np.zeros(2),
        scratch=np.zeros(SCRATCH_SHAPE),
    )


def new_projectile_state() -> Floats:
    """Room for the state of a thrown box, with no separation known."""
    box = np.zeros(STATE + 2)
    box[STATE] = np.inf
    return box


@kernel
def own_box(projectile):
    """The free box as ``boxes`` takes it."""
    position, quaternion = body_pose(projectile.state)
    return position, quat_matrix(quaternion), triple(projectile.half)


@kernel
def target_box(tree, state, poses, projectile):
    """The target's box as ``boxes`` takes it."""
    i = projectile.status[TARGET]
    centre = add(reference_point(tree, state.q), point_of_body(poses, i, triple(projectile.target_offset)))
    return centre, load9(poses.rotation, i), triple(projectile.target_half)


@kernel
def are_far_apart(target, own):
    """Whether the boxes' surrounding spheres are, so that they do not meet within a step."""
    offset = sub(own[0], target[0])
    reach = math.sqrt(dot(target[2], target[2])) + math.sqrt(dot(own[2], own[2])) + NEAR
    return dot(offset, offset) > reach * reach


@kernel
def gap_between(target, own):
    """The separation of the boxes, or infinity while they are far apart."""
    if are_far_apart(target, own):
        return math.inf
    gap, _ = separation(target, own)
    return gap


@kernel
def passes(tree, state, poses, projectile, h):
    """Whether the boxes are too far apart to meet in the coming step of h; if so, ``time_before_impact`` is h."""
    if not are_far_apart(target_box(tree, state, poses, projectile), own_box(projectile)):
        return False
    projectile.state[STATE], projectile.state[STATE + 1] = math.inf, h
    return True


@kernel
def fly_projectile(tree, projectile, h):
    return fly(projectile.state, projectile.mass[0], load9(projectile.inertia, 0), triple(tree.gravity), h)


@routine
def time_before_impact(tree, state, poses, projectile, h):
    """[s] When in the coming step of h the boxes will touch; h if they will not."""
    gap = gap_between(target_box(tree, state, poses, projectile), own_box(projectile))
    box = projectile.state
    before, elapsed = box[STATE], box[STATE + 1]
    box[STATE], box[STATE + 1] = gap, h
    if gap <= 0.0:
        return 0.0
    if not math.isfinite(gap) or not math.isfinite(before):
        return h
    closing = (before - gap) / elapsed
    if closing * h <= gap:
        return h
    touch = gap / closing
    if touch < SHORTEST:
        return 0.0
    return touch if touch < h - SHORTEST else h


@routine
def collide(tree, state, motion, projectile, log, time):
    """Exchange the collision impulse, if the boxes approach where they touch (Mirtich 1996; thesis 4.3)."""
    target, own = target_box(tree, state, motion.poses, projectile), own_box(projectile)
    projectile.state[STATE], normal = separation(target, own)
    point = contact_point(target, own, normal, projectile.scratch)
    i = projectile.status[TARGET]
    arm = sub(point, reference_point(tree, state.q))
    own_arm = sub(point, own[0])
    rates_from_momentum(tree, state.momentum, motion)
    K = body_collision_matrix(tree, motion, i, arm)
    J = inertia_in_world(projectile.state, load9(projectile.inertia, 0))
    K = mat_add(K, rigid_body_collision_matrix(projectile.mass[0], J, own_arm))
    velocity, omega = body_velocities(projectile.state, projectile.mass[0], load9(projectile.inertia, 0))
    before = sub(add(velocity, cross(omega, own_arm)), point_velocity(tree, motion, i, arm))
    impulse = collision_impulse(before, normal, K, projectile.law[0], projectile.law[1])
    size = dot(impulse, impulse)
    if not math.isfinite(size):
        return COLLISION_FAILED
    if size > 0.0:
        log_event(log, time, IMPACT, i, scale(-1.0, impulse), point, before)
        strike_body(projectile.state, own_arm, impulse)
        strike(tree, state, motion, i, arm, scale(-1.0, impulse))
    return OK


@kernel
def point_velocity(tree, motion, i, arm):
    """Velocity of the point of body i at ``arm`` from O; needs ``motion.rates``."""
    linear = (0.0, 0.0, 0.0)
    angular = (0.0, 0.0, 0.0)
    j = i
    while j >= 0:
        for dof in range(tree.first_v[j], tree.first_v[j] + tree.dofs[j]):
            s, rate = load6(motion.poses.motion, dof), motion.rates[dof]
            linear = add(linear, scale(rate, s[:3]))
            angular = add(angular, scale(rate, s[3:]))
        j = tree.parent[j]
    return add(linear, cross(angular, arm))


@routine
def respond(tree, motion, i, arm, impulse):
    """The change of all velocities by an impulse on body i, into ``motion.response``; the point's is returned.

    Needs M factored. The impulse enters as a wrench that the joints need not provide.
    """
    factors = motion.factors
    for k in range(factors.wrench.shape[0]):
        store_twist(factors.wrench, k, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    store_twist(factors.wrench, i, scale(-1.0, impulse), scale(-1.0, cross(arm, impulse)))
    solve_inboard(tree, motion.poses.motion, motion.nothing, factors, 0)
    solve_outboard(tree, motion.poses.motion, factors, motion.response)
    twist = load6(factors.twist, i)
    return add(twist[:3], cross(twist[3:], arm))


@kernel
def body_collision_matrix(tree, motion, i, arm):
    """K of the tree at a point of body i: column by column the velocity that a unit impulse causes there."""
    x = respond(tree, motion, i, arm, (1.0, 0.0, 0.0))
    y = respond(tree, motion, i, arm, (0.0, 1.0, 0.0))
    z = respond(tree, motion, i, arm, (0.0, 0.0, 1.0))
    xy, xz, yz = 0.5 * (x[1] + y[0]), 0.5 * (x[2] + z[0]), 0.5 * (y[2] + z[1])
    return x[0], xy, xz, xy, y[1], yz, xz, yz, z[2]


@kernel
def strike(tree, state, motion, i, arm, impulse):
    """The impulse on body i of the tree: its momenta, its books, and the rates that the next guess goes by."""
    before = point_velocity(tree, motion, i, arm)
    change = respond(tree, motion, i, arm, impulse)
    wrench = impulse + cross(arm, impulse)
    j = i
    while j >= 0:
        for dof in range(tree.first_v[j], tree.first_v[j] + tree.dofs[j]):
            state.momentum[dof] += dot6(load6(motion.poses.motion, dof), wrench)
        j = tree.parent[j]
    for dof in range(state.cache.rate.shape[0]):
        state.cache.rate[dof] += motion.response[dof]
        state.cache.rate_change[dof] = 0.0
        state.cache.rate_curve[dof] = 0.0
    state.ledger.works[IMPACTS] += dot(impulse, add(before, scale(0.5, change)))
    about_origin = cross(add(reference_point(tree, state.q), arm), impulse)
    for axis in range(3):
        state.ledger.impulse[axis] += impulse[axis]
        state.ledger.impulse[3 + axis] += about_origin[axis]
