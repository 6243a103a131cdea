"""A thrown box, which flies and hits boxes and capsules on the tree's bodies.

Its separation from each of them changes almost linearly over a step and is extrapolated before each step. If one would
vanish, the step is taken in two parts with the collision between them.
"""

import math
from typing import NamedTuple

import numpy as np

from biped.kernels.loop.log import IMPACT, log_event
from biped.kernels.solve.causes import COLLISION_FAILED
from biped.kernels.state.simulation_state import IMPACTS
from biped.kernels.state.status import OK
from biped.kernels.tree.dynamics import rates_from_momentum
from biped.kernels.tree.factorization import solve_inboard, solve_outboard
from biped.kernels.tree.kinematics import point_of_body
from biped.kernels.variational.equations import reference_point
from biped.kernels.variational.free_body import STATE, body_pose, body_velocities, fly, inertia_in_world, strike_body
from contact import vectors as vec
from contact.arrays import Floats, Integers
from contact.boxes import SCRATCH_SHAPE, contact_point, separation
from contact.capsules import capsule_to_box
from contact.collision import collision_impulse, rigid_body_collision_matrix
from kernelcache import kernel, routine

# Indices of ``Projectile.status``.
ARMED = 0  # 1 if there is a thrown box
HIT = 1  # the next or last target
STATUSES = 2

# Indices of ``Projectile.state`` after the numbers of the free box.
ELAPSED = STATE
GAPS = STATE + 1

# [m] Gap of the surrounding spheres beyond which solids cannot meet within a step: 100 m/s for 2 ms.
NEAR = 0.2

# [s] Shortest part of a step: smaller displacements would be round-off.
SHORTEST = 1e-5


class Projectile(NamedTuple):
    """A free box, and the m boxes and capsules on the tree that it may hit."""

    status: Integers  # (STATUSES,)
    state: Floats  # (STATE + 1 + m,) state of the free box, then the time since the last separations [s], and these [m]
    mass: Floats  # (1,) [kg]
    inertia: Floats  # (1, 9) [kg m²] in its axes
    half: Floats  # (3,) [m] half edges of the free box
    target_body: Integers  # (m,)
    target_half: Floats  # (m, 3) [m] half edges of a box; for a capsule, from its middle to an end of its axis
    target_radius: Floats  # (m,) [m] radius of a capsule; below zero for a box
    target_offset: Floats  # (m, 3) [m] middle of a target from its body's centre of mass, home axes
    law: Floats  # (2,) restitution, friction
    scratch: Floats


def new_projectile(box: Floats) -> Projectile:
    """Return a projectile with this state of the thrown box, not armed."""
    targets = len(box) - STATE - 1
    return Projectile(
        status=np.zeros(STATUSES, dtype=np.int64), state=box, mass=np.ones(1), inertia=np.ones((1, 9)),
        half=np.zeros(3), target_body=np.zeros(targets, dtype=np.int64), target_half=np.zeros((targets, 3)),
        target_radius=np.zeros(targets), target_offset=np.zeros((targets, 3)), law=np.zeros(2),
        scratch=np.zeros(SCRATCH_SHAPE),
    )  # fmt: skip


def new_projectile_state(targets: int = 1) -> Floats:
    """Return the state of a thrown box with a number of targets, without known separations."""
    box = np.zeros(STATE + 1 + targets)
    box[GAPS:] = np.inf
    return box


@kernel
def free_box(projectile):
    """Return the free box in the form of ``contact.boxes``."""
    position, quaternion = body_pose(projectile.state)
    return position, vec.quat_matrix(quaternion), vec.triple(projectile.half)


@kernel
def target_box(tree, state, poses, projectile, k):
    """Return target k, a box, in the form of ``contact.boxes``."""
    i = projectile.target_body[k]
    centre = vec.add(reference_point(tree, state.q), point_of_body(poses, i, vec.load3(projectile.target_offset, k)))
    return centre, vec.load9(poses.rotation, i), vec.load3(projectile.target_half, k)


@kernel
def as_capsule(target, radius):
    """Convert a capsule from the form of ``target_box`` to that of ``contact.capsules``."""
    return target[0], vec.mat_vec(target[1], target[2]), radius


@kernel
def are_far_apart(target, radius, free):
    """Return True if the solids' surrounding spheres are too far apart to meet within a step."""
    offset = vec.sub(free[0], target[0])
    reach = math.sqrt(vec.dot(target[2], target[2])) + max(radius, 0.0) + math.sqrt(vec.dot(free[2], free[2])) + NEAR
    return vec.dot(offset, offset) > reach * reach


@routine
def gap_between(target, radius, free):
    """Return the separation [m] of the thrown box from a target, or infinity while they are far apart."""
    if are_far_apart(target, radius, free):
        return math.inf
    if radius >= 0.0:
        gap, _, _ = capsule_to_box(as_capsule(target, radius), free)
        return gap
    gap, _ = separation(target, free)
    return gap


@routine
def contact_between(target, radius, free, scratch):
    """Return (gap [m], normal from the target, point (3,) [m]) of the thrown box and a target."""
    if radius >= 0.0:
        return capsule_to_box(as_capsule(target, radius), free)
    gap, normal = separation(target, free)
    return gap, normal, contact_point(target, free, normal, scratch)


@kernel
def passes(tree, state, poses, projectile, h):
    """Return True if the box is too far from all targets to meet one in the coming step of h.

    ``time_before_impact`` is h then.
    """
    free = free_box(projectile)
    for k in range(projectile.target_body.shape[0]):
        if not are_far_apart(target_box(tree, state, poses, projectile, k), projectile.target_radius[k], free):
            return False
    projectile.state[ELAPSED] = h
    for k in range(projectile.target_body.shape[0]):
        projectile.state[GAPS + k] = math.inf
    return True


@kernel
def fly_projectile(tree, projectile, h):
    return fly(projectile.state, projectile.mass[0], vec.load9(projectile.inertia, 0), vec.triple(tree.gravity), h)


@kernel
def time_before_impact(tree, state, poses, projectile, h):
    """Return the time [s] in the coming step of h until the box touches a target, set in ``status``; h if none."""
    free, box = free_box(projectile), projectile.state
    first = h
    for k in range(projectile.target_body.shape[0]):
        gap = gap_between(target_box(tree, state, poses, projectile, k), projectile.target_radius[k], free)
        before, box[GAPS + k] = box[GAPS + k], gap
        touch = time_to_touch(before, gap, box[ELAPSED], h)
        if touch < first:
            first, projectile.status[HIT] = touch, k
    box[ELAPSED] = h
    return first


@kernel
def time_to_touch(before, gap, elapsed, h):
    """Return the time [s] in the coming step of h until an extrapolated separation vanishes; h if it does not."""
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


@kernel
def collide(tree, state, motion, projectile, log, time):
    """Exchange collision impulses with the met target and with others in contact; return OK or a failure."""
    outcome = OK
    for k in range(projectile.target_body.shape[0]):
        if outcome == OK and (k == projectile.status[HIT] or projectile.state[GAPS + k] <= 0.0):
            outcome = collide_with(tree, state, motion, projectile, k, log, time)
        else:
            projectile.state[GAPS + k] = math.inf  # not that of the coming part's start any more
    return outcome


@kernel
def collide_with(tree, state, motion, projectile, k, log, time):
    """Exchange the collision impulse with target k if it approaches at the contact (Mirtich 1996; thesis 4.3)."""
    target, free = target_box(tree, state, motion.poses, projectile, k), free_box(projectile)
    radius = projectile.target_radius[k]
    projectile.state[GAPS + k], normal, point = contact_between(target, radius, free, projectile.scratch)
    i = projectile.target_body[k]
    arm = vec.sub(point, reference_point(tree, state.q))
    free_arm = vec.sub(point, free[0])
    rates_from_momentum(tree, state.momentum, motion)
    K = body_collision_matrix(tree, motion, i, arm)
    J = inertia_in_world(projectile.state, vec.load9(projectile.inertia, 0))
    K = vec.mat_add(K, rigid_body_collision_matrix(projectile.mass[0], J, free_arm))
    velocity, omega = body_velocities(projectile.state, projectile.mass[0], vec.load9(projectile.inertia, 0))
    before = vec.sub(vec.add(velocity, vec.cross(omega, free_arm)), point_velocity(tree, motion, i, arm))
    impulse = collision_impulse(before, normal, K, projectile.law[0], projectile.law[1])
    size = vec.dot(impulse, impulse)
    if not math.isfinite(size):
        return COLLISION_FAILED
    if size > 0.0:
        log_event(log, time, IMPACT, i, vec.scale(-1.0, impulse), point, before)
        strike_body(projectile.state, free_arm, impulse)
        strike(tree, state, motion, i, arm, vec.scale(-1.0, impulse))
    return OK


@kernel
def point_velocity(tree, motion, i, arm):
    """Return the velocity of the point of body i at ``arm`` from O; needs ``motion.rates``."""
    linear = (0.0, 0.0, 0.0)
    angular = (0.0, 0.0, 0.0)
    j = i
    while j >= 0:
        for dof in range(tree.first_v[j], tree.first_v[j] + tree.dofs[j]):
            s, rate = vec.load6(motion.poses.motion, dof), motion.rates[dof]
            linear = vec.add(linear, vec.scale(rate, s[:3]))
            angular = vec.add(angular, vec.scale(rate, s[3:]))
        j = tree.parent[j]
    return vec.add(linear, vec.cross(angular, arm))


@routine
def respond(tree, motion, i, arm, impulse):
    """Write the change of all velocities by an impulse on body i to ``motion.response``; return the point's change.

    Needs M factored. The impulse enters as a wrench that the joints need not exert.
    """
    factors = motion.factors
    for k in range(factors.wrench.shape[0]):
        vec.store_twist(factors.wrench, k, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    vec.store_twist(factors.wrench, i, vec.scale(-1.0, impulse), vec.scale(-1.0, vec.cross(arm, impulse)))
    solve_inboard(tree, motion.poses.motion, motion.nothing, factors, 0)
    solve_outboard(tree, motion.poses.motion, factors, motion.response)
    twist = vec.load6(factors.twist, i)
    return vec.add(twist[:3], vec.cross(twist[3:], arm))


@kernel
def body_collision_matrix(tree, motion, i, arm):
    """Return K of the tree at a point of body i: by columns, the velocity that a unit impulse causes there."""
    x = respond(tree, motion, i, arm, (1.0, 0.0, 0.0))
    y = respond(tree, motion, i, arm, (0.0, 1.0, 0.0))
    z = respond(tree, motion, i, arm, (0.0, 0.0, 1.0))
    xy, xz, yz = 0.5 * (x[1] + y[0]), 0.5 * (x[2] + z[0]), 0.5 * (y[2] + z[1])
    return x[0], xy, xz, xy, y[1], yz, xz, yz, z[2]


@kernel
def strike(tree, state, motion, i, arm, impulse):
    """Apply an impulse on body i to the tree's momenta and ledger, and to the rates of the next initial guess."""
    before = point_velocity(tree, motion, i, arm)
    change = respond(tree, motion, i, arm, impulse)
    wrench = impulse + vec.cross(arm, impulse)
    j = i
    while j >= 0:
        for dof in range(tree.first_v[j], tree.first_v[j] + tree.dofs[j]):
            state.momentum[dof] += vec.dot6(vec.load6(motion.poses.motion, dof), wrench)
        j = tree.parent[j]
    for dof in range(state.cache.rate.shape[0]):
        state.cache.rate[dof] += motion.response[dof]
        state.cache.rate_change[dof] = 0.0
        state.cache.rate_curve[dof] = 0.0
    state.ledger.works[IMPACTS] += vec.dot(impulse, vec.add(before, vec.scale(0.5, change)))
    about_origin = vec.cross(vec.add(reference_point(tree, state.q), arm), impulse)
    for axis in range(3):
        state.ledger.impulse[axis] += impulse[axis]
        state.ledger.impulse[3 + axis] += about_origin[axis]
