"""Kinematics of the bodies: Algorithm 3.1 of Wendlandt 1997, in world axes.

All bodies share one reference point O: the root's centre of mass if the root floats, else the inertial
origin. A twist is (velocity of the point of the body that is at O, angular velocity), a wrench
(force, moment about O). With one reference point the transformations between links, Ad in the
thesis, are identities: the recursions only add and subtract, without transforming 6 x 6 matrices.
Positions are relative to O, so that no digit is lost far from the origin.
"""

from typing import NamedTuple

import numpy as np

from biped.kernels.tree.tree import FLOATING, PRISMATIC, REVOLUTE
from contact import vectors as vec
from contact.arrays import Floats
from kernelcache import kernel


class Poses(NamedTuple):
    """The tree in one configuration."""

    quaternion: Floats  # (n, 4) body to world
    rotation: Floats  # (n, 9) rotation matrix, body to world
    com: Floats  # (n, 3) [m] centre of mass, relative to O
    motion: Floats  # (nv, 6) unit twist of each degree of freedom: s, H_k in the thesis
    contact: Floats  # (nc, 3) [m] contact points, relative to O
    flat: Floats  # all of the above in one array, of which they are views


def new_poses(n: int, nv: int, nc: int) -> Poses:
    """Return poses for a tree, filled with NaN, which exposes a use before ``place_bodies``."""
    shapes = ((n, 4), (n, 9), (n, 3), (nv, 6), (nc, 3))
    ends = np.cumsum([rows * columns for rows, columns in shapes])
    flat = np.full(int(ends[-1]), np.nan)
    parts = np.split(flat, ends[:-1])
    quaternion, rotation, com, motion, contact = (
        part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)
    )
    return Poses(quaternion, rotation, com, motion, contact, flat)


@kernel
def quaternion_place(tree, i):
    """Return the index in q of the quaternion of a floating or spherical joint."""
    return tree.first_q[i] + (3 if tree.kind[i] == FLOATING else 0)


@kernel
def copy_poses(source, target):
    vec.copy1(source.flat, target.flat)


@kernel
def place_floating(q, first_v, poses):
    """Place the floating root: its centre of mass is O, its unit twists are the world's axes."""
    quaternion = (q[3], q[4], q[5], q[6])
    vec.store4(poses.quaternion, 0, quaternion)
    vec.store9(poses.rotation, 0, vec.quat_matrix(quaternion))
    vec.store3(poses.com, 0, (0.0, 0.0, 0.0))
    for axis in range(6):
        for column in range(6):
            poses.motion[first_v + axis, column] = 1.0 if axis == column else 0.0


@kernel
def place_jointed(tree, q, i, poses):
    """Place body i on its joint: equation 3.1, with the unit twists of equation 3.14."""
    parent = tree.parent[i]
    if parent < 0:
        parent_quaternion = (1.0, 0.0, 0.0, 0.0)
        joint = vec.load3(tree.joint_offset, i)
    else:
        parent_quaternion = vec.load4(poses.quaternion, parent)
        joint = point_of_body(poses, parent, vec.load3(tree.joint_offset, i))
    kind = tree.kind[i]
    start = tree.first_q[i]
    dof = tree.first_v[i]
    home_axis = vec.load3(tree.axis, i)
    if kind == REVOLUTE:
        quaternion = vec.quat_mul(parent_quaternion, vec.quat_about(home_axis, q[start]))
    elif kind == PRISMATIC:
        quaternion = parent_quaternion
    else:
        quaternion = vec.quat_mul(parent_quaternion, (q[start], q[start + 1], q[start + 2], q[start + 3]))
    rotation = vec.quat_matrix(quaternion)
    com = vec.add(joint, vec.mat_vec(rotation, vec.load3(tree.com_offset, i)))
    if kind == REVOLUTE:
        axis = vec.mat_vec(rotation, home_axis)
        linear = vec.cross(joint, axis)
        if tree.pitch.shape[0] > 0:
            linear = vec.add(linear, vec.scale(tree.pitch[i], axis))
            com = vec.add(com, vec.scale(tree.pitch[i] * q[start], axis))
        vec.store_twist(poses.motion, dof, linear, axis)
    elif kind == PRISMATIC:
        axis = vec.mat_vec(rotation, home_axis)
        com = vec.add(com, vec.scale(q[start], axis))
        vec.store_twist(poses.motion, dof, axis, (0.0, 0.0, 0.0))
    else:
        vec.store_twist(poses.motion, dof, (0.0, joint[2], -joint[1]), (1.0, 0.0, 0.0))
        vec.store_twist(poses.motion, dof + 1, (-joint[2], 0.0, joint[0]), (0.0, 1.0, 0.0))
        vec.store_twist(poses.motion, dof + 2, (joint[1], -joint[0], 0.0), (0.0, 0.0, 1.0))
    vec.store4(poses.quaternion, i, quaternion)
    vec.store9(poses.rotation, i, rotation)
    vec.store3(poses.com, i, com)


@kernel
def point_of_body(poses, i, offset):
    """Return the point of body i at ``offset`` (home axes) from its centre of mass, relative to O."""
    return vec.add(vec.load3(poses.com, i), vec.mat_vec(vec.load9(poses.rotation, i), offset))


@kernel
def place_bodies(tree, q, poses):
    """Set poses, unit twists and contact points of the configuration ``q``, outboard (Algorithm 3.1)."""
    start = 0
    if tree.kind[0] == FLOATING:
        place_floating(q, tree.first_v[0], poses)
        start = 1
    for i in range(start, tree.parent.shape[0]):
        place_jointed(tree, q, i, poses)
    for c in range(tree.contact_body.shape[0]):
        vec.store3(poses.contact, c, point_of_body(poses, tree.contact_body[c], vec.load3(tree.contact_offset, c)))


@kernel
def motion_cross(velocity, twist):
    """Return the rate of change of a twist that moves with ``velocity``: (ω × v' + v × ω', ω × ω')."""
    v, w = velocity[:3], velocity[3:]
    return vec.add(vec.cross(w, twist[:3]), vec.cross(v, twist[3:])) + vec.cross(w, twist[3:])


@kernel
def joint_twist(tree, poses, rates, i):
    """Return H_k β_k, the twist of body i relative to its parent."""
    vx = vy = vz = wx = wy = wz = 0.0
    for dof in range(tree.first_v[i], tree.first_v[i] + tree.dofs[i]):
        rate = rates[dof]
        sx, sy, sz, ax, ay, az = vec.load6(poses.motion, dof)
        vx, vy, vz = vx + sx * rate, vy + sy * rate, vz + sz * rate
        wx, wy, wz = wx + ax * rate, wy + ay * rate, wz + az * rate
    return vx, vy, vz, wx, wy, wz


@kernel
def set_twists(tree, poses, rates, velocity):
    """Set the twists of the bodies about O (equation 3.9), (n, 6)."""
    for i in range(tree.parent.shape[0]):
        twist = joint_twist(tree, poses, rates, i)
        if tree.parent[i] >= 0:
            twist = vec.add6(vec.load6(velocity, tree.parent[i]), twist)
        vec.store6(velocity, i, twist)


@kernel
def move_bodies(tree, poses, rates, velocity, drift):
    """Set the bodies' twists, and the part a_k of their accelerations that velocities cause.

    velocity, drift: (n, 6), about the fixed point of space at the present O. The unit twists of a joint
    move with the joint; those of a floating or spherical joint keep the world's axes, so that only
    their reference point moves.
    """
    for i in range(tree.parent.shape[0]):
        relative = joint_twist(tree, poses, rates, i)
        parent = tree.parent[i]
        if parent < 0:
            inboard = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        else:
            inboard = vec.load6(velocity, parent)
        vec.store6(velocity, i, vec.add6(inboard, relative))
        vec.store6(drift, i, joint_drift(tree, poses, i, inboard, relative))


@kernel
def joint_drift(tree, poses, i, inboard, relative):
    """Return a_k of equation 3.11, the change of H_k β_k at constant β_k."""
    kind = tree.kind[i]
    if kind == FLOATING:
        # β is (ċ, ω) of the centre of mass c; the point of the body at a fixed place O moves with
        # ċ + ω × (O − c), whose derivative at constant β is −ω × ċ.
        return vec.cross(relative[:3], relative[3:]) + (0.0, 0.0, 0.0)
    if kind == REVOLUTE or kind == PRISMATIC:
        return motion_cross(inboard, relative)
    # Spherical: β is ω of the world's axes about the joint, which moves with the parent: v_J = v_O + ω_p × r.
    joint = spherical_centre(tree, poses, i)
    carried = vec.add(inboard[:3], vec.cross(inboard[3:], joint))
    return vec.cross(carried, relative[3:]) + (0.0, 0.0, 0.0)


@kernel
def spherical_centre(tree, poses, i):
    """Return the centre of spherical joint i relative to O, from its unit twists."""
    dof = tree.first_v[i]
    return poses.motion[dof + 1, 2], poses.motion[dof + 2, 0], poses.motion[dof, 1]
