"""Conversion of Pinocchio's joints, with their limits and bearings."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from biped.model.errors import ModelError
from biped.model.geometry import vector3
from biped.model.importing import contacts, locking
from biped.model.joint import Joint, Kind
from contact.arrays import Floats

#: Limits of a file from this value on mean "unlimited", as written by save_urdf if URDF requires one, and by Pinocchio.
NO_LIMIT = 1e9


def joint_of(home: contacts.Links, i: int, given: Mapping[str, Mapping[str, float]], limits: bool) -> Joint:
    """Return Pinocchio's joint i as a joint of this package, with or without its ``limits``.

    Damping, friction and armature in ``given``, by field and joint, override Pinocchio's values.

    Raises:
        ModelError: the joint has an unsupported type.
    """
    name, joint = home.model.names[i], home.model.joints[i]
    parent = home.model.parents[i]
    position = vector3(home.rotations[parent] @ home.model.jointPlacements[i].translation, f"joint {name!r}: position")
    if joint.shortname() in ("JointModelFreeFlyer", "JointModelSpherical"):
        kind: Kind = "floating" if joint.nv == 6 else "spherical"
        return Joint(name, kind, position=position)
    if joint.nv != 1:
        raise ModelError(
            f"joint {name!r} is a {joint.shortname().removeprefix('JointModel')}; only revolute, prismatic, helical, "
            "spherical and floating joints are supported: replace it by joints with one degree of freedom"
        )
    data = joint.createData()
    joint.calc(data, np.zeros(joint.idx_q + joint.nq))  # sets the motion subspace of a screw
    motion = np.reshape(data.S, 6)  # Pinocchio's motion subspace, in the joint's frame
    kind, direction, pitch = _screw(motion)
    axis = vector3(home.rotations[i] @ direction, "axis")
    passive = _bearings(home.model, joint) | {field: values[name] for field, values in given.items() if name in values}
    return Joint(name, kind, axis, position, pitch=pitch, **passive, **(_limits(home.model, joint) if limits else {}))


def _screw(motion: Floats) -> tuple[Kind, Floats, float]:
    """Return kind, axis and pitch of a joint with one degree of freedom from its unit twist (6,)."""
    slide, turn = motion[:3], motion[3:]
    if not turn.any():
        return "prismatic", slide, 0.0
    pitch = float(slide @ turn)
    return ("helical" if pitch else "revolute"), turn, pitch


def _bearings(model: Any, joint: Any) -> dict[str, float]:
    """Return damping, friction and armature of a joint with one degree of freedom in Pinocchio's model."""
    v = joint.idx_v
    return {
        "damping": float(model.damping[v]),
        "friction": float(model.friction[v]),
        "armature": float(model.armature[v] or model.rotorInertia[v] * model.rotorGearRatio[v] ** 2),
    }


def _limits(model: Any, joint: Any) -> dict[str, float]:
    """Return the limits in Pinocchio's model; a velocity or effort limit of zero means none, as in many files."""
    v = joint.idx_v
    limits = {
        "max_velocity": _limit(model.velocityLimit[v]) or math.inf,
        "max_effort": _limit(model.effortLimit[v]) or math.inf,
    }
    if joint.nq == 1:
        lower, upper = (limit[joint.idx_q] for limit in (model.lowerPositionLimit, model.upperPositionLimit))
        if lower <= upper:
            limits |= {"lower": _limit(lower), "upper": _limit(upper)}
    return limits


def _limit(value: float) -> float:
    return math.copysign(math.inf, value) if abs(value) >= NO_LIMIT else float(value)


def notes_on_limits(model: Any) -> list[str]:
    """Return a sentence for each kind of unusable limit: inverted positions, zero velocity or effort."""
    lower, upper = model.lowerPositionLimit, model.upperPositionLimit
    joints = {name: model.joints[model.getJointId(name)] for name in locking.joints_with_axis(model)}
    inverted = [name for name, joint in joints.items() if joint.nq == 1 and lower[joint.idx_q] > upper[joint.idx_q]]
    most = {name: (model.velocityLimit[joint.idx_v], model.effortLimit[joint.idx_v]) for name, joint in joints.items()}
    zero = [name for name, limits in most.items() if 0.0 in limits]
    held = [name for name, joint in joints.items() if joint.nq == 1 and lower[joint.idx_q] == upper[joint.idx_q]]
    useless = {"position limits with lower > upper": inverted, "velocity or effort limits of zero": zero}
    notes = [f"{what} are ignored: {', '.join(names)}" for what, names in useless.items() if names]
    return notes + [f"joints that cannot move, as their position limits are equal: {', '.join(held)}"] * bool(held)
