"""Where the next iteration's products are aimed, and how far along its step they may go."""

from biped.kernels.rigid.step import BELOW, likely_center, measure_products, way_to_boundary
from biped.kernels.rigid.system import CENTER
from contact.jit import kernel

# What a cautious iteration leaves of the products.
STEADY = 0.2
# A step whose pairs allow this part of it needs no correction.
FAR = 0.9


@kernel
def aim(unknowns, value):
    """The same product of all pairs that play a part."""
    for k in range(unknowns.slack.shape[0]):
        unknowns.target[k] = value if unknowns.dual[k] > 0.0 else 0.0
    measure_products(unknowns, unknowns)


@kernel
def aim_likely(unknowns, complementarity):
    """Mehrotra's aim, after a step towards products of zero: what it can reach, less what it leaves in second order.

    σ κ − Δs Δγ with σ = (κ there/κ)³ (Mehrotra 1992, section 2), the second only as far as the step can be gone.
    """
    most = way_to_boundary(unknowns, unknowns)
    value = likely_center(unknowns, unknowns, complementarity)
    for k in range(unknowns.slack.shape[0]):
        off = most * most * unknowns.slack_change[k] * unknowns.dual_change[k]
        aimed = min(max(value - off, 0.1 * value), 10.0 * value)
        unknowns.target[k] = aimed if unknowns.dual[k] > 0.0 else 0.0
    measure_products(unknowns, unknowns)


@kernel
def aim_steadily(unknowns, complementarity):
    """The same product of all pairs, a part of what it is on average."""
    aim(unknowns, max(STEADY * unknowns.measure[CENTER], BELOW * complementarity))


@kernel
def can_go_far(unknowns):
    """Whether the step in hand may be gone nearly to its end."""
    return way_to_boundary(unknowns, unknowns) >= FAR


@kernel
def keep_pairs(unknowns):
    for k in range(unknowns.slack.shape[0]):
        unknowns.base_slack[k] = unknowns.slack[k]
        unknowns.base_dual[k] = unknowns.dual[k]


@kernel
def go_from_base(unknowns, part):
    for k in range(unknowns.slack.shape[0]):
        unknowns.slack[k] = unknowns.base_slack[k] + part * unknowns.slack_change[k]
        unknowns.dual[k] = unknowns.base_dual[k] + part * unknowns.dual_change[k]
