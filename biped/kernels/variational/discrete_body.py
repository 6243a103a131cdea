"""Discrete bodies: the discrete momentum of a body as a function of its displacement in a step.

A body that moves by Δx and turns by r = q_{k+1} q̄_k = (c, u), c ≥ 0, world axes, has a discrete linear momentum
P and, about its centre of mass, an angular momentum ℓ⁻ at the start and ℓ⁺ at the end of the step. They are
derivatives of a discrete Lagrangian that does not change under translations and rotations, so that P, and ℓ⁻ and
ℓ⁺ about one fixed point, are the same at both ends: ℓ⁺ = ℓ⁻ − Δx × P. Each discretization of a body is a class; the
variational integrators of trees differ in nothing else.
"""

from typing import NamedTuple

from biped.kernels.tree.factorization import store_block
from contact.vectors import add, congruence, cross, hat_mat, load3, load4, load9, mat_vec, scale, sub, triple
from kernelcache import generic, kernel


@generic("body")
def body_momentum(body, mass, inertia, turn, moved, h):
    """Return (P [N·s], ℓ⁻ [N·m·s]); ``inertia`` in world axes at k, ``turn`` = (c, ux, uy, uz), ``moved`` = Δx."""


@generic("body")
def set_momentum(body, tree, state, pushes, scratch, h):
    """Write p at k + 1 to ``state.momentum``; the remaining residual e is carried over."""


@generic("body")
def turn_to_end(body, tree, scratch):
    """Replace ℓ⁻ by ℓ⁺ in ``scratch.angular``."""


@generic("body")
def store_body_block(body, tree, scratch, block, i, h):
    """Store the derivative of (P, ℓ⁻ + l × P) of body i by its displacement at k + 1 in the 6 x 6 block i.

    Both are about the reference points; l is the lever arm of its centre of mass at k.
    """


class MidpointBody(NamedTuple):
    """The discrete body of the thesis (Wendlandt 1997, equations 2.23, 2.50; also Brüdigam et al. 2024, equation 13).

    P = m Δx/h,  ℓ = c y + u × y,  y = (2/h) J u. P is parallel to Δx, so that ℓ is the same at both ends.
    """


@body_momentum.register(MidpointBody)
def midpoint_momentum(body, mass, inertia, turn, moved, h):
    c, ux, uy, uz = turn
    u = (ux, uy, uz)
    y = scale(2.0 / h, mat_vec(inertia, u))
    return scale(mass / h, moved), add(scale(c, y), cross(u, y))


@turn_to_end.register(MidpointBody)
def midpoint_to_end(body, tree, scratch):
    pass


@store_body_block.register(MidpointBody)
def store_midpoint_block(body, tree, scratch, block, i, h):
    c, ux, uy, uz = load4(scratch.turn, i)
    K = turn_derivative(load9(scratch.motion.inertia, i), c, (ux, uy, uz), h)
    store_block(block, i, tree.mass[i] / h, load3(scratch.motion.poses.com, i), load3(scratch.next.com, i), K)


@kernel
def turn_derivative(J, c, u, h):
    """Return ∂ℓ/∂φ of a midpoint body for a small turn φ at k + 1, in world axes (3 x 3).

    With L = c 1 + û and j = J u:  (L J Lᵀ − ĵ Lᵀ − j uᵀ) / h.
    """
    ux, uy, uz = u
    L = (c, -uz, uy, uz, c, -ux, -uy, ux, c)
    Lt = (c, uz, -uy, -uz, c, ux, uy, -ux, c)
    j = mat_vec(J, u)
    A = congruence(L, J)
    B = hat_mat(j, Lt)
    f = 1.0 / h
    return (
        f * (A[0] - B[0] - j[0] * ux), f * (A[1] - B[1] - j[0] * uy), f * (A[2] - B[2] - j[0] * uz),
        f * (A[3] - B[3] - j[1] * ux), f * (A[4] - B[4] - j[1] * uy), f * (A[5] - B[5] - j[1] * uz),
        f * (A[6] - B[6] - j[2] * ux), f * (A[7] - B[7] - j[2] * uy), f * (A[8] - B[8] - j[2] * uz),
    )  # fmt: skip


@kernel
def body_displacement(scratch, i):
    """Return Δx of body i's centre of mass."""
    return add(triple(scratch.shift), sub(load3(scratch.next.com, i), load3(scratch.motion.poses.com, i)))
