"""Forces along a joint's freedoms: actuators, springs, dampers and limits (Brüdigam et al. 2024, section 2).

Forces of actuators and springs are known at the start of the step, since a potential's force is taken at z₁ (10). The
impulse of dampers and limits is a function of the freedom's coordinate x₂ at the end of the step,

    λ = −d (x₂ − x₁) + γ_lower − γ_upper,      0 ≤ x₂ − lower ⊥ γ_lower ≥ 0,   0 ≤ upper − x₂ ⊥ γ_upper ≥ 0,

so that their row in Newton's matrix is that of a compliant joint: x + λ/K = …, with K = d + Σ γ/slack. The rows belong
to the joint's node, so that dampers and limits add nothing to the graph.
"""

import math

from biped.kernels.solve.rounding import resolved
from contact.vectors import load6
from kernelcache import kernel

# Compliance [m/(N·s)] of a freedom without damper far from its limits: its inverse is negligible.
SOFTEST = 1e30


@kernel
def add_row_impulse(joints, rows, j, row, impulse, target, sign):
    """Add ``sign`` times an impulse along a row to ``target``, for both bodies of joint j."""
    for side in range(2):
        body = joints.inboard[j] if side == 0 else joints.outboard[j]
        if body >= 0:
            for k in range(6):
                target[body, k] += sign * impulse * rows[2 * row + side, k]


@kernel
def add_known_forces(joints, motion, buffers, h, share):
    """Add the impulses of actuators and springs, with their forces at z₁, to ``buffers.impulse``."""
    for j in range(joints.inboard.shape[0]):
        for row in range(joints.first[j] + joints.rigid[j], joints.first[j + 1]):
            x = motion.coordinate[row]
            force = motion.force[row] - joints.stiffness[row] * (x - joints.rest[row])
            if force != 0.0:
                add_row_impulse(joints, buffers.rows_begin, j, row, share * h * force, buffers.impulse, 1.0)


@kernel
def limit_pair(joints, row, side):
    """Return the slack-multiplier pair of a freedom's lower (side 0) or upper limit (side 1); −1 without a limit."""
    has_lower = joints.lower[row] > -math.inf
    if side == 0:
        return joints.pair[row] if has_lower else -1
    return joints.pair[row] + has_lower if joints.upper[row] < math.inf else -1


@kernel
def soft_impulse(joints, motion, buffers, row):
    """Return the impulse λ of a freedom with a damper or limits."""
    impulse = -joints.damping[row] * (buffers.value[row] - motion.coordinate[row])
    for side in range(2):
        at = limit_pair(joints, row, side)
        if at >= 0:
            impulse += motion.dual[at] if side == 0 else -motion.dual[at]
    return impulse


@kernel
def subtract_rows(joints, motion, buffers):
    """Set the impulses of dampers and limits, and subtract the impulses of all solved rows from the balances."""
    for j in range(joints.inboard.shape[0]):
        begin = joints.first[j]
        for row in range(begin, begin + joints.solved[j]):
            if row >= begin + joints.rigid[j]:
                motion.multiplier[row] = soft_impulse(joints, motion, buffers, row)
            add_row_impulse(joints, buffers.rows_begin, j, row, motion.multiplier[row], buffers.balance, -1.0)


@kernel
def limit_distance(joints, buffers, row, side):
    """Return the candidate's distance [m or rad] to the lower (side 0) or upper limit (side 1) at the step's end."""
    if side == 0:
        return buffers.value[row] - joints.lower[row]
    return joints.upper[row] - buffers.value[row]


@kernel
def side_of_limit(joints, motion, buffers, row, side, at):
    """Return distance, slack and multiplier of a limit; a distance that differs only by rounding becomes the slack."""
    slack = motion.slack[at]
    distance = resolved(limit_distance(joints, buffers, row, side), slack, 1.0 + abs(buffers.value[row]))
    return distance, slack, motion.dual[at]


@kernel
def limit_defects(joints, motion, buffers):
    """Return the sum of squares of the differences between the limits' slacks and distances."""
    total = 0.0
    for row in range(joints.pair.shape[0]):
        for side in range(2):
            at = limit_pair(joints, row, side)
            if at >= 0:
                off = limit_distance(joints, buffers, row, side) - motion.slack[at]
                total += off * off
    return total


@kernel
def softness(joints, motion, buffers, row):
    """Return 1/K and f₀/K of a freedom's row G₂ δ + δλ/K = f₀/K."""
    stiff, push = joints.damping[row], 0.0
    for side in range(2):
        at = limit_pair(joints, row, side)
        if at >= 0:
            distance, s, gamma = side_of_limit(joints, motion, buffers, row, side, at)
            stiff += gamma / s
            force = (buffers.target[at] - gamma * distance) / s
            push += force if side == 0 else -force
    stiff = max(stiff, 1.0 / SOFTEST)
    return 1.0 / stiff, push / stiff


@kernel
def set_limit_changes(joints, motion, buffers, row, change):
    """Set the changes of slacks and multipliers of a freedom's limits for a change of its coordinate."""
    for side in range(2):
        at = limit_pair(joints, row, side)
        if at >= 0:
            way = change if side == 0 else -change
            distance, s, gamma = side_of_limit(joints, motion, buffers, row, side, at)
            buffers.slack_change[at] = distance + way - s
            buffers.dual_change[at] = (buffers.target[at] - gamma * (distance + way)) / s


@kernel
def start_limits(joints, motion, buffers, h, usual, heaviest):
    """Set the initial slacks and multipliers of all limits for the iterations.

    ``usual`` [N·s] is a typical impulse; without gravity, that of the heaviest body's motion.
    """
    for row in range(joints.pair.shape[0]):
        way = max(abs(buffers.value[row] - motion.coordinate[row]), 1e-9)
        for side in range(2):
            at = limit_pair(joints, row, side)
            if at >= 0:
                motion.slack[at] = max(limit_distance(joints, buffers, row, side), way)
                impulse = usual if usual > 0.0 else heaviest * way / h
                motion.dual[at] = way * impulse / motion.slack[at]


@kernel
def pressing_limits(joints, motion, buffers):
    """Return Σ [N·s] of limit stiffnesses γ/s times displacements of the joint's bodies, for ``buffers.load``."""
    total = 0.0
    for j in range(joints.inboard.shape[0]):
        for row in range(joints.first[j], joints.first[j + 1]):
            for side in range(2):
                at = limit_pair(joints, row, side)
                if at >= 0:
                    stiff = motion.dual[at] / motion.slack[at]
                    for a in range(6):
                        total += stiff * abs(buffers.load[joints.outboard[j], a])
    return total


@kernel
def displacement_along(joints, buffers, j, row):
    """Return G₂ Δ of a row, for the solution in ``buffers.load``."""
    total = 0.0
    for side in range(2):
        body = joints.inboard[j] if side == 0 else joints.outboard[j]
        if body >= 0:
            gradient, moved = load6(buffers.rows_end, 2 * row + side), load6(buffers.load, body)
            for k in range(6):
                total += gradient[k] * moved[k]
    return total
