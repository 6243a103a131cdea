"""Interior point method: pairs of a slack and a multiplier whose products tend to zero together.

A pair is two numbers, or two members of the friction cone (``biped.kernels.solve.cone``). ``motion`` holds the slacks
and multipliers, ``buffers`` their changes and the target products.
"""

import math

from biped.kernels.solve.cone import CONE, entries, greatest_value, jordan, way_in_cone
from contact.vectors import copy1, dot, sub
from kernelcache import kernel

# Indices of ``buffers.measure``.
EQUATIONS = 0  # norm of balances, rigid rows and differences of slacks from their targets [N·s, m]
PRODUCT = 1  # the greatest product of a pair [N·s·m]
MERIT = 2  # merit function of the line search
LARGEST_ROW = 3  # [m, or sine] largest rigid row
ROUNDING = 4  # rounding error of EQUATIONS
CENTER = 5  # mean product of the pairs
OFF_CENTER = 6  # norm of the products less their targets [N·s·m]
NOISE = 7  # error of EQUATIONS by rounding of Newton's step, by the stiffness of the contacts
MEASURES = 8

EPSILON = 2.0**-52
# Rounding error of the equations in units of that of the largest terms.
ROUNDINGS = 4.0
# Share of the distance to the nearest zero of a slack or multiplier that a step takes.
TO_BOUNDARY = 0.99
# Least target product relative to the required complementarity.
BELOW = 0.1


@kernel
def measure_products(motion, buffers):
    """Set the greatest and the mean product of the pairs, and the merit of the line search."""
    total, greatest, squares = 0.0, 0.0, 0.0
    count = 0
    for k in range(motion.slack.shape[0]):
        if buffers.dimension[k] == 1:
            product = motion.slack[k] * motion.dual[k]
            total += product
            greatest = max(greatest, product)
            off = product - buffers.target[k]
            squares += off * off
            count += 1
        elif buffers.dimension[k] == CONE:
            products = jordan(entries(motion.slack, k), entries(motion.dual, k))
            total += products[0]
            greatest = max(greatest, greatest_value(products))
            left = sub(products, entries(buffers.target, k))
            squares += dot(left, left)
            count += 1
    buffers.measure[PRODUCT] = greatest
    buffers.measure[CENTER] = total / count if count > 0 else 0.0
    buffers.measure[OFF_CENTER] = math.sqrt(squares)
    buffers.measure[MERIT] = math.sqrt(buffers.measure[EQUATIONS] * buffers.measure[EQUATIONS] + squares)


@kernel
def way_to_boundary(motion, buffers):
    """Return the largest step, at most 1, that keeps every pair inside its bounds."""
    most = 1.0
    for k in range(motion.slack.shape[0]):
        if buffers.dimension[k] == 1:
            if buffers.slack_change[k] < 0.0:
                most = min(most, -TO_BOUNDARY * motion.slack[k] / buffers.slack_change[k])
            if buffers.dual_change[k] < 0.0:
                most = min(most, -TO_BOUNDARY * motion.dual[k] / buffers.dual_change[k])
        elif buffers.dimension[k] == CONE and motion.dual[k] > 0.0:
            most = min(most, TO_BOUNDARY * way_in_cone(entries(motion.slack, k), entries(buffers.slack_change, k)))
            most = min(most, TO_BOUNDARY * way_in_cone(entries(motion.dual, k), entries(buffers.dual_change, k)))
    return most


@kernel
def aim(motion, buffers, value):
    """Set one target product for all pairs, and for a cone that multiple of its unit."""
    for k in range(motion.slack.shape[0]):
        buffers.target[k] = value if buffers.dimension[k] > 0 else 0.0


@kernel
def keep_pairs(motion, buffers):
    """Save the pairs at the start of a line search."""
    copy1(motion.slack, buffers.base_slack)
    copy1(motion.dual, buffers.base_dual)


@kernel
def move_pairs(motion, buffers, part):
    """Set the pairs to those at a part of the step from the saved ones."""
    for k in range(motion.slack.shape[0]):
        motion.slack[k] = buffers.base_slack[k] + part * buffers.slack_change[k]
        motion.dual[k] = buffers.base_dual[k] + part * buffers.dual_change[k]


@kernel
def likely_center(motion, buffers, complementarity):
    """Return the target product σ κ, with σ = (κ at the boundary of the step towards κ = 0 / κ)³."""
    most = way_to_boundary(motion, buffers)
    total, count = 0.0, 0
    for k in range(motion.slack.shape[0]):
        slack = motion.slack[k] + most * buffers.slack_change[k]
        total += slack * (motion.dual[k] + most * buffers.dual_change[k])
        count += 1 if buffers.dimension[k] > 0 else 0
    mean = buffers.measure[CENTER]
    ratio = min(max(total / count / mean, 0.0), 1.0)
    return max(ratio * ratio * ratio * mean, BELOW * complementarity)
