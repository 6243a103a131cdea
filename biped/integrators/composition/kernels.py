"""Compositions: one step as several of a variational method, of the lengths w_i h, some of them backwards in time.

A stage is a step like any other, with books of its own: works and impulses are sums over the stages, exact where
time runs backwards too. What a composition has of its own is the first guess. A stage's rate (its displacement over
its length) depends smoothly on the time at which the composed step begins, for each stage by itself; from stage to
stage it does not, since their lengths differ. Each stage therefore extrapolates its own rates of the last steps,
by backward differences, and so well that one iteration mostly does.
"""

import math
from typing import Any, NamedTuple

from biped.kernels.solve.causes import cause_of
from biped.kernels.state import method as methods
from biped.kernels.state.checkpoint import Checkpoint, roll_back, save_checkpoint
from biped.kernels.state.simulation_state import LAST_STEP_LENGTH, TOTAL_STEPS
from biped.kernels.step.step import advance_in_parts, prepare, substep
from biped.kernels.variational.equations import set_rates
from biped.kernels.variational.newton import go_on_at_rates, iterate, measure_step, tolerance_of
from contact.arrays import Floats
from contact.vectors import copy1
from kernelcache import kernel

# Backward differences that a stage keeps: so many steps back it looks.
DEPTH = 9
# What an iteration leaves of the residual, about, with the factorization of another stage ...
KEPT_GAIN = 0.05
# ... and, at the most, with one that stays in use.
FRESH_GAIN = 0.02

# Places in ``SimulationState.history_for``.
LENGTH = 0  # [s] of the composed steps that the history is of
KEPT = 1  # how many of them it has
UNTIL = 2  # ``TOTAL_STEPS`` when the last of them began


class Composition(NamedTuple):
    """S(w_s h) ∘ … ∘ S(w_1 h) of a variational method S; ``biped.integrators.composition.weights`` has the weights."""

    inner: methods.Variational
    solver: methods.Solver  # that of the stages
    weights: Floats
    checkpoint: Checkpoint  # where a part of the step began
    rate: Floats  # (nv,) the plant's then


class OwnRates(NamedTuple):
    """The first candidate of one of a composition's steps goes on as that one did in the last composed steps."""

    number: int  # of the stage


class ScaledArticulatedNewton(NamedTuple):
    """Newton's method with one exact matrix a stage, and none where that of another stage will do."""


def history_shape(method: Any, nv: int) -> tuple[int, int, int]:
    """The shape of ``SimulationState.history`` that a method needs."""
    return (method.weights.shape[0], nv, DEPTH) if isinstance(method, Composition) else (0, nv, 0)


methods.advance.register(Composition)(advance_in_parts)


@methods.take_part.register(Composition)
def take_composed_part(tree, ground, state, pushes, scratch, method, begin, h, depth):
    """All stages or, where one does not converge, none: the part is taken back, so that all have its order."""
    save_checkpoint(state, method.checkpoint)
    copy1(state.cache.rate, method.rate)
    fit_history(state, h)
    taken, hardest = take_stages(tree, ground, state, pushes, scratch, method, begin, h)
    if taken < 0:
        roll_back(state, method.checkpoint)
        prepare(tree, state, scratch)
        copy1(method.rate, state.cache.rate)
        state.cache.history_for[KEPT] = 0.0
    return taken, hardest


@kernel
def take_stages(tree, ground, state, pushes, scratch, method, begin, h):
    """The iterations of all stages, and the most of any of them; or a cause of failure."""
    total = most = 0
    time = begin
    for index in range(method.weights.shape[0]):
        part = method.weights[index] * h
        inner = method.inner
        stage = methods.Variational(inner.body, inner.root_finder, OwnRates(index), inner.solver, inner.closing)
        taken = substep(tree, ground, state, pushes, scratch, stage, time, part, math.inf)
        if taken < 0:
            return taken, most
        total += taken
        most = max(most, taken)
        time += part
    state.cache.history_for[KEPT] += 1.0
    state.cache.history_for[UNTIL] = state.counts[TOTAL_STEPS]
    return total, most


@kernel
def fit_history(state, h):
    """Forget the history of steps of another length, and one that something else has stepped since."""
    since = state.counts[TOTAL_STEPS] - state.cache.history_for[UNTIL]
    if state.cache.history_for[LENGTH] != h or since < 0.0 or since > 1.0:
        state.cache.history_for[LENGTH] = h
        state.cache.history_for[KEPT] = 0.0


@kernel
def predict(state, index, rate):
    """The rate of a stage: the sum of its differences, up to the smallest; without any, the rate of the last stage."""
    known = int(min(state.cache.history_for[KEPT], float(DEPTH)))
    if known == 0:
        copy1(state.cache.rate, rate)
        return
    rate[:] = 0.0
    order = order_of_prediction(state.cache.history, index, known)
    for dof in range(rate.shape[0]):
        for k in range(order):
            rate[dof] += state.cache.history[index, dof, k]


@kernel
def order_of_prediction(history, index, known):
    """How many differences to sum: where they begin to grow, the motion is too fast for more of them."""
    least = math.inf
    for k in range(known):
        size = 0.0
        for dof in range(history.shape[1]):
            size += history[index, dof, k] * history[index, dof, k]
        if size > least:
            return k
        least = size
    return known


@methods.set_initial_guess.register(OwnRates)
def go_on_at_own_rates(tree, ground, state, pushes, scratch, guess, h):
    predict(state, guess.number, scratch.delta)
    go_on_at_rates(tree, state, scratch, h)


@methods.remember.register(OwnRates)
def remember_own_rates(tree, state, scratch, guess, h):
    """The new backward differences of the stage's rate: ∇⁰ is the rate, ∇ᵏ⁺¹ the change of ∇ᵏ."""
    set_rates(tree, state.q, scratch, h, scratch.delta)
    for dof in range(state.cache.rate.shape[0]):
        difference = scratch.delta[dof]
        for k in range(DEPTH):
            before = state.cache.history[guess.number, dof, k]
            state.cache.history[guess.number, dof, k] = difference
            difference -= before
        state.cache.rate[dof] = scratch.delta[dof]
        state.cache.rate_change[dof] = 0.0
        state.cache.rate_curve[dof] = 0.0
    state.clock[LAST_STEP_LENGTH] = abs(h)


@methods.find_root.register(ScaledArticulatedNewton)
def find_by_scaled_newton(tree, ground, state, pushes, scratch, method, root_finder, h):
    """The guess is so good that after one exact iteration its factorization does the rest."""
    tolerance = tolerance_of(method, tree, scratch, h)
    norm, _ = measure_step(tree, ground, state, pushes, scratch, method, h)
    trust = state.cache.kept_for[0] != 0.0 and norm * KEPT_GAIN <= tolerance
    iteration = 0
    while not norm <= tolerance:
        if iteration >= method.solver.max_iterations or not math.isfinite(norm):
            return cause_of(norm)
        iteration += 1
        reduced, _ = iterate(tree, ground, state, pushes, scratch, method, h, tolerance, norm, trust)
        trust = not trust or reduced <= FRESH_GAIN * norm
        norm = reduced
    return iteration
