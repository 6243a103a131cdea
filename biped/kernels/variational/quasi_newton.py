"""Root finding as Lee et al. 2016 do it (algorithms 1 and 3): correct the candidate until the residual is small.

No line search. Where that does not converge (stiff contacts in particular, which the paper leaves out), the step is
retried in parts, as all steps are.
"""

import math

from biped.kernels.state.status import cause_of
from biped.kernels.variational.equations import displace
from biped.kernels.variational.newton import evaluate, tolerance_of
from contact.jit import generic


@generic("finder")
def set_correction(finder, tree, ground, plant, work, body, h, iteration):
    """δ of the candidate that is to remove ``work.residual``, into ``work.delta``; ``iteration`` counts from 0."""


@generic("finder")
def measure(finder, tree, ground, plant, pushes, work, body, h):
    """The residual of the candidate, and its norm."""


def measure_by_recursion(finder, tree, ground, plant, pushes, work, body, h):
    """Algorithm 2 of Lee et al., DRNEA: O(n)."""
    return evaluate(body, tree, ground, plant, pushes, work, h)


def search_plainly(tree, ground, plant, pushes, work, method, finder, h):
    """Iterations, or a cause of failure: ``find_step`` for the finders that have a ``set_correction``."""
    tolerance = tolerance_of(method, tree, work, h)
    iteration = 0
    while True:
        norm = measure(finder, tree, ground, plant, pushes, work, method.body, h)
        if norm <= tolerance:
            return iteration
        if iteration >= method.solver.max_iterations or not math.isfinite(norm):
            return cause_of(norm)
        set_correction(finder, tree, ground, plant, work, method.body, h, iteration)
        displace(tree, work.next, work.q, work.shift, 1.0, work.delta, work.q, work.shift)
        iteration += 1
