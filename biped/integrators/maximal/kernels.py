"""The equations of a variational step in maximal coordinates (Wendlandt 1997, section 5.4), and Newton's step in O(n).

Every body has a position and a unit quaternion of its own; the joints are equations. A step solves (5.11): for each
body the balance of its impulses at k, in which each joint has a multiplier λ, and at k + 1 the rows of the joints,
g = 0, and of the quaternions' norms. The poses at k + 1 are in ``scratch.next`` and ``scratch.shift``; only g = 0
connects the bodies.

What the joints' multipliers do. G_kᵀ λ is a wrench of a joint on its outboard body, and its opposite on the inboard
one. It enters the balances linearly, and its Jacobian is that of the configuration at k, fixed in the step. From the
tips inwards the balances therefore give the wrench of every joint for any poses, whether they solve the step or not,

    w_i = Σ_{j outboard of i} (b_j − π_j)   b: ``biped.kernels.variational.equations``; π: the bodies' momenta at k

and its part along the joint's freedom, which no multiplier can have, must be the joint's torque: that is the residual
e of the recursive equations, here for poses that need not fit together. Newton's iterates of the poses are those of
all of (5.11), since λ is linear in it.

What the norms' multipliers do. A displacement of a quaternion tangent to the sphere is a turn φ. The balance along
the sphere is that of moments; along the radius it reads γ = −(h/2) ω · Jω in either half of a step (for rows that do
not change with the norm), and nothing else depends on γ. Displacements are taken on the sphere, so that the norms'
rows hold in every iterate. So the 7 + 1 unknowns of a body become 6, exactly.

Newton's step (5.13). With M_i the derivative of b_i by body i's own displacement Δ_i, and G_i⁺ the rows of joint i,

    M_i Δ_i = w_i − Σ_{children j} w_j − (residual of the balance),      G_i⁺ (Δ_i − Δ_parent) = −g_i.

A joint's rows depend on the relative pose of its bodies alone. In spatial twists about one point G_outboard is
therefore −G_inboard, also where g ≠ 0, and the rows say Δ_i = Δ_parent + y_i + N_i z_i: N_i spans their null space
and y_i is one solution. Orthogonal to the columns of G_iᵀ at k are the unit twists s_i there. What Algorithm 5.1 gets
from the inverse of each joint's block (5.16), M + Gᵀ F G, is then M − M N (sᵀ M N + d)⁻¹ sᵀ M of the outboard body: the
two-sided factorization (``biped.kernels.tree.factorization``) with N in place of the unit twists at k + 1. A joint
impedance ties the balances of two bodies to the poses of both, and the thesis leaves such forces out. Here it is a
compliant row, torque + d · change of the coordinate = 0, and stands in the same place as in generalized coordinates.

The rows of joints that close loops, if there are any, stand beside those of the tree's joints, all of them open until
the step is solved. Their wrenches are not eliminated: they act on the bodies like forces.
"""

import math
from typing import NamedTuple

import numpy as np

from biped.kernels.loop.log import record_more
from biped.kernels.solve.causes import cause_of
from biped.kernels.solve.line_search import suffices
from biped.kernels.solve.rounding import EPSILON
from biped.kernels.state.method import find_root
from biped.kernels.state.simulation_state import LAST_STEP_LENGTH, TOTAL_STEPS
from biped.kernels.tree.closing import Closing
from biped.kernels.tree.dynamics import rates_from_momentum, spatial_momentum
from biped.kernels.tree.factorization import eliminate, row_dot, solve_inboard, solve_outboard
from biped.kernels.tree.kinematics import place_bodies, point_of_body, set_twists
from biped.kernels.tree.loops import close_loops, hand_down
from biped.kernels.tree.tree import FLOATING, PRISMATIC, REVOLUTE
from biped.kernels.variational import closing as loops
from biped.kernels.variational.equations import set_newton_blocks, set_residual
from biped.kernels.variational.newton import evaluate, place_push, tolerance_of
from contact import vectors as vec
from contact.arrays import Floats, Integers
from kernelcache import kernel, optional

# Tolerance of the joints' rows, besides rounding: metres, and sines of half angles.
GAP = 1e-13
ROUNDINGS = 16.0

# Indices of ``MaximalNewton.gap``.
POSITION = 0  # [m] distance of a joint's points
ROTATION = 1  # sine of half an angle, or a quaternion's norm less one
GAPS = 2


class MaximalNewton(NamedTuple):
    """Buffers of Newton's method for the bodies' poses and joints' multipliers, eliminated in O(n) (Algorithm 5.1).

    After a step only the recorded numbers are still valid.
    """

    jump: Floats  # (n, 6) y: the relative twist that closes the joint
    path: Floats  # (n, 6) the sum of jumps from the root to body i
    base_com: Floats  # (n, 3) start of the line search
    base_quaternion: Floats  # (n, 4)
    momentum: Floats  # (n, 6) π: [N·s], about O
    start: Floats  # (n, 6) impulse of the joint on body i in the first half of the step, about the joint, world axes
    gap: Floats  # (GAPS,) the largest gaps of the candidate
    worst: Floats  # (GAPS,) the largest gaps of the solved steps since the last recorded row
    solved: Integers  # (1,) number of steps before the step of ``start``


def new_root_finder(n: int) -> MaximalNewton:
    """Return buffers for a tree of n bodies, filled with NaN; no step is solved yet."""
    jump, path, base_com, base_quaternion, momentum, start = (
        np.full((n, width), np.nan) for width in (6, 6, 3, 4, 6, 6)
    )
    gap, worst, solved = np.full(GAPS, np.nan), np.zeros(GAPS), np.array([-2], dtype=np.int64)
    return MaximalNewton(jump, path, base_com, base_quaternion, momentum, start, gap, worst, solved)


@kernel
def inboard_frame(tree, poses, i):
    """Return joint i's orientation on its inboard body as quaternion and rotation matrix, and its position there."""
    parent = tree.parent[i]
    if parent < 0:
        return (1.0, 0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0), vec.load3(tree.joint_offset, i)
    place = point_of_body(poses, parent, vec.load3(tree.joint_offset, i))
    return vec.load4(poses.quaternion, parent), vec.load9(poses.rotation, parent), place


@kernel
def joint_on_body(tree, poses, i):
    """Return the joint's position on its outboard body, relative to O."""
    return vec.sub(vec.load3(poses.com, i), vec.mat_vec(vec.load9(poses.rotation, i), vec.load3(tree.com_offset, i)))


@kernel
def set_joint_rows(tree, poses, root_finder, i):
    """Write N_i to ``poses.motion`` and y_i to ``root_finder.jump``; return the gaps: [m], sine of half an angle.

    With the relative turn (c, u) in the inboard body's axes and the joint's axis a there, the rows are the part
    of u across a for a hinge, all of u for a slide, and the distance of the joint's two points: all of it, or the part
    across the slide. With s = u · a, v = u − s a and c² + s² = σ, a turn φ obeys the rows of a hinge
    for φ = −(2/σ) (c v + s a × v), which closes it, and is free along σ a + s v − c a × v, whose
    component in the angle 2 atan2(s, c) is 1. With v = 0 that is a.
    """
    quaternion, rotation, place = inboard_frame(tree, poses, i)
    joint = joint_on_body(tree, poses, i)
    r = vec.sub(joint, place)
    kind, dof = tree.kind[i], tree.first_v[i]
    if kind == REVOLUTE or kind == PRISMATIC:
        c, ux, uy, uz = vec.quat_mul(vec.quat_conj(quaternion), vec.load4(poses.quaternion, i))
        u = (ux, uy, uz)
        a = vec.load3(tree.axis, i)
        if kind == REVOLUTE:
            s = vec.dot(u, a)
            v = vec.sub(u, vec.scale(s, a))
            across = vec.cross(a, v)
            size = c * c + s * s
            free = vec.mat_vec(rotation, vec.add(vec.scale(size, a), vec.sub(vec.scale(s, v), vec.scale(c, across))))
            vec.store_twist(poses.motion, dof, vec.cross(joint, free), free)
            turn = vec.mat_vec(rotation, vec.scale(-2.0 / size, vec.add(vec.scale(c, v), vec.scale(s, across))))
            sine = vec.norm(v)
        else:
            free = vec.mat_vec(rotation, a)
            vec.store_twist(poses.motion, dof, free, (0.0, 0.0, 0.0))
            r = vec.sub(r, vec.scale(vec.dot(r, free), free))
            turn = vec.mat_vec(rotation, vec.scale(-2.0 / c, u))
            sine = vec.norm(u)
        vec.store_twist(root_finder.jump, i, vec.sub(vec.cross(joint, turn), r), turn)
        return vec.norm(r), sine
    vec.store_twist(poses.motion, dof, (0.0, joint[2], -joint[1]), (1.0, 0.0, 0.0))
    vec.store_twist(poses.motion, dof + 1, (-joint[2], 0.0, joint[0]), (0.0, 1.0, 0.0))
    vec.store_twist(poses.motion, dof + 2, (joint[1], -joint[0], 0.0), (0.0, 0.0, 1.0))
    vec.store_twist(root_finder.jump, i, vec.scale(-1.0, r), (0.0, 0.0, 0.0))
    return vec.norm(r), 0.0


@kernel
def set_joint_coordinate(tree, state, scratch, i):
    """Write the coordinates of joint i at k + 1 to ``scratch.q``, from the poses; an angle continues that at k."""
    quaternion, rotation, place = inboard_frame(tree, scratch.next, i)
    first = tree.first_q[i]
    if tree.kind[i] == PRISMATIC:
        r = vec.sub(joint_on_body(tree, scratch.next, i), place)
        scratch.q[first] = vec.dot(r, vec.mat_vec(rotation, vec.load3(tree.axis, i)))
        return
    after = vec.quat_mul(vec.quat_conj(quaternion), vec.load4(scratch.next.quaternion, i))
    if tree.kind[i] == REVOLUTE:
        quaternion, _, _ = inboard_frame(tree, scratch.motion.poses, i)
        before = vec.quat_mul(vec.quat_conj(quaternion), vec.load4(scratch.motion.poses.quaternion, i))
        a = vec.load3(tree.axis, i)
        c0, s0, c1, s1 = before[0], vec.dot(before[1:], a), after[0], vec.dot(after[1:], a)
        s, c = c0 * s1 - s0 * c1, c0 * c1 + s0 * s1
        if c < 0.0:
            s, c = -s, -c
        scratch.q[first] = state.q[first] + 2.0 * math.atan2(s, c)
    else:
        agreement = 0.0
        for k in range(4):
            agreement += after[k] * state.q[first + k]
        sign = -1.0 if agreement < 0.0 else 1.0
        for k in range(4):
            scratch.q[first + k] = sign * after[k]


@kernel
def place_free_bodies(tree, state, scratch, root_finder):
    """Complete ``scratch.next`` from the bodies' positions and quaternions, and set the gaps.

    Return the square of the momentum [N·s, N·m·s] that would close the gaps within a step of unit length.
    """
    poses = scratch.next
    position = rotation = total = 0.0
    for i in range(tree.parent.shape[0]):
        q = vec.load4(poses.quaternion, i)
        vec.store9(poses.rotation, i, vec.quat_matrix(q))
        rotation = max(rotation, abs(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] - 1.0))
        if tree.kind[i] == FLOATING:
            vec.store_twist(root_finder.jump, i, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
        else:
            distance, sine = set_joint_rows(tree, poses, root_finder, i)
            position, rotation = max(position, distance), max(rotation, sine)
            linear = tree.mass[i] * distance
            angular = (tree.inertia[i, 0] + tree.inertia[i, 4] + tree.inertia[i, 8]) * sine
            total += linear * linear + angular * angular
            dof = tree.first_v[i]
            if tree.dofs[i] == 1 and (
                state.stiffness[dof] != 0.0
                or state.damping[dof] != 0.0
                or tree.armature[dof] != 0.0
                or tree.passive.shape[0] > 0
            ):
                set_joint_coordinate(tree, state, scratch, i)
    for c in range(tree.contact_body.shape[0]):
        vec.store3(poses.contact, c, point_of_body(poses, tree.contact_body[c], vec.load3(tree.contact_offset, c)))
    root_finder.gap[POSITION], root_finder.gap[ROTATION] = position, rotation
    return total


@kernel
def evaluate_free(tree, ground, state, pushes, scratch, method, root_finder, h):
    """Return (‖e‖, ‖e‖ together with all gaps as momenta) at the bodies' candidate poses."""
    gaps = place_free_bodies(tree, state, scratch, root_finder)
    for j in range(pushes.body.shape[0]):
        place_push(scratch.next, pushes, j, pushes.right)
    squared = set_residual(method.body, tree, ground, state, pushes, scratch, h)
    squared = loops.add_closing_impulses(squared, scratch, method.closing)
    return math.sqrt(squared), math.sqrt(squared + gaps / (h * h) + loops.square_of_gaps(tree, method.closing, h))


@kernel
def load_jumps(tree, scratch, root_finder):
    """Write the sums of the jumps, and their part in the balances to ``factors.wrench``, before the elimination."""
    factors = scratch.motion.factors
    for i in range(tree.parent.shape[0]):
        path = vec.load6(root_finder.jump, i)
        if tree.parent[i] >= 0:
            path = vec.add6(vec.load6(root_finder.path, tree.parent[i]), path)
        vec.store6(root_finder.path, i, path)
        for row in range(6):
            factors.wrench[i, row] = row_dot(factors.block, i, row, path)


@kernel
def set_newton_twists(tree, ground, state, scratch, method, root_finder, h):
    """Write Newton's displacement Δ of every body, about O at k + 1, to ``factors.twist``."""
    factors = scratch.motion.factors
    left, right = scratch.motion.poses.motion, scratch.next.motion
    set_newton_blocks(method.body, tree, ground, state, scratch, h)
    load_jumps(tree, scratch, root_finder)
    eliminate(tree, left, right, scratch.diagonal, factors, 0)
    solve_inboard(tree, left, scratch.residual, factors, 0)
    solve_outboard(tree, right, factors, scratch.delta)
    for i in range(tree.parent.shape[0]):
        vec.store6(factors.twist, i, vec.add6(vec.load6(factors.twist, i), vec.load6(root_finder.path, i)))
    close_loops(tree, left, right, method.closing, factors, scratch.delta)


@kernel
def keep_base(tree, scratch, root_finder):
    """Save the start of the line search."""
    vec.copy1(scratch.shift, scratch.base_shift)
    for i in range(tree.parent.shape[0]):
        vec.store3(root_finder.base_com, i, vec.load3(scratch.next.com, i))
        vec.store4(root_finder.base_quaternion, i, vec.load4(scratch.next.quaternion, i))


@kernel
def displace_bodies(tree, scratch, root_finder, factor):
    """Place the candidate at ``factor`` of Newton's displacement from the base; O moves with a floating root."""
    moved = (0.0, 0.0, 0.0)
    if tree.kind[0] == FLOATING:
        moved = vec.scale(factor, vec.load6(scratch.motion.factors.twist, 0)[:3])
        for axis in range(3):
            scratch.shift[axis] = scratch.base_shift[axis] + moved[axis]
    for i in range(tree.parent.shape[0]):
        twist = vec.load6(scratch.motion.factors.twist, i)
        com = vec.load3(root_finder.base_com, i)
        turn = vec.scale(factor, twist[3:])
        step = vec.add(vec.scale(factor, twist[:3]), vec.cross(turn, com))
        vec.store3(scratch.next.com, i, vec.add(com, vec.sub(step, moved)))
        vec.store4(scratch.next.quaternion, i, vec.quat_turned(vec.load4(root_finder.base_quaternion, i), turn))


@kernel
def iterate_free(tree, ground, state, pushes, scratch, method, root_finder, h, tolerance, merit):
    """Take the largest of 1, 1/2, 1/4, … of Newton's step that reduces the residual; return inf if none does."""
    set_newton_twists(tree, ground, state, scratch, method, root_finder, h)
    keep_base(tree, scratch, root_finder)
    loops.keep_impulses(method.closing)
    factor = 1.0
    for _ in range(method.solver.max_backtracks):
        displace_bodies(tree, scratch, root_finder, factor)
        loops.change_impulses(method.closing, factor)
        size, reduced = evaluate_free(tree, ground, state, pushes, scratch, method, root_finder, h)
        if suffices(reduced, tolerance, factor, merit):
            return size, reduced
        factor *= 0.5
    return math.inf, math.inf


@kernel
def gap_tolerance(tree, poses):
    """Return the tolerance of the joints' rows [m]: the rounding of positions grows with their distance from O."""
    farthest = 0.0
    for i in range(tree.parent.shape[0]):
        com = vec.load3(poses.com, i)
        farthest = max(farthest, vec.dot(com, com))
    return max(GAP, ROUNDINGS * EPSILON * math.sqrt(farthest))


@kernel
def all_closed(tree, scratch, method, root_finder, closed):
    """Return True if the gaps of all joints are rounding."""
    gap = root_finder.gap
    return gap[POSITION] <= closed and gap[ROTATION] <= GAP and loops.is_closed(tree, scratch, method.closing)


@optional("closing", Closing)
def take_off_closing(tree, scratch, closing):
    """Subtract the impulses of loop-closing joints from the wrenches of their bodies and all bodies inboard."""
    hand_down(tree, closing, closing.impulse, scratch.wrench, -1.0)


@find_root.register(MaximalNewton)
def find_in_maximal_coordinates(tree, ground, state, pushes, scratch, method, root_finder, h):
    """Solve a step from the candidate ``scratch.q``, where the tree's joints are closed."""
    loops.begin_closing(tree, scratch, method.closing)
    set_body_momenta(tree, state, scratch, root_finder)
    tolerance, closed = tolerance_of(method, tree, scratch, h), gap_tolerance(tree, scratch.motion.poses)
    place_bodies(tree, scratch.q, scratch.next)
    size, merit = evaluate_free(tree, ground, state, pushes, scratch, method, root_finder, h)
    iteration = 0
    while not (size <= tolerance and all_closed(tree, scratch, method, root_finder, closed)):
        if iteration >= method.solver.max_iterations or not math.isfinite(merit):
            return cause_of(merit)
        size, merit = iterate_free(tree, ground, state, pushes, scratch, method, root_finder, h, tolerance, merit)
        iteration += 1
    for kind in range(GAPS):
        root_finder.worst[kind] = max(root_finder.worst[kind], root_finder.gap[kind])
    extract_coordinates(tree, state, scratch)
    evaluate(method.body, tree, ground, state, pushes, scratch, h)
    loops.add_closing_impulses(0.0, scratch, method.closing)
    loops.end_closing(scratch, method.closing)
    take_off_closing(tree, scratch, method.closing)
    set_first_halves(tree, state, scratch, root_finder)
    return iteration


@kernel
def extract_coordinates(tree, state, scratch):
    """Write the tree's coordinates of the solved poses to ``scratch.q``."""
    for i in range(tree.parent.shape[0]):
        if tree.kind[i] == FLOATING:
            first = tree.first_q[i] + 3
            for k in range(4):
                scratch.q[first + k] = scratch.next.quaternion[i, k]
        else:
            set_joint_coordinate(tree, state, scratch, i)


@kernel
def load_momenta(tree, motion, root_finder):
    """Write the bodies' momenta at ``motion.velocity`` to ``root_finder.momentum``."""
    for i in range(tree.parent.shape[0]):
        linear, angular = spatial_momentum(tree, motion.poses, motion, i)
        vec.store_twist(root_finder.momentum, i, linear, angular)


@kernel
def set_body_momenta(tree, state, scratch, root_finder):
    """Set π, the bodies' momenta at k that belong to p: M_i J_i M⁻¹ p."""
    motion = scratch.motion
    rates_from_momentum(tree, state.momentum, motion)
    set_twists(tree, motion.poses, motion.rates, motion.velocity)
    load_momenta(tree, motion, root_finder)


@kernel
def sum_inboard(tree, wrench):
    """Add to the row of each body those of all bodies outboard of it."""
    for i in range(tree.parent.shape[0] - 1, 0, -1):
        parent = tree.parent[i]
        if parent >= 0:
            vec.store6(wrench, parent, vec.add6(vec.load6(wrench, parent), vec.load6(wrench, i)))


@kernel
def about_joint(tree, poses, i, force, moment):
    """Return the moment about joint i of a wrench about O."""
    return vec.sub(moment, vec.cross(joint_on_body(tree, poses, i), force))


@kernel
def set_first_halves(tree, state, scratch, root_finder):
    """Set the joints' impulses in the first half of the step: G_kᵀ λ, and half of the torque's."""
    sum_inboard(tree, root_finder.momentum)
    for i in range(tree.parent.shape[0]):
        beyond, momentum = vec.load6(scratch.wrench, i), vec.load6(root_finder.momentum, i)
        force = vec.sub(beyond[:3], momentum[:3])
        moment = vec.sub(beyond[3:], momentum[3:])
        vec.store_twist(root_finder.start, i, force, about_joint(tree, scratch.motion.poses, i, force, moment))
    root_finder.solved[0] = state.counts[TOTAL_STEPS]


@record_more.register(MaximalNewton)
def record_joints(tree, state, scratch, more, row, place):
    """Record the joints' wrenches in the last step, and the largest gaps since the last row.

    A wrench is the mean of both halves of the step: the impulse of the second half brings the discrete momenta to those
    of p at k + 1. It is zero before the first step of a run.
    """
    root_finder, motion = more, scratch.motion
    taken = root_finder.solved[0] + 1 == state.counts[TOTAL_STEPS]
    load_momenta(tree, motion, root_finder)
    sum_inboard(tree, root_finder.momentum)
    rate = 1.0 / state.clock[LAST_STEP_LENGTH]
    for i in range(tree.parent.shape[0]):
        if tree.kind[i] == FLOATING:
            continue
        beyond, momentum = vec.load6(scratch.wrench, i), vec.load6(root_finder.momentum, i)
        force = vec.sub(momentum[:3], beyond[:3])
        moment = about_joint(tree, motion.poses, i, force, vec.sub(momentum[3:], beyond[3:]))
        half = vec.load6(root_finder.start, i)
        mean = vec.scale(rate, vec.add(half[:3], force)) + vec.scale(rate, vec.add(half[3:], moment))
        for k in range(6):
            row[place + k] = mean[k] if taken else 0.0
        place += 6
    for kind in range(GAPS):
        row[place + kind] = root_finder.worst[kind]
        root_finder.worst[kind] = 0.0
    return place + GAPS
