"""Conversion of models and coordinates to Pinocchio, an independent implementation, and back.

Pinocchio's quaternions are scalar last, and its velocities of floating and spherical joints are in the axes of the body
that the joint carries. Pinocchio is imported when a function of this module is called.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from biped.model.errors import ModelError
from biped.model.geometry import quaternion_matrix, rotation_about
from biped.model.joint import Joint
from biped.model.model import Model
from contact.arrays import Floats, Integers

_SCALAR_LAST = [1, 2, 3, 0]


def to_pinocchio(model: Model) -> Any:
    """Return the ``pinocchio.Model`` whose joint i + 1 is joint i of ``model``, with equal indices in q and v.

    Joint frames are the link frames; only that of a floating root is at its centre of mass. Contact points become
    operational frames with the same names. Limits, damping, friction and armature of the joints are copied.

    Raises:
        ModelError: the model has joints that close loops, which a ``pinocchio.Model`` cannot have.
    """
    import pinocchio as pin

    model.check_tree("a Pinocchio model")
    tree = model.tree
    result = pin.Model()
    result.name = model.name
    result.gravity = pin.Motion(np.array(model.gravity), np.zeros(3))
    for i, body in enumerate(model.bodies):
        parent = int(tree.parent[i])
        placement = _translation(_joint_place(model, i))
        joint = result.addJoint(parent + 1, _pinocchio_joint(pin, model, i), placement, body.joint.name)
        inertia = pin.Inertia(body.mass, tree.com_offset[i], np.array(body.inertia))
        result.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
        frame = result.addJointFrame(joint)
        result.addBodyFrame(body.name, joint, pin.SE3.Identity(), frame)
    for name, i, offset in zip(model.contact_names, tree.contact_body, tree.contact_offset, strict=True):
        place = _translation(tree.com_offset[i] + offset)
        result.addFrame(pin.Frame(name, int(i) + 1, place, pin.FrameType.OP_FRAME))
    for i, body in enumerate(model.bodies):
        if body.joint.has_axis:
            _set_passive(result, i, body.joint)
    return result


def _set_passive(result: Any, i: int, joint: Joint) -> None:
    q, v = result.joints[i + 1].idx_q, result.joints[i + 1].idx_v
    most = np.finfo(np.float64).max
    result.lowerPositionLimit[q], result.upperPositionLimit[q] = max(joint.lower, -most), min(joint.upper, most)
    result.velocityLimit[v], result.effortLimit[v] = min(joint.max_velocity, most), min(joint.max_effort, most)
    result.damping[v], result.friction[v], result.armature[v] = joint.damping, joint.friction, joint.armature


def _joint_place(model: Model, i: int) -> Floats:
    """Return the position [m] of joint i in the parent's joint frame; a floating joint has absolute coordinates."""
    tree = model.tree
    if model.bodies[i].joint.kind == "floating":
        return np.zeros(3)
    parent = int(tree.parent[i])
    origin_of_parent = tree.com_offset[parent] if parent >= 0 else np.zeros(3)
    place: Floats = tree.joint_offset[i] + origin_of_parent
    return place


def _translation(offset: Floats) -> Any:
    import pinocchio as pin

    return pin.SE3(np.eye(3), np.array(offset))


def _pinocchio_joint(pin: Any, model: Model, i: int) -> Any:
    joint = model.bodies[i].joint
    if joint.kind == "revolute":
        return pin.JointModelRevoluteUnaligned(np.array(joint.axis))
    if joint.kind == "helical":
        return pin.JointModelHelicalUnaligned(np.array(joint.axis), joint.pitch)
    if joint.kind == "prismatic":
        return pin.JointModelPrismaticUnaligned(np.array(joint.axis))
    return pin.JointModelSpherical() if joint.kind == "spherical" else pin.JointModelFreeFlyer()


def orientations(model: Model, q: ArrayLike) -> Floats:
    """Return the rotation matrices (n, 3, 3) of the bodies, body to world, at the configuration ``q`` (nq,)."""
    tree, values = model.tree, _checked(q, model.nq, "a configuration")
    result = np.empty((model.n, 3, 3))
    for i, body in enumerate(model.bodies):
        turn = _turn(body.joint, values[tree.first_q[i] :][: body.joint.nq])
        parent = tree.parent[i]
        result[i] = result[parent] @ turn if parent >= 0 else turn
    return result


def _turn(joint: Joint, coordinates: Floats) -> Floats:
    if joint.turns:
        return np.array(rotation_about(joint.axis, float(coordinates[0])))
    return np.eye(3) if joint.kind == "prismatic" else quaternion_matrix(coordinates[-4:])


def configuration_to_pinocchio(model: Model, q: ArrayLike) -> Floats:
    """Return ``q`` (nq,) as a configuration of the model of `to_pinocchio`, with quaternions (x, y, z, w)."""
    return _checked(q, model.nq, "a configuration")[model.once(_order)]


def configuration_from_pinocchio(model: Model, q: ArrayLike) -> Floats:
    """Return Pinocchio's ``q`` (nq,) as a configuration of ``model``; the inverse of `configuration_to_pinocchio`."""
    return _checked(q, model.nq, "a configuration")[np.argsort(model.once(_order))]


def velocity_map(model: Model, q: ArrayLike) -> Floats:
    """Return the orthogonal matrix T (nv, nv) that converts velocities, v_pinocchio = T v, at ``q`` (nq,).

    Hence, generalized forces are τ = Tᵀ τ_pinocchio, and the mass matrix is M = Tᵀ M_pinocchio T.
    """
    T = np.eye(model.nv)
    R = orientations(model, q)
    for i, body in enumerate(model.bodies):
        first, dofs = int(model.tree.first_v[i]), body.joint.nv
        for start in range(first, first + dofs, 3) if dofs > 1 else ():
            T[start : start + 3, start : start + 3] = R[i].T
    return T


def velocity_to_pinocchio(model: Model, q: ArrayLike, v: ArrayLike) -> Floats:
    """Return ``v`` (nv,) at ``q`` (nq,) in Pinocchio's convention, T v with the matrix T from `velocity_map`."""
    velocity: Floats = velocity_map(model, q) @ _checked(v, model.nv, "a velocity")
    return velocity


def velocity_from_pinocchio(model: Model, q: ArrayLike, v: ArrayLike) -> Floats:
    """Return Pinocchio's ``v`` (nv,) at ``q`` (nq,) as a velocity of ``model``; inverse of `velocity_to_pinocchio`."""
    velocity: Floats = velocity_map(model, q).T @ _checked(v, model.nv, "a velocity")
    return velocity


def _order(model: Model) -> Integers:
    """Return the index (nq,) in this package's configuration of each coordinate of Pinocchio's."""
    theirs = np.arange(model.nq)
    for body, first in zip(model.bodies, model.tree.first_q, strict=True):
        if not body.joint.has_axis:
            end = int(first) + body.joint.nq
            theirs[end - 4 : end] = theirs[end - 4 : end][_SCALAR_LAST]
    return theirs


def _checked(values: ArrayLike, length: int, what: str) -> Floats:
    array = np.ascontiguousarray(values, dtype=np.float64)
    if array.shape != (length,):
        raise ModelError(f"{what} has shape {array.shape}; it must be ({length},) for this model")
    return array
