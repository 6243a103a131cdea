"""Rows of links, which hold two bodies by no frame of a joint: the lengths of springs.

They follow those of the joints, in the same arrays: all that acts along a freedom acts along them.
"""

import math

from biped.kernels.tree.joint_rows import inboard_pose, set_rotations, set_rows
from contact.jit import kernel, routine
from contact.vectors import add, cross, dot, load3, load9, mat_vec, scale, store_twist, sub


@kernel
def set_length(joints, poses, j, value, rows):
    """The way between its points, in the only row of joint j; where that is zero it has no direction, nor a force."""
    com, _, rotation = inboard_pose(joints, poses, j)
    b, row = joints.outboard[j], joints.first[j]
    arm_in = mat_vec(rotation, load3(joints.inboard_point, j))
    arm_out = mat_vec(load9(poses.rotation, b), load3(joints.outboard_point, j))
    way = sub(add(load3(poses.com, b), arm_out), add(com, arm_in))
    length = math.sqrt(dot(way, way))
    n = scale(1.0 / length if length > 0.0 else 0.0, way)
    value[row] = length
    store_twist(rows, 2 * row, scale(-1.0, n), cross(n, arm_in))
    store_twist(rows, 2 * row + 1, n, cross(arm_out, n))


@kernel
def set_lengths(joints, count, poses, value, rows):
    """Of the springs, the last ``count`` of the joints."""
    for j in range(joints.inboard.shape[0] - count, joints.inboard.shape[0]):
        set_length(joints, poses, j, value, rows)


@routine
def rows_at_poses(joints, springs, poses, before, value, rows):
    """Values and gradients of all rows, from Python, at poses whose rotations are not set yet."""
    set_rotations(poses)
    set_rows(joints, poses, before, value, rows)
    set_lengths(joints, springs, poses, value, rows)
