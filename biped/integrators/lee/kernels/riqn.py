"""RIQN, the recursive impulse-based quasi-Newton method: algorithm 3 of Lee et al. 2016, O(n) an iteration."""

from typing import NamedTuple

from biped.kernels.state.method import find_step
from biped.kernels.tree.dynamics import factor_mass_matrix
from biped.kernels.tree.factorization import solve
from biped.kernels.variational.quasi_newton import measure, measure_by_recursion, search_plainly, set_correction
from contact.jit import kernel


class ImpulseNewton(NamedTuple):
    """The residual, taken for an impulse, moves the tree by h M(q_k)⁻¹ e (equation 25).

    Newton's matrix is M/h + O(h) where nothing stiff acts. M is factored once a step.
    """


@set_correction.register(ImpulseNewton)
def set_impulse_correction(finder, tree, ground, plant, work, body, h, iteration):
    if iteration == 0:
        factor_mass_matrix(tree, work.motion, 0)
    solve_by_mass(tree, work, work.residual, h, work.delta)


@kernel
def solve_by_mass(tree, work, load, h, solution):
    """h M(q_k)⁻¹ load."""
    twists = work.motion.poses.motion
    solve(tree, twists, twists, load, work.motion.factors, solution)
    for dof in range(solution.shape[0]):
        solution[dof] *= h


measure.register(ImpulseNewton)(measure_by_recursion)
find_step.register(ImpulseNewton)(search_plainly)
