"""The midpoint rule in generalized coordinates, with all external forces on a tree.

Johnson and Murphey 2009: between two configurations the discrete Lagrangian is h L at the coordinates
q_m = (1 − α) q + α q' and the velocity v = (q' − q)/h (equation 19). A step solves

    e_j = p_j + f_j⁻ + D₁L_d(q, q')_j = 0      for q',        p_j' = D₂L_d(q, q')_j + f_j⁺

(equations 44 to 46; ``biped.kernels.midpoint`` has the derivatives of L_d and Newton's matrix, in O(n)).
The coordinates are those of a tree whose joints all have one degree of freedom (``expansion``): a floating root's
position relative to that at k, so that no digit is lost far from the origin, and three angles of a chart for each
free turn (``charts``). The state keeps momenta in fixed axes, which are changed to these coordinates at either end of
the step.

f⁻ and f⁺ are those of ``biped.kernels.variational.equations``: half of each force's impulse at each end, at the points'
arms there. Forces depend on the chords between the ends, so that their works are exact.

Newton's method has a line search by halving.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from biped.integrators.midpoint.kernels import charts
from biped.kernels.midpoint.equations import MidpointBuffers, new_midpoint_buffers
from biped.kernels.solve.causes import cause_of
from biped.kernels.solve.line_search import suffices
from biped.kernels.state.method import find_root
from biped.kernels.tree.kinematics import quaternion_place
from biped.kernels.tree.tree import FLOATING, SPHERICAL, Tree
from biped.kernels.variational.discrete_body import set_momentum
from biped.kernels.variational.equations import add_external_impulses, hand_to_parent, move_residual, set_contact_forces
from biped.kernels.variational.joints import dof_torque
from biped.kernels.variational.newton import place_candidate, tolerance_of
from contact import vectors as v
from contact.arrays import Floats, Integers
from contact.modes import NONE
from kernelcache import generic, kernel


class MidpointRule(NamedTuple):
    """The rule for one tree, with buffers of one step, which are not valid after the step."""

    alpha: float
    tree: Tree  # the same bodies on joints of one coordinate
    derivatives: Any  # selects the evaluation of the Lagrangian's derivatives
    buffers: MidpointBuffers
    chart: Integers  # (n,) chart of each joint with a free turn
    start: Floats  # (nv,) coordinates at k
    end: Floats  # (nv,) the candidate for those at k + 1
    base: Floats  # (nv,) displacement at the start of a line search
    nothing: Floats  # (nv,) zeros: impulses along coordinates
    free: Integers  # (nv,) zeros: no coordinate is prescribed


def new_rule(alpha: float, wide: Tree, derivatives: Any, n: int) -> MidpointRule:
    """Return the rule for a tree of n bodies whose expansion is ``wide``, with buffers filled with NaN."""
    nv = wide.parent.shape[0]
    start, end, base = (np.full(nv, np.nan) for _ in range(3))
    chart, free = (np.zeros(size, dtype=np.int64) for size in (n, nv))
    return MidpointRule(
        alpha, wide, derivatives, new_midpoint_buffers(nv, 0), chart, start, end, base, np.zeros(nv), free
    )


@generic("derivatives")
def set_legendre_residual(derivatives, rule, h):
    """Set e from the momenta in ``rule.buffers.load`` and the displacement ``rule.buffers.moved``; return its norm."""


@generic("derivatives")
def set_newton_step(derivatives, tree, ground, state, scratch, rule, h, fresh):
    """Write Newton's step to ``rule.buffers.delta``, with a new matrix if ``fresh``, otherwise with the last one."""


@generic("derivatives")
def set_legendre_momentum(derivatives, rule, h, momentum):
    """Set ``momentum`` to D₂L_d at the displacement of the last residual."""


@kernel
def turn_place(tree, i):
    """Return the index among the degrees of freedom of the angles of a floating or spherical joint."""
    return tree.first_v[i] + (3 if tree.kind[i] == FLOATING else 0)


@kernel
def has_turn(tree, i):
    return tree.kind[i] == FLOATING or tree.kind[i] == SPHERICAL


@kernel
def triple_at(values, j):
    return values[j], values[j + 1], values[j + 2]


@kernel
def set_triple(values, j, new):
    values[j], values[j + 1], values[j + 2] = new


@kernel
def dot4(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]


@kernel
def begin_rule(tree, state, scratch, rule):
    """Set charts and coordinates at k, and the displacement to the candidate in ``scratch``."""
    for i in range(tree.parent.shape[0]):
        a, j = tree.first_q[i], tree.first_v[i]
        if tree.kind[i] == FLOATING:
            set_triple(rule.start, j, (0.0, 0.0, 0.0))
            set_triple(rule.buffers.moved, j, triple_at(scratch.shift, 0))
        elif not has_turn(tree, i):
            rule.start[j], rule.buffers.moved[j] = state.q[a], scratch.q[a] - state.q[a]
        if has_turn(tree, i):
            begin_turn(tree, state, scratch, rule, i)


@kernel
def begin_turn(tree, state, scratch, rule, i):
    a, j = quaternion_place(tree, i), turn_place(tree, i)
    quaternion = v.quaternion_at(state.q, a)
    chart = charts.choose_chart(quaternion)
    rule.chart[i] = chart
    v.store3(rule.tree.axis, j + 1, charts.second_axis(chart))
    v.store3(rule.tree.axis, j + 2, charts.third_axis(chart))
    first = charts.angles_of(chart, quaternion)
    ahead = v.sub(charts.angles_of(chart, v.quaternion_at(scratch.q, a)), first)
    set_triple(rule.start, j, first)
    set_triple(rule.buffers.moved, j, (charts.within_half_turn(ahead[0]), ahead[1], charts.within_half_turn(ahead[2])))


@kernel
def put_candidate(tree, state, scratch, rule):
    """Write ``rule.end`` to ``scratch.q`` and ``scratch.shift``, which determine the external forces.

    Of the two quaternions of an orientation the one nearer to that at k is chosen.
    """
    for i in range(tree.parent.shape[0]):
        a, j = tree.first_q[i], tree.first_v[i]
        if tree.kind[i] == FLOATING:
            set_triple(scratch.shift, 0, triple_at(rule.end, j))
        elif not has_turn(tree, i):
            scratch.q[a] = rule.end[j]
        if has_turn(tree, i):
            a, j = quaternion_place(tree, i), turn_place(tree, i)
            new = charts.quaternion_of(rule.chart[i], triple_at(rule.end, j))
            if dot4(new, v.quaternion_at(state.q, a)) < 0.0:
                new = (-new[0], -new[1], -new[2], -new[3])
            scratch.q[a], scratch.q[a + 1], scratch.q[a + 2], scratch.q[a + 3] = new


@kernel
def into_charts(tree, poses, chart, angles, values):
    """Change components in fixed axes to those of the angles, in place; ``poses`` are those of the angles."""
    for i in range(tree.parent.shape[0]):
        if has_turn(tree, i):
            j = turn_place(tree, i)
            triple = triple_at(values, j)
            if tree.parent[i] >= 0:
                triple = v.mat_t_vec(v.load9(poses.rotation, tree.parent[i]), triple)
            set_triple(values, j, charts.into_chart(chart[i], triple_at(angles, j), triple))


@kernel
def out_of_charts(tree, poses, chart, angles, values):
    """Change components of the angles to those in fixed axes, the inverse of ``into_charts``."""
    for i in range(tree.parent.shape[0]):
        if has_turn(tree, i):
            j = turn_place(tree, i)
            triple = charts.out_of_chart(chart[i], triple_at(angles, j), triple_at(values, j))
            if tree.parent[i] >= 0:
                triple = v.mat_vec(v.load9(poses.rotation, tree.parent[i]), triple)
            set_triple(values, j, triple)


@kernel
def is_acted_on(state, pushes):
    """Return True if contacts or pushes may act in this step."""
    if pushes.body.shape[0] > 0:
        return True
    for c in range(state.mode.shape[0]):
        if state.mode[c] != NONE:
            return True
    return False


@kernel
def add_outer_loads(tree, state, scratch, twists, h, values):
    """Add h/2 of the joints' torques, and ``scratch.wrench`` along the unit twists."""
    for i in range(tree.parent.shape[0] - 1, -1, -1):
        b = v.load6(scratch.wrench, i)
        for dof in range(tree.first_v[i], tree.first_v[i] + tree.dofs[i]):
            values[dof] += 0.5 * h * dof_torque(tree, state, scratch, h, i, dof) + v.dot6(v.load6(twists, dof), b)
        hand_to_parent(tree, scratch.wrench, i, b)


@kernel
def set_start_load(tree, ground, state, pushes, scratch, rule, h, acted):
    """Set ``rule.buffers.load`` to p + f⁻ in the coordinates of the charts."""
    v.copy1(state.momentum, rule.buffers.load)
    set_contact_forces(tree, ground, state, scratch, h)
    scratch.wrench[:] = 0.0
    if acted:
        add_external_impulses(tree, state, pushes, scratch, scratch.motion.poses.contact, pushes.left, 0.5 * h, 1.0)
    add_outer_loads(tree, state, scratch, scratch.motion.poses.motion, h, rule.buffers.load)
    into_charts(tree, scratch.motion.poses, rule.chart, rule.start, rule.buffers.load)


@kernel
def evaluate_rule(tree, ground, state, pushes, scratch, rule, h):
    """Return the norm of e for the displacement ``rule.buffers.moved``."""
    for j in range(rule.end.shape[0]):
        rule.end[j] = rule.start[j] + rule.buffers.moved[j]
    put_candidate(tree, state, scratch, rule)
    acted = is_acted_on(state, pushes)
    if acted:
        place_candidate(tree, pushes, scratch)
    set_start_load(tree, ground, state, pushes, scratch, rule, h, acted)
    return set_legendre_residual(rule.derivatives, rule, h)


@kernel
def arrive(tree, state, pushes, scratch, rule):
    """Set the poses and turns at k + 1 of a solved step, and the remaining e as a wrench fixed in space."""
    v.copy1(rule.buffers.residual, scratch.residual)
    if not is_acted_on(state, pushes):
        place_candidate(tree, pushes, scratch)
    for i in range(tree.parent.shape[0]):
        turn = v.quat_difference(v.load4(scratch.next.quaternion, i), v.load4(scratch.motion.poses.quaternion, i))
        v.store4(scratch.turn, i, turn)
    out_of_charts(tree, scratch.motion.poses, rule.chart, rule.start, scratch.residual)


@set_momentum.register(MidpointRule)
def set_rule_momentum(body, tree, state, pushes, scratch, h):
    rule = body
    set_legendre_momentum(rule.derivatives, rule, h, state.momentum)
    out_of_charts(tree, scratch.next, rule.chart, rule.end, state.momentum)
    scratch.wrench[:] = 0.0
    if is_acted_on(state, pushes):
        add_external_impulses(tree, state, pushes, scratch, scratch.next.contact, pushes.right, 0.5 * h, 1.0)
    add_outer_loads(tree, state, scratch, scratch.next.motion, h, state.momentum)
    for dof in range(state.momentum.shape[0]):
        state.momentum[dof] += scratch.residual[dof]
    if tree.kind[0] == FLOATING:
        move_residual(state.momentum, scratch)


class MidpointNewton(NamedTuple):
    """Newton's method with the matrix of the rule's ``derivatives``."""


@kernel
def search_step(tree, ground, state, pushes, scratch, method, h, tolerance, norm):
    """Take the largest of 1, 1/2, 1/4, … of Newton's step that reduces e; return its norm, inf if none does."""
    rule = method.body
    v.copy1(rule.buffers.moved, rule.base)
    factor = 1.0
    for _ in range(method.solver.max_backtracks):
        for j in range(rule.base.shape[0]):
            rule.buffers.moved[j] = rule.base[j] + factor * rule.buffers.delta[j]
        reduced = evaluate_rule(tree, ground, state, pushes, scratch, rule, h)
        if suffices(reduced, tolerance, factor, norm):
            return reduced
        factor *= 0.5
    return math.inf


@find_root.register(MidpointNewton)
def find_by_newton(tree, ground, state, pushes, scratch, method, root_finder, h):
    """Solve a step by exact iterations; the last reuses the factorization if an equal reduction would suffice."""
    rule = method.body
    begin_rule(tree, state, scratch, rule)
    tolerance = tolerance_of(method, tree, scratch, h)
    norm = evaluate_rule(tree, ground, state, pushes, scratch, rule, h)
    iteration = 0
    fresh = True
    while not norm <= tolerance:
        if iteration >= method.solver.max_iterations or not math.isfinite(norm):
            v.copy1(rule.buffers.residual, scratch.residual)
            return cause_of(norm)
        before = norm
        set_newton_step(rule.derivatives, tree, ground, state, scratch, rule, h, fresh)
        norm = search_step(tree, ground, state, pushes, scratch, method, h, tolerance, norm)
        fresh = not (fresh and norm * norm <= before * tolerance)
        iteration += 1
    arrive(tree, state, pushes, scratch, rule)
    return iteration
