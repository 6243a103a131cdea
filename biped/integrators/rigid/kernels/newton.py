"""A search for a step: where it begins and ends, where the next iteration's products are aimed, and how far it goes."""

from biped.integrators.rigid.kernels.method import ContactUnknowns, RigidContact
from biped.integrators.rigid.kernels.points import solve_for_target
from biped.kernels.solve import interior
from biped.kernels.solve.cone import CONE, bounded, entries, jordan, store_entries
from biped.kernels.solve.contacts import width_of
from contact.vectors import norm, scale, sub
from kernelcache import kernel

# Attempts at a step: from the last step's impulses, from none, from far inside of the inequalities by small parts.
EXPECTED, FRESH, CAUTIOUS, ATTEMPTS = range(4)
# Where the last of them begins, in products of the one before.
FARTHER = 1e4

# A search from the last step's impulses that has not ended after so many iterations begins anew.
HASTY = 12
# Products that such a search begins with, in parts of what is asked for.
WARM = 10.0
# Ways that it takes for none, in parts of what a body falls in a step.
NEAR = 1e-2

# What a cautious iteration leaves of the products.
STEADY = 0.2
# A step whose pairs allow this part of it needs no correction.
FAR = 0.9


@kernel
def mean_mass(tree):
    """[kg] of a body."""
    total = 0.0
    for i in range(tree.mass.shape[0]):
        total += tree.mass[i]
    return total / tree.mass.shape[0]


@kernel
def usual_way(tree, h):
    """[m] by which a body falls in a step."""
    return max(h * h * norm((tree.gravity[0], tree.gravity[1], tree.gravity[2])), 1e-9)


@kernel
def center_of(tree, h, attempt):
    """[N·s·m] the products that a search begins with where nothing is known."""
    way = usual_way(tree, h)
    return way * mean_mass(tree) * way / abs(h) * (FARTHER if attempt == CAUTIOUS else 1.0)


@kernel
def most_iterations(method, attempt):
    """Of one of the attempts."""
    return (HASTY, method.solver.max_iterations, 2 * method.solver.max_iterations)[attempt]


@kernel
def has_converged(method, tolerance):
    measure = method.unknowns.measure
    return measure[interior.EQUATIONS] <= tolerance and measure[interior.PRODUCT] <= method.complementarity


@kernel
def aim(unknowns, value):
    """The same product of all pairs that play a part, and of a cone that many times its unit."""
    for k in range(unknowns.slack.shape[0]):
        unknowns.target[k] = value if unknowns.dual[k] > 0.0 and unknowns.dimension[k] > 0 else 0.0
    interior.measure_products(unknowns, unknowns)


@kernel
def aim_likely(unknowns, complementarity):
    """Mehrotra's aim, after a step towards products of zero: what it can reach, less what it leaves in second order.

    σ κ − Δs Δγ with σ = (κ there/κ)³ (Mehrotra 1992, section 2), the second only as far as the step can be gone.
    """
    most = interior.way_to_boundary(unknowns, unknowns)
    value = interior.likely_center(unknowns, unknowns, complementarity)
    for k in range(unknowns.slack.shape[0]):
        if unknowns.dimension[k] == 1:
            off = most * most * unknowns.slack_change[k] * unknowns.dual_change[k]
            aimed = min(max(value - off, 0.1 * value), 10.0 * value)
            unknowns.target[k] = aimed if unknowns.dual[k] > 0.0 else 0.0
        elif unknowns.dimension[k] == CONE and unknowns.dual[k] > 0.0:
            off = scale(most * most, jordan(entries(unknowns.slack_change, k), entries(unknowns.dual_change, k)))
            store_entries(unknowns.target, k, bounded(sub((value, 0.0, 0.0), off), 0.1 * value, 10.0 * value))
    interior.measure_products(unknowns, unknowns)


@kernel
def aim_steadily(unknowns, complementarity):
    """The same product of all pairs, a part of what it is on average."""
    aim(unknowns, max(STEADY * unknowns.measure[interior.CENTER], interior.BELOW * complementarity))


@kernel
def can_go_far(unknowns):
    """Whether the step in hand may be gone nearly to its end."""
    return interior.way_to_boundary(unknowns, unknowns) >= FAR


@kernel
def set_direction(
    tree, ground, at, method, left, right, left_arms, right_arms, centers, residual, factors, factor, change, attempt
):  # fmt: skip
    """Newton's step: predicted with products near zero, then aimed at what that shows to be within reach.

    A cautious one is aimed at a part of the products at once. Takes what ``solve_for_target`` takes.
    """
    unknowns = method.unknowns
    is_aimed = attempt == CAUTIOUS
    if is_aimed:
        aim_steadily(unknowns, method.complementarity)
    else:
        aim(unknowns, interior.BELOW * method.complementarity)
    while True:  # what is solved is inlined once
        solve_for_target(
            tree, ground, at, method, left, right, left_arms, right_arms, centers, residual, factors, factor, change
        )  # fmt: skip
        if is_aimed or can_go_far(unknowns):
            return
        aim_likely(unknowns, method.complementarity)
        is_aimed = True


@kernel
def in_use(method):
    """The method with the pairs of the contacts up to the last one that is looked at: others cost nothing then."""
    full = method.unknowns
    end = full.used[0] * width_of(method.contacts)
    unknowns = ContactUnknowns(
        full.slack[:end], full.dual[:end], full.dimension[:end], full.target[:end], full.slack_change[:end],
        full.dual_change[:end], full.base_slack[:end], full.base_dual[:end], full.watched, full.active, full.used,
        full.gap_begin, full.slide, full.offset, full.contact_impulse, full.first, full.last, full.velocity,
        full.floor_velocity, full.mode, full.first_mode, full.place, full.force, full.momentum, full.impulse,
        full.measure, full.worst,
    )  # fmt: skip
    return RigidContact(
        method.body, method.guess, method.solver, method.complementarity, method.restitution, method.contacts,
        method.pairs, method.arms, unknowns, method.closing, method.loops, method.ahead,
    )  # fmt: skip


@kernel
def note_used(unknowns):
    """How many of the contacts there are up to the last one that is looked at."""
    for c in range(unknowns.active.shape[0]):
        if unknowns.active[c] == 1:
            unknowns.used[0] = c + 1
