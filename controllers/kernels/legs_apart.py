"""Limits of acceleration: capsules of the legs stop before they touch, and knees before they are straight."""

import math
from typing import NamedTuple

from biped.kernels.tree.whole_body import bias_at, point_jacobian, velocity_at
from contact.arrays import Floats, Integers
from contact.capsules import capsule_gap, point_on_axis
from contact.vectors import add, dot, load3, load9, mat_vec, scale, sub
from kernelcache import kernel

#: [m] Distance above which a pair of capsules has no row.
NEAR = 0.1
#: Greatest ratio of the hip-to-ankle distance to the leg length.
STRAIGHT = 0.99
#: [1/s] Rate of the approach to this ratio.
KNEE_RATE = 40.0


class LegCapsules(NamedTuple):
    """Capsules of the legs, and pairs of one capsule of each leg."""

    body: Integers  # (c,)
    center: Floats  # (c, 3) [m] from the body's centre of mass, in body axes
    half: Floats  # (c, 3) [m] from the center to an end of the axis
    radius: Floats  # (c,)
    pair: Integers  # (k, 2)
    margin: float  # [m] smallest clearance between the legs
    pace: float  # [1/s] rate of the approach to the clearance
    jacobian: Floats  # (2, 6, nv) buffer


@kernel
def placed(capsules, poses, c):
    """Return a capsule as ``contact.capsules`` needs it, with positions from O."""
    i = capsules.body[c]
    turn = load9(poses.rotation, i)
    center = add(load3(poses.com, i), mat_vec(turn, load3(capsules.center, c)))
    return center, mat_vec(turn, load3(capsules.half, c)), capsules.radius[c]


@kernel
def keep_legs_apart(capsules, measurement, buffers):
    """Write d̈ ≥ −2a ḋ − a² (d − margin) for each near pair to ``whole_body.Buffers``; return the smallest gap [m]."""
    motion = measurement.motion
    buffers.rows[0] = 0
    least = NEAR
    for k in range(capsules.pair.shape[0]):
        first, second = capsules.pair[k, 0], capsules.pair[k, 1]
        a, b = placed(capsules, motion.poses, first), placed(capsules, motion.poses, second)
        gap, normal, s, t = capsule_gap(a, b)
        least = min(least, gap)
        if gap < NEAR:
            i, j = capsules.body[first], capsules.body[second]
            at, other = point_on_axis(a, s), point_on_axis(b, t)
            pace, over = capsules.pace, gap - capsules.margin
            add_distance_row(capsules, measurement, buffers, i, at, j, other, normal, over, pace, 0.0)
    return least


@kernel
def keep_legs_bent(capsules, legs, stance, measurement, buffers):
    """Write l̈ ≤ −2a l̇ − a² (l − most) for the hip-to-ankle distances: a stretched knee could bend the wrong way."""
    tree, motion = measurement.tree, measurement.motion
    for k in range(2):
        i = stance.foot[k]
        hip = mat_vec(load9(motion.poses.rotation, 0), load3(legs.hip, k))
        ankle = sub(load3(motion.poses.com, i), mat_vec(load9(motion.poses.rotation, i), load3(tree.com_offset, i)))
        length = math.sqrt(dot(sub(ankle, hip), sub(ankle, hip)))
        moving = sub(velocity_at(motion, i, ankle)[:3], velocity_at(motion, 0, hip)[:3])
        up = scale(1.0 / length, sub(hip, ankle))
        turning = (dot(moving, moving) - dot(up, moving) ** 2) / length
        over = STRAIGHT * legs.length[k] - length
        add_distance_row(capsules, measurement, buffers, 0, hip, i, ankle, up, over, KNEE_RATE, turning)


@kernel
def add_distance_row(capsules, measurement, buffers, i, at, j, other, normal, over, pace, least):
    """Write d̈ ≥ −2a ḋ − a² ``over`` + ``least`` for two points of bodies i and j with distance d along ``normal``."""
    tree, motion, row = measurement.tree, measurement.motion, buffers.rows[0]
    point_jacobian(tree, motion.poses, i, at, capsules.jacobian[0])
    point_jacobian(tree, motion.poses, j, other, capsules.jacobian[1])
    moving = sub(velocity_at(motion, j, other)[:3], velocity_at(motion, i, at)[:3])
    bias = sub(bias_at(motion, j, other)[:3], bias_at(motion, i, at)[:3])
    for dof in range(buffers.more.shape[1]):
        buffers.more[row, dof] = 0.0
        for axis in range(3):
            between = capsules.jacobian[1, axis, dof] - capsules.jacobian[0, axis, dof]
            buffers.more[row, dof] += normal[axis] * between
    slow = -2.0 * pace * dot(normal, moving) - pace * pace * over
    buffers.least[row] = slow - dot(normal, bias) + least
    buffers.rows[0] += 1
