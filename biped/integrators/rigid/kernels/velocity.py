"""The momentum at the end of a step, with contact impulses that stop touching points from moving into the floor.

The step ends with the momentum p⁻ of its chord, and touching points may have a velocity into the floor or along it.
The impulses of the end, γ, change it to p = p⁻ + Jᵀ γ with velocities β = M⁻¹ p, for which the contacts obey the same
conditions as for displacements (here h β): an impact loses the whole approach velocity, and sticking points are at
rest. Together with the next step's impulses they equal the paper's, like RATTLE and SHAKE.

With a coefficient of restitution e a point that arrives with v⁻ leaves with −e v⁻ at least (Newton; Moreau 1988): its
displacement counts from the height h e v⁻, below the floor.

Loops are closed in every candidate: the momentum includes the Cᵀ λ that makes C β = 0 (``loops``).
"""

import math

from biped.integrators.rigid.kernels import newton, points
from biped.integrators.rigid.kernels.loops import begin_loop_rates, close_free_rates, close_loop_rates, end_loop_rates
from biped.integrators.rigid.kernels.method import UNRESOLVED
from biped.integrators.rigid.kernels.pairs import along_rows, count_pairs, open_pair, set_pair_responses
from biped.kernels.solve.causes import NOT_CONVERGED, NOT_FINITE
from biped.kernels.solve.contacts import gap_of, width_of
from biped.kernels.solve.interior import EQUATIONS, PRODUCT, keep_pairs, move_pairs, way_to_boundary
from biped.kernels.tree.dynamics import load_body_blocks, rates_from_momentum
from biped.kernels.tree.factorization import eliminate, solve
from biped.kernels.tree.loops import set_responses
from contact.ground import END
from contact.vectors import add, copy1, cross, load3, load6, scale, store3, sub
from kernelcache import kernel, routine


@kernel
def choose_touching(ground, method, h):
    """Select the points that end the step on the floor, and their reference heights; return their number."""
    unknowns, contacts = method.unknowns, method.contacts
    touching = 0
    for c in range(contacts.body.shape[0]):
        touches = unknowns.active[c] == 1 and gap_of(unknowns, c) <= points.TOUCHING
        unknowns.active[c] = 1 if touches else 0
        touching += unknowns.active[c]
        approach = sub(load3(unknowns.velocity, c), load3(unknowns.floor_velocity, c))
        if contacts.other[c] < 0:
            approach = points.into_floor(ground, END, approach)
        unknowns.gap_begin[c] = method.restitution * abs(h) * min(approach[0], 0.0)
        if not touches:
            points.park(contacts, unknowns, c, 0)
            store3(unknowns.contact_impulse, c, (0.0, 0.0, 0.0))
    return touching


@kernel
def set_rates(tree, ground, state, scratch, method, h):
    """Set β = M⁻¹ (p⁻ + Jᵀ γ) and the points' displacements h J β; needs M factored in ``scratch.motion.factors``."""
    unknowns, ahead, factors = method.unknowns, method.ahead, scratch.motion.factors
    points.load_impulses(ground, END, method, method.arms.end, ahead.factors.wrench, 1.0)
    copy1(state.momentum, unknowns.impulse)
    points.add_along_joints(tree, ahead.poses.motion, ahead.factors.wrench, unknowns.impulse)
    solve(tree, ahead.poses.motion, ahead.poses.motion, unknowns.impulse, factors, ahead.rates)
    close_loop_rates(tree, method.loops, factors, ahead.rates, unknowns.impulse)
    for c in range(tree.contact_body.shape[0]):
        if unknowns.active[c] == 1:
            twist = load6(factors.twist, tree.contact_body[c])
            velocity = add(twist[:3], cross(twist[3:], load3(method.arms.end, c)))
            velocity = sub(velocity, load3(unknowns.floor_velocity, c))
            store3(unknowns.slide, c, scale(h, points.into_floor(ground, END, velocity)))
    floors = tree.contact_body.shape[0]
    for c in range(floors, unknowns.active.shape[0]):
        if unknowns.active[c] == 1:
            velocity = along_rows(method.pairs, method.pairs.begin_rows, c - floors, factors.twist)
            store3(unknowns.slide, c, scale(h, velocity))
    points.measure_candidate(method, 0.0, newton.mean_mass(tree) / abs(h))


@kernel
def begin_velocities(tree, ground, state, scratch, method, h, attempt):
    """Set the first candidate, with the impulses of the step or with none."""
    expected = attempt == newton.EXPECTED
    unknowns, contacts = method.unknowns, method.contacts
    for c in range(contacts.body.shape[0]):
        if unknowns.active[c] == 1:
            for k in range(contacts.pair[c], contacts.pair[c] + width_of(contacts)):
                unknowns.dual[k] = unknowns.base_dual[k] if expected else 0.0
    set_rates(tree, ground, state, scratch, method, h)
    way = newton.usual_way(tree, h)
    center = newton.center_of(tree, h, attempt)
    for c in range(contacts.body.shape[0]):
        if unknowns.active[c] == 1:
            impulse = load3(unknowns.contact_impulse, c)
            if expected:
                points.expect_point(
                    contacts, unknowns, c, impulse, newton.NEAR * way, newton.WARM * method.complementarity
                )
            else:
                points.start_point(contacts, unknowns, c, way, center)


@kernel
def set_velocity_step(tree, ground, method, h, attempt):
    """Set Newton's step of impulses and rates."""
    ahead, arms = method.ahead, method.arms.end
    poses, factors = ahead.poses, ahead.factors
    load_body_blocks(tree, ahead, factors.block)
    points.add_stiffnesses(ground, END, method, factors.block, arms, arms, arms, h)
    eliminate(tree, poses.motion, poses.motion, tree.armature, factors, 0)
    set_responses(tree, poses.motion, poses.motion, method.closing, factors)
    if count_pairs(method) > 0:
        rows = method.pairs.begin_rows
        set_pair_responses(tree, method, poses.motion, poses.motion, rows, ahead.nothing, factors, h)
    newton.set_direction(
        tree, ground, END, method, poses.motion, poses.motion, arms, arms, arms, ahead.nothing, factors, h,
        ahead.response, attempt,
    )  # fmt: skip


@kernel
def iterate_velocities(tree, ground, state, scratch, method, h, attempt):
    """Iterate without a line search, since all but the products is linear; return iterations or a cause of failure."""
    unknowns = method.unknowns
    iteration = 0
    while True:
        set_rates(tree, ground, state, scratch, method, h)
        if newton.has_converged(method, method.solver.tolerance):
            return iteration
        if not math.isfinite(unknowns.measure[EQUATIONS]):
            return NOT_FINITE
        if iteration >= newton.most_iterations(method, attempt):
            return NOT_CONVERGED
        set_velocity_step(tree, ground, method, h, attempt)
        part = way_to_boundary(unknowns, unknowns)
        keep_pairs(unknowns, unknowns)
        move_pairs(unknowns, unknowns, part)
        iteration += 1


@routine
def solve_velocities(tree, ground, state, scratch, method, h):
    """Add the impulses of the end to ``state.momentum``, which is p⁻; return the iterations.

    Needs poses and inertias of ``method.ahead``, and sets its rates to those of the end.
    """
    unknowns, ahead = method.unknowns, method.ahead
    keep_pairs(unknowns, unknowns)  # the step's impulses, for the first candidate
    if choose_touching(ground, method, h) == 0:
        set_free_rates(tree, state, method)
        return 0
    open_pairs(ahead.poses, method)
    set_mass_factors(tree, scratch, ahead)
    begin_loop_rates(tree, ahead.poses, method.loops, scratch.motion.factors)
    taken, near = NOT_CONVERGED, newton.in_use(method)
    for attempt in range(newton.ATTEMPTS):
        if taken < 0:
            begin_velocities(tree, ground, state, scratch, near, h, attempt)
            taken = iterate_velocities(tree, ground, state, scratch, near, h, attempt)
    if taken >= 0:
        copy1(unknowns.impulse, state.momentum)
        end_loop_rates(ahead.poses, method.loops)
        return taken
    set_free_rates(tree, state, method)
    return leave_unresolved(unknowns)


@kernel
def set_free_rates(tree, state, method):
    """Set the rates without contact impulses, and add to the momentum the impulses that keep loops closed."""
    rates_from_momentum(tree, state.momentum, method.ahead)
    close_free_rates(tree, method.ahead, method.loops, state.momentum)


@kernel
def open_pairs(poses, method):
    """Set the contact points of the pairs that touch at the end of the step, where their impulses act."""
    floors = method.unknowns.active.shape[0] - method.pairs.body.shape[0]
    for k in range(method.pairs.body.shape[0]):
        if method.unknowns.active[floors + k] == 1:
            open_pair(poses, method.pairs, k)


@kernel
def leave_unresolved(unknowns):
    """Set zero impulses at the end, as in the paper; the next step corrects the violation by the velocities."""
    unknowns.worst[UNRESOLVED] += 1.0
    unknowns.measure[EQUATIONS] = unknowns.measure[PRODUCT] = 0.0
    for c in range(unknowns.active.shape[0]):
        store3(unknowns.contact_impulse, c, (0.0, 0.0, 0.0))
    return 0


@kernel
def set_mass_factors(tree, scratch, ahead):
    """Factor M at the end of the step in the buffers of the step, whose factors are no longer needed."""
    factors = scratch.motion.factors
    load_body_blocks(tree, ahead, factors.block)
    eliminate(tree, ahead.poses.motion, ahead.poses.motion, tree.armature, factors, 0)
