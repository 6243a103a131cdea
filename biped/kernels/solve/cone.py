"""Friction in Coulomb's own cone: ‖β‖ ≤ μ γ against the way along the plane, as complementarity of second-order cones.

With d the way of the point along the plane, and ψ [m] what becomes its length, maximum dissipation over the disc of
radius μ γ says (Lobo et al. 1998; Howell et al. 2022, section on contact)

    (β₀, β) ∈ Q,   (ψ, η) ∈ Q,   (β₀, β) ∘ (ψ, η) = κ e,      β₀ = μ γ,  η = d,      Q = {(x₀, x): ‖x‖ ≤ x₀},

with the product of Jordan x ∘ y = (x · y, x₀ y + y₀ x) and e = (1, 0): at κ = 0 either the point sticks, d = 0, or
β = −μ γ d/‖d‖. The pairs of a contact are that of its gap, and three for these: (ψ, η) are slacks, (β₀, β) multipliers,
and their products with one another are the sum of all three. Newton's step of the product has arrow matrices (Alizadeh
and Goldfarb 2003), which leave δβ and δψ in closed form.
"""

import math

from biped.kernels.solve.rounding import EPSILON, resolved
from contact.vectors import add, dot, scale, sub
from kernelcache import kernel

# How many places of the list of pairs the true cone of friction takes.
CONE = 3


@kernel
def is_cone(contacts):
    """Whether friction is in the true cone: it has no directions."""
    return contacts.directions.shape[0] == 0


@kernel
def entries(values, k):
    """Those of a cone in a list of pairs."""
    return values[k], values[k + 1], values[k + 2]


@kernel
def store_entries(values, k, x):
    values[k], values[k + 1], values[k + 2] = x


@kernel
def jordan(x, y):
    """x ∘ y"""
    return dot(x, y), x[0] * y[1] + y[0] * x[1], x[0] * y[2] + y[0] * x[2]


@kernel
def greatest_value(x):
    """x₀ + ‖x‖, the greater of the eigenvalues."""
    return x[0] + math.hypot(x[1], x[2])


@kernel
def squared(x):
    """x₀² − ‖x‖², but not less than rounding leaves of it in the cone."""
    size = math.hypot(x[1], x[2])
    return max((x[0] - size) * (x[0] + size), EPSILON * x[0] * x[0])


@kernel
def way_in_cone(x, change):
    """The largest t for which x + t change is in Q, of x inside: ∞ if all are (Vandenberghe 2010, section 8.3)."""
    root = math.sqrt(squared(x))
    x = scale(1.0 / root, x)
    along = (x[0] * change[0] - x[1] * change[1] - x[2] * change[2]) / root
    turn = (along + change[0] / root) / (x[0] + 1.0)
    nearing = math.hypot(change[1] / root - turn * x[1], change[2] / root - turn * x[2]) - along
    return 1.0 / nearing if nearing > 0.0 else math.inf


@kernel
def bounded(x, least, most):
    """x with its eigenvalues within bounds."""
    size = math.hypot(x[1], x[2])
    low, high = min(max(x[0] - size, least), most), min(max(x[0] + size, least), most)
    part = 0.5 * (high - low) / size if size > 0.0 else 0.0
    return 0.5 * (low + high), part * x[1], part * x[2]


@kernel
def cone_reach(contacts, motion, room, c):
    """(μ γ, d) what the multiplier's first and the slack's other entries stand for."""
    at = contacts.pair[c]
    most, x, y = contacts.friction[c] * motion.dual[at], room.slide[c, 1], room.slide[c, 2]
    size = abs(x) + abs(y)
    return (
        resolved(most, motion.dual[at + 1], most),
        resolved(x, motion.slack[at + 2], size),
        resolved(y, motion.slack[at + 3], size),
    )


@kernel
def cone_defects(contacts, motion, room, c):
    """Squares of what is between these: [N²·s²] of the impulse, [m²] of the way."""
    at = contacts.pair[c]
    most = contacts.friction[c] * motion.dual[at] - motion.dual[at + 1]
    x, y = room.slide[c, 1] - motion.slack[at + 2], room.slide[c, 2] - motion.slack[at + 3]
    return most * most, x * x + y * y


@kernel
def cone_left(motion, at):
    """[N·s] β₀ − ‖β‖ of the contact whose pairs begin there."""
    return motion.dual[at + 1] - math.hypot(motion.dual[at + 2], motion.dual[at + 3])


@kernel
def answer(beta, eta, product, change):
    """(δψ, δβ) for which the product changes by ``product`` when (β₀, η) change by ``change``.

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
def cone_step(contacts, motion, room, c, gamma, x, y):
    """(δψ, δβ) for δγ and δd."""
    at = contacts.pair[c]
    beta, eta = entries(motion.dual, at + 1), entries(motion.slack, at + 1)
    left = sub(entries(room.target, at + 1), jordan(beta, eta))
    reach = sub(cone_reach(contacts, motion, room, c), (beta[0], eta[1], eta[2]))
    return answer(beta, eta, left, add(reach, (contacts.friction[c] * gamma, x, y)))


@kernel
def linearized_cone(contacts, motion, room, c, start, k):
    """f₀ (3,) and K (9,) in the contact's frame; δγ = ``start`` − k δφ."""
    at = contacts.pair[c]
    beta, eta, zero = entries(motion.dual, at + 1), entries(motion.slack, at + 1), (0.0, 0.0, 0.0)
    _, fx, fy = cone_step(contacts, motion, room, c, start, 0.0, 0.0)
    _, nx, ny = answer(beta, eta, zero, (contacts.friction[c] * k, 0.0, 0.0))
    _, xx, yx = answer(beta, eta, zero, (0.0, -1.0, 0.0))
    _, xy, yy = answer(beta, eta, zero, (0.0, 0.0, -1.0))
    return (start, fx, fy), (k, 0.0, 0.0, nx, xx, xy, ny, yx, yy)


@kernel
def set_cone_changes(contacts, motion, room, c, gamma, x, y):
    """What becomes of the cone's entries, by the change of γ and the displacement along the plane."""
    at = contacts.pair[c]
    psi, first, second = cone_step(contacts, motion, room, c, gamma, x, y)
    reach = add(cone_reach(contacts, motion, room, c), (contacts.friction[c] * gamma, x, y))
    store_entries(room.dual_change, at + 1, (reach[0] - motion.dual[at + 1], first, second))
    store_entries(room.slack_change, at + 1, (psi, reach[1] - motion.slack[at + 2], reach[2] - motion.slack[at + 3]))


@kernel
def cone_stiffness(motion, at):
    """[N·s/m] the most of a contact's friction."""
    return motion.dual[at + 1] / motion.slack[at + 1]


@kernel
def start_cone(motion, at, most, way, psi):
    """The entries of the contact whose pairs begin there, for a way d and ψ beyond it: β = −β₀ d/ψ."""
    store_entries(motion.slack, at + 1, (psi, way[0], way[1]))
    store_entries(motion.dual, at + 1, (most, -most * way[0] / psi, -most * way[1] / psi))


@kernel
def psi_of_product(most, way, product):
    """ψ with which ``start_cone`` gives this product: β₀ (ψ − ‖d‖²/ψ)."""
    half = 0.5 * product / most
    return half + math.hypot(half, math.hypot(way[0], way[1]))
