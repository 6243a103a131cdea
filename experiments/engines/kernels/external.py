"""Step of an external physics engine, with the energy balance, contact modes and recorded rows of biped's steps.

An engine gives the configuration and velocity at the end of a step, and the mean forces in the step. All other columns
of a run are derived from these, so that they mean the same for all engines.
"""

import math
from typing import NamedTuple

import numpy as np

from biped.integrators.explicit.kernels.flow import place_end, set_momentum
from biped.kernels.loop.closed_loop import append_row
from biped.kernels.loop.log import IMPACT, STRIDE, log_contact_changes, log_event, observe
from biped.kernels.solve.causes import NOT_FINITE
from biped.kernels.state.simulation_state import (
    ACTUATORS,
    CONTACT,
    DISSIPATED,
    IMPACTS,
    JOINTS,
    JOINTS_DISSIPATED,
    PLATFORM,
    PUSHES,
    STEP_LENGTH,
    STEPS,
)
from biped.kernels.state.status import OK
from biped.kernels.step import step
from biped.kernels.tree.kinematics import move_bodies, point_of_body
from biped.kernels.tree.tree import DAMPING, FLOATING
from biped.kernels.variational.equations import contact_chord, reference_point, world_chord
from biped.kernels.variational.joints import commanded_torque, stop_energy
from contact import vectors as vec
from contact.arrays import Floats, Integers
from contact.ground import END, START, force_in_floor, is_moving, law_at
from contact.modes import NONE, SLIDING, STICKING
from kernelcache import kernel, routine

#: Share of the friction limit from which a point counts as sliding.
AT_THE_CONE = 0.999


class Arrival(NamedTuple):
    """State and forces that an engine writes at the end of a step."""

    q: Floats  # (nq,) configuration
    v: Floats  # (nv,) velocity
    before: Floats  # (nv,) velocity at the start of the step
    force: Floats  # (nc, 3) [N] mean force of the floor on each contact point in the step
    impact: Floats  # (3,) [N·s] impulse of the thrown box on its target in the step
    impact_place: Floats  # (3,) [m] position of the impact in the world at the start of the step
    projectile: Floats  # (13,) thrown box: position [m], quaternion, velocity [m/s], angular velocity [rad/s]
    joint: Floats  # (nv,) [N·m or N] forces of the joints' stops and dry friction


class FloorState(NamedTuple):
    """The floor's motion in a step, in world axes, from ``pose`` with the constant ``velocity``."""

    pose: Floats  # (7,) position of the floor's origin [m] and unit quaternion, at the start of the step
    velocity: Floats  # (6,) mean velocity of the origin [m/s] and mean angular velocity [rad/s] in the step
    before: Floats  # (6,) ``velocity`` in the step before
    region: Integers  # (nc,) the floor under each contact point: 0 for ``case.floor``, k for ``case.patches[k - 1]``


def new_floor_state(region: Integers) -> FloorState:
    """Return the state of a floor at rest at height zero; ``region``: the floor under each contact point."""
    return FloorState(np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]), np.zeros(6), np.zeros(6), region)


def new_arrival(nq: int, nv: int, nc: int) -> Arrival:
    """Return buffers for an engine's results: NaN for the state, zero for forces."""
    q, v, before = np.full(nq, np.nan), np.full(nv, np.nan), np.full(nv, np.nan)
    return Arrival(q, v, before, np.zeros((nc, 3)), np.zeros(3), np.zeros(3), np.zeros(13), np.zeros(nv))


@routine
def velocities_now(world):
    """Compute velocities from momenta into ``world.scratch.motion.rates``."""
    observe(world.tree, world.state, world.scratch.motion, world.log)


@routine
def set_floor_state(ground, floor, h):
    """Set a ``FloorState`` from the floor's frames at both ends of a step of length h [s]."""
    start, end = ground.frame[START], ground.frame[END]
    turn = vec.rotation_vector(
        vec.quat_difference((end[12], end[13], end[14], end[15]), (start[12], start[13], start[14], start[15]))
    )
    for axis in range(3):
        floor.before[axis], floor.before[3 + axis] = floor.velocity[axis], floor.velocity[3 + axis]
        floor.pose[axis] = start[axis]
        floor.velocity[axis], floor.velocity[3 + axis] = (end[axis] - start[axis]) / h, turn[axis] / h
    for k in range(4):
        floor.pose[3 + k] = start[12 + k]


@routine
def begin_step(world, floor, steps):
    """Record a row if one is due, and set the forces and the floor of the coming step; no ``steps``: do nothing.

    Return 1 if a push acts in the step, otherwise 0.
    """
    state, log = world.state, world.log
    if steps > 0:
        if state.counts[STEPS] % log.cursor[STRIDE] == 0:
            append_row(world.tree, world.ground, state, world.scratch, world.projectile, world.estimator, log)
        step.begin_substep(
            world.tree, world.ground, state, world.pushes, world.scratch, step.time_of(state), state.clock[STEP_LENGTH]
        )
        if is_moving(world.ground):
            set_floor_state(world.ground, floor, state.clock[STEP_LENGTH])
        for j in range(world.pushes.body.shape[0]):
            impulse = vec.load3(world.pushes.impulse, j)
            if vec.dot(impulse, impulse) > 0.0:
                return 1
    return 0


@routine
def end_step(world, floor, arrival, lag, steps):
    """Copy an engine's results into the state, and update the energy balance; return OK or NOT_FINITE.

    If velocities ``lag`` behind positions by half a step, the engine's step is M (v' − v) = h F: a force changes the
    kinetic energy by exactly h F · (v + v')/2, which is its work, at the positions of the step's start. Otherwise works
    are forces times the displacements of their points.
    """
    if steps == 0:
        return OK
    tree, state, pushes, scratch = world.tree, world.state, world.pushes, world.scratch
    h = state.clock[STEP_LENGTH]
    if not is_finite(arrival):
        return NOT_FINITE
    place_end(tree, pushes, scratch, arrival.q, displacement(tree, state, arrival))
    set_contacts(world.ground, state, arrival)
    set_mean_motion(tree, scratch, arrival)
    account_joint_works(tree, state, scratch, arrival, h, lag)
    account_push_works(pushes, state, scratch, h, lag)
    account_contact_works(tree, world.ground, floor, state, scratch, h, lag)
    account_impact(world, arrival, h, lag)
    account_momenta(world, arrival, h)
    step.commit_with_rates(tree, state, scratch, h)
    step.count_step(state)
    log_contact_changes(state, world.log, step.time_of(state))
    vec.copy1(arrival.v, arrival.before)
    state.mode[:] = NONE  # the energy stored in an engine's contacts is unknown, and counts as zero
    return OK


@kernel
def is_finite(arrival):
    """Return True if all numbers are finite, and hence their sum."""
    total = 0.0
    for k in range(arrival.q.shape[0]):
        total += abs(arrival.q[k])
    for k in range(arrival.v.shape[0]):
        total += abs(arrival.v[k])
    for c in range(arrival.force.shape[0]):
        total += abs(arrival.force[c, 0]) + abs(arrival.force[c, 1]) + abs(arrival.force[c, 2])
    for axis in range(3):
        total += abs(arrival.impact[axis])
    for k in range(arrival.projectile.shape[0]):
        total += abs(arrival.projectile[k])
    return math.isfinite(total)


@kernel
def displacement(tree, state, arrival):
    if tree.kind[0] == FLOATING:
        return vec.sub((arrival.q[0], arrival.q[1], arrival.q[2]), (state.q[0], state.q[1], state.q[2]))
    return 0.0, 0.0, 0.0


@kernel
def set_contacts(ground, state, arrival):
    """Set contact forces and modes: NONE without a force, SLIDING at the friction cone, STICKING inside of it."""
    for c in range(state.mode.shape[0]):
        force = vec.load3(arrival.force, c)
        vec.store3(state.force, c, force)
        x, y, z = force_in_floor(ground, force)
        mode = NONE
        if z > 0.0:
            mode = STICKING if math.hypot(x, y) < AT_THE_CONE * law_at(ground, c).mu_s * z else SLIDING
        state.mode[c] = mode
        state.contact_state[c] = mode


@kernel
def set_mean_motion(tree, scratch, arrival):
    """Set ``scratch.delta`` to the mean velocities of the step, and the bodies' twists for these velocities."""
    for dof in range(scratch.delta.shape[0]):
        scratch.delta[dof] = 0.5 * (arrival.before[dof] + arrival.v[dof])
    move_bodies(tree, scratch.motion.poses, scratch.delta, scratch.motion.velocity, scratch.motion.bias)


@kernel
def way(scratch, body, arm, chord, h, lag):
    """Return the displacement for the work of a force on a body at ``arm`` from O; ``chord``: that of its point."""
    if lag == 0.0:
        return chord
    twist = vec.load6(scratch.motion.velocity, body)
    return vec.scale(h, vec.add(twist[:3], vec.cross(twist[3:], arm)))


@kernel
def account_joint_works(tree, state, scratch, arrival, h, lag):
    """Add the works of actuators and joints to the energy balance; stops store energy as in biped's steps."""
    for i in range(tree.parent.shape[0]):
        if tree.dofs[i] == 1:
            q_index, dof = tree.first_q[i], tree.first_v[i]
            turned = scratch.q[q_index] - state.q[q_index] if lag == 0.0 else h * scratch.delta[dof]
            state.ledger.works[ACTUATORS] += commanded_torque(state, scratch, h, q_index, dof) * turned
            if tree.passive.shape[0] > 0:
                done = (arrival.joint[dof] - tree.passive[i, DAMPING] * turned / h) * turned
                stored = stop_energy(tree, i, scratch.q[q_index]) - stop_energy(tree, i, state.q[q_index])
                state.ledger.works[JOINTS] += done
                state.ledger.works[JOINTS_DISSIPATED] -= done + stored


@kernel
def account_push_works(pushes, state, scratch, h, lag):
    for j in range(pushes.body.shape[0]):
        along = way(scratch, pushes.body[j], vec.load3(pushes.left, j), step.push_chord(pushes, scratch, j), h, lag)
        state.ledger.works[PUSHES] += vec.dot(vec.load3(pushes.impulse, j), vec.scale(1.0 / h, along))


@kernel
def floor_way(ground, floor, point, h, lag):
    """Return the floor's displacement in a step at a world point on it, from the same velocities as ``way``."""
    if not is_moving(ground):
        return 0.0, 0.0, 0.0
    now, before = floor.velocity, floor.before
    linear = vec.add(vec.scale(1.0 - lag, vec.triple(now)), vec.scale(lag, vec.triple(before)))
    angular = vec.add(vec.scale(1.0 - lag, (now[3], now[4], now[5])), vec.scale(lag, (before[3], before[4], before[5])))
    return vec.scale(h, vec.add(linear, vec.cross(angular, vec.sub(point, vec.triple(floor.pose)))))


@kernel
def account_contact_works(tree, ground, floor, state, scratch, h, lag):
    """Add the works of contacts: dissipation, except for the work of the floor's motion."""
    origin = reference_point(tree, state.q)
    for c in range(state.mode.shape[0]):
        if state.mode[c] != NONE:
            arm, force = vec.load3(scratch.motion.poses.contact, c), vec.load3(state.force, c)
            done = vec.dot(force, way(scratch, tree.contact_body[c], arm, world_chord(scratch, c), h, lag))
            by_floor = vec.dot(force, floor_way(ground, floor, vec.add(origin, arm), h, lag))
            state.ledger.works[CONTACT] += done
            state.ledger.works[PLATFORM] += by_floor
            state.ledger.works[DISSIPATED] -= done - by_floor
            if state.mode[c] == SLIDING:
                _, velocity = contact_chord(tree, ground, state, scratch, h, c)
                state.ledger.slip[c] += h * math.hypot(velocity[0], velocity[1])


@kernel
def point_struck(world, arrival):
    """Return the point of the target that the thrown box struck, at both ends of the step, from O at its start."""
    i, scratch = world.projectile.target_body[0], world.scratch
    left = vec.sub(vec.triple(arrival.impact_place), reference_point(world.tree, world.state.q))
    offset = vec.mat_t_vec(
        vec.load9(scratch.motion.poses.rotation, i), vec.sub(left, vec.load3(scratch.motion.poses.com, i))
    )
    return left, vec.add(vec.triple(scratch.shift), point_of_body(scratch.next, i, offset))


@kernel
def account_impact(world, arrival, h, lag):
    """Add the work of the thrown box's impulse, treated as a constant force during the step."""
    impact = vec.triple(arrival.impact)
    if vec.dot(impact, impact) > 0.0:
        left, right = point_struck(world, arrival)
        along = way(world.scratch, world.projectile.target_body[0], left, vec.sub(right, left), h, lag)
        world.state.ledger.works[IMPACTS] += vec.dot(impact, vec.scale(1.0 / h, along))


@kernel
def account_momenta(world, arrival, h):
    """Set the new momentum, and add the part of its change that no impulse explains to the momentum defect."""
    tree, state, scratch = world.tree, world.state, world.scratch
    before, spin_before = step.whole_momentum(tree, state)
    set_momentum(tree, scratch.next, arrival.v, scratch.motion, state.momentum)
    if tree.kind[0] == FLOATING:
        linear, angular = step.external_impulse(tree, state, world.pushes, scratch, h)
        impact = vec.triple(arrival.impact)
        if vec.dot(impact, impact) > 0.0:
            left, right = point_struck(world, arrival)
            linear, angular = (
                vec.add(linear, impact),
                vec.add(angular, vec.cross(vec.scale(0.5, vec.add(left, right)), impact)),
            )
        step.account_impulse(tree, state, scratch, before, spin_before, linear, angular)


@routine
def log_impact(world, time, impulse, place, velocity):
    """Log the event of an impact of the thrown box when it is over."""
    log_event(
        world.log, time, IMPACT, world.projectile.target_body[0], vec.triple(impulse), vec.triple(place),
        vec.triple(velocity),
    )  # fmt: skip
