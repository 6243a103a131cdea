"""Joints that close loops beside rigid contact; of a tree without, each of these is nothing.

The step's equations get Cᵀ λ where it begins, so that the loops are closed where it ends (Wendlandt 1997, equations
5.11), beside the contacts' impulses. The loops are a border of the factorization that has the floor's stiffnesses in it
(``biped.kernels.tree.loops``), and contacts of two bodies a border of both. Of the velocities at the end only those
are candidates that keep the loops closed, β = P M⁻¹ (p⁻ + Jᵀ γ) with P the projection on C β = 0 along M⁻¹ Cᵀ.
"""

import math
from typing import NamedTuple

import numpy as np

from biped.kernels.tree.closing import Closing
from biped.kernels.tree.loops import add_loop_impulses, close_by_responses, set_responses
from biped.kernels.variational.closing import close_rates, is_closed, place_rate_rows, square_of_gaps, store_wrenches
from contact.arrays import Floats
from kernelcache import optional

# What of a ``Closing`` depends on the matrix whose border the rows are.
OF_MATRIX = ("noise", "response", "response_twist", "twist", "matrix", "load", "order", "free", "change")


class Loops(NamedTuple):
    """The loops of a tree that rigid contact steps."""

    step: Closing  # as a border of Newton's matrices
    rates: Closing  # of the mass matrix where the step ends; it shares all else with ``step``
    pairs: Floats  # (3 p, k) [1] impulses of the rows by unit impulses of the p pairs of bodies


def new_loops(closing: Closing, pairs: int) -> Loops:
    """Room for the loops of a tree with so many pairs of capsules that may touch."""
    own = {name: getattr(closing, name).copy() for name in OF_MATRIX}
    return Loops(closing, closing._replace(**own), np.full((3 * pairs, len(closing.gap)), np.nan))


@optional("closing", Closing, lambda merit, *_: merit)
def with_gaps(merit, tree, closing, h):
    """What the line search wants less of, with the gaps as momenta of a mean body [N·s]."""
    return math.sqrt(merit * merit + square_of_gaps(tree, closing, h))


@optional("closing", Closing, True)
def gaps_suffice(tree, scratch, closing, most, h):
    """Whether the candidate's gaps are closed, or no more than ``most`` [N·s] as momenta."""
    return is_closed(tree, scratch, closing) or square_of_gaps(tree, closing, h) <= most * most


@optional("closing", Closing)
def close_direction(tree, closing, factors, change):
    """Newton's step in ``change`` and ``factors.twist``, to what it is with the loops closed to first order."""
    close_by_responses(tree, closing, closing.gap, factors, change)


@optional("loops", Loops)
def close_response(tree, loops, r, factors, response):
    """What unit impulse r of pairs of bodies does, to what it does with the loops closed."""
    close_by_responses(tree, loops.step, loops.step.nothing, factors, response)
    for k in range(loops.step.change.shape[0]):
        loops.pairs[r, k] = loops.step.change[k]


@optional("loops", Loops)
def add_response(loops, r, size):
    """Add what ``size`` of that impulse changes of the rows' impulses to those of ``close_direction``."""
    for k in range(loops.step.change.shape[0]):
        loops.step.change[k] += size * loops.pairs[r, k]


@optional("loops", Loops)
def begin_loop_rates(tree, poses, loops, factors):
    """The rows where the step ends, and their responses; needs the mass matrix there factored."""
    place_rate_rows(tree, poses, loops.rates)
    set_responses(tree, poses.motion, poses.motion, loops.rates, factors)


@optional("loops", Loops)
def close_loop_rates(tree, loops, factors, rates, momentum):
    """Velocities, also in ``factors.twist``, to those that keep the loops closed; their impulses into ``momentum``."""
    close_by_responses(tree, loops.rates, loops.rates.nothing, factors, rates)
    add_loop_impulses(loops.rates, loops.rates.change, momentum)


@optional("loops", Loops)
def end_loop_rates(poses, loops):
    """Note the impulses of the velocities."""
    store_wrenches(poses, loops.rates, loops.rates.change, loops.rates.end)


@optional("loops", Loops)
def close_free_rates(tree, ahead, loops, momentum):
    """``close_loop_rates`` and ``end_loop_rates`` where the mass matrix stands factored in ``ahead``."""
    close_rates(tree, ahead, loops.rates, momentum)
