"""Joints that close loops, with rigid contact; without loops these functions do nothing.

The step's equations contain Cᵀ λ at its start, which closes the loops at its end (Wendlandt 1997, equations 5.11),
next to the contacts' impulses. The loops are a border of the factorization that includes the stiffness of the floor
(``biped.kernels.tree.loops``), and contacts of two bodies a border of both. All candidates of the velocities at the end
keep the loops closed, β = P M⁻¹ (p⁻ + Jᵀ γ) with P the projection on C β = 0 along M⁻¹ Cᵀ.
"""

import math
from typing import NamedTuple

import numpy as np

from biped.kernels.tree.closing import Closing
from biped.kernels.tree.loops import add_loop_impulses, close_by_responses, set_responses
from biped.kernels.variational.closing import close_rates, is_closed, place_rate_rows, square_of_gaps, store_wrenches
from contact.arrays import Floats
from kernelcache import optional

# Fields of ``Closing`` that depend on the matrix whose border the rows are.
OF_MATRIX = ("noise", "response", "response_twist", "twist", "matrix", "load", "order", "free", "change")


class Loops(NamedTuple):
    """The loops of a tree with rigid contact."""

    step: Closing  # a border of Newton's matrices
    rates: Closing  # a border of the mass matrix at the end of the step; it shares all else with ``step``
    pairs: Floats  # (3 p, k) [1] impulses of the rows by unit impulses of the p pairs of bodies


def new_loops(closing: Closing, pairs: int) -> Loops:
    """Return the loops of a tree with a number of pairs of capsules that may touch."""
    copies = {name: getattr(closing, name).copy() for name in OF_MATRIX}
    return Loops(closing, closing._replace(**copies), np.full((3 * pairs, len(closing.gap)), np.nan))


@optional("closing", Closing, lambda merit, *_: merit)
def with_gaps(merit, tree, closing, h):
    """Return the merit of the line search including the gaps as momenta of a mean body [N·s]."""
    return math.sqrt(merit * merit + square_of_gaps(tree, closing, h))


@optional("closing", Closing, True)
def gaps_suffice(tree, scratch, closing, most, h):
    """Return True if the candidate's gaps are closed, or at most ``most`` [N·s] as momenta."""
    return is_closed(tree, scratch, closing) or square_of_gaps(tree, closing, h) <= most * most


@optional("closing", Closing)
def close_direction(tree, closing, factors, change):
    """Correct Newton's step in ``change`` and ``factors.twist`` so that the loops are closed to first order."""
    close_by_responses(tree, closing, closing.gap, factors, change)


@optional("loops", Loops)
def close_response(tree, loops, r, factors, response):
    """Correct the response to unit impulse r of pairs of bodies so that the loops stay closed."""
    close_by_responses(tree, loops.step, loops.step.nothing, factors, response)
    for k in range(loops.step.change.shape[0]):
        loops.pairs[r, k] = loops.step.change[k]


@optional("loops", Loops)
def add_response(loops, r, size):
    """Add the rows' impulses by ``size`` of impulse r to those of ``close_direction``."""
    for k in range(loops.step.change.shape[0]):
        loops.step.change[k] += size * loops.pairs[r, k]


@optional("loops", Loops)
def begin_loop_rates(tree, poses, loops, factors):
    """Set the rows at the end of the step, and their responses; needs the mass matrix there factored."""
    place_rate_rows(tree, poses, loops.rates)
    set_responses(tree, poses.motion, poses.motion, loops.rates, factors)


@optional("loops", Loops)
def close_loop_rates(tree, loops, factors, rates, momentum):
    """Correct velocities, also in ``factors.twist``, to keep the loops closed; add the impulses to ``momentum``."""
    close_by_responses(tree, loops.rates, loops.rates.nothing, factors, rates)
    add_loop_impulses(loops.rates, loops.rates.change, momentum)


@optional("loops", Loops)
def end_loop_rates(poses, loops):
    """Store the impulses of the velocities."""
    store_wrenches(poses, loops.rates, loops.rates.change, loops.rates.end)


@optional("loops", Loops)
def close_free_rates(tree, ahead, loops, momentum):
    """Call ``close_loop_rates`` and ``end_loop_rates`` with the mass matrix factored in ``ahead``."""
    close_rates(tree, ahead, loops.rates, momentum)
