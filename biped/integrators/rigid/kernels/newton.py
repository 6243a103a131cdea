"""The search for a step by the interior point method: start, target products, step length and end."""

from biped.integrators.rigid.kernels.method import ContactUnknowns, RigidContact
from biped.integrators.rigid.kernels.points import solve_for_target
from biped.kernels.solve import interior
from biped.kernels.solve.cone import CONE, bounded, entries, jordan, store_entries
from biped.kernels.solve.contacts import width_of
from contact.vectors import norm, scale, sub
from kernelcache import kernel

# Attempts at a step: from the last step's impulses, from none, and cautiously from far inside the inequalities.
EXPECTED, FRESH, CAUTIOUS, ATTEMPTS = range(4)
# Initial products of the last attempt relative to the one before.
FARTHER = 1e4

# Greatest number of iterations of a search from the last step's impulses.
HASTY = 12
# Initial products of such a search relative to the required complementarity.
WARM = 10.0
# Displacement that it counts as zero, relative to the fall of a body in a step.
NEAR = 1e-2

# Reduction of the products by a cautious iteration.
STEADY = 0.2
# Share of a step allowed by the pairs beyond which it needs no correction.
FAR = 0.9


@kernel
def mean_mass(tree):
    """Return the mean mass [kg] of a body."""
    total = 0.0
    for i in range(tree.mass.shape[0]):
        total += tree.mass[i]
    return total / tree.mass.shape[0]


@kernel
def usual_way(tree, h):
    """Return the distance [m] that a body falls in a step."""
    return max(h * h * norm((tree.gravity[0], tree.gravity[1], tree.gravity[2])), 1e-9)


@kernel
def center_of(tree, h, attempt):
    """Return the initial products [N·s·m] of a search without expected impulses."""
    way = usual_way(tree, h)
    return way * mean_mass(tree) * way / abs(h) * (FARTHER if attempt == CAUTIOUS else 1.0)


@kernel
def most_iterations(method, attempt):
    """Return the greatest number of iterations of an attempt."""
    return (HASTY, method.solver.max_iterations, 2 * method.solver.max_iterations)[attempt]


@kernel
def has_converged(method, tolerance):
    measure = method.unknowns.measure
    return measure[interior.EQUATIONS] <= tolerance and measure[interior.PRODUCT] <= method.complementarity


@kernel
def aim(unknowns, value):
    """Set one target product for all active pairs, and for a cone that multiple of its unit."""
    for k in range(unknowns.slack.shape[0]):
        unknowns.target[k] = value if unknowns.dual[k] > 0.0 and unknowns.dimension[k] > 0 else 0.0
    interior.measure_products(unknowns, unknowns)


@kernel
def aim_likely(unknowns, complementarity):
    """Set Mehrotra's targets after a step towards zero products: the reachable product less the second-order term.

    σ κ − Δs Δγ with σ = (κ there/κ)³ (Mehrotra 1992, section 2), the second term scaled by the possible step length.
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
    """Set one target product for all pairs, a share of the mean product."""
    aim(unknowns, max(STEADY * unknowns.measure[interior.CENTER], interior.BELOW * complementarity))


@kernel
def can_go_far(unknowns):
    """Return True if nearly the whole present step can be taken."""
    return interior.way_to_boundary(unknowns, unknowns) >= FAR


@kernel
def set_direction(
    tree, ground, at, method, left, right, left_arms, right_arms, centers, residual, factors, factor, change, attempt
):  # fmt: skip
    """Set Newton's step: a predictor with products near zero, then a corrector with reachable targets.

    A cautious attempt targets a share of the products, without a predictor. ``solve_for_target`` has the arguments.
    """
    unknowns = method.unknowns
    is_aimed = attempt == CAUTIOUS
    if is_aimed:
        aim_steadily(unknowns, method.complementarity)
    else:
        aim(unknowns, interior.BELOW * method.complementarity)
    while True:  # so that the solve is inlined once
        solve_for_target(
            tree, ground, at, method, left, right, left_arms, right_arms, centers, residual, factors, factor, change
        )  # fmt: skip
        if is_aimed or can_go_far(unknowns):
            return
        aim_likely(unknowns, method.complementarity)
        is_aimed = True


@kernel
def in_use(method):
    """Return the method with the pairs up to the last active contact, so that others cost nothing."""
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
    """Set ``used``, the number of contacts up to the last active one."""
    for c in range(unknowns.active.shape[0]):
        if unknowns.active[c] == 1:
            unknowns.used[0] = c + 1
