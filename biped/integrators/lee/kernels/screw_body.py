"""The discrete body of Lee et al. 2016: its velocity is the logarithm of its displacement on SE(3).

V = log(T_k⁻¹ T_{k+1}) / h (equation 10), momentum dlogᵀ G V (21b). For the logarithm (φ, ρ) of a turn φ and a
displacement Δx the kinetic part of the discrete Lagrangian is (φ · Jφ + m ρ · ρ) / 2h. With the turn as the
quaternion (c, u), σ = u · u, φ = 2u asin(|u|)/|u|, and ρ = dexp⁻¹(φ) Δx this is in closed form

    K = (2/h) B(σ) u · J u + (m/2h) (Δx · Δx + k(σ) |u × Δx|²),     B = asin²(√σ)/σ,   k = (B − 1)/σ,

of which the momenta below are the derivatives: without a rotation vector, a Bernoulli number or dlog. B = 1, k = 0 is
``MidpointBody``. Momenta and derivatives are in world axes, as everything here is.

K depends on more of the displacement of the centre of mass than its square, so that two inertial frames that move
past one another do not see quite the same trajectory; they differ by O(h²).
"""

import math
from typing import NamedTuple

from biped.kernels.tree.factorization import store_matrix
from biped.kernels.variational import discrete_body as discrete
from biped.kernels.variational.equations import set_discrete_momentum
from contact import vectors as v
from contact.analytic import sqrt
from kernelcache import kernel, routine

# Turns of at most 3.6° (σ = sin² 1.8°) use the first terms of the series, those up to 60° all terms. Larger turns use
# the closed form, in which nothing cancels there.
NEAR_UP_TO = 0.001
SERIES_UP_TO = 0.25


def _series(terms: int) -> tuple[float, ...]:
    """Return the k_j of k(σ) = Σ k_j σ^j, from asin²(x) = ½ Σ_{n≥1} (2x)^{2n} / (n² C(2n, n))."""
    return tuple(0.5 * 4.0**n / (n * n * math.comb(2 * n, n)) for n in range(2, 2 + terms))


_K = _series(30)
_K0, _K1, _K2, _K3, _K4, _K5, _K6, _K7 = _K[:8]


class ScrewBody(NamedTuple):
    """A body that moves along a screw in each step (Lee et al. 2016, equations 10 and 21b)."""


@kernel
def screw_terms(c, sigma):
    """Return k and dk/dσ of a turn with cos(θ/2) = c and sin²(θ/2) = σ."""
    if sigma <= NEAR_UP_TO:
        x = sigma
        k = _K0 + x * (_K1 + x * (_K2 + x * (_K3 + x * (_K4 + x * _K5))))
        return k, _K1 + x * (2.0 * _K2 + x * (3.0 * _K3 + x * (4.0 * _K4 + x * (5.0 * _K5))))
    k, dk, _ = far_screw_terms(c, sigma)
    return k, dk


@kernel
def screw_curve(c, sigma):
    """Return d²k/dσ²."""
    if sigma <= NEAR_UP_TO:
        x = sigma
        return 2.0 * _K2 + x * (6.0 * _K3 + x * (12.0 * _K4 + x * (20.0 * _K5 + x * (30.0 * _K6 + x * (42.0 * _K7)))))
    return far_screw_terms(c, sigma)[2]


@routine
def far_screw_terms(c, sigma):
    """Return k, dk/dσ and d²k/dσ² of turns that need many terms; they are rare, so this is not inlined."""
    if sigma <= SERIES_UP_TO:
        k = dk = half = 0.0
        for j in range(len(_K) - 1, -1, -1):
            half = half * sigma + dk
            dk = dk * sigma + k
            k = k * sigma + _K[j]
        return k, dk, 2.0 * half
    s = sqrt(sigma)
    D = math.atan2(s, c) / (s * c)  # B + σ dB/dσ
    B = (D * c) ** 2
    k = (B - 1.0) / sigma
    dB = (D - B) / sigma
    dk = (dB - k) / sigma
    dD = (1.0 - D * (c * c - sigma)) / (2.0 * sigma * c * c)
    return k, dk, ((dD - 2.0 * dB) / sigma - 2.0 * dk) / sigma


@kernel
def translation_gradient(mass, u, moved, h, k, dk):
    """Return ∂/∂u of (m/2h) k |u × Δx|²."""
    w = v.cross(u, moved)
    return v.scale(mass / h, v.add(v.scale(dk * v.dot(w, w), u), v.scale(k, v.cross(moved, w))))


@kernel
def rotation_gradient(j, u, h, B, dB):
    """Return ∂/∂u of (2/h) B u · J u, with j = J u."""
    return v.scale(4.0 / h, v.add(v.scale(dB * v.dot(u, j), u), v.scale(B, j)))


@discrete.body_momentum.register(ScrewBody)
def screw_momentum(body, mass, inertia, turn, moved, h):
    """Return (P, ℓ⁻): a small turn η at the start changes u by −L η/2, at the end by Lᵀ η/2, with L = c + û.

    The rotational part of K is equal at both ends (J moves with the body), its momentum (2/h) L (B j + B′ (u · j) u).
    """
    c, ux, uy, uz = turn
    u = (ux, uy, uz)
    sigma = v.dot(u, u)
    k, dk = screw_terms(c, sigma)
    linear = v.scale(mass / h, v.sub(moved, v.scale(k, v.cross(u, v.cross(u, moved)))))
    g = translation_gradient(mass, u, moved, h, k, dk)
    spin = rotation_gradient(v.mat_vec(inertia, u), u, h, 1.0 + sigma * k, k + sigma * dk)
    return linear, v.scale(0.5, v.add(v.scale(c, v.add(g, spin)), v.cross(u, v.sub(spin, g))))


@discrete.turn_to_end.register(ScrewBody)
def screw_to_end(body, tree, scratch):
    for i in range(tree.parent.shape[0]):
        P = v.load3(scratch.linear, i)
        v.store3(
            scratch.angular, i, v.sub(v.load3(scratch.angular, i), v.cross(discrete.body_displacement(scratch, i), P))
        )


@kernel
def cross_derivative(mass, u, moved, h, k, dk):
    """Return ∂P/∂u, the transpose of ∂²K/∂u∂Δx (3 x 3)."""
    d = v.dot(u, moved)
    left = v.sub(v.scale(2.0 * (k + v.dot(u, u) * dk), moved), v.scale(2.0 * dk * d, u))
    N = v.mat_add(v.outer(left, u), v.mat_scale(-k, v.outer(u, moved)))
    kd = k * d
    return v.mat_scale(mass / h, (N[0] - kd, N[1], N[2], N[3], N[4] - kd, N[5], N[6], N[7], N[8] - kd))


@kernel
def translation_curve(mass, u, moved, h, k, dk, ddk):
    """Return ∂²/∂u² of (m/2h) k |u × Δx|²."""
    w = v.cross(u, moved)
    W = v.dot(w, w)
    half = v.cross(moved, w)  # half of ∂W/∂u
    H = v.mat_add(
        v.outer(v.add(v.scale(2.0 * ddk * W, u), v.scale(2.0 * dk, half)), u), v.outer(v.scale(2.0 * dk, u), half)
    )
    H = v.mat_add(H, v.mat_scale(-k, v.outer(moved, moved)))
    e = dk * W + k * v.dot(moved, moved)
    return v.mat_scale(mass / h, (H[0] + e, H[1], H[2], H[3], H[4] + e, H[5], H[6], H[7], H[8] + e))


@kernel
def rotation_curve(J, j, u, h, B, dB, ddB):
    """Return ∂²/∂u² of (2/h) B u · J u."""
    uj = v.dot(u, j)
    H = v.mat_add(v.mat_scale(B, J), v.outer(v.add(v.scale(2.0 * dB, j), v.scale(2.0 * ddB * uj, u)), u))
    H = v.mat_add(H, v.outer(v.scale(2.0 * dB, u), j))
    e = dB * uj
    return v.mat_scale(4.0 / h, (H[0] + e, H[1], H[2], H[3], H[4] + e, H[5], H[6], H[7], H[8] + e))


@kernel
def screw_derivatives(mass, J, turn, moved, h):
    """Return ∂P/∂Δx, ∂P/∂η, ∂ℓ⁻/∂Δx and ∂ℓ⁻/∂η for a small turn η at the end (3 x 3 each)."""
    c, ux, uy, uz = turn
    u = (ux, uy, uz)
    sigma = v.dot(u, u)
    k, dk = screw_terms(c, sigma)
    ddk = screw_curve(c, sigma)
    B, dB, ddB = 1.0 + sigma * k, k + sigma * dk, 2.0 * dk + sigma * ddk
    M = v.mat_scale(-mass * k / h, v.outer(u, u))
    e = mass * B / h
    by_move = (M[0] + e, M[1], M[2], M[3], M[4] + e, M[5], M[6], M[7], M[8] + e)
    # L = c + û on either side of a matrix
    N = v.mat_scale(0.5, cross_derivative(mass, u, moved, h, k, dk))
    cN, Nu = v.mat_scale(c, N), v.mat_hat(N, u)
    j = v.mat_vec(J, u)
    g = translation_gradient(mass, u, moved, h, k, dk)
    spin = rotation_gradient(j, u, h, B, dB)
    H = translation_curve(mass, u, moved, h, k, dk, ddk)
    S = rotation_curve(J, j, u, h, B, dB, ddB)
    A = v.mat_add(v.mat_scale(c, v.mat_add(S, H)), v.hat_mat(u, v.mat_sub(S, H)))  # Lᵀ H + L S
    A = v.mat_add(A, v.hat(v.sub(g, spin)))
    A = v.mat_sub(v.mat_sub(v.mat_scale(c, A), v.mat_hat(A, u)), v.outer(v.add(g, spin), u))
    return by_move, v.mat_sub(cN, Nu), v.transposed(v.mat_add(cN, Nu)), v.mat_scale(0.25, A)


discrete.set_momentum.register(ScrewBody)(set_discrete_momentum)


@discrete.store_body_block.register(ScrewBody)
def store_screw_block(body, tree, scratch, block, i, h):
    moved = discrete.body_displacement(scratch, i)
    turn, J = v.load4(scratch.turn, i), v.load9(scratch.motion.inertia, i)
    by_move, by_turn, spin_by_move, spin_by_turn = screw_derivatives(tree.mass[i], J, turn, moved, h)
    left, right = v.load3(scratch.motion.poses.com, i), v.load3(scratch.next.com, i)
    by_turn = v.mat_sub(by_turn, v.mat_hat(by_move, right))
    spin_by_turn = v.mat_sub(spin_by_turn, v.mat_hat(spin_by_move, right))
    store_matrix(block, i, 0, 0, by_move)
    store_matrix(block, i, 0, 3, by_turn)
    store_matrix(block, i, 3, 0, v.mat_add(spin_by_move, v.hat_mat(left, by_move)))
    store_matrix(block, i, 3, 3, v.mat_add(spin_by_turn, v.hat_mat(left, by_turn)))
