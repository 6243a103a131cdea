"""Locking of joints by Pinocchio, which merges the links that they connect into one body."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from biped.model.errors import ModelError, unknown
from contact.arrays import Floats
from contact.errors import listed

#: Name of the floating root joint while a URDF is read; no joint of a file has this name.
FLOATING = "<floating>"
_NOT_A_JOINT = "<link>"


class Mimic(NamedTuple):
    """Position of a joint as a linear function of the position of another joint, its ``driver``."""

    driver: str
    multiplier: float
    offset: float


def mimicked(mimics: Mapping[str, Mimic], rest: Mapping[str, float], joints: Sequence[str]) -> dict[str, float]:
    """Return the positions [rad or m] of mimicking joints with their drivers at rest.

    Args:
        mimics: mimicking joints by name.
        rest: positions of joints at rest; zero if not given.
        joints: all joints.

    Raises:
        ModelError: joints mimic one another in a circle, or a driver does not exist.
    """
    for joint, mimic in mimics.items():
        if mimic.driver not in joints:
            raise ModelError(
                f"joint {joint!r}: mimic: {unknown('joint', mimic.driver, joints)}; correct it, or lock the joint: "
                f"locked={{{joint!r}: 0.0}}"
            )
    return {joint: _position(joint, mimics, rest, len(mimics)) for joint in mimics}


def _position(joint: str, mimics: Mapping[str, Mimic], rest: Mapping[str, float], most: int) -> float:
    if joint not in mimics:
        return rest.get(joint, 0.0)
    if most == 0:
        raise ModelError(
            f"joint {joint!r} mimics itself through {mimics[joint].driver!r}; lock it: locked={{{joint!r}: 0.0}}"
        )
    driver, multiplier, offset = mimics[joint]
    return multiplier * _position(driver, mimics, rest, most - 1) + offset


def moving_joints(model: Any) -> list[str]:
    """Return the names of a Pinocchio model's joints that can move."""
    return list(model.names)[1:]


def all_joints(model: Any) -> list[str]:
    """Return the names of a Pinocchio model's joints, including fixed ones."""
    return [frame.name for frame in model.frames[1:] if frame.type in _joint_frames() and frame.name != FLOATING]


def _joint_frames() -> tuple[Any, ...]:
    """Return Pinocchio's frame types of joints."""
    import pinocchio as pin

    return pin.FrameType.JOINT, pin.FrameType.FIXED_JOINT


def place(model: Any, positions: Mapping[str, float]) -> Floats:
    """Return Pinocchio's configuration (nq,) with these joint positions; other joints are at home."""
    import pinocchio as pin

    q: Floats = pin.neutral(model)
    for name, position in positions.items():
        joint = model.joints[model.getJointId(name)]
        if joint.nq == 1:
            q[joint.idx_q] = position
        else:  # an unbounded angle, stored as cosine and sine
            q[joint.idx_q : joint.idx_q + 2] = np.cos(position), np.sin(position)
    return q


def joints_with_axis(model: Any) -> list[str]:
    """Return the names of the joints with one degree of freedom."""
    return [name for name, joint in zip(model.names, model.joints, strict=True) if name != "universe" and joint.nv == 1]


def lock(model: Any, positions: Mapping[str, float]) -> Any:
    """Return the Pinocchio model with the joints in ``positions`` [rad or m] locked there."""
    import pinocchio as pin

    if not positions:
        return model
    # Pinocchio looks up joints among frames of all kinds; links get other names in the meantime.
    named_apart = model.copy()
    for frame in _other_frames(named_apart):
        frame.name = _NOT_A_JOINT + frame.name
    stopped = [model.getJointId(name) for name in positions]
    reduced = pin.buildReducedModel(named_apart, stopped, place(model, positions))
    for frame in _other_frames(reduced):
        frame.name = frame.name.removeprefix(_NOT_A_JOINT)
    return reduced


def _other_frames(model: Any) -> list[Any]:
    """Return the frames of a Pinocchio model that belong to no joint."""
    return [frame for frame in model.frames if frame.type not in _joint_frames()]


def mimic_notes(positions: Mapping[str, float], mimics: Mapping[str, Mimic]) -> list[str]:
    """Return a list with a note about locked mimicking joints, if there are any."""
    if not positions:
        return []
    drivers = listed(dict.fromkeys(mimics[joint].driver for joint in positions))
    return [
        f"joints that mimic others are locked at the rest positions of their drivers, and do not follow {drivers}: "
        f"{listed(positions)}"
    ]
