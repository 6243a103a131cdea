"""One step of the plant: solution, energy and momentum balance, and advance; in halves if it does not converge."""

import math

from biped.kernels.solve.causes import LANDED_TOO_DEEP
from biped.kernels.state import simulation_state as places
from biped.kernels.state.checkpoint import roll_back, save_checkpoint
from biped.kernels.state.method import Variational, advance, remember, take_part
from biped.kernels.state.pushes import set_push_impulses
from biped.kernels.state.status import OK
from biped.kernels.tree.dynamics import turn_inertias
from biped.kernels.tree.kinematics import copy_poses, place_bodies
from biped.kernels.tree.tree import FLOATING
from biped.kernels.variational.equations import contact_chord, reference_point, world_chord
from biped.kernels.variational.joints import account_joint_works
from biped.kernels.variational.newton import place_push, remember_rates, set_new_momentum, solve_step
from contact.ground import END, begin_ground, force_in_floor, is_moving, law_at, region_of, stored_at, to_floor
from contact.modes import NONE, SLIDING
from contact.point_law import anchor_at_end, is_clipped, mode_of, state_at_end, stored_energy
from contact.vectors import add, copy1, cross, dot, load3, scale, sub, triple
from kernelcache import kernel, routine


@routine
def prepare(tree, state, scratch):
    """Set the poses at k and the inertias in world axes, from the state alone."""
    place_bodies(tree, state.q, scratch.motion.poses)
    turn_inertias(tree, scratch.motion.poses, scratch.motion.inertia)


@kernel
def time_of(state):
    return state.clock[places.TIME_ORIGIN] + state.clock[places.STEP_LENGTH] * state.counts[places.STEPS]


@kernel
def count_step(state):
    state.counts[places.STEPS] += 1
    state.counts[places.TOTAL_STEPS] += 1


def advance_in_parts(tree, ground, state, pushes, scratch, method, begin, h):
    """Advance by h, in halves, quarters, … if necessary; return OK or a cause of failure.

    Parts are necessary if a step does not converge, or if a point would land deeper than ``landing_depth``: the contact
    law acts on a landing at the end of the step only. The parts stay small up to the end of h, since the shock of a
    landing is as short as they are. The contact forces are then the means over h. A failed step leaves the plant at its
    start, except for the rates that it reached.
    """
    units = 1 << method.solver.max_halvings
    done, size, iterations, most = 0, units, 0, 0
    while done < units:
        part = h * (size / units)
        depth = math.inf if size == 1 else method.solver.landing_depth
        since = begin + h * (done / units)
        taken, hardest = take_part(tree, ground, state, pushes, scratch, method, since, part, depth)
        if taken >= 0:
            iterations += taken
            most = max(most, hardest)
            done += size
            if size < units:
                add_to_mean(state, scratch, size / units)
        elif size > 1:
            if size == units:
                save_checkpoint(state, scratch.checkpoint)
                scratch.mean_force[:] = 0.0
            size //= 2
        else:
            if done > 0:
                roll_back(state, scratch.checkpoint)
                prepare(tree, state, scratch)
            return taken
    if size < units:
        for c in range(state.force.shape[0]):
            copy1(scratch.mean_force[c], state.force[c])
    count_iterations(state.counts, iterations, most, size < units)
    return OK


advance.register(Variational)(advance_in_parts)


@kernel
def add_to_mean(state, scratch, share):
    """Add the contact forces of a part, weighted by its share of the step."""
    for c in range(state.force.shape[0]):
        for axis in range(3):
            scratch.mean_force[c, axis] += share * state.force[c, axis]


@kernel
def count_iterations(count, iterations, most, halved):
    count[places.ITERATIONS] += iterations
    count[places.MOST_ITERATIONS] = max(count[places.MOST_ITERATIONS], most)
    count[places.RECENT_ITERATIONS] = max(count[places.RECENT_ITERATIONS], most)
    if halved:
        count[places.RETRIED] += 1


@take_part.register(Variational)
def take_variational_part(tree, ground, state, pushes, scratch, method, begin, h, depth):
    taken = substep(tree, ground, state, pushes, scratch, method, begin, h, depth)
    return taken, taken


@kernel
def substep(tree, ground, state, pushes, scratch, method, begin, h, depth):
    """Take one step of length h completely or not at all; return the iterations or a cause of failure.

    A landing deeper than ``depth`` is a cause of failure.
    """
    begin_substep(tree, ground, state, pushes, scratch, begin, h)
    iterations = solve_step(tree, ground, state, pushes, scratch, method, h)
    if iterations < 0:
        return iterations
    if lands_too_deep(tree, ground, state, scratch, depth):
        return LANDED_TOO_DEEP
    account_joint_works(tree, state, scratch, h)
    account_push_works(state, pushes, scratch, h)
    account_momentum(tree, state, pushes, scratch, method, h)
    update_contact_modes(tree, ground, state, scratch, h)
    remember(tree, state, scratch, method.guess, h)
    commit_step(tree, state, scratch)
    return iterations


@kernel
def begin_substep(tree, ground, state, pushes, scratch, begin, h):
    """Set the pushes' impulses and points, and the floor under the contact points, for the step from ``begin``."""
    if pushes.body.shape[0] > 0:
        set_push_impulses(pushes, begin, begin + h)
        for j in range(pushes.body.shape[0]):
            place_push(scratch.motion.poses, pushes, j, pushes.left)
    begin_ground(ground, reference_point(tree, state.q), scratch.motion.poses.contact, begin, begin + h)


@kernel
def lands_too_deep(tree, ground, state, scratch, depth):
    """Return True if a point without contact ends this step deeper below the floor than ``depth``."""
    origin = add(reference_point(tree, state.q), triple(scratch.shift))
    for c in range(state.mode.shape[0]):
        if state.mode[c] == NONE and to_floor(ground, END, add(origin, load3(scratch.next.contact, c)))[2] < -depth:
            return True
    return False


@kernel
def account_push_works(state, pushes, scratch, h):
    """Add the exact works of pushes, which are constant through the step."""
    for j in range(pushes.body.shape[0]):
        state.ledger.works[places.PUSHES] += dot(
            load3(pushes.impulse, j), scale(1.0 / h, push_chord(pushes, scratch, j))
        )


@kernel
def push_chord(pushes, scratch, j):
    shift = triple(scratch.shift)
    return add(shift, sub(load3(pushes.right, j), load3(pushes.left, j)))


@kernel
def account_momentum(tree, state, pushes, scratch, method, h):
    """Advance p and, for a floating root, compare its change with the external impulses."""
    before, spin_before = whole_momentum(tree, state)
    set_new_momentum(tree, state, pushes, scratch, method, h)
    if tree.kind[0] == FLOATING:
        linear, angular = external_impulse(tree, state, pushes, scratch, h)
        account_impulse(tree, state, scratch, before, spin_before, linear, angular)


@kernel
def whole_momentum(tree, state):
    """Return the whole tree's linear momentum and its angular momentum about O, p's first six components.

    They are zero for a fixed root.
    """
    if tree.kind[0] == FLOATING:
        p = state.momentum
        return (p[0], p[1], p[2]), (p[3], p[4], p[5])
    return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)


@kernel
def account_impulse(tree, state, scratch, before, spin_before, linear, angular):
    """Add to the ledger the external impulses, angular about O at k, and their difference from the change of momenta.

    O moves by Δ, which changes the angular momentum by −Δ × linear momentum.
    """
    after = (state.momentum[0], state.momentum[1], state.momentum[2])
    shift = triple(scratch.shift)
    spin_after = add((state.momentum[3], state.momentum[4], state.momentum[5]), cross(shift, after))
    gained, gained_spin = sub(after, before), sub(spin_after, spin_before)
    about_origin = add(angular, cross(reference_point(tree, state.q), linear))
    for axis in range(3):
        state.ledger.defect[axis] += gained[axis] - linear[axis]
        state.ledger.defect[3 + axis] += gained_spin[axis] - angular[axis]
        state.ledger.impulse[axis] += linear[axis]
        state.ledger.impulse[3 + axis] += about_origin[axis]


@kernel
def external_impulse(tree, state, pushes, scratch, h):
    """Return the linear and angular impulse, about O at k, of gravity, contacts and pushes, half at each end."""
    shift = triple(scratch.shift)
    gravity = triple(tree.gravity)
    mass = 0.0
    middle = (0.0, 0.0, 0.0)
    for i in range(tree.parent.shape[0]):
        mass += tree.mass[i]
        middle = add(middle, scale(tree.mass[i], add(load3(scratch.motion.poses.com, i), load3(scratch.next.com, i))))
    linear = scale(h * mass, gravity)
    angular = cross(scale(0.5 * h, add(middle, scale(mass, shift))), gravity)
    for c in range(tree.contact_body.shape[0]):
        if state.mode[c] != NONE:
            arms = add(load3(scratch.motion.poses.contact, c), add(shift, load3(scratch.next.contact, c)))
            impulse = scale(h, load3(state.force, c))
            linear = add(linear, impulse)
            angular = add(angular, cross(scale(0.5, arms), impulse))
    for j in range(pushes.body.shape[0]):
        arms = add(load3(pushes.left, j), add(shift, load3(pushes.right, j)))
        impulse = load3(pushes.impulse, j)
        linear = add(linear, impulse)
        angular = add(angular, cross(scale(0.5, arms), impulse))
    return linear, angular


@kernel
def update_contact_modes(tree, ground, state, scratch, h):
    """Add the contacts' work to the ledger, with stored and dissipated parts, and determine the next modes."""
    for c in range(tree.contact_body.shape[0]):
        middle, velocity = contact_chord(tree, ground, state, scratch, h, c)
        update_contact_mode(ground, state, h, c, middle, velocity, dot(load3(state.force, c), world_chord(scratch, c)))


@kernel
def update_contact_mode(ground, state, h, c, middle, velocity, done):
    """Add the floor's work ``done`` on contact point c, which moved along a chord, and determine its next mode."""
    mode, floor = state.mode[c], law_at(ground, c)
    force = force_in_floor(ground, load3(state.force, c))
    state.ledger.works[places.CONTACT] += done
    if is_moving(ground):
        in_floor = h * dot(force, velocity)
        state.ledger.works[places.PLATFORM] += done - in_floor
        done = in_floor
    anchor = (state.anchor[c, 0], state.anchor[c, 1])
    half = scale(0.5 * h, velocity)
    begin, end = sub(middle, half), add(middle, half)
    stored = stored_energy(floor, mode, begin, anchor)
    if mode == SLIDING or (mode != NONE and is_clipped(floor, middle, velocity, anchor)):
        state.ledger.slip[c] += h * math.hypot(velocity[0], velocity[1])
    contact_state = state_at_end(floor, mode, middle, velocity, anchor, end[2])
    state.contact_state[c] = contact_state
    anchor = anchor_at_end(floor, mode, middle, velocity, anchor, end, force)
    state.anchor[c, 0], state.anchor[c, 1] = anchor
    state.mode[c] = mode_of(contact_state)
    kept = stored_at(ground, region_of(ground, end[0], end[1]), state.mode[c], end, anchor)
    state.ledger.works[places.DISSIPATED] -= done + kept - stored


@kernel
def commit_with_rates(tree, state, scratch, h):
    """Make q_{k+1} the new q_k, and save the rates."""
    remember_rates(tree, state, scratch, h)
    commit_step(tree, state, scratch)


@kernel
def commit_step(tree, state, scratch):
    """Make q_{k+1} the new q_k."""
    if tree.kind[0] == FLOATING:
        for axis in range(3):
            state.q[axis] += scratch.shift[axis]
        for k in range(3, state.q.shape[0]):
            state.q[k] = scratch.q[k]
    else:
        copy1(scratch.q, state.q)
    copy_poses(scratch.next, scratch.motion.poses)
    turn_inertias(tree, scratch.motion.poses, scratch.motion.inertia)
