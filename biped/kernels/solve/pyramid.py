"""Friction in a pyramid of directions b_i, eliminated (Brüdigam et al. 2024, equations 26 to 28).

    0 ≤ μ γ − Σ β_i ⊥ ψ ≥ 0        0 ≤ b_i · d + ψ ⊥ β_i ≥ 0

The contact's second pair is that of the first condition, with slack σ; the others are those of the directions, with
slacks η_i.
"""

from biped.kernels.solve.rounding import resolved
from kernelcache import kernel


@kernel
def along(contacts, buffers, c, i):
    """Return b_i · d [m]."""
    return contacts.directions[i, 0] * buffers.slide[c, 1] + contacts.directions[i, 1] * buffers.slide[c, 2]


@kernel
def resolved_reach(contacts, motion, buffers, c, i):
    """Return b_i · d + ψ [m], or its slack if they differ by rounding only."""
    at = contacts.pair[c]
    way, psi = along(contacts, buffers, c, i), motion.dual[at + 1]
    return resolved(way + psi, motion.slack[at + 2 + i], abs(buffers.slide[c, 1]) + abs(buffers.slide[c, 2]) + psi)


@kernel
def resolved_cone(contacts, motion, c):
    """Return μ γ − Σ β_i [N·s], or its slack if they differ by rounding only."""
    at = contacts.pair[c]
    most, total = contacts.friction[c] * motion.dual[at], sum_of_sides(contacts, motion, c)
    return resolved(most - total, motion.slack[at + 1], most + total)


@kernel
def sum_of_sides(contacts, motion, c):
    """Return Σ β_i."""
    total = 0.0
    for i in range(contacts.directions.shape[0]):
        total += motion.dual[contacts.pair[c] + 2 + i]
    return total


@kernel
def sides(contacts, motion, buffers, c):
    """Return (F, W, w, M, t): Σ f_i, Σ w_i, Σ w_i b_i, Σ w_i b_i b_iᵀ, Σ f_i b_i, with w_i = β_i/η_i."""
    at = contacts.pair[c]
    F = W = wx = wy = xx = xy = yy = tx = ty = 0.0
    for i in range(contacts.directions.shape[0]):
        bx, by = contacts.directions[i, 0], contacts.directions[i, 1]
        beta, eta = motion.dual[at + 2 + i], motion.slack[at + 2 + i]
        w = beta / eta
        f = (buffers.target[at + 2 + i] - beta * resolved_reach(contacts, motion, buffers, c, i)) / eta
        F, W, wx, wy = F + f, W + w, wx + w * bx, wy + w * by
        xx, xy, yy = xx + w * bx * bx, xy + w * bx * by, yy + w * by * by
        tx, ty = tx + f * bx, ty + f * by
    return F, W, wx, wy, xx, xy, yy, tx, ty


@kernel
def sliding(contacts, motion, buffers, c, F, W):
    """Return (a, ψ₀) of δψ = ψ₀ − a (μ δγ + w · δd)."""
    at = contacts.pair[c]
    sigma, psi = motion.slack[at + 1], motion.dual[at + 1]
    total = sigma + psi * W
    cone = resolved_cone(contacts, motion, c)
    return psi / total, (buffers.target[at + 1] - psi * (cone - F)) / total


@kernel
def linearized_pyramid(contacts, motion, buffers, c, start, k):
    """Return f₀ (3,) and K (9,) in the contact's frame, for δγ = ``start`` − k δφ."""
    F, W, wx, wy, xx, xy, yy, tx, ty = sides(contacts, motion, buffers, c)
    a, psi = sliding(contacts, motion, buffers, c, F, W)
    rise = a * contacts.friction[c]
    f = (start, tx - wx * psi + rise * wx * start, ty - wy * psi + rise * wy * start)
    mixed = xy - a * wx * wy
    return f, (k, 0.0, 0.0, rise * wx * k, xx - a * wx * wx, mixed, rise * wy * k, mixed, yy - a * wy * wy)


@kernel
def set_sliding_changes(contacts, motion, buffers, c, gamma, dx, dy):
    """Set the changes of the friction pairs, from the change of γ and the displacement along the plane."""
    at, mu = contacts.pair[c], contacts.friction[c]
    F, W, wx, wy, _, _, _, _, _ = sides(contacts, motion, buffers, c)
    a, start = sliding(contacts, motion, buffers, c, F, W)
    psi = start - a * (mu * gamma + wx * dx + wy * dy)
    buffers.dual_change[at + 1] = psi
    total = 0.0
    for i in range(contacts.directions.shape[0]):
        k = at + 2 + i
        beta, eta = motion.dual[k], motion.slack[k]
        way = contacts.directions[i, 0] * dx + contacts.directions[i, 1] * dy
        reach = resolved_reach(contacts, motion, buffers, c, i)
        change = (buffers.target[k] - beta * (reach + way + psi)) / eta
        buffers.dual_change[k] = change
        buffers.slack_change[k] = reach + way + psi - eta
        total += change
    sigma, now = motion.slack[at + 1], motion.dual[at + 1]
    if now > sigma:  # by the pair's product: rounding of impulses may exceed σ
        buffers.slack_change[at + 1] = (buffers.target[at + 1] - sigma * (now + psi)) / now
    else:
        buffers.slack_change[at + 1] = resolved_cone(contacts, motion, c) + mu * gamma - total - sigma


@kernel
def start_pyramid(contacts, motion, buffers, c, each, psi):
    """Set the friction pairs inside all inequalities: impulses of ``each`` [N·s], and ψ [m] or more."""
    at, count = contacts.pair[c], contacts.directions.shape[0]
    for i in range(count):
        psi = max(psi, 2.0 * abs(along(contacts, buffers, c, i)))
    motion.slack[at + 1], motion.dual[at + 1] = each, psi
    for i in range(count):
        motion.slack[at + 2 + i] = along(contacts, buffers, c, i) + psi
        motion.dual[at + 2 + i] = each
