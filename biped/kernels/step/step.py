"""One step of the plant: solve, keep the books, move on; in halves where it does not converge."""

import math

from biped.kernels.state.checkpoint import keep, take_back
from biped.kernels.state.method import Variational, advance, remember, set_new_momentum, solve_step
from biped.kernels.state.pushes import set_push_impulses
from biped.kernels.state.simulation_state import (
    ACTUATORS,
    CONTACT,
    DISSIPATED,
    ITERATIONS,
    MOST_ITERATIONS,
    PLATFORM,
    PUSHES,
    RECENT_ITERATIONS,
    RETRIED,
    STEPS,
    TOTAL_STEPS,
)
from biped.kernels.state.status import LANDED_TOO_DEEP, OK
from biped.kernels.tree.dynamics import turn_inertias
from biped.kernels.tree.kinematics import copy_poses, place_bodies
from biped.kernels.tree.tree import FLOATING
from biped.kernels.variational.equations import (
    contact_chord,
    joint_torque,
    reference_point,
    set_rates,
    world_chord,
)
from biped.kernels.variational.newton import place_push
from contact.ground import END, begin_ground, force_in_floor, is_moving, law_at, region_of, stored_at, to_floor
from contact.jit import kernel, routine
from contact.modes import NONE, SLIDING
from contact.point_law import anchor_at_end, is_clipped, mode_of, state_at_end, stored_energy
from contact.vectors import add, copy1, cross, dot, load3, scale, sub, triple


@routine
def prepare(tree, plant, work):
    """The poses at k and the inertias in world axes, from the state alone."""
    place_bodies(tree, plant.q, work.motion.poses)
    turn_inertias(tree, work.motion.poses, work.motion.inertia)


@kernel
def time_of(plant):
    return plant.clock[0] + plant.clock[1] * plant.counts[STEPS]


@kernel
def count_step(plant):
    plant.counts[STEPS] += 1
    plant.counts[TOTAL_STEPS] += 1


@advance.register(Variational)
def advance_in_parts(tree, ground, plant, pushes, work, method, begin, h):
    """In halves, quarters, ... where that is needed.

    It is needed where a step does not converge, and where a point would land deeper than
    ``landing_depth``: the law sees a landing at the end of the step only. The parts stay
    small up to the end of h, since the shock of a landing is as short as they are. A step that fails leaves the plant
    where it began, but for the rates that it reached.
    """
    units = 1 << method.solver.max_halvings
    done, size, iterations, most = 0, units, 0, 0
    while done < units:
        part = h * (size / units)
        depth = math.inf if size == 1 else method.solver.landing_depth
        taken = substep(tree, ground, plant, pushes, work, method, begin + h * (done / units), part, depth)
        if taken >= 0:
            iterations += taken
            most = max(most, taken)
            done += size
        elif size > 1:
            if size == units:
                keep(plant, work.before)
            size //= 2
        else:
            if done > 0:
                take_back(plant, work.before)
                prepare(tree, plant, work)
            return taken
    count_iterations(plant.counts, iterations, most, size < units)
    return OK


@kernel
def count_iterations(count, iterations, most, halved):
    count[ITERATIONS] += iterations
    count[MOST_ITERATIONS] = max(count[MOST_ITERATIONS], most)
    count[RECENT_ITERATIONS] = max(count[RECENT_ITERATIONS], most)
    if halved:
        count[RETRIED] += 1


@kernel
def substep(tree, ground, plant, pushes, work, method, begin, h, depth):
    """One step of length h, all of it or nothing: the number of iterations, or a cause of failure.

    One is that a point lands deeper than ``depth``.
    """
    set_out(tree, ground, plant, pushes, work, begin, h)
    iterations = solve_step(tree, ground, plant, pushes, work, method, h)
    if iterations < 0:
        return iterations
    if lands_too_deep(tree, ground, plant, work, depth):
        return LANDED_TOO_DEEP
    book_works(tree, plant, pushes, work, h)
    book_momentum(tree, plant, pushes, work, method, h)
    settle_contacts(tree, ground, plant, work, h)
    remember(tree, plant, work, method, h)
    take_over(tree, plant, work)
    return iterations


@kernel
def set_out(tree, ground, plant, pushes, work, begin, h):
    """What acts in the step from ``begin``: the pushes' impulses and points, the floor under the contact points."""
    if pushes.body.shape[0] > 0:
        set_push_impulses(pushes, begin, begin + h)
        for j in range(pushes.body.shape[0]):
            place_push(work.motion.poses, pushes, j, pushes.left)
    begin_ground(ground, reference_point(tree, plant.q), work.motion.poses.contact, begin, begin + h)


@kernel
def lands_too_deep(tree, ground, plant, work, depth):
    """Whether a point that touches nothing ends this step farther below the floor than ``depth``."""
    origin = add(reference_point(tree, plant.q), triple(work.shift))
    for c in range(plant.mode.shape[0]):
        if plant.mode[c] == NONE and to_floor(ground, END, add(origin, load3(work.next.contact, c)))[2] < -depth:
            return True
    return False


@kernel
def book_works(tree, plant, pushes, work, h):
    """The exact works of actuators, contacts and pushes in this step."""
    for i in range(tree.parent.shape[0]):
        if tree.dofs[i] == 1:
            q_index, dof = tree.first_q[i], tree.first_v[i]
            change = work.q[q_index] - plant.q[q_index]
            plant.ledger[ACTUATORS] += joint_torque(plant, work, h, q_index, dof) * change
    book_push_works(plant, pushes, work, h)


@kernel
def book_push_works(plant, pushes, work, h):
    """The exact works of forces that are constant through the step."""
    for j in range(pushes.body.shape[0]):
        plant.ledger[PUSHES] += dot(load3(pushes.impulse, j), scale(1.0 / h, push_chord(pushes, work, j)))


@kernel
def push_chord(pushes, work, j):
    shift = triple(work.shift)
    return add(shift, sub(load3(pushes.right, j), load3(pushes.left, j)))


@kernel
def book_momentum(tree, plant, pushes, work, method, h):
    """Advance p, and set against its change, for a floating root, the impulses from outside."""
    before, spin_before = whole_momentum(tree, plant)
    set_new_momentum(tree, plant, pushes, work, method, h)
    if tree.kind[0] == FLOATING:
        linear, angular = external_impulse(tree, plant, pushes, work, h)
        book_impulse(tree, plant, work, before, spin_before, linear, angular)


@kernel
def whole_momentum(tree, plant):
    """The whole tree's linear momentum and its angular momentum about O: p's first six components.

    Zero where the root does not float.
    """
    if tree.kind[0] == FLOATING:
        p = plant.momentum
        return (p[0], p[1], p[2]), (p[3], p[4], p[5])
    return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)


@kernel
def book_impulse(tree, plant, work, before, spin_before, linear, angular):
    """Set the impulses from outside, angular about O at k, against the change of the momenta since then.

    O itself moves by Δ, which changes the angular momentum by −Δ × linear momentum.
    """
    after = (plant.momentum[0], plant.momentum[1], plant.momentum[2])
    shift = triple(work.shift)
    spin_after = add((plant.momentum[3], plant.momentum[4], plant.momentum[5]), cross(shift, after))
    gained, gained_spin = sub(after, before), sub(spin_after, spin_before)
    about_origin = add(angular, cross(reference_point(tree, plant.q), linear))
    for axis in range(3):
        plant.defect[axis] += gained[axis] - linear[axis]
        plant.defect[3 + axis] += gained_spin[axis] - angular[axis]
        plant.impulse[axis] += linear[axis]
        plant.impulse[3 + axis] += about_origin[axis]


@kernel
def external_impulse(tree, plant, pushes, work, h):
    """Impulses of gravity, contacts and pushes in this step, linear and about O at k: half at each end."""
    shift = triple(work.shift)
    gravity = triple(tree.gravity)
    mass = 0.0
    middle = (0.0, 0.0, 0.0)
    for i in range(tree.parent.shape[0]):
        mass += tree.mass[i]
        middle = add(middle, scale(tree.mass[i], add(load3(work.motion.poses.com, i), load3(work.next.com, i))))
    linear = scale(h * mass, gravity)
    angular = cross(scale(0.5 * h, add(middle, scale(mass, shift))), gravity)
    for c in range(tree.contact_body.shape[0]):
        if plant.mode[c] != NONE:
            arms = add(load3(work.motion.poses.contact, c), add(shift, load3(work.next.contact, c)))
            impulse = scale(h, load3(plant.force, c))
            linear = add(linear, impulse)
            angular = add(angular, cross(scale(0.5, arms), impulse))
    for j in range(pushes.body.shape[0]):
        arms = add(load3(pushes.left, j), add(shift, load3(pushes.right, j)))
        impulse = load3(pushes.impulse, j)
        linear = add(linear, impulse)
        angular = add(angular, cross(scale(0.5, arms), impulse))
    return linear, angular


@kernel
def settle_contacts(tree, ground, plant, work, h):
    """Book the contacts' work, split into what springs store and what is lost, and decide the next modes."""
    for c in range(tree.contact_body.shape[0]):
        middle, velocity = contact_chord(tree, ground, plant, work, h, c)
        settle_contact(ground, plant, h, c, middle, velocity, dot(load3(plant.force, c), world_chord(work, c)))


@kernel
def settle_contact(ground, plant, h, c, middle, velocity, done):
    """The same for contact point c, which moved along a chord and on which the floor did the work ``done``."""
    mode, floor = plant.mode[c], law_at(ground, c)
    force = force_in_floor(ground, load3(plant.force, c))
    plant.ledger[CONTACT] += done
    if is_moving(ground):
        in_floor = h * dot(force, velocity)
        plant.ledger[PLATFORM] += done - in_floor
        done = in_floor
    anchor = (plant.anchor[c, 0], plant.anchor[c, 1])
    half = scale(0.5 * h, velocity)
    begin, end = sub(middle, half), add(middle, half)
    stored = stored_energy(floor, mode, begin, anchor)
    if mode == SLIDING or (mode != NONE and is_clipped(floor, middle, velocity, anchor)):
        plant.slip[c] += h * math.hypot(velocity[0], velocity[1])
    found = state_at_end(floor, mode, middle, velocity, anchor, end[2])
    plant.found[c] = found
    anchor = anchor_at_end(floor, mode, middle, velocity, anchor, end, force)
    plant.anchor[c, 0], plant.anchor[c, 1] = anchor
    plant.mode[c] = mode_of(found)
    kept = stored_at(ground, region_of(ground, end[0], end[1]), plant.mode[c], end, anchor)
    plant.ledger[DISSIPATED] -= done + kept - stored


@remember.register(Variational)
def remember_variational(tree, plant, work, method, h):
    remember_rates(tree, plant, work, h)


@kernel
def remember_rates(tree, plant, work, h):
    """The rates and their changes, for an extrapolation."""
    set_rates(tree, plant.q, work, h, work.delta)
    between = 0.5 * (h + plant.clock[2])
    for dof in range(plant.rate.shape[0]):
        change = (work.delta[dof] - plant.rate[dof]) / between
        plant.rate_curve[dof] = change - plant.rate_change[dof]
        plant.rate_change[dof] = change
        plant.rate[dof] = work.delta[dof]
    plant.clock[2] = h


@kernel
def move_on(tree, plant, work, h):
    """q_{k+1} becomes q_k, and the rates are remembered."""
    remember_rates(tree, plant, work, h)
    take_over(tree, plant, work)


@kernel
def take_over(tree, plant, work):
    """q_{k+1} becomes q_k."""
    if tree.kind[0] == FLOATING:
        for axis in range(3):
            plant.q[axis] += work.shift[axis]
        for k in range(3, plant.q.shape[0]):
            plant.q[k] = work.q[k]
    else:
        copy1(work.q, plant.q)
    copy_poses(work.next, work.motion.poses)
    turn_inertias(tree, work.motion.poses, work.motion.inertia)
