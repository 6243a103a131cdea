"""Friction in Coulomb's cone, ‖β‖ ≤ μ γ opposite to sliding, as complementarity of second-order cones.

With d the displacement of the point along the plane, and ψ [m] its length at the solution, maximum dissipation over the
disc of radius μ γ requires (Lobo et al. 1998; Howell et al. 2022, section on contact)

    (β₀, β) ∈ Q,   (ψ, η) ∈ Q,   (β₀, β) ∘ (ψ, η) = κ e,      β₀ = μ γ,  η = d,      Q = {(x₀, x): ‖x‖ ≤ x₀},

with Jordan's product x ∘ y = (x · y, x₀ y + y₀ x) and e = (1, 0): at κ = 0 either the point sticks, d = 0, or
β = −μ γ d/‖d‖. A contact has a pair for its gap, and three pairs for the cone: (ψ, η) are slacks, (β₀, β) multipliers.
Newton's step of the product has arrow matrices (Alizadeh and Goldfarb 2003), which give δβ and δψ in closed form.
"""

import math

from biped.kernels.solve.rounding import EPSILON, resolved
from contact.vectors import add, dot, scale, sub
from kernelcache import kernel

# Number of pairs of the true cone of friction.
CONE = 3


@kernel
def is_cone(contacts):
    """Return True if friction uses the true cone: there are no directions."""
    return contacts.directions.shape[0] == 0


@kernel
def entries(values, k):
    """Return the entries of a cone in a list of pairs."""
    return values[k], values[k + 1], values[k + 2]


@kernel
def store_entries(values, k, x):
    values[k], values[k + 1], values[k + 2] = x


@kernel
def jordan(x, y):
    """Return x ∘ y."""
    return dot(x, y), x[0] * y[1] + y[0] * x[1], x[0] * y[2] + y[0] * x[2]


@kernel
def greatest_value(x):
    """Return x₀ + ‖x‖, the greater eigenvalue."""
    return x[0] + math.hypot(x[1], x[2])


@kernel
def squared(x):
    """Return x₀² − ‖x‖², at least its rounding within the cone."""
    size = math.hypot(x[1], x[2])
    return max((x[0] - size) * (x[0] + size), EPSILON * x[0] * x[0])


@kernel
def way_in_cone(x, change):
    """Return the largest t with x + t change in Q, for x inside; ∞ if all are (Vandenberghe 2010, section 8.3)."""
    root = math.sqrt(squared(x))
    x = scale(1.0 / root, x)
    along = (x[0] * change[0] - x[1] * change[1] - x[2] * change[2]) / root
    turn = (along + change[0] / root) / (x[0] + 1.0)
    nearing = math.hypot(change[1] / root - turn * x[1], change[2] / root - turn * x[2]) - along
    return 1.0 / nearing if nearing > 0.0 else math.inf


@kernel
def bounded(x, least, most):
    """Return x with its eigenvalues clipped to bounds."""
    size = math.hypot(x[1], x[2])
    low, high = min(max(x[0] - size, least), most), min(max(x[0] + size, least), most)
    part = 0.5 * (high - low) / size if size > 0.0 else 0.0
    return 0.5 * (low + high), part * x[1], part * x[2]


@kernel
def cone_reach(contacts, motion, buffers, c):
    """Return (μ γ, d), the targets of the multiplier's first entry and of the slack's other entries."""
    at = contacts.pair[c]
    most, x, y = contacts.friction[c] * motion.dual[at], buffers.slide[c, 1], buffers.slide[c, 2]
    size = abs(x) + abs(y)
    return (
        resolved(most, motion.dual[at + 1], most),
        resolved(x, motion.slack[at + 2], size),
        resolved(y, motion.slack[at + 3], size),
    )


@kernel
def cone_defects(contacts, motion, buffers, c):
    """Return the squared differences from these targets: impulse [N²·s²], displacement [m²]."""
    at = contacts.pair[c]
    most = contacts.friction[c] * motion.dual[at] - motion.dual[at + 1]
    x, y = buffers.slide[c, 1] - motion.slack[at + 2], buffers.slide[c, 2] - motion.slack[at + 3]
    return most * most, x * x + y * y


@kernel
def cone_left(motion, at):
    """Return β₀ − ‖β‖ [N·s] of the contact whose pairs begin at index ``at``."""
    return motion.dual[at + 1] - math.hypot(motion.dual[at + 2], motion.dual[at + 3])


@kernel
def answer(beta, eta, product, change):
    """Return (δψ, δβ) for which the product changes by ``product`` when (β₀, η) change by ``change``.

    δβ₀ (ψ, η) + (η δβ, ψ δβ) + (β₀ δψ, β δψ) + (β δη, β₀ δη) = product: an arrow with ψ on its diagonal.
    """
    top, x, y = change
    rest = sub(
        product, (top * eta[0] + beta[1] * x + beta[2] * y, top * eta[1] + beta[0] * x, top * eta[2] + beta[0] * y)
    )
    psi = (eta[0] * rest[0] - eta[1] * rest[1] - eta[2] * rest[2]) / (
        beta[0] * eta[0] - beta[1] * eta[1] - beta[2] * eta[2]
    )
    return psi, (rest[1] - beta[1] * psi) / eta[0], (rest[2] - beta[2] * psi) / eta[0]


@kernel
def cone_step(contacts, motion, buffers, c, gamma, x, y):
    """Return (δψ, δβ) for δγ and δd."""
    at = contacts.pair[c]
    beta, eta = entries(motion.dual, at + 1), entries(motion.slack, at + 1)
    left = sub(entries(buffers.target, at + 1), jordan(beta, eta))
    reach = sub(cone_reach(contacts, motion, buffers, c), (beta[0], eta[1], eta[2]))
    return answer(beta, eta, left, add(reach, (contacts.friction[c] * gamma, x, y)))


@kernel
def linearized_cone(contacts, motion, buffers, c, start, k):
    """Return f₀ (3,) and K (9,) in the contact's frame, for δγ = ``start`` − k δφ."""
    at = contacts.pair[c]
    beta, eta, zero = entries(motion.dual, at + 1), entries(motion.slack, at + 1), (0.0, 0.0, 0.0)
    _, fx, fy = cone_step(contacts, motion, buffers, c, start, 0.0, 0.0)
    _, nx, ny = answer(beta, eta, zero, (contacts.friction[c] * k, 0.0, 0.0))
    _, xx, yx = answer(beta, eta, zero, (0.0, -1.0, 0.0))
    _, xy, yy = answer(beta, eta, zero, (0.0, 0.0, -1.0))
    return (start, fx, fy), (k, 0.0, 0.0, nx, xx, xy, ny, yx, yy)


@kernel
def set_cone_changes(contacts, motion, buffers, c, gamma, x, y):
    """Set the changes of the cone's entries, from the change of γ and the displacement along the plane."""
    at = contacts.pair[c]
    psi, first, second = cone_step(contacts, motion, buffers, c, gamma, x, y)
    reach = add(cone_reach(contacts, motion, buffers, c), (contacts.friction[c] * gamma, x, y))
    store_entries(buffers.dual_change, at + 1, (reach[0] - motion.dual[at + 1], first, second))
    store_entries(buffers.slack_change, at + 1, (psi, reach[1] - motion.slack[at + 2], reach[2] - motion.slack[at + 3]))


@kernel
def cone_stiffness(motion, at):
    """Return the greatest stiffness [N·s/m] of a contact's friction."""
    return motion.dual[at + 1] / motion.slack[at + 1]


@kernel
def start_cone(motion, at, most, way, psi):
    """Set the cone's entries of the contact at index ``at`` for a displacement d and a ψ beyond it: β = −β₀ d/ψ."""
    store_entries(motion.slack, at + 1, (psi, way[0], way[1]))
    store_entries(motion.dual, at + 1, (most, -most * way[0] / psi, -most * way[1] / psi))


@kernel
def psi_of_product(most, way, product):
    """Return the ψ for which ``start_cone`` gives the product β₀ (ψ − ‖d‖²/ψ)."""
    half = 0.5 * product / most
    return half + math.hypot(half, math.hypot(way[0], way[1]))
