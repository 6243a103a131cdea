"""The equations of a trial's steps in worlds with another model, floor or push.

A step solves e(q_k, p_k, a_k, q_{k+1}; ρ) = 0, and gives p_{k+1}(…; ρ) and a_{k+1}(…; ρ). With the μ of its adjoint
(``biped.derivatives.gradients.kernels.step``), and the weights λ_p' and λ_a' of its end, the derivative by a parameter
ρ of the world is

    Σ_k μᵀ ∂e/∂ρ + λ_p'ᵀ ∂p'/∂ρ + λ_a'ᵀ ∂a'/∂ρ,

all at the simulated states. So only the sums of μᵀ e + λ_p'ᵀ p' + λ_a'ᵀ a' in worlds with another ρ are needed. The
regime of each contact point is held.
"""

from typing import NamedTuple

import numpy as np

from biped.derivatives.linearization.kernels.step import set_candidate
from biped.kernels.variational import equations
from biped.kernels.variational.discrete_body import set_momentum
from biped.kernels.variational.newton import place_candidate
from contact.arrays import Floats, Integers
from contact.ground import force_in_floor, law_at, to_world
from contact.regimes import anchor_in, force_in
from contact.vectors import add, copy1, load3, scale, store3
from kernelcache import kernel


class Multipliers(NamedTuple):
    """Multipliers of the sums by step; without rows if the sums are not needed."""

    residual: Floats  # (steps, nv) μ
    momentum: Floats  # (steps, nv) λ_p'
    anchor: Floats  # (steps, nc, 2) λ_a'
    regime: Integers  # (steps, nc) held regimes, of ``contact.regimes``
    moves: Integers  # (steps, nc) 1 where the anchor is dragged
    total: Floats  # (2 nv + 2 nc,) the sums by equation


def new_multipliers(nv: int, nc: int, steps: int) -> Multipliers:
    """Return multipliers for a number of steps."""
    z, integer = np.zeros, np.int64
    return Multipliers(
        z((steps, nv)), z((steps, nv)), z((steps, nc, 2)), z((steps, nc), integer), z((steps, nc), integer),
        z(2 * nv + 2 * nc),
    )  # fmt: skip


@kernel
def keep_weights(M, weight, points, row):
    """Store the weights of a step's end before the backward pass through the step."""
    if row < M.residual.shape[0]:
        copy1(weight.momentum, M.momentum[row])
        for c in range(M.regime.shape[1]):
            copy1(weight.anchor[c], M.anchor[row, c])
            M.regime[row, c], M.moves[row, c] = points.regime[c], points.moves[c]


@kernel
def keep_multipliers(M, weight, row):
    """Store μ after the backward pass through the step."""
    if row < M.residual.shape[0]:
        copy1(weight.solution, M.residual[row])


@kernel
def add_equations(M, L, row, h):
    """Add the equations of a step whose start and end are set in the world ``L``."""
    tree, state, scratch = L.tree, L.before, L.scratch
    set_candidate(tree, state.q, L.state.q, scratch)
    place_candidate(tree, L.pushes, scratch)
    equations.set_discrete_momenta(L.body, tree, scratch, h)
    hold_forces(M, L, row, h)
    equations.load_wrenches_at_start(tree, state, L.pushes, scratch, h)
    equations.gather_residual(tree, state, scratch, h)
    nv = M.residual.shape[1]
    for dof in range(nv):
        M.total[dof] += M.residual[row, dof] * scratch.residual[dof]
        scratch.residual[dof] = 0.0
    set_momentum(L.body, tree, state, L.pushes, scratch, h)
    for dof in range(nv):
        M.total[nv + dof] += M.momentum[row, dof] * (state.momentum[dof] - L.state.momentum[dof])


@kernel
def hold_forces(M, L, row, h):
    """Set the ground reaction forces for the step's chords, and add its anchors, each point in its regime."""
    ground, state, first = L.ground, L.before, 2 * M.residual.shape[1]
    for c in range(M.regime.shape[1]):
        floor, anchor = law_at(ground, c), (state.anchor[c, 0], state.anchor[c, 1])
        middle, velocity = equations.contact_chord(L.tree, ground, state, L.scratch, h, c)
        force = to_world(ground, force_in(floor, M.regime[row, c], middle, velocity, anchor))
        store3(state.force, c, force)
        if M.moves[row, c] == 1:
            end = add(middle, scale(0.5 * h, velocity))
            x, y = anchor_in(floor, anchor, end, force_in_floor(ground, load3(state.force, c)))
            M.total[first + 2 * c] += M.anchor[row, c, 0] * (x - anchor[0])
            M.total[first + 2 * c + 1] += M.anchor[row, c, 1] * (y - anchor[1])
