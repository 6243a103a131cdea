"""One step with rigid contact: solve for positions, then for velocities, update the ledger, advance."""

import math

from biped.integrators.rigid.kernels import points
from biped.integrators.rigid.kernels.method import DEPTH, WORSTS, ContactUnknowns, RigidContact
from biped.integrators.rigid.kernels.pairs import keep_pair_work, work_of_pair
from biped.integrators.rigid.kernels.position import solve_rigid_step
from biped.integrators.rigid.kernels.velocity import solve_velocities
from biped.kernels.loop.log import record_more
from biped.kernels.solve.cone import cone_left, is_cone
from biped.kernels.solve.contacts import set_contact_impulse
from biped.kernels.state.method import advance, take_part
from biped.kernels.state.simulation_state import CONTACT, DISSIPATED, LAST_STEP_LENGTH, PLATFORM
from biped.kernels.step import step
from biped.kernels.tree.dynamics import rates_from_momentum, turn_inertias
from biped.kernels.tree.kinematics import copy_poses, set_twists
from biped.kernels.tree.tree import FLOATING
from biped.kernels.variational.discrete_body import set_momentum
from biped.kernels.variational.equations import reference_point, world_chord
from biped.kernels.variational.joints import account_joint_works
from contact.ground import END, MIDDLE, START, is_moving, place_frame, rotation_of, to_floor
from contact.modes import NONE, SLIDING, STICKING
from contact.vectors import add, copy1, cross, dot, load3, load6, mat_vec, scale, store3, sub, triple
from kernelcache import kernel

# Remaining share of the friction limit below which a point slides.
SATURATED = 1e-3
# [s] Half interval of the differences for the velocity of a moving floor.
MOMENT = 1e-5


advance.register(RigidContact)(step.advance_in_parts)


@take_part.register(RigidContact)
def take_rigid_part(tree, ground, state, pushes, scratch, method, begin, h, depth):
    """Take one step of length h, without penetration of the floor; return the iterations or a cause of failure."""
    step.begin_substep(tree, ground, state, pushes, scratch, begin, h)
    set_aside(state, method.unknowns)
    iterations = solve_rigid_step(tree, ground, state, pushes, scratch, method, h)
    if iterations < 0:
        put_back(state, method.unknowns)
        return iterations, iterations
    points.note_worst(method.unknowns)
    keep_first_impulses(tree, ground, state, scratch, method, h)
    set_momentum(method.body, tree, state, pushes, scratch, h)  # that of the chord, without the impulses at its end
    set_floor_velocities(tree, ground, state, scratch, method, begin + 0.5 * h, begin + h)
    more = find_velocities(tree, ground, state, scratch, method, h)
    account_joint_works(tree, state, scratch, h)
    step.account_push_works(state, pushes, scratch, h)
    account_contacts(tree, ground, state, pushes, scratch, method, h)
    settle_points(tree, ground, state, scratch, method, h)
    step.commit_with_rates(tree, state, scratch, h)
    return iterations + more, iterations + more


@kernel
def set_aside(state, unknowns):
    """Save contact data that the equations without contact must not see, and that a failed step restores."""
    copy1(state.momentum, unknowns.momentum)
    copy1(state.mode, unknowns.mode)
    for c in range(state.mode.shape[0]):
        store3(unknowns.force, c, load3(state.force, c))
        state.mode[c] = NONE
        store3(state.force, c, (0.0, 0.0, 0.0))


@kernel
def put_back(state, unknowns):
    copy1(unknowns.momentum, state.momentum)
    for c in range(state.mode.shape[0]):  # not all of the contacts: pairs of bodies have no modes
        state.mode[c] = unknowns.mode[c]
        store3(state.force, c, load3(unknowns.force, c))


@kernel
def keep_first_impulses(tree, ground, state, scratch, method, h):
    """Store the step's impulses in world axes, its modes, and the velocities of the points at its start."""
    unknowns, contacts, motion = method.unknowns, method.contacts, scratch.motion
    rates_from_momentum(tree, state.momentum, motion)
    set_twists(tree, motion.poses, motion.rates, motion.velocity)
    for c in range(contacts.body.shape[0]):
        set_contact_impulse(contacts, unknowns, c)
        if contacts.other[c] >= 0:
            store3(unknowns.first, c, load3(unknowns.contact_impulse, c))
            keep_pair_work(method, scratch, c, h)
            continue
        store3(unknowns.first, c, points.out_of_floor(ground, START, load3(unknowns.contact_impulse, c)))
        twist = load6(motion.velocity, contacts.body[c])
        store3(unknowns.velocity, c, add(twist[:3], cross(twist[3:], load3(method.arms.begin, c))))
        at, mu = contacts.pair[c], contacts.friction[c]
        left = cone_left(unknowns, at) if is_cone(contacts) else unknowns.slack[at + 1]
        saturated = mu == 0.0 or left <= SATURATED * mu * unknowns.dual[at]
        unknowns.first_mode[c] = SLIDING if saturated else STICKING


@kernel
def floor_point(ground, row, place):
    """Return a point of the floor in the world."""
    return add(load3(ground.frame, row), mat_vec(rotation_of(ground, row), place))


@kernel
def set_floor_velocities(tree, ground, state, scratch, method, middle, end):
    """Set the velocity of a moving floor under each point at the end of the step."""
    if not is_moving(ground):
        return
    velocity = method.unknowns.floor_velocity
    for side in range(2):
        sign = 1.0 if side == 0 else -1.0
        place_frame(ground, MIDDLE, end + sign * MOMENT)
        for c in range(tree.contact_body.shape[0]):
            at = add(reference_point(tree, state.q), load3(scratch.motion.poses.contact, c))
            x, y, z = to_floor(ground, END, add(at, world_chord(scratch, c)))
            place = (x, y, z - method.contacts.radius[c])
            way = scale(sign / (2.0 * MOMENT), floor_point(ground, MIDDLE, place))
            before = (0.0, 0.0, 0.0) if side == 0 else load3(velocity, c)
            store3(velocity, c, add(before, way))
    place_frame(ground, MIDDLE, middle)


@kernel
def find_velocities(tree, ground, state, scratch, method, h):
    """Call ``solve_velocities`` with the tree at the end of the step; return its iterations."""
    ahead, unknowns = method.ahead, method.unknowns
    copy_poses(scratch.next, ahead.poses)
    points.set_touching_arms(ground, END, method.contacts, ahead.poses, method.arms.end)
    turn_inertias(tree, ahead.poses, ahead.inertia)
    taken = solve_velocities(tree, ground, state, scratch, method, h)
    for c in range(tree.contact_body.shape[0]):
        store3(unknowns.last, c, points.out_of_floor(ground, END, load3(unknowns.contact_impulse, c)))
    for c in range(tree.contact_body.shape[0], unknowns.active.shape[0]):
        store3(unknowns.last, c, load3(unknowns.contact_impulse, c))
    points.note_worst(unknowns)
    return taken


@kernel
def account_contacts(tree, ground, state, pushes, scratch, method, h):
    """Add the works and momenta of the contacts to the ledger, each impulse by the mean of the velocities around it."""
    unknowns, ahead, arms = method.unknowns, method.ahead, method.arms
    shift = triple(scratch.shift)
    set_twists(tree, ahead.poses, ahead.rates, ahead.velocity)
    linear, angular = step.external_impulse(tree, state, pushes, scratch, h)
    for c in range(tree.contact_body.shape[0]):
        first, last = load3(unknowns.first, c), load3(unknowns.last, c)
        chord = scale(1.0 / h, working_chord(ground, scratch, method, c))
        twist = load6(ahead.velocity, tree.contact_body[c])
        arm = load3(arms.end, c)
        end = add(twist[:3], cross(twist[3:], arm))
        done = 0.5 * (dot(first, add(load3(unknowns.velocity, c), chord)) + dot(last, add(chord, end)))
        carried = 0.0
        if is_moving(ground):
            way = floor_chord(tree, ground, state, scratch, arms, c)
            carried = dot(add(first, last), scale(1.0 / h, way))
        state.ledger.works[CONTACT] += done
        state.ledger.works[PLATFORM] += carried
        state.ledger.works[DISSIPATED] -= done - carried
        linear = add(linear, add(first, last))
        moment = cross(load3(arms.begin, c), first)
        angular = add(angular, add(moment, cross(add(shift, arm), last)))
    for c in range(tree.contact_body.shape[0], unknowns.active.shape[0]):
        done = work_of_pair(method, scratch, c, h)
        state.ledger.works[CONTACT] += done
        state.ledger.works[DISSIPATED] -= done
    if tree.kind[0] == FLOATING:
        before = triple(unknowns.momentum)
        spin = (unknowns.momentum[3], unknowns.momentum[4], unknowns.momentum[5])
        step.account_impulse(tree, state, scratch, before, spin, linear, angular)


@kernel
def working_chord(ground, scratch, method, c):
    """Return the displacement [m] along which a contact's impulses work.

    Along the floor it is that of the touching material point, along the normal that of the ball's centre: the material
    point leaves the floor in the step as the ball rolls, and carries no pressure then.
    """
    chord = points.touching_chord(scratch, method.arms, c)
    if method.contacts.radius[c] > 0.0:
        normal = points.out_of_floor(ground, START, (1.0, 0.0, 0.0))
        chord = add(chord, scale(dot(normal, sub(world_chord(scratch, c), chord)), normal))
    return chord


@kernel
def floor_chord(tree, ground, state, scratch, arms, c):
    """Return the part [m] of a point's displacement in the step that is due to the floor's motion."""
    start = add(reference_point(tree, state.q), load3(arms.begin, c))
    chord = points.touching_chord(scratch, arms, c)
    before, after = to_floor(ground, START, start), to_floor(ground, END, add(start, chord))
    return sub(chord, mat_vec(rotation_of(ground, MIDDLE), sub(after, before)))


@kernel
def settle_points(tree, ground, state, scratch, method, h):
    """Set modes, anchors and forces for the next step and for the rows."""
    unknowns = method.unknowns
    for c in range(tree.contact_body.shape[0]):
        at = add(reference_point(tree, state.q), load3(scratch.motion.poses.contact, c))
        x, y, z = to_floor(ground, END, add(at, world_chord(scratch, c)))
        radius = method.contacts.radius[c]
        unknowns.worst[DEPTH] = max(unknowns.worst[DEPTH], radius - z)
        mode = int(unknowns.first_mode[c]) if unknowns.active[c] == 1 else NONE
        sticks = mode == STICKING and unknowns.mode[c] == STICKING
        if not sticks:
            state.anchor[c, 0], state.anchor[c, 1] = x, y
        state.mode[c] = state.contact_state[c] = mode
        if mode == SLIDING and radius > 0.0:
            x, y, _ = points.floor_way(
                tree, ground, state, load3(method.arms.begin, c), points.touching_chord(scratch, method.arms, c)
            )
            state.ledger.slip[c] += math.hypot(x, y)
        elif mode == SLIDING:
            state.ledger.slip[c] += math.hypot(x - unknowns.place[c, 0], y - unknowns.place[c, 1])
        store3(state.force, c, scale(1.0 / h, add(load3(unknowns.first, c), load3(unknowns.last, c))))


@record_more.register(ContactUnknowns)
def record_contacts(tree, state, scratch, more, row, place):
    """Record the worst values since the last row, and the forces between bodies in the last step."""
    for k in range(WORSTS):
        row[place + k] = more.worst[k]
        more.worst[k] = 0.0
    floors = tree.contact_body.shape[0]
    for c in range(floors, more.active.shape[0]):
        row[place + WORSTS + c - floors] = (more.first[c, 0] + more.last[c, 0]) / state.clock[LAST_STEP_LENGTH]
    return place + WORSTS + more.active.shape[0] - floors
