"""A step that another physics engine has taken: the same books, modes and rows as for a step of ours.

What an engine gives is where the tree is at the end of a step and how it moves, and the mean forces in the step. All
else is derived from them here, so that columns of all engines mean the same.
"""

import math
from typing import NamedTuple

import numpy as np

from biped.integrators.explicit.kernels.flow import place_end, set_momentum
from biped.kernels.loop.closed_loop import append_row
from biped.kernels.loop.log import IMPACT, STRIDE, log_contact_changes, log_event, observe
from biped.kernels.loop.projectile import TARGET
from biped.kernels.state.simulation_state import ACTUATORS, CONTACT, DISSIPATED, IMPACTS, PUSHES, STEPS
from biped.kernels.state.status import NOT_FINITE, OK
from biped.kernels.step.step import (
    book_impulse,
    count_step,
    external_impulse,
    move_on,
    push_chord,
    set_out,
    time_of,
    whole_momentum,
)
from biped.kernels.tree.kinematics import move_bodies, point_of_body
from biped.kernels.tree.tree import FLOATING
from biped.kernels.variational.equations import joint_torque, reference_point, world_chord
from contact.arrays import Floats
from contact.ground import law_of_region
from contact.jit import kernel, routine
from contact.modes import NONE, SLIDING, STICKING
from contact.vectors import add, cross, dot, load3, load6, load9, mat_t_vec, scale, sub, triple

#: A point slides where its friction is at least this share of what the floor can give.
AT_THE_CONE = 0.999


class Arrival(NamedTuple):
    """What an engine leaves at the end of a step."""

    q: Floats  # (nq,) configuration
    v: Floats  # (nv,) velocity
    before: Floats  # (nv,) velocity at the start of the step, which the host fills in
    force: Floats  # (nc, 3) [N] of the floor on each contact point, the mean of the step
    blow: Floats  # (3,) [N·s] impulse of the thrown box on its target in the step
    blow_at: Floats  # (3,) [m] where, at the start of the step
    thrown: Floats  # (13,) of the thrown box: position, quaternion, velocity, angular velocity


def new_arrival(nq: int, nv: int, nc: int) -> Arrival:
    """Room for what an engine leaves; no forces."""
    q, v, before = np.full(nq, np.nan), np.full(nv, np.nan), np.full(nv, np.nan)
    return Arrival(q, v, before, np.zeros((nc, 3)), np.zeros(3), np.zeros(3), np.zeros(13))


@routine
def velocities_now(world):
    """Velocities from momenta, into ``world.work.motion.rates``."""
    observe(world.tree, world.plant, world.work.motion, world.log)


@routine
def begin_step(world, steps):
    """Record the state, if it is time to, and set what acts in the coming step; with no ``steps`` nothing is done."""
    plant, log = world.plant, world.log
    if steps > 0:
        if plant.counts[STEPS] % log.cursor[STRIDE] == 0:
            append_row(world.tree, world.ground, plant, world.work, world.thrown, log)
        set_out(world.tree, world.ground, plant, world.pushes, world.work, time_of(plant), plant.clock[1])


@routine
def end_step(world, arrival, lag, steps):
    """Make what an engine has left the plant's state, and keep the books of the step; OK or NOT_FINITE.

    Where velocities ``lag`` behind positions, by half a step, the engine's step is M (v' − v) = h F: a force changes
    the kinetic energy by exactly h F · (v + v')/2, which is its work, at the places of the step's start. Else works are
    forces times the chords along which their points went.
    """
    if steps == 0:
        return OK
    tree, plant, pushes, work = world.tree, world.plant, world.pushes, world.work
    h = plant.clock[1]
    if not is_finite(arrival):
        return NOT_FINITE
    place_end(tree, pushes, work, arrival.q, displacement(tree, plant, arrival))
    set_contacts(world.ground, plant, arrival)
    set_mean_motion(tree, work, arrival)
    book_joint_works(tree, plant, work, h, lag)
    book_push_works(pushes, plant, work, h, lag)
    book_contact_works(tree, plant, work, h, lag)
    book_blow(world, arrival, h, lag)
    book_momenta(world, arrival, h)
    move_on(tree, plant, work, h)
    count_step(plant)
    log_contact_changes(plant, world.log, time_of(plant))
    plant.mode[:] = NONE  # what an engine's contacts store is not known: nothing is stored
    return OK


@kernel
def is_finite(arrival):
    """Whether all numbers are; one that is not makes the sum so."""
    total = 0.0
    for k in range(arrival.q.shape[0]):
        total += abs(arrival.q[k])
    for k in range(arrival.v.shape[0]):
        total += abs(arrival.v[k])
    for c in range(arrival.force.shape[0]):
        total += abs(arrival.force[c, 0]) + abs(arrival.force[c, 1]) + abs(arrival.force[c, 2])
    for axis in range(3):
        total += abs(arrival.blow[axis])
    for k in range(arrival.thrown.shape[0]):
        total += abs(arrival.thrown[k])
    return math.isfinite(total)


@kernel
def displacement(tree, plant, arrival):
    if tree.kind[0] == FLOATING:
        return sub((arrival.q[0], arrival.q[1], arrival.q[2]), (plant.q[0], plant.q[1], plant.q[2]))
    return 0.0, 0.0, 0.0


@kernel
def set_contacts(ground, plant, arrival):
    """Forces and modes: none without a force, sliding at the cone of friction, sticking inside of it."""
    mu = law_of_region(ground, 0).mu_s
    for c in range(plant.mode.shape[0]):
        x, y, z = load3(arrival.force, c)
        plant.force[c, 0], plant.force[c, 1], plant.force[c, 2] = x, y, z
        mode = NONE
        if z > 0.0:
            mode = STICKING if math.hypot(x, y) < AT_THE_CONE * mu * z else SLIDING
        plant.mode[c] = mode
        plant.found[c] = mode


@kernel
def set_mean_motion(tree, work, arrival):
    """The mean of the velocities before and after into ``work.delta``, and the bodies' twists at the start under it."""
    for dof in range(work.delta.shape[0]):
        work.delta[dof] = 0.5 * (arrival.before[dof] + arrival.v[dof])
    move_bodies(tree, work.motion.poses, work.delta, work.motion.velocity, work.motion.drift)


@kernel
def way(work, body, arm, chord, h, lag):
    """What a force on a body at ``arm`` from O is multiplied with for its work; ``chord`` is how far its point went."""
    if lag == 0.0:
        return chord
    twist = load6(work.motion.velocity, body)
    return scale(h, add(twist[:3], cross(twist[3:], arm)))


@kernel
def book_joint_works(tree, plant, work, h, lag):
    for i in range(tree.parent.shape[0]):
        if tree.dofs[i] == 1:
            q_index, dof = tree.first_q[i], tree.first_v[i]
            turned = work.q[q_index] - plant.q[q_index] if lag == 0.0 else h * work.delta[dof]
            plant.ledger[ACTUATORS] += joint_torque(plant, work, h, q_index, dof) * turned


@kernel
def book_push_works(pushes, plant, work, h, lag):
    for j in range(pushes.body.shape[0]):
        along = way(work, pushes.body[j], load3(pushes.left, j), push_chord(pushes, work, j), h, lag)
        plant.ledger[PUSHES] += dot(load3(pushes.impulse, j), scale(1.0 / h, along))


@kernel
def book_contact_works(tree, plant, work, h, lag):
    """What contacts take counts as dissipated."""
    for c in range(plant.mode.shape[0]):
        if plant.mode[c] != NONE:
            chord = world_chord(work, c)
            along = way(work, tree.contact_body[c], load3(work.motion.poses.contact, c), chord, h, lag)
            done = dot(load3(plant.force, c), along)
            plant.ledger[CONTACT] += done
            plant.ledger[DISSIPATED] -= done
            if plant.mode[c] == SLIDING:
                plant.slip[c] += math.hypot(chord[0], chord[1])


@kernel
def point_struck(world, arrival):
    """Where the thrown box struck, at both ends of the step, relative to O at its start."""
    i, work = world.thrown.status[TARGET], world.work
    left = sub(triple(arrival.blow_at), reference_point(world.tree, world.plant.q))
    offset = mat_t_vec(load9(work.motion.poses.rotation, i), sub(left, load3(work.motion.poses.com, i)))
    return left, add(triple(work.shift), point_of_body(work.next, i, offset))


@kernel
def book_blow(world, arrival, h, lag):
    """The work of the thrown box's impulse, as that of a force that is constant through the step."""
    blow = triple(arrival.blow)
    if dot(blow, blow) > 0.0:
        left, right = point_struck(world, arrival)
        along = way(world.work, world.thrown.status[TARGET], left, sub(right, left), h, lag)
        world.plant.ledger[IMPACTS] += dot(blow, scale(1.0 / h, along))


@kernel
def book_momenta(world, arrival, h):
    """The new momentum, and what of its change no impulse accounts for."""
    tree, plant, work = world.tree, world.plant, world.work
    before, spin_before = whole_momentum(tree, plant)
    set_momentum(tree, work.next, arrival.v, work.motion, plant.momentum)
    if tree.kind[0] == FLOATING:
        linear, angular = external_impulse(tree, plant, world.pushes, work, h)
        blow = triple(arrival.blow)
        if dot(blow, blow) > 0.0:
            left, right = point_struck(world, arrival)
            linear, angular = add(linear, blow), add(angular, cross(scale(0.5, add(left, right)), blow))
        book_impulse(tree, plant, work, before, spin_before, linear, angular)


@routine
def log_impact(world, time, impulse, place, velocity):
    """An event for a blow of the thrown box that is over."""
    log_event(world.log, time, IMPACT, world.thrown.status[TARGET], triple(impulse), triple(place), triple(velocity))
