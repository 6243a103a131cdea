"""Root finding as Lee et al. 2016 do it (algorithms 1 and 3): correct the candidate until the residual is small.

No line search. Where that does not converge (stiff contacts in particular, which the paper leaves out), the step is
retried in parts, as all steps are.
"""

import math

from biped.kernels.solve.causes import cause_of
from biped.kernels.variational.equations import displace
from biped.kernels.variational.newton import evaluate, tolerance_of
from contact.jit import generic


@generic("root_finder")
def set_correction(root_finder, tree, ground, state, scratch, body, h, iteration):
    """δ that is to remove ``scratch.residual``, into ``scratch.delta``; ``iteration`` counts from 0."""


@generic("root_finder")
def measure(root_finder, tree, ground, state, pushes, scratch, body, h):
    """The residual of the candidate, and its norm."""


def measure_by_recursion(root_finder, tree, ground, state, pushes, scratch, body, h):
    """Algorithm 2 of Lee et al., DRNEA: O(n)."""
    return evaluate(body, tree, ground, state, pushes, scratch, h)


def iterate_quasi_newton(tree, ground, state, pushes, scratch, method, root_finder, h):
    """Iterations, or a cause of failure: ``find_root`` for the finders that have a ``set_correction``."""
    tolerance = tolerance_of(method, tree, scratch, h)
    iteration = 0
    while True:
        norm = measure(root_finder, tree, ground, state, pushes, scratch, method.body, h)
        if norm <= tolerance:
            return iteration
        if iteration >= method.solver.max_iterations or not math.isfinite(norm):
            return cause_of(norm)
        set_correction(root_finder, tree, ground, state, scratch, method.body, h, iteration)
        displace(tree, scratch.next, scratch.q, scratch.shift, 1.0, scratch.delta, scratch.q, scratch.shift)
        iteration += 1
