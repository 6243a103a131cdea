"""Methods: the named tuples that select how the plant is stepped, and the functions that depend on them.

The kernels are composed for a method when they are compiled (``kernelcache.generic``). A method of a new kind
registers its implementations of the functions below; a variational one selects instead

- a discrete body (``biped.kernels.variational.discrete_body``): the equations of a step,
- a root finder (``find_root``): their solution,
- a guess (``set_initial_guess``, ``remember``): the start of the search.
"""

from typing import Any, NamedTuple

from kernelcache import Nothing, generic


class Solver(NamedTuple):
    """Tolerances and limits of a step's solution."""

    tolerance: float  # [N·s] on the Euclidean norm of the residual
    max_iterations: int
    max_backtracks: int
    max_halvings: int  # a step that does not converge is retried in 2, 4, ... parts, 2^this at most
    landing_depth: float  # [m] a step in which a contact point lands deeper than this is retried too


class Variational(NamedTuple):
    """A method that solves the equations of ``biped.kernels.variational.equations``."""

    body: Any
    root_finder: Any
    guess: Any
    solver: Solver
    closing: Any = Nothing()  # the ``Closing`` of a tree with loops


@generic("method")
def advance(tree, ground, state, pushes, scratch, method, begin, h):
    """Advance the plant and its ledger by h from the time ``begin``; return OK or a cause of failure (``status``)."""


@generic("method")
def take_part(tree, ground, state, pushes, scratch, method, begin, h, depth):
    """Take one part of a step, or the whole step, completely or not at all.

    Return the number of iterations, or a cause of failure such as a landing deeper than ``depth``, and the greatest
    number of iterations of a single solve.
    """


@generic("root_finder")
def find_root(tree, ground, state, pushes, scratch, method, root_finder, h):
    """Solve a variational step from the candidate in ``scratch``; return the iterations or a cause of failure."""


@generic("guess")
def set_initial_guess(tree, ground, state, pushes, scratch, guess, h):
    """Write the first candidate for q_{k+1} to ``scratch.q`` and ``scratch.shift``."""


@generic("guess")
def remember(tree, state, scratch, guess, h):
    """Save the data of the next step's initial guess, before the plant is advanced."""
