"""Conversion of a `Model` to an assembly, and of the model's configurations to placements.

A model's frames are parallel to the world axes at joint positions zero, so that joints need no alignment. Bodies,
joints and contact points keep their names. The model's closing joints close loops.
"""

import math
import warnings

import numpy as np
from numpy.typing import ArrayLike

from biped.dynamics import forward_kinematics
from biped.model import Model, ModelWarning
from biped.model.body import Body
from biped.model.closing_joint import ClosingJoint
from biped.model.contact_point import ContactPoint
from formulations.assembly.assembly import Assembly
from formulations.assembly.body import PointContact, RigidBody
from formulations.assembly.errors import AssemblyError
from formulations.assembly.joint import Freedom, Joint, joint
from formulations.assembly.placement import Placement


def from_model(model: Model, *, friction: float = 0.8) -> Assembly:
    """Convert a `Model` to an assembly whose contact points can touch a floor at height zero.

    Args:
        model: a model whose bodies all have mass. Its joint limits become rigid stops.
        friction: Coulomb's coefficient of friction of all contact points.

    Raises:
        AssemblyError: a body has no mass or inertia.
        ModelWarning: (a warning) dry friction, armature, speed limits or effort limits of joints are ignored, since an
            assembly does not support them. In particular, ``forces`` given to ``Assembly.simulate`` are not limited.
    """
    for note in _not_carried(model):
        warnings.warn(f"{model.name}: {note}", ModelWarning, stacklevel=2)
    return Assembly(
        model.name,
        tuple(_body(body) for body in model.bodies),
        (
            *(_joint(model, i) for i, body in enumerate(model.bodies) if body.joint.kind != "floating"),
            *(_closing_joint(model, closing) for closing in model.closing_joints),
        ),
        tuple(_contact(model, point, friction) for point in model.contact_points),
        model.gravity,
    )


def _not_carried(model: Model) -> list[str]:
    joints = [body.joint for body in model.bodies if body.joint.has_axis]
    ignored = {
        "dry friction": [joint.name for joint in joints if joint.friction],
        "armature": [joint.name for joint in joints if joint.armature],
        "greatest speed": [joint.name for joint in joints if joint.max_velocity < math.inf],
        "greatest effort": [joint.name for joint in joints if joint.max_effort < math.inf],
    }
    return [
        f"an assembly does not support {what} of joints; it is ignored in {', '.join(names)}"
        for what, names in ignored.items()
        if names
    ]


def _body(body: Body) -> RigidBody:
    if not body.mass > 0.0:
        raise AssemblyError(
            f"body {body.name!r} has no mass, but each body of an assembly needs mass; replace it by a universal, "
            "cylindrical or planar joint between its neighbours"
        )
    return RigidBody(body.name, body.mass, body.inertia)


def _joint(model: Model, i: int) -> Joint:
    body, tree = model.bodies[i], model.tree
    source = body.joint
    freedoms: tuple[Freedom, ...] = ()
    if source.has_axis:
        freedoms = (Freedom(damping=source.damping, lower=source.lower, upper=source.upper),)
    return joint(
        source.kind, source.name, body.parent, body.name, source.axis if source.has_axis else (0.0, 0.0, 1.0),
        inboard_point=tree.joint_offset[i], outboard_point=-tree.com_offset[i], pitch=source.pitch, freedoms=freedoms,
    )  # fmt: skip


def _closing_joint(model: Model, closing: ClosingJoint) -> Joint:
    inboard = (0.0, 0.0, 0.0) if closing.parent is None else model.bodies[model.body_index(closing.parent)].com
    outboard = model.bodies[model.body_index(closing.child)].com
    return joint(
        closing.kind, closing.name, closing.parent, closing.child, closing.axis, second_axis=closing.second_axis,
        inboard_point=np.subtract(closing.position, inboard), alignment=closing.alignment, pitch=closing.pitch,
        outboard_point=np.subtract(closing.child_position, outboard),
    )  # fmt: skip


def _contact(model: Model, point: ContactPoint, friction: float) -> PointContact:
    i = model.body_index(point.body)
    offset = np.subtract(point.position, model.tree.com_offset[i])
    x, y, z = (float(part) for part in offset)
    return PointContact(point.name, point.body, (x, y, z), friction, radius=point.radius)


def placement_of(model: Model, q: ArrayLike, v: ArrayLike | None = None) -> Placement:
    """Return the placement of a model's bodies at configuration ``q`` (nq,) and velocity ``v`` (nv,); None: at rest.

    Raises:
        AssemblyError: ``q`` or ``v`` has a wrong number of values, or a value is not finite.
    """
    arrays = []
    for name, value, size in (("q", q, model.nq), ("v", np.zeros(model.nv) if v is None else v, model.nv)):
        numbers = np.array(value, dtype=np.float64)
        if numbers.shape != (size,) or not np.all(np.isfinite(numbers)):
            raise AssemblyError(f"{name} = {value!r}: it must be {size} finite numbers for this model")
        arrays.append(numbers)
    motion = forward_kinematics(model, arrays[0], arrays[1])
    velocity = np.hstack([motion.velocity, motion.angular_velocity])
    return Placement(motion.position, motion.orientation, velocity)
