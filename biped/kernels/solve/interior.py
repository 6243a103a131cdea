"""Interior point method: pairs of a slack and a multiplier whose products go to zero together.

A pair is two numbers, or two members of the cone of friction (``biped.kernels.solve.cone``). ``motion`` has the slacks
and the multipliers, ``room`` what becomes of them and what their products are aimed at.
"""

import math

from biped.kernels.solve.cone import CONE, entries, greatest_value, jordan, way_in_cone
from contact.vectors import copy1, dot, sub
from kernelcache import kernel

# Places in ``room.measure``.
EQUATIONS = 0  # norm of balances, rigid rows and what is between slacks and their meaning [N·s, m]
PRODUCT = 1  # the greatest product of a pair [N·s·m]
MERIT = 2  # of the line search
LARGEST_ROW = 3  # [m, or sine] of the rigid rows
ROUNDING = 4  # what rounding leaves of EQUATIONS
CENTER = 5  # mean product of the pairs
OFF_CENTER = 6  # norm of the products less what they are aimed at [N·s·m]
NOISE = 7  # what rounding of Newton's step leaves of EQUATIONS, by the stiffness of what it presses on
MEASURES = 8

EPSILON = 2.0**-52
# What rounding leaves of the equations is so many times the largest terms'.
ROUNDINGS = 4.0
# How much of the way to the nearest zero of a slack or multiplier a step goes.
TO_BOUNDARY = 0.99
# Products are not aimed lower than this part of what is asked for.
BELOW = 0.1


@kernel
def measure_products(motion, room):
    """The greatest and the mean product of the pairs, and the line search's merit."""
    total, greatest, squares = 0.0, 0.0, 0.0
    count = 0
    for k in range(motion.slack.shape[0]):
        if room.dimension[k] == 1:
            product = motion.slack[k] * motion.dual[k]
            total += product
            greatest = max(greatest, product)
            off = product - room.target[k]
            squares += off * off
            count += 1
        elif room.dimension[k] == CONE:
            products = jordan(entries(motion.slack, k), entries(motion.dual, k))
            total += products[0]
            greatest = max(greatest, greatest_value(products))
            left = sub(products, entries(room.target, k))
            squares += dot(left, left)
            count += 1
    room.measure[PRODUCT] = greatest
    room.measure[CENTER] = total / count if count > 0 else 0.0
    room.measure[OFF_CENTER] = math.sqrt(squares)
    room.measure[MERIT] = math.sqrt(room.measure[EQUATIONS] * room.measure[EQUATIONS] + squares)


@kernel
def way_to_boundary(motion, room):
    """The largest step, at most 1, that leaves every pair a part of what it is."""
    most = 1.0
    for k in range(motion.slack.shape[0]):
        if room.dimension[k] == 1:
            if room.slack_change[k] < 0.0:
                most = min(most, -TO_BOUNDARY * motion.slack[k] / room.slack_change[k])
            if room.dual_change[k] < 0.0:
                most = min(most, -TO_BOUNDARY * motion.dual[k] / room.dual_change[k])
        elif room.dimension[k] == CONE and motion.dual[k] > 0.0:
            most = min(most, TO_BOUNDARY * way_in_cone(entries(motion.slack, k), entries(room.slack_change, k)))
            most = min(most, TO_BOUNDARY * way_in_cone(entries(motion.dual, k), entries(room.dual_change, k)))
    return most


@kernel
def aim(motion, room, value):
    """The same product of all pairs, and of a cone that many times its unit."""
    for k in range(motion.slack.shape[0]):
        room.target[k] = value if room.dimension[k] > 0 else 0.0


@kernel
def keep_pairs(motion, room):
    """Where a line search begins."""
    copy1(motion.slack, room.base_slack)
    copy1(motion.dual, room.base_dual)


@kernel
def move_pairs(motion, room, part):
    """The pairs at a part of the step from there."""
    for k in range(motion.slack.shape[0]):
        motion.slack[k] = room.base_slack[k] + part * room.slack_change[k]
        motion.dual[k] = room.base_dual[k] + part * room.dual_change[k]


@kernel
def likely_center(motion, room, complementarity):
    """What to aim at, by where the step towards κ = 0 can get: σ κ, σ = (κ there/κ)³."""
    most = way_to_boundary(motion, room)
    total, count = 0.0, 0
    for k in range(motion.slack.shape[0]):
        slack = motion.slack[k] + most * room.slack_change[k]
        total += slack * (motion.dual[k] + most * room.dual_change[k])
        count += 1 if room.dimension[k] > 0 else 0
    mean = room.measure[CENTER]
    ratio = min(max(total / count / mean, 0.0), 1.0)
    return max(ratio * ratio * ratio * mean, BELOW * complementarity)
