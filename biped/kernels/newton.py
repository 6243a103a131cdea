"""Newton's method for one variational step: exact derivative, O(n) solve, backtracking line search."""

import math
from typing import NamedTuple

from biped.kernels.factorization import eliminate, solve
from biped.kernels.kinematics import place_bodies
from biped.kernels.variational import displace, set_newton_blocks, set_residual
from biped.kernels.vectors import copy1
from contact.jit import kernel

NOT_CONVERGED = -1


class Solver(NamedTuple):
    """What a step's solution must satisfy, and how hard to try."""

    tolerance: float  # [N·s] on the Euclidean norm of the residual
    max_iterations: int
    max_backtracks: int
    max_halvings: int  # a step that does not converge is retried in 2, 4, ... parts, 2^this at most
    landing_depth: float  # [m] so is one at whose end a landing point is deeper than this


@kernel
def evaluate(tree, floor, plant, pushes, work, h):
    """The residual's norm at the candidate ``work.q``, ``work.shift``."""
    place_bodies(tree, work.q, work.next)
    for j in range(pushes.body.shape[0]):
        place_push(work.next, pushes, j, pushes.right)
    return math.sqrt(set_residual(tree, floor, plant, pushes, work, h))


@kernel
def place_push(poses, pushes, j, arms):
    """Where push j's point is, relative to O."""
    i = pushes.body[j]
    R = poses.rotation
    x, y, z = pushes.offset[j, 0], pushes.offset[j, 1], pushes.offset[j, 2]
    for axis in range(3):
        arms[j, axis] = poses.com[i, axis] + R[i, 3 * axis] * x + R[i, 3 * axis + 1] * y + R[i, 3 * axis + 2] * z


@kernel
def search_line(tree, floor, plant, pushes, work, h, solver, norm):
    """Take the largest of 1, 1/2, 1/4, ... of Newton's step that reduces the residual; its norm, or NaN."""
    copy1(work.q, work.base_q)
    copy1(work.shift, work.base_shift)
    factor = 1.0
    for _ in range(solver.max_backtracks):
        displace(tree, work.next, work.base_q, work.base_shift, factor, work.delta, work.q, work.shift)
        reduced = evaluate(tree, floor, plant, pushes, work, h)
        if reduced <= solver.tolerance or reduced <= (1.0 - 1e-4 * factor) * norm:
            return reduced
        factor *= 0.5
    return math.nan


@kernel
def solve_step(tree, floor, plant, pushes, work, h, solver):
    """Solve for q_{k+1}, from the guess that the rates go on changing; the number of iterations or NOT_CONVERGED."""
    between = 0.5 * (h + plant.clock[2])
    for dof in range(plant.rate.shape[0]):
        work.delta[dof] = plant.rate[dof] + between * plant.rate_change[dof]
    work.shift[:] = 0.0
    displace(tree, work.motion.poses, plant.q, work.shift, h, work.delta, work.q, work.shift)
    norm = evaluate(tree, floor, plant, pushes, work, h)
    for iteration in range(solver.max_iterations + 1):
        if norm <= solver.tolerance:
            return iteration
        if iteration == solver.max_iterations or not math.isfinite(norm):
            return NOT_CONVERGED
        set_newton_blocks(tree, floor, plant, work, h)
        eliminate(tree, work.motion.poses.motion, work.next.motion, work.diagonal, work.motion.factors, 0)
        solve(tree, work.motion.poses.motion, work.next.motion, work.residual, work.motion.factors, work.delta)
        norm = search_line(tree, floor, plant, pushes, work, h, solver, norm)
    return NOT_CONVERGED
