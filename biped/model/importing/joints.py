"""Joints: from Pinocchio's to ours, and what of theirs a model keeps without simulating it."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from biped.model.body import Body
from biped.model.errors import ModelError
from biped.model.geometry import vector3
from biped.model.importing import contacts, locking
from biped.model.joint import PASSIVE, Joint, Kind

#: From here on a limit in a file is none: what save_urdf writes where URDF demands one, and Pinocchio's own.
NO_LIMIT = 1e9
#: What a model keeps and no step feels.
_NOT_SIMULATED = {
    "lower": "position limits", "upper": "position limits", "max_velocity": "velocity limits",
    "max_effort": "effort limits", "damping": "joint damping", "friction": "joint friction",
}  # fmt: skip


def joint_of(home: contacts.Links, i: int, armature: Mapping[str, float]) -> Joint:
    """Pinocchio's joint i as ours; ``armature`` by joint, in place of Pinocchio's.

    Raises:
        ModelError: it is of a type that a model does not have.
    """
    name, joint = home.model.names[i], home.model.joints[i]
    parent = home.model.parents[i]
    position = vector3(home.rotations[parent] @ home.model.jointPlacements[i].translation, f"joint {name!r}: position")
    if joint.shortname() in ("JointModelFreeFlyer", "JointModelSpherical"):
        kind: Kind = "floating" if joint.nv == 6 else "spherical"
        return Joint(name, kind, position=position)
    if joint.nv != 1:
        raise ModelError(
            f"joint {name!r} is a {joint.shortname().removeprefix('JointModel')}, and a model has revolute, prismatic, "
            "spherical and floating joints only; put joints of one degree of freedom in its place"
        )
    motion = np.reshape(joint.createData().S, 6)  # Pinocchio's motion subspace, in the joint's frame
    kind, direction = ("prismatic", motion[:3]) if motion[:3].any() else ("revolute", motion[3:])
    axis = vector3(home.rotations[i] @ direction, "axis")
    passive = _passive(home.model, joint) | ({"armature": armature[name]} if name in armature else {})
    return Joint(name, kind, axis, position, **passive)


def _passive(model: Any, joint: Any) -> dict[str, float]:
    """The limits, damping, friction and armature that Pinocchio read of a joint of one degree of freedom."""
    v = joint.idx_v
    found = {
        "max_velocity": _limit(model.velocityLimit[v]),
        "max_effort": _limit(model.effortLimit[v]),
        "damping": float(model.damping[v]),
        "friction": float(model.friction[v]),
        "armature": float(model.armature[v] or model.rotorInertia[v] * model.rotorGearRatio[v] ** 2),
    }
    if joint.nq == 1:
        lower, upper = (limit[joint.idx_q] for limit in (model.lowerPositionLimit, model.upperPositionLimit))
        if lower <= upper:
            found |= {"lower": _limit(lower), "upper": _limit(upper)}
    return found


def _limit(value: float) -> float:
    return math.copysign(math.inf, value) if abs(value) >= NO_LIMIT else float(value)


def told_of_limits_without_room(model: Any) -> list[str]:
    """A sentence, if joints have a least position above the greatest."""
    lower, upper = model.lowerPositionLimit, model.upperPositionLimit
    joints = [(name, model.joints[model.getJointId(name)]) for name in locking.joints_with_axis(model)]
    names = [name for name, joint in joints if joint.nq == 1 and lower[joint.idx_q] > upper[joint.idx_q]]
    return [f"position limits that leave no room are left out: {', '.join(names)}"] if names else []


def told_of_what_is_not_simulated(bodies: Iterable[Body]) -> list[str]:
    """A sentence, if the joints have something that no step feels."""
    counts: dict[str, int] = {}
    for body in bodies:
        for what in {what for name, what in _NOT_SIMULATED.items() if getattr(body.joint, name) != PASSIVE[name]}:
            counts[what] = counts.get(what, 0) + 1
    listed = ", ".join(f"{what} ({counts[what]})" for what in dict.fromkeys(_NOT_SIMULATED.values()) if what in counts)
    return [f"kept in its joints, but not simulated: {listed}"] if counts else []
