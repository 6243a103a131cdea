"""How the plant is stepped: the named tuples that say it, and the functions that depend on them.

The kernels are composed for a method when they are compiled (``kernelcache.generic``). A method of a new kind
registers its implementations of the functions below; a variational one chooses instead

- a discrete body (``biped.kernels.variational.discrete_body``): what equations a step has,
- a finder (``find_root``): how they are solved,
- a guess (``set_initial_guess``, ``remember``): where the search starts.
"""

from typing import Any, NamedTuple

from kernelcache import Nothing, generic


class Solver(NamedTuple):
    """What a step's solution must satisfy, and how hard to try."""

    tolerance: float  # [N·s] on the Euclidean norm of the residual
    max_iterations: int
    max_backtracks: int
    max_halvings: int  # a step that does not converge is retried in 2, 4, ... parts, 2^this at most
    landing_depth: float  # [m] so is one at whose end a landing point is deeper than this


class Variational(NamedTuple):
    """A method that solves the equations of ``biped.kernels.variational.equations``."""

    body: Any
    root_finder: Any
    guess: Any
    solver: Solver
    closing: Any = Nothing()  # the ``Closing`` of a tree whose loops are closed


@generic("method")
def advance(tree, ground, state, pushes, scratch, method, begin, h):
    """Advance the plant by h from the time ``begin``, the books included; OK, or a cause of failure (``status``)."""


@generic("method")
def take_part(tree, ground, state, pushes, scratch, method, begin, h, depth):
    """One part of a step, or all of it, done as a whole or not at all.

    Iterations, or a cause of failure, one of which is that a point lands deeper than ``depth``; and the most iterations
    of any one solve.
    """


@generic("root_finder")
def find_root(tree, ground, state, pushes, scratch, method, root_finder, h):
    """Solve a variational step's equations from the candidate in ``scratch``: iterations, or a cause of failure."""


@generic("guess")
def set_initial_guess(tree, ground, state, pushes, scratch, guess, h):
    """The first candidate for q_{k+1}, into ``scratch.q`` and ``scratch.shift``."""


@generic("guess")
def remember(tree, state, scratch, guess, h):
    """Keep what the next step's first guess goes by, before the plant moves on."""
