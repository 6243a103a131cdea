"""A thrown box: it flies, hits a box on one of the tree's bodies, and flies on.

The moment of impact is found within a step by the separation of the two boxes, which changes almost
linearly over it; both the tree and the box are then taken there, collide, and go on to the step's end.
"""

import math
from typing import NamedTuple

import numpy as np

from biped.kernels.boxes import SCRATCH_SHAPE, contact_point, separation
from biped.kernels.collision import collision_impulse, rigid_body_collision_matrix
from biped.kernels.dynamics import rates_from_momentum
from biped.kernels.factorization import solve_inboard, solve_outboard
from biped.kernels.log import IMPACT, log_event
from biped.kernels.pushes import Pushes, new_pushes
from biped.kernels.state import IMPACTS, Plant
from biped.kernels.step import FAILED, OK, advance, prepare, time_of
from biped.kernels.tree import Floats, Integers, Tree
from biped.kernels.variational import Workspace, reference_point
from biped.kernels.vectors import (
    add,
    copy1,
    copy2,
    cross,
    dot,
    dot6,
    load3,
    load6,
    load9,
    mat_add,
    mat_vec,
    scale,
    store_twist,
    sub,
)
from contact.jit import kernel, routine

# Places in ``Thrown.status``.
ARMED = 0  # whether there is a thrown box at all
TARGET = 1  # the body that carries the box to hit
STATUSES = 2

# Boxes whose surrounding spheres are farther apart than this [m] do not meet within a step: 100 m/s for 2 ms.
NEAR = 0.2


class Thrown(NamedTuple):
    """A free box, the box on the tree that it may hit, and room to go back by one step."""

    status: Integers  # (STATUSES,)
    tree: Tree  # of the free box
    plant: Plant
    work: Workspace
    pushes: Pushes  # none
    half: Floats  # (3,) [m] half of the free box's edges
    target_half: Floats  # (3,) [m] half of the target's edges
    target_offset: Floats  # (3,) [m] its middle from its body's centre of mass, home axes
    law: Floats  # (2,) restitution, friction
    saved: Plant  # of the tree, at the start of the step
    own_saved: Plant  # of the free box
    scratch: Floats


def new_thrown(tree: Tree, plant: Plant, work: Workspace, saved: Plant, own_saved: Plant) -> Thrown:
    """Room for a thrown box; not armed."""
    status = np.zeros(STATUSES, dtype=np.int64)
    room = [np.zeros(size) for size in (3, 3, 3, 2)]
    scratch = np.zeros(SCRATCH_SHAPE)
    return Thrown(status, tree, plant, work, new_pushes(0), *room, saved, own_saved, scratch)


@kernel
def copy_plant(source, target):
    """Copy all that a step changes."""
    copy1(source.clock, target.clock)
    copy1(source.q, target.q)
    copy1(source.momentum, target.momentum)
    copy1(source.rate, target.rate)
    copy1(source.rate_change, target.rate_change)
    copy1(source.mode, target.mode)
    copy1(source.found, target.found)
    copy2(source.anchor, target.anchor)
    copy2(source.force, target.force)
    copy1(source.slip, target.slip)
    copy1(source.ledger, target.ledger)
    copy1(source.defect, target.defect)
    copy1(source.impulse, target.impulse)
    copy1(source.count, target.count)


@kernel
def own_box(thrown):
    """The free box as ``boxes`` takes it."""
    position = (thrown.plant.q[0], thrown.plant.q[1], thrown.plant.q[2])
    return position, load9(thrown.work.now.rotation, 0), (thrown.half[0], thrown.half[1], thrown.half[2])


@kernel
def target_box(tree, plant, work, thrown):
    """The target's box as ``boxes`` takes it."""
    i = thrown.status[TARGET]
    R = load9(work.now.rotation, i)
    offset = mat_vec(R, (thrown.target_offset[0], thrown.target_offset[1], thrown.target_offset[2]))
    centre = add(add(reference_point(tree, plant.q), load3(work.now.com, i)), offset)
    return centre, R, (thrown.target_half[0], thrown.target_half[1], thrown.target_half[2])


@routine
def step_with_thrown(tree, floor, plant, pushes, work, motion, solver, thrown, log):
    """One step of the tree and of the thrown box, with their collision if they meet in it."""
    begin, h = time_of(plant), plant.clock[1]
    near = may_meet(tree, plant, work, thrown)
    gap = 0.0
    if near:
        gap, _ = separation(target_box(tree, plant, work, thrown), own_box(thrown))
        copy_plant(plant, thrown.saved)
        copy_plant(thrown.plant, thrown.own_saved)
    if advance_both(tree, floor, plant, pushes, work, solver, thrown, begin, h, True) == FAILED:
        return FAILED
    if not near:
        return OK
    gap_after, _ = separation(target_box(tree, plant, work, thrown), own_box(thrown))
    if gap_after >= 0.0:
        return OK
    if gap <= 0.0:  # they overlapped before: push apart what still approaches
        collide(tree, plant, work, motion, thrown, log, begin + h)
        return OK
    part = gap / (gap - gap_after)
    copy_plant(thrown.saved, plant)
    copy_plant(thrown.own_saved, thrown.plant)
    prepare(tree, plant, work)
    prepare(thrown.tree, thrown.plant, thrown.work)
    if advance_both(tree, floor, plant, pushes, work, solver, thrown, begin, part * h, False) == FAILED:
        return FAILED
    collide(tree, plant, work, motion, thrown, log, begin + part * h)
    return advance_both(tree, floor, plant, pushes, work, solver, thrown, begin + part * h, (1.0 - part) * h, True)


@kernel
def may_meet(tree, plant, work, thrown):
    """Whether the spheres around the two boxes, widened by ``NEAR``, meet."""
    centre, _, half = target_box(tree, plant, work, thrown)
    own_centre, _, own_half = own_box(thrown)
    offset = sub(own_centre, centre)
    reach = math.sqrt(dot(half, half)) + math.sqrt(dot(own_half, own_half)) + NEAR
    return dot(offset, offset) <= reach * reach


@routine
def advance_both(tree, floor, plant, pushes, work, solver, thrown, begin, h, whole):
    """The tree and the thrown box over the same time, apart from each other."""
    if advance(tree, floor, plant, pushes, work, solver, begin, h, whole) == FAILED:
        return FAILED
    return advance(thrown.tree, floor, thrown.plant, thrown.pushes, thrown.work, solver, begin, h, whole)


@routine
def collide(tree, plant, work, motion, thrown, log, time):
    """Exchange the collision impulse, if the boxes approach where they touch (Mirtich 1996; thesis 4.3)."""
    target, own = target_box(tree, plant, work, thrown), own_box(thrown)
    _, normal = separation(target, own)
    point = contact_point(target, own, normal, thrown.scratch)
    i = thrown.status[TARGET]
    arm = sub(point, reference_point(tree, plant.q))
    own_arm = sub(point, own[0])
    rates_from_momentum(tree, plant.momentum, motion)
    K = body_collision_matrix(tree, motion, i, arm)
    K = mat_add(K, rigid_body_collision_matrix(thrown.tree.mass[0], load9(thrown.work.inertia, 0), own_arm))
    before = sub(own_velocity(thrown, own_arm), point_velocity(tree, motion, i, arm))
    impulse = collision_impulse(before, normal, K, thrown.law[0], thrown.law[1])
    if dot(impulse, impulse) == 0.0:
        return
    log_event(log, time, IMPACT, i, scale(-1.0, impulse), point, before)
    strike_own(thrown, own_arm, impulse)
    strike(tree, plant, motion, i, arm, scale(-1.0, impulse))


@kernel
def own_velocity(thrown, arm):
    """Velocity of the free box's point at ``arm``; its twist is p/m and J⁻¹ L."""
    rates_of_box(thrown)
    rate = thrown.work.delta
    return add((rate[0], rate[1], rate[2]), cross((rate[3], rate[4], rate[5]), arm))


@kernel
def rates_of_box(thrown):
    """The free box's velocities from its momenta, into ``work.delta``."""
    p, mass = thrown.plant.momentum, thrown.tree.mass[0]
    for axis in range(3):
        thrown.work.delta[axis] = p[axis] / mass
    J = load9(thrown.work.inertia, 0)
    omega = solve3(J, (p[3], p[4], p[5]))
    for axis in range(3):
        thrown.work.delta[3 + axis] = omega[axis]


@kernel
def solve3(A, b):
    """A⁻¹ b by Cramer's rule."""
    first, second, third = (A[0], A[3], A[6]), (A[1], A[4], A[7]), (A[2], A[5], A[8])
    across = cross(second, third)
    d = 1.0 / dot(first, across)
    return d * dot(b, across), d * dot(b, cross(third, first)), d * dot(b, cross(first, second))


@kernel
def point_velocity(tree, motion, i, arm):
    """Velocity of the point of body i at ``arm`` from O; needs ``motion.rates``."""
    twist = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    j = i
    while j >= 0:
        for dof in range(tree.first_v[j], tree.first_v[j] + tree.dofs[j]):
            s, rate = load6(motion.poses.motion, dof), motion.rates[dof]
            twist = (
                twist[0] + rate * s[0], twist[1] + rate * s[1], twist[2] + rate * s[2],
                twist[3] + rate * s[3], twist[4] + rate * s[4], twist[5] + rate * s[5],
            )  # fmt: skip
        j = tree.parent[j]
    return add(twist[:3], cross(twist[3:], arm))


@kernel
def respond(tree, motion, i, arm, impulse):
    """The change of all velocities by an impulse on body i, into ``motion.response``; the point's own is returned.

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
def strike_own(thrown, arm, impulse):
    """The impulse on the free box."""
    p = thrown.plant.momentum
    moment = cross(arm, impulse)
    for axis in range(3):
        p[axis] += impulse[axis]
        p[3 + axis] += moment[axis]
    rates_of_box(thrown)
    copy1(thrown.work.delta, thrown.plant.rate)
    for dof in range(6):
        thrown.plant.rate_change[dof] = 0.0


@kernel
def strike(tree, plant, motion, i, arm, impulse):
    """The impulse on body i of the tree: its momenta, its books, and the rates that the next guess goes by."""
    before = point_velocity(tree, motion, i, arm)
    change = respond(tree, motion, i, arm, impulse)
    wrench = impulse + cross(arm, impulse)
    j = i
    while j >= 0:
        for dof in range(tree.first_v[j], tree.first_v[j] + tree.dofs[j]):
            plant.momentum[dof] += dot6(load6(motion.poses.motion, dof), wrench)
        j = tree.parent[j]
    for dof in range(plant.rate.shape[0]):
        plant.rate[dof] += motion.response[dof]
        plant.rate_change[dof] = 0.0
    plant.ledger[IMPACTS] += dot(impulse, add(before, scale(0.5, change)))
    about_origin = cross(add(reference_point(tree, plant.q), arm), impulse)
    for axis in range(3):
        plant.impulse[axis] += impulse[axis]
        plant.impulse[3 + axis] += about_origin[axis]
