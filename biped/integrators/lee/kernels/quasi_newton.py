"""The quasi-Newton method of Lee et al. 2016 (algorithms 1 and 3): correct the candidate until the residual is small.

There is no line search. Steps that do not converge (with stiff contacts in particular, which the paper leaves out) are
retried in parts.
"""

import math
from typing import NamedTuple

from biped.kernels.solve.causes import cause_of
from biped.kernels.state.method import find_root
from biped.kernels.tree.dynamics import factor_mass_matrix
from biped.kernels.tree.factorization import solve
from biped.kernels.variational.equations import displace
from biped.kernels.variational.newton import evaluate, tolerance_of
from kernelcache import generic, kernel


@generic("root_finder")
def set_correction(root_finder, tree, ground, state, scratch, body, h, iteration):
    """Write the δ that should remove ``scratch.residual`` to ``scratch.delta``; ``iteration`` counts from 0."""


def iterate_quasi_newton(tree, ground, state, pushes, scratch, method, root_finder, h):
    """Implement ``find_root`` by ``set_correction``; return the iterations or a cause of failure."""
    tolerance = tolerance_of(method, tree, scratch, h)
    iteration = 0
    while True:
        norm = evaluate(method.body, tree, ground, state, pushes, scratch, h)
        if norm <= tolerance:
            return iteration
        if iteration >= method.solver.max_iterations or not math.isfinite(norm):
            return cause_of(norm)
        set_correction(root_finder, tree, ground, state, scratch, method.body, h, iteration)
        displace(tree, scratch.next, scratch.q, scratch.shift, 1.0, scratch.delta, scratch.q, scratch.shift)
        iteration += 1


class Riqn(NamedTuple):
    """RIQN, algorithm 3: the residual as an impulse moves the tree by h M(q_k)⁻¹ e (equation 25), in O(n).

    Newton's matrix is M/h + O(h) without stiff forces. M is factored once per step.
    """


@set_correction.register(Riqn)
def set_impulse_correction(root_finder, tree, ground, state, scratch, body, h, iteration):
    if iteration == 0:
        factor_mass_matrix(tree, scratch.motion, 0)
    solve_by_mass(tree, scratch, scratch.residual, h, scratch.delta)


@kernel
def solve_by_mass(tree, scratch, load, h, solution):
    """Set ``solution`` to h M(q_k)⁻¹ load."""
    twists = scratch.motion.poses.motion
    solve(tree, twists, twists, load, scratch.motion.factors, solution)
    for dof in range(solution.shape[0]):
        solution[dof] *= h


find_root.register(Riqn)(iterate_quasi_newton)
