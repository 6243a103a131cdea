"""Loops of a tree: rows kept at zero, as a border of its O(n) factorization.

A tree's equations A δ = e are extended by an impulse λ on each of the k rows that close loops, and by the rows,

    A δ − C⁻ᵀ λ = e,        C⁺ J⁺ δ = −g,

with C⁻ the gradient at the start of the step, where impulses act, in the unit twists there, and C⁺ that at its end, by
the bodies' twists J⁺ δ. So (C⁺ J⁺ A⁻¹ C⁻ᵀ) λ = −g − C⁺ J⁺ A⁻¹ e: 1 + k solves with the tree's factorization, O(k n),
and k equations. The thesis has these rows in maximal coordinates, next to those of the tree's joints (Wendlandt 1997,
section 5.4); Brüdigam et al. 2024 (Algorithms 3 and 4) fill in blocks along loops instead.

Dependent rows, such as three of a planar loop of hinges, leave their impulses undetermined but not the motion. The
impulses of the rows with the least pivots are set to zero.
"""

from biped.kernels.tree.closing import Closing
from biped.kernels.tree.factorization import solve
from biped.kernels.tree.joint_rows import set_rows
from biped.kernels.tree.row_kinds import HELIX, TRANSLATION
from contact.vectors import add, cross, dot6, load3, load6, load9, mat_vec, scale, store6, store_twist, sub
from kernelcache import kernel, optional

# Pivot relative to a row's response below which the row depends on others.
REDUNDANT = 1e-11
# Response of a row relative to its impulse below which the row cannot move the tree, and depends on others.
HELD = 1e-20


@kernel
def set_loop_rows(poses, closing):
    """Set the rows' values, and their gradients by the bodies' twists about O."""
    joints, rows = closing.joints, closing.rows
    set_rows(joints, poses, closing.nothing, closing.gap, rows)
    for r in range(joints.joint.shape[0]):
        for side in range(2):
            body = body_of(joints, r, side)
            if body >= 0:
                force, moment = load6(rows, 2 * r + side)[:3], load6(rows, 2 * r + side)[3:]
                store_twist(rows, 2 * r + side, force, add(moment, cross(load3(poses.com, body), force)))


@kernel
def body_of(joints, r, side):
    """Return the inboard (0) or outboard (1) body of row r."""
    return joints.inboard[joints.joint[r]] if side == 0 else joints.outboard[joints.joint[r]]


@kernel
def set_loop_gradient(tree, poses, closing):
    """Set C, the gradients of the present rows by the unit twists of ``poses``."""
    gradient = closing.gradient
    gradient[:] = 0.0
    for r in range(gradient.shape[0]):
        for side in range(2):
            wrench = load6(closing.rows, 2 * r + side)
            i = body_of(closing.joints, r, side)
            while i >= 0:
                for dof in range(tree.first_v[i], tree.first_v[i] + tree.dofs[i]):
                    gradient[r, dof] += dot6(load6(poses.motion, dof), wrench)
                i = tree.parent[i]


@kernel
def add_loop_impulses(closing, impulse, load):
    """Add Cᵀ λ to generalized impulses; return the sum of their squares."""
    total = 0.0
    for dof in range(load.shape[0]):
        for r in range(impulse.shape[0]):
            load[dof] += closing.gradient[r, dof] * impulse[r]
        total += load[dof] * load[dof]
    return total


@kernel
def along_row(closing, r, twist):
    """Return the rate of row r as the bodies move by ``twist``."""
    rate = 0.0
    for side in range(2):
        body = body_of(closing.joints, r, side)
        if body >= 0:
            rate += dot6(load6(closing.rows, 2 * r + side), load6(twist, body))
    return rate


@optional("closing", Closing)
def close_loops(tree, left, right, closing, factors, solution):
    """Correct A⁻¹ e in ``solution`` and ``factors.twist`` so that the loops are closed to first order.

    Needs the rows at the end of the step, C at its start, and A factored; sets ``closing.change``, the impulses.
    """
    for i in range(tree.parent.shape[0]):
        store6(closing.twist, i, load6(factors.twist, i))
    set_responses(tree, left, right, closing, factors)
    for i in range(tree.parent.shape[0]):
        store6(factors.twist, i, load6(closing.twist, i))
    close_by_responses(tree, closing, closing.gap, factors, solution)


@optional("closing", Closing)
def set_responses(tree, left, right, closing, factors):
    """Set the responses of the unknowns and of the bodies to a unit impulse of each row."""
    size = 0.0
    for dof in range(factors.d.shape[0]):
        size += abs(factors.d[dof]) * square6(left, dof)
    for r in range(closing.load.shape[0]):
        solve(tree, left, right, closing.gradient[r], factors, closing.response[r])
        for i in range(tree.parent.shape[0]):
            store6(closing.response_twist[r], i, load6(factors.twist, i))
        closing.noise[r] = HELD * size * square6(closing.rows, 2 * r + 1)


@kernel
def close_by_responses(tree, closing, gap, factors, solution):
    """Correct A⁻¹ e as ``close_loops`` does, for any gaps (k,), with known responses."""
    count = closing.load.shape[0]
    for r in range(count):
        for c in range(count):
            closing.matrix[c, r] = along_row(closing, c, closing.response_twist[r])
        closing.load[r] = -gap[r] - along_row(closing, r, factors.twist)
    solve_pivoted(closing)
    for r in range(count):
        for dof in range(solution.shape[0]):
            solution[dof] += closing.change[r] * closing.response[r, dof]
        for i in range(tree.parent.shape[0]):
            for k in range(6):
                factors.twist[i, k] += closing.change[r] * closing.response_twist[r, i, k]


@kernel
def square6(rows, i):
    return dot6(load6(rows, i), load6(rows, i))


@kernel
def solve_pivoted(closing):
    """Solve for the impulses with diagonal pivots, largest relative to the row's response first; zero without a pivot.

    The matrix is symmetric and positive up to the difference of the step's ends, so that diagonal pivots suffice.
    """
    matrix, load, free, response = closing.matrix, closing.load, closing.free, closing.change
    count = load.shape[0]
    for r in range(count):
        free[r], response[r] = 0, abs(matrix[r, r])
    rank = 0
    for _ in range(count):
        pivot = next_pivot(closing)
        if pivot < 0:
            break
        closing.order[rank], free[pivot] = pivot, 1
        rank += 1
        for r in range(count):
            if free[r] == 0:
                part = matrix[r, pivot] / matrix[pivot, pivot]
                load[r] -= part * load[pivot]
                for c in range(count):
                    if free[c] == 0:
                        matrix[r, c] -= part * matrix[pivot, c]
    closing.change[:] = 0.0
    for place in range(rank - 1, -1, -1):
        r = closing.order[place]
        value = load[r]
        for later in range(place + 1, rank):
            c = closing.order[later]
            value -= matrix[r, c] * closing.change[c]
        closing.change[r] = value / matrix[r, r]


@kernel
def next_pivot(closing):
    """Return the remaining row with the largest pivot relative to its response in ``change``; −1 without a pivot."""
    most, pivot = REDUNDANT, -1
    for r in range(closing.load.shape[0]):
        response = closing.change[r]
        if closing.free[r] == 0 and response > closing.noise[r]:
            part = abs(closing.matrix[r, r]) / response
            if part > most:
                most, pivot = part, r
    return pivot


@kernel
def hand_down(tree, closing, impulse, wrench, sign):
    """Add the rows' impulses, times a sign, to the wrenches about O of their bodies and all bodies inboard of these."""
    for r in range(impulse.shape[0]):
        for side in range(2):
            given = load6(closing.rows, 2 * r + side)
            i = body_of(closing.joints, r, side)
            while i >= 0:
                for k in range(6):
                    wrench[i, k] += sign * impulse[r] * given[k]
                i = tree.parent[i]


@kernel
def wrench_at_point(poses, closing, impulse, j):
    """Return the impulse of joint j on its outboard body, about its point, in world axes."""
    joints = closing.joints
    force, moment = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for r in range(joints.first[j], joints.first[j + 1]):
        wrench = load6(closing.rows, 2 * r + 1)
        force, moment = add(force, scale(impulse[r], wrench[:3])), add(moment, scale(impulse[r], wrench[3:]))
    body = joints.outboard[j]
    point = add(load3(poses.com, body), mat_vec(load9(poses.rotation, body), load3(joints.outboard_point, j)))
    return force + sub(moment, cross(point, force))


@kernel
def is_shift(joints, r):
    """Return True for a row of translations [m], False for one of turns."""
    return joints.kind[r] == TRANSLATION or joints.kind[r] == HELIX
