"""A model of another size and weight, dynamically similar to the first."""

import math
from dataclasses import replace

import numpy as np

from biped.model.body import Body
from biped.model.contact_point import ContactPoint
from biped.model.geometry import Vector3, positive, vector3
from biped.model.joint import Joint
from biped.model.model import Model


def scaled(model: Model, length: float = 1.0, mass: float = 1.0) -> Model:
    """The model with all lengths and all masses multiplied, under the same gravity.

    What else depends on them scales as in dynamically similar motions, in which lengths over g t² are the same (Froude;
    R. M. Alexander, A. S. Jayes, J. Zool. 201, 1983): with λ = ``length`` and μ = ``mass``, times by √λ, forces by μ,
    torques by μλ. So inertias and armature by μλ², a hinge's greatest speed by 1/√λ, its damping by μλ√λ, friction and
    greatest effort by μλ. A body of another height and the same build has μ = λ³; at the same body mass index, μ = λ².

    Actuators of a file are left out.

    Args:
        model: any.
        length: above zero.
        mass: above zero.

    Raises:
        ModelError: a factor is not a finite number above zero.
    """
    positive(length, "scaled: length", "")
    positive(mass, "scaled: mass", "")
    prismatic = {body.joint.name for body in model.bodies if body.joint.kind == "prismatic"}

    def longer(value: Vector3) -> Vector3:
        return vector3(length * np.asarray(value), "a length")

    def moved(points: tuple[ContactPoint, ...]) -> tuple[ContactPoint, ...]:
        return tuple(replace(point, position=longer(point.position), radius=length * point.radius) for point in points)

    return replace(
        model,
        bodies=tuple(_scaled_body(body, length, mass) for body in model.bodies),
        contact_points=moved(model.contact_points),
        body_points=moved(model.body_points),
        shapes=tuple(replace(box, size=longer(box.size), center=longer(box.center)) for box in model.shapes),
        capsules=tuple(
            replace(one, begin=longer(one.begin), end=longer(one.end), radius=length * one.radius)
            for one in model.capsules
        ),
        lines=tuple(replace(one, begin=longer(one.begin), end=longer(one.end)) for one in model.lines),
        visuals=tuple(replace(one, size=longer(one.size), center=longer(one.center)) for one in model.visuals),
        actuators=(),
        closing_joints=tuple(
            replace(
                one, position=longer(one.position), child_position=longer(one.child_position), pitch=length * one.pitch
            )
            for one in model.closing_joints
        ),
        posture=tuple((name, value * length if name in prismatic else value) for name, value in model.posture),
        ranges=tuple(
            (name, lower * length, upper * length) if name in prismatic else (name, lower, upper)
            for name, lower, upper in model.ranges
        ),
    )


def _scaled_body(body: Body, length: float, mass: float) -> Body:
    inertia = mass * length**2 * np.asarray(body.inertia)
    com = length * np.asarray(body.com)
    joint = _scaled_joint(body.joint, length, mass)
    a, b, c = (vector3(row, "inertia") for row in inertia)
    return replace(body, mass=body.mass * mass, inertia=(a, b, c), com=vector3(com, "com"), joint=joint)


def _scaled_joint(joint: Joint, length: float, mass: float) -> Joint:
    position = vector3(length * np.asarray(joint.position), "position")
    if not joint.has_axis:
        return replace(joint, position=position)
    stroke = length if joint.kind == "prismatic" else 1.0  # of what its coordinate is measured in
    effort = mass * length / stroke
    duration = math.sqrt(length)
    return replace(
        joint,
        position=position,
        lower=joint.lower * stroke,
        upper=joint.upper * stroke,
        max_velocity=joint.max_velocity * stroke / duration,
        max_effort=joint.max_effort * effort,
        damping=joint.damping * effort * duration / stroke,
        friction=joint.friction * effort,
        pitch=joint.pitch * length,
        armature=joint.armature * effort * duration**2 / stroke,
    )
