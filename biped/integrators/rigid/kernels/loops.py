"""Joints that close loops beside rigid contact; of a tree without them each function here does nothing.

The step's equations get Cᵀ λ where it begins, so that the loops are closed where it ends (Wendlandt 1997, equations
5.11), beside the contacts' impulses. The loops are a border of the factorization that has the floor's stiffnesses in it
(``biped.kernels.tree.loops``), and contacts of two bodies a border of both. Of the velocities at the end only those
are candidates that keep the loops closed, β = P M⁻¹ (p⁻ + Jᵀ γ) with P the projection on C β = 0 along M⁻¹ Cᵀ.
"""

from typing import Any, NamedTuple

import numpy as np

from biped.kernels.loop.log import Nothing
from biped.kernels.tree.closing import Closing
from contact.arrays import Floats
from contact.jit import generic

# What of a ``Closing`` depends on the matrix whose border the rows are.
OF_MATRIX = ("noise", "response", "response_twist", "twist", "matrix", "load", "order", "free", "change")


class Loops(NamedTuple):
    """The loops of a tree that rigid contact steps."""

    step: Closing  # as a border of Newton's matrices
    rates: Closing  # of the mass matrix where the step ends; it shares all else with ``step``
    pairs: Floats  # (3 p, k) [1] impulses of the rows by unit impulses of the p pairs of bodies


class ClosedContact(NamedTuple):
    """What is recorded of a tree with loops."""

    unknowns: Any  # ``ContactUnknowns``
    closing: Closing


def new_loops(closing: Closing, pairs: int) -> Loops:
    """Room for the loops of a tree with so many pairs of capsules that may touch."""
    own = {name: getattr(closing, name).copy() for name in OF_MATRIX}
    return Loops(closing, closing._replace(**own), np.full((3 * pairs, len(closing.gap)), np.nan))


@generic("loops")
def begin_loops(tree, scratch, loops):
    """The rows where the step begins; no impulses yet."""


@generic("loops")
def add_loops(tree, scratch, loops):
    """The rows at the candidate, and their impulses in ``scratch.residual``."""


@generic("loops")
def with_gaps(tree, loops, merit, h):
    """What the line search wants less of, with the gaps as momenta of a mean body [N·s]."""


@generic("loops")
def gaps_suffice(tree, scratch, loops, most, h):
    """Whether the candidate's gaps are closed, or no more than ``most`` [N·s] as momenta."""


@generic("loops")
def are_closed(tree, scratch, loops):
    """Whether nothing is left of the candidate's gaps but rounding."""


@generic("loops")
def keep_loops(loops):
    """Where a line search begins."""


@generic("loops")
def go_loops(loops, part):
    """The impulses at ``part`` of Newton's step from there."""


@generic("loops")
def end_loops(scratch, loops):
    """Note gaps and impulses of a step."""


@generic("loops")
def prepare_loops(tree, left, right, loops, factors):
    """The rows' responses; needs Newton's matrix factored."""


@generic("loops")
def close_direction(tree, loops, factors, change):
    """Newton's step in ``change`` and ``factors.twist``, to what it is with the loops closed to first order."""


@generic("loops")
def close_response(tree, loops, r, factors, response):
    """What unit impulse r of pairs of bodies does, to what it does with the loops closed."""


@generic("loops")
def add_response(loops, r, size):
    """Add what ``size`` of that impulse changes of the rows' impulses to those of ``close_direction``."""


@generic("loops")
def begin_loop_rates(tree, poses, loops, factors):
    """The rows where the step ends, and their responses; needs the mass matrix there factored."""


@generic("loops")
def close_loop_rates(tree, loops, factors, rates, momentum):
    """Velocities, also in ``factors.twist``, to those that keep the loops closed; their impulses into ``momentum``."""


@generic("loops")
def end_loop_rates(poses, loops):
    """Note the impulses of the velocities."""


@generic("loops")
def close_free_rates(tree, ahead, loops, momentum):
    """``close_loop_rates`` and ``end_loop_rates`` where the mass matrix stands factored in ``ahead``."""


@begin_loops.register(Nothing)
def begin_loops_of_none(tree, scratch, loops):
    pass


@add_loops.register(Nothing)
def add_loops_of_none(tree, scratch, loops):
    pass


@with_gaps.register(Nothing)
def with_gaps_of_none(tree, loops, merit, h):
    return merit


@gaps_suffice.register(Nothing)
def gaps_suffice_of_none(tree, scratch, loops, most, h):
    return True


@are_closed.register(Nothing)
def are_closed_of_none(tree, scratch, loops):
    return True


@keep_loops.register(Nothing)
def keep_loops_of_none(loops):
    pass


@go_loops.register(Nothing)
def go_loops_of_none(loops, part):
    pass


@end_loops.register(Nothing)
def end_loops_of_none(scratch, loops):
    pass


@prepare_loops.register(Nothing)
def prepare_loops_of_none(tree, left, right, loops, factors):
    pass


@close_direction.register(Nothing)
def close_direction_of_none(tree, loops, factors, change):
    pass


@close_response.register(Nothing)
def close_response_of_none(tree, loops, r, factors, response):
    pass


@add_response.register(Nothing)
def add_response_of_none(loops, r, size):
    pass


@begin_loop_rates.register(Nothing)
def begin_loop_rates_of_none(tree, poses, loops, factors):
    pass


@close_loop_rates.register(Nothing)
def close_loop_rates_of_none(tree, loops, factors, rates, momentum):
    pass


@end_loop_rates.register(Nothing)
def end_loop_rates_of_none(poses, loops):
    pass


@close_free_rates.register(Nothing)
def close_free_rates_of_none(tree, ahead, loops, momentum):
    pass
