"""Torques for MuJoCo before a step, and its state and forces afterwards, in the coordinates of a model.

Coordinates of spherical joints are left to ``MujocoSimulation.read``.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from contact import vectors as vec
from contact.arrays import Floats, Integers
from experiments.engines.kernels.contacts import nearest
from kernelcache import kernel, routine


class JointMap(NamedTuple):
    """Correspondence of the coordinates of n joints with one axis each, and of a free root."""

    free_qpos: int  # first entry of the free joint in ``qpos``; −1 without one
    free_qvel: int  # first entry of the free joint in ``qvel``
    home: Floats  # (4,) orientation of the root in ``qpos0``, a quaternion
    com: Floats  # (3,) [m] from the free joint to the centre of mass of the model's root, world axes in ``qpos0``
    coordinates: Integers  # (n,) indices in q
    dofs: Integers  # (n,) indices in v
    qpos: Integers  # (n,) indices in ``qpos``
    qvel: Integers  # (n,) indices in ``qvel``
    zero: Floats  # (n,) the joints' ``qpos0``


class Drive(NamedTuple):
    """Actuators of a scene: control = per_effort τ − constant − per_angle ``qpos`` − per_rate ``qvel``."""

    actuators: Integers  # (m,) actuators
    qpos: Integers  # (m,) indices of their joints in ``qpos``
    qvel: Integers  # (m,) indices of their joints in ``qvel``
    dofs: Integers  # (m,) indices of their joints in v
    per_effort: Floats  # (m,) [1/(N·m)]
    constant: Floats  # (m,)
    per_angle: Floats  # (m,) [1/rad]
    per_rate: Floats  # (m,) [s/rad]
    bare_qvel: Integers  # (k,) indices of joints without actuator in ``qvel``
    bare_dofs: Integers  # (k,) indices of these joints in v
    commanded: Floats  # (nv,) [N·m] torques of the step


class MujocoArrays(NamedTuple):
    """MuJoCo's own arrays, which change with each step, and what belongs to them."""

    qpos: Floats
    qvel: Floats
    ctrl: Floats
    applied: Floats  # ``qfrc_applied``
    exerted: Floats  # ``qfrc_actuator``
    warnings: Integers  # number of warnings of each kind
    joints: JointMap
    drive: Drive
    floors: NDArray[np.bool_]  # (g,) True for the geometries of the floor
    body_of: Integers  # (g,) body of each geometry
    origins: Floats  # (b, 3) [m] positions of the bodies
    turns: Floats  # (b, 9) axes of the bodies
    point_body: Integers  # (nc,) body of each contact point
    point_place: Floats  # (nc, 3) [m] position of each contact point on its body, in its axes
    pyramidal: int  # 1 for pyramidal friction cones
    dof_of: Integers  # degree of freedom in v for each in ``qvel``
    joint_qpos: Integers  # ``jnt_qposadr``
    joint_qvel: Integers  # ``jnt_dofadr``
    joint_range: Floats  # ``jnt_range``
    friction_kind: int  # ``efc_type`` of dry friction of joints
    limit_kind: int  # ``efc_type`` of joint limits


@routine
def set_controls(arrays, torque):
    """Set the actuators' controls for the torques (nv,) [N·m] of a step."""
    drive = arrays.drive
    arrays.applied[:] = 0.0
    vec.copy1(torque, drive.commanded)
    for k in range(drive.actuators.shape[0]):
        effort = drive.per_effort[k] * torque[drive.dofs[k]] - drive.constant[k]
        bias = drive.per_angle[k] * arrays.qpos[drive.qpos[k]] + drive.per_rate[k] * arrays.qvel[drive.qvel[k]]
        arrays.ctrl[drive.actuators[k]] = effort - bias
    for k in range(drive.bare_qvel.shape[0]):
        arrays.applied[drive.bare_qvel[k]] = torque[drive.bare_dofs[k]]


@routine
def read_state(qpos, qvel, joints, q, v):
    """Write configuration and velocity of the model; spherical joints are left out."""
    if joints.free_qpos >= 0:
        place, moves = joints.free_qpos, joints.free_qvel
        orientation = vec.quaternion_at(qpos, place + 3)
        turn = vec.quat_mul(orientation, vec.quat_conj(vec.quaternion_at(joints.home, 0)))
        arm = vec.mat_vec(vec.quat_matrix(turn), vec.triple(joints.com))
        omega = vec.mat_vec(vec.quat_matrix(orientation), vec.vector_at(qvel, moves + 3))
        position = vec.add(vec.vector_at(qpos, place), arm)
        velocity = vec.add(vec.vector_at(qvel, moves), vec.cross(omega, arm))
        for axis in range(3):
            q[axis], v[axis], v[3 + axis] = position[axis], velocity[axis], omega[axis]
        for k in range(4):
            q[3 + k] = turn[k]
    for k in range(joints.dofs.shape[0]):
        q[joints.coordinates[k]] = qpos[joints.qpos[k]] - joints.zero[k]
        v[joints.dofs[k]] = qvel[joints.qvel[k]]


@routine
def read_step(arrays, arrival, count, contacts, kinds, owners, forces):
    """Write state and forces after a step; NaN after a warning of MuJoCo, such as too many contacts for its buffers.

    Args:
        arrays: MuJoCo's arrays.
        arrival: results, of ``experiments.engines.kernels.external``.
        count: number of contacts.
        contacts: MuJoCo's arrays ``geom``, ``frame``, ``pos``, ``efc_address``, ``dim`` and ``friction`` of the
            contacts, with at least ``count`` rows. The normal points from the first to the second geometry.
        kinds: kind of each constraint.
        owners: joint or degree of freedom of each constraint.
        forces: force of each constraint.
    """
    read_state(arrays.qpos, arrays.qvel, arrays.joints, arrival.q, arrival.v)
    arrival.force[:] = 0.0
    arrival.impact[:] = 0.0
    for k in range(count):
        add_floor_force(arrays, k, contacts, forces, arrival.force)
    arrival.joint[:] = 0.0
    for k in range(kinds.shape[0]):
        add_joint_force(arrays, kinds[k], owners[k], forces[k], arrival.joint)
    drive = arrays.drive  # an actuator exerts less than commanded beyond its limits
    for k in range(drive.dofs.shape[0]):
        dof = drive.dofs[k]
        arrival.joint[dof] += arrays.exerted[drive.qvel[k]] - drive.commanded[dof]
    for k in range(arrays.warnings.shape[0]):
        if arrays.warnings[k] > 0:
            arrival.q[0] = math.nan


@kernel
def contact_force(pyramidal, address, dimension, friction, forces):
    """Return a contact's force [N] in its axes, as MuJoCo's ``mj_contactForce``."""
    if address < 0:
        return 0.0, 0.0, 0.0
    if dimension == 1 or not pyramidal:
        many = dimension > 1
        return forces[address], forces[address + 1] if many else 0.0, forces[address + 2] if many else 0.0
    normal = 0.0
    for k in range(2 * (dimension - 1)):
        normal += forces[address + k]
    first = (forces[address] - forces[address + 1]) * friction[0]
    return normal, first, (forces[address + 2] - forces[address + 3]) * friction[1]


@kernel
def add_floor_force(arrays, k, contacts, forces, total):
    """Add the force of contact ``k``, if it is with the floor, to the nearest contact point of its body.

    If soles are boxes, MuJoCo has contacts anywhere on them; on a flat floor they are at the corners, which are the
    model's contact points. Forces on bodies without contact points are left out.
    """
    geometries, axes, positions, addresses, dimensions, friction = contacts
    first, second = geometries[k, 0], geometries[k, 1]
    if arrays.floors[first] != arrays.floors[second]:
        sign, body = (1.0, arrays.body_of[second]) if arrays.floors[first] else (-1.0, arrays.body_of[first])
        offset = vec.sub(vec.load3(positions, k), vec.load3(arrays.origins, body))
        place = vec.mat_t_vec(vec.load9(arrays.turns, body), offset)
        c = nearest((arrays.point_body, arrays.point_place), body, place)
        if c >= 0:
            local = contact_force(arrays.pyramidal, addresses[k], dimensions[k], friction[k], forces)
            force = vec.mat_t_vec(vec.load9(axes, k), local)
            for axis in range(3):
                total[c, axis] += sign * force[axis]


@kernel
def add_joint_force(arrays, kind, owner, force, total):
    """Add the force of a constraint that is dry friction, or a limit: it points away from the nearer limit."""
    if kind == arrays.friction_kind:
        total[arrays.dof_of[owner]] += force
    elif kind == arrays.limit_kind:
        low, high = arrays.joint_range[owner, 0], arrays.joint_range[owner, 1]
        is_upper = 2.0 * arrays.qpos[arrays.joint_qpos[owner]] > low + high
        total[arrays.dof_of[arrays.joint_qvel[owner]]] += -force if is_upper else force
