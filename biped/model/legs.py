"""Legs of a model, recognized by the chains of joints to its feet, whatever their names."""

from dataclasses import dataclass

import numpy as np

from biped.model.geometry import Vector3
from biped.model.model import Model

#: Smallest cosine between two directions that count as equal.
ALONG = 0.9


@dataclass(frozen=True)
class Leg:
    """A leg of a model."""

    side: str  #: left or right
    foot: str  #: name of the foot
    joints: tuple[str, ...]  #: joints with one degree of freedom, from the hip to the foot
    sagittal: tuple[str, ...]  #: joints about the lateral axis: hip, knee and ankle pitch
    frontal: tuple[str, ...]  #: joints about the forward axis: hip and ankle roll

    @property
    def knee(self) -> str | None:
        """Name of the last joint above the ankle that bends the leg; None if the leg has no such joint."""
        return self.sagittal[-2] if len(self.sagittal) > 1 else None


def knees_of(model: Model) -> list[str]:
    """Return the names of the left and the right knee; an empty list if the model has no legs with knees."""
    return [leg.knee for leg in legs_of(model) if leg.knee is not None]


def legs_of(model: Model) -> tuple[Leg, ...]:
    """Return the left and the right leg of a model with two feet side by side; an empty tuple for other models."""
    return model.once(_legs)


def _legs(model: Model) -> tuple[Leg, ...]:
    if len(model.feet) != 2:
        return ()
    aside = {foot: float(model.home_positions[model.body_index(foot)] @ np.array(model.left)) for foot in model.feet}
    right, left = sorted(model.feet, key=lambda foot: aside[foot])
    return () if aside[left] == aside[right] else (_leg(model, "left", left), _leg(model, "right", right))


def _leg(model: Model, side: str, foot: str) -> Leg:
    joints = []
    body = model.bodies[model.body_index(foot)]
    while body.parent is not None:
        if body.joint.has_axis:
            joints.append(body.joint)
        body = model.bodies[model.body_index(body.parent)]
    joints.reverse()

    def about(direction: Vector3) -> tuple[str, ...]:
        return tuple(joint.name for joint in joints if abs(float(np.dot(joint.axis, direction))) > ALONG)

    return Leg(side, foot, tuple(joint.name for joint in joints), about(model.left), about(model.facing))


def straight_knees(model: Model) -> dict[str, float]:
    """Return the angles [rad], by knee, at which hip, knee and ankle pitch are in line, seen along the knee's axis."""
    return model.once(_straight_knees)


def _straight_knees(model: Model) -> dict[str, float]:
    return {
        leg.knee: _angle_to_straight(model, leg.sagittal[-3:])
        for leg in legs_of(model)
        if leg.knee is not None and len(leg.sagittal) > 2
    }


def _angle_to_straight(model: Model, joints: tuple[str, ...]) -> float:
    by_joint = {body.joint.name: k for k, body in enumerate(model.bodies)}
    bodies = [by_joint[joint] for joint in joints]
    hip, knee, ankle = (model.home_positions[model.tree.parent[k]] + model.tree.joint_offset[k] for k in bodies)
    axis = np.array(model.bodies[by_joint[joints[1]]].joint.axis)
    thigh, shank = knee - hip, ankle - knee
    return float(np.arctan2(np.cross(shank, thigh) @ axis, shank @ thigh - (shank @ axis) * (thigh @ axis)))


def foot_under(model: Model, body: str) -> str | None:
    """Return ``body`` if it is a foot, otherwise the foot to which it is attached, for example for toes, or None."""
    part: str | None = body
    while part is not None and part not in model.feet:
        part = model.bodies[model.body_index(part)].parent
    return part


def common_name(left: str, right: str) -> str:
    """Return the common part of two joints' names: ``knee_pitch`` of ``left_knee_pitch`` and ``right_knee_pitch``."""
    pairs = zip(left.split("_"), right.split("_"), strict=False)
    return "_".join(word for word, other in pairs if word == other) or left
