"""RIQN, the recursive impulse-based quasi-Newton method: algorithm 3 of Lee et al. 2016, O(n) an iteration."""

from typing import NamedTuple

from biped.kernels.state.method import find_root
from biped.kernels.tree.dynamics import factor_mass_matrix
from biped.kernels.tree.factorization import solve
from biped.kernels.variational.quasi_newton import iterate_quasi_newton, measure, measure_by_recursion, set_correction
from contact.jit import kernel


class Riqn(NamedTuple):
    """The residual, taken for an impulse, moves the tree by h M(q_k)⁻¹ e (equation 25).

    Newton's matrix is M/h + O(h) where nothing stiff acts. M is factored once a step.
    """


@set_correction.register(Riqn)
def set_impulse_correction(root_finder, tree, ground, state, scratch, body, h, iteration):
    if iteration == 0:
        factor_mass_matrix(tree, scratch.motion, 0)
    solve_by_mass(tree, scratch, scratch.residual, h, scratch.delta)


@kernel
def solve_by_mass(tree, scratch, load, h, solution):
    """h M(q_k)⁻¹ load."""
    twists = scratch.motion.poses.motion
    solve(tree, twists, twists, load, scratch.motion.factors, solution)
    for dof in range(solution.shape[0]):
        solution[dof] *= h


measure.register(Riqn)(measure_by_recursion)
find_root.register(Riqn)(iterate_quasi_newton)
