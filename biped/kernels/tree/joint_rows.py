"""Rows of joints: their values and gradients, in world axes (Brüdigam et al. 2024, section 2 and appendix B).

With r the vector from the inboard to the outboard point, in the inboard body's axes, and ρ = (c, u) the turn relative
to the joint's zero, every row is a function of r and ρ, and of axes a of the inboard and b of the outboard body:

    TRANSLATION  a · r                  TWIST  2 a · u              PERPENDICULAR  a · b
    ANGLE        2 atan2(a · u, c)      HELIX  a · r − pitch · ANGLE
    AZIMUTH      angle of b about a     COUNTER_AZIMUTH  minus the angle of a about b

The first two are the paper's generic constraints. Small displacements δx, φ of both bodies, the turns in world axes,
change r by Rᵀ(δx_b + φ_b × r_b − δx_a − φ_a × s), where s goes from the inboard centre of mass to the outboard point,
and ρ by ½ (0, w) ρ with w = Rᵀ(φ_b − φ_a). A gradient is stored as force and moment of a unit impulse along the row.
"""

import math

from biped.kernels.tree.row_kinds import AZIMUTH, COUNTER_AZIMUTH, HELIX, PERPENDICULAR, TRANSLATION, TWIST
from contact import vectors as v
from kernelcache import kernel, routine

IDENTITY = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
NO_TURN = (1.0, 0.0, 0.0, 0.0)
ZERO = (0.0, 0.0, 0.0)


@kernel
def set_rotations(poses):
    """Set the rotation matrices of all quaternions."""
    for i in range(poses.com.shape[0]):
        v.store9(poses.rotation, i, v.quat_matrix(v.load4(poses.quaternion, i)))


@kernel
def inboard_pose(joints, poses, j):
    """Return (centre of mass, quaternion, rotation) of the inboard body; the inertial frame for the ground."""
    a = joints.inboard[j]
    if a < 0:
        return ZERO, NO_TURN, IDENTITY
    return v.load3(poses.com, a), v.load4(poses.quaternion, a), v.load9(poses.rotation, a)


@kernel
def joint_geometry(joints, poses, j):
    """Return (R of the inboard body, arm s, arm r_b, r in its axes, ρ)."""
    com, quaternion, rotation = inboard_pose(joints, poses, j)
    b = joints.outboard[j]
    arm = v.mat_vec(v.load9(poses.rotation, b), v.load3(joints.outboard_point, j))
    reach = v.add(v.sub(v.load3(poses.com, b), com), arm)
    r = v.sub(v.mat_t_vec(rotation, reach), v.load3(joints.inboard_point, j))
    aligned = v.quat_mul(v.load4(poses.quaternion, b), v.quat_conj(v.load4(joints.alignment, j)))
    return rotation, reach, arm, r, v.quat_mul(v.quat_conj(quaternion), aligned)


@kernel
def relative_rotation(joints, poses, rotation, j, axis):
    """Return an axis of the outboard body in the inboard body's axes."""
    return v.mat_t_vec(rotation, v.mat_vec(v.load9(poses.rotation, joints.outboard[j]), axis))


@kernel
def angle_about(rho, a):
    """Return the angle of the turn about a, and its gradient by w."""
    c, u = rho[0], (rho[1], rho[2], rho[3])
    s = v.dot(u, a)
    size = c * c + s * s
    gradient = v.add(v.scale(c, v.add(v.scale(c, a), v.cross(u, a))), v.scale(s, u))
    return 2.0 * math.atan2(s, c), v.scale(1.0 / size, gradient)


@kernel
def azimuth(axis, zero, pointer):
    """Return the angle of ``pointer`` about ``axis`` from ``zero``, and its gradient by a turn of the pointer."""
    across = v.cross(axis, zero)
    x, y = v.dot(pointer, zero), v.dot(pointer, across)
    gradient = v.sub(v.scale(x, v.cross(pointer, across)), v.scale(y, v.cross(pointer, zero)))
    return math.atan2(y, x), v.scale(1.0 / (x * x + y * y), gradient)


@kernel
def counted_on(angle, before):
    """Return the angle plus whole turns that differs from ``before`` by half a turn at most."""
    turns = (before - angle) / (2.0 * math.pi)
    return angle + 2.0 * math.pi * math.floor(turns + 0.5)


@kernel
def rotational_part(joints, poses, rotation, rho, j, row, before):
    """Return (value, gradient by w) of a row that depends on the relative turn alone, or of the angle in a helix."""
    a = v.load3(joints.axis, row)
    kind = joints.kind[row]
    if kind == TWIST:
        u = (rho[1], rho[2], rho[3])
        return 2.0 * v.dot(a, u), v.add(v.scale(rho[0], a), v.cross(u, a))
    if kind == PERPENDICULAR:
        b = relative_rotation(joints, poses, rotation, j, v.load3(joints.other, row))
        return v.dot(a, b), v.cross(b, a)
    if kind == AZIMUTH:
        b = relative_rotation(joints, poses, rotation, j, v.load3(joints.other, row))
        angle, gradient = azimuth(a, v.load3(joints.reference, row), b)
        return counted_on(angle, before), gradient
    if kind == COUNTER_AZIMUTH:
        b = relative_rotation(joints, poses, rotation, j, v.load3(joints.other, row))
        zero = relative_rotation(joints, poses, rotation, j, v.load3(joints.reference, row))
        angle, gradient = azimuth(b, zero, a)
        return counted_on(-angle, before), gradient
    angle, gradient = angle_about(rho, a)
    return counted_on(angle, before), gradient


@routine
def set_rows(joints, poses, before, value, rows):
    """Set values and gradients of all rows at some poses; angles continue those in ``before`` (R,)."""
    for j in range(joints.inboard.shape[0]):
        rotation, reach, arm, r, rho = joint_geometry(joints, poses, j)
        for row in range(joints.first[j], joints.first[j + 1]):
            kind = joints.kind[row]
            number, force_in, moment_in, force_out, moment_out = 0.0, ZERO, ZERO, ZERO, ZERO
            if kind == TRANSLATION or kind == HELIX:
                axis = v.load3(joints.axis, row)
                n = v.mat_vec(rotation, axis)
                number = v.dot(axis, r)
                force_in, moment_in, force_out, moment_out = v.scale(-1.0, n), v.cross(n, reach), n, v.cross(arm, n)
            if kind != TRANSLATION:
                start = before[row]
                share = 1.0
                if kind == HELIX:
                    share = -joints.pitch[row]
                    start = (number - before[row]) / joints.pitch[row]
                part, gradient = rotational_part(joints, poses, rotation, rho, j, row, start)
                number += share * part
                t = v.scale(share, v.mat_vec(rotation, gradient))
                moment_in, moment_out = v.sub(moment_in, t), v.add(moment_out, t)
            value[row] = number
            v.store_twist(rows, 2 * row, force_in, moment_in)
            v.store_twist(rows, 2 * row + 1, force_out, moment_out)


@routine
def rows_at_poses(joints, poses, before, value, rows):
    """Call ``set_rows`` from Python, for poses whose rotations are not set yet."""
    set_rotations(poses)
    set_rows(joints, poses, before, value, rows)
