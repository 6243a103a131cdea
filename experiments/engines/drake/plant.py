"""A case as a plant of Drake, built by its API.

A floating body's frame is put at its centre of mass, so that Drake's coordinates are ours in another order. A spherical
joint is a ``BallRpyJoint``: three angles, singular where the middle one is a quarter turn.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from biped.disturbances import Throw
from biped.model import Body, Model, box_inertia
from experiments.engines.drake.contact import PointContact, block_contact, floor_contact
from experiments.engines.engine import Case, frame_of, struck_box

#: [m] of the sphere about a contact point; its centre is this far above the point.
RADIUS = 1e-6
#: [m] Edges of the floor.
FLOOR = (1000.0, 1000.0, 2.0)


@dataclass
class Built:
    """A plant that is ready to run."""

    diagram: Any  # the plant and Drake's scene graph
    plant: Any  # the plant
    bodies: list[Any]  # Drake's, in the order of ours
    joints: list[Any]  # likewise
    points: dict[Any, int]  # index of our contact point by Drake's geometry
    block: Any  # the thrown box's geometry, or None
    block_joint: Any  # its joint, or None


def build(case: Case, approximation: str, matched: bool) -> Built:
    """The plant of a case; with contacts of Drake's defaults, or of laws ``matched`` to ours as far as they go."""
    from pydrake.multibody.plant import AddMultibodyPlant, MultibodyPlantConfig
    from pydrake.systems.framework import DiagramBuilder

    config = MultibodyPlantConfig(time_step=case.step, discrete_contact_approximation=approximation)
    if matched:
        config.sap_near_rigid_threshold = 0.0
        config.stiction_tolerance = case.floor.stiction_velocity
    builder = DiagramBuilder()
    plant, scene = AddMultibodyPlant(config, builder)
    plant.mutable_gravity_field().set_gravity_vector(case.model.gravity)
    bodies, joints = _add_bodies(plant, case)
    on_floor = floor_contact(case) if matched else PointContact(case.floor.mu_s)
    floor, points = _add_points(plant, case.model, bodies, on_floor)
    block = joint = None
    if case.throw is not None:
        law = block_contact(case.throw, case.step) if matched else PointContact(case.throw.friction)
        target, block, joint = _add_throw(plant, case.model, bodies, case.throw, law)
        _never_touch(scene, [target], [floor, *points])
        _never_touch(scene, [block], [floor, *points])
    _never_touch(scene, list(points), None)
    plant.Finalize()
    return Built(builder.Build(), plant, bodies, joints, points, block, joint)


def _add_bodies(plant: Any, case: Case) -> tuple[list[Any], list[Any]]:
    instance = plant.AddModelInstance(case.model.name)
    bodies: list[Any] = []
    joints: list[Any] = []
    for body in case.model.bodies:
        parent = None if body.parent is None else case.model.bodies[case.model.body_index(body.parent)]
        inboard = plant.world_body() if parent is None else bodies[case.model.body_index(parent.name)]
        inertia = _spatial_inertia(body.mass, np.asarray(body.inertia), np.subtract(body.com, frame_of(body)))
        bodies.append(plant.AddRigidBody(body.name, instance, inertia))
        place = np.asarray(body.joint.position) - (0.0 if parent is None else frame_of(parent))
        joints.append(_add_joint(plant, body, _frame(plant, body, inboard, place), bodies[-1], case))
    return bodies, joints


def _spatial_inertia(mass: float, J: Any, com: Any) -> Any:
    from pydrake.multibody.tree import RotationalInertia, SpatialInertia

    central = RotationalInertia(J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2])
    return SpatialInertia.MakeFromCentralInertia(mass, com, central)


def _frame(plant: Any, body: Body, inboard: Any, place: Any) -> Any:
    """The frame of the joint on the inboard side; that of a floating body is the world's."""
    from pydrake.math import RigidTransform
    from pydrake.multibody.tree import FixedOffsetFrame

    if body.joint.kind == "floating":
        return plant.world_frame()
    return plant.AddFrame(FixedOffsetFrame(f"frame of {body.joint.name}", inboard.body_frame(), RigidTransform(place)))


def _add_joint(plant: Any, body: Body, frame: Any, outboard: Any, case: Case) -> Any:
    """The joint; its damper is Drake's joint damping, its spring a controller of Drake's: both implicit in a step."""
    from pydrake.multibody import tree

    joint, ends = body.joint, (frame, outboard.body_frame())
    if joint.kind == "floating":
        return plant.AddJoint(tree.QuaternionFloatingJoint(joint.name, *ends))
    if joint.kind == "spherical":
        return plant.AddJoint(tree.BallRpyJoint(joint.name, *ends))
    kind = tree.RevoluteJoint if joint.kind == "revolute" else tree.PrismaticJoint
    added = plant.AddJoint(kind(joint.name, *ends, joint.axis, damping=case.impedance.damping.get(joint.name, 0.0)))
    stiffness = case.impedance.stiffness.get(joint.name, 0.0)
    if stiffness > 0.0:
        actuator = plant.AddJointActuator(joint.name, added)
        actuator.set_controller_gains(tree.PdControllerGains(p=stiffness, d=0.0))
    return added


def _properties(contact: PointContact) -> Any:
    """Properties of two equal geometries that touch: Drake puts their springs in series, adds relaxation times."""
    from pydrake.geometry import AddContactMaterial, ProximityProperties
    from pydrake.multibody.plant import CoulombFriction

    properties = ProximityProperties()
    friction = CoulombFriction(contact.friction, contact.friction)
    if contact.stiffness is None:
        AddContactMaterial(properties=properties, friction=friction)
        return properties
    AddContactMaterial(
        properties=properties,
        friction=friction,
        point_stiffness=2.0 * contact.stiffness,
        dissipation=contact.dissipation,
    )
    properties.AddProperty("material", "relaxation_time", 0.5 * contact.relaxation_time)
    return properties


def _add_points(plant: Any, model: Model, bodies: Sequence[Any], law: PointContact) -> tuple[Any, dict[Any, int]]:
    """The floor, and a sphere whose lowest point, in the home configuration, is the contact point.

    The floor is a wide box: of a half-space Drake warns each time that deformable bodies do not touch it.
    """
    from pydrake.geometry import Box, Sphere
    from pydrake.math import RigidTransform

    properties = _properties(law)
    top = RigidTransform(np.array([0.0, 0.0, -0.5 * FLOOR[2]]))
    floor = plant.RegisterCollisionGeometry(plant.world_body(), top, Box(*FLOOR), "floor", properties)
    points = {}
    for k, point in enumerate(model.contact_points):
        i = model.body_index(point.body)
        pose = RigidTransform(np.add(point.position, (0.0, 0.0, RADIUS)) - frame_of(model.bodies[i]))
        geometry = plant.RegisterCollisionGeometry(bodies[i], pose, Sphere(RADIUS), point.name, properties)
        points[geometry] = k
    return floor, points


def _add_throw(plant: Any, model: Model, bodies: Sequence[Any], throw: Throw, law: PointContact) -> tuple[Any, ...]:
    """The box that may be hit, the thrown box, and the joint of the latter."""
    from pydrake.geometry import Box
    from pydrake.math import RigidTransform
    from pydrake.multibody.tree import QuaternionFloatingJoint

    hit = struck_box(model, throw)
    i, properties = model.body_index(throw.target), _properties(law)
    pose = RigidTransform(np.asarray(hit.center) - frame_of(model.bodies[i]))
    target = plant.RegisterCollisionGeometry(bodies[i], pose, Box(*hit.size), "target", properties)
    inertia = _spatial_inertia(throw.mass, np.asarray(box_inertia(throw.mass, throw.size)), np.zeros(3))
    body = plant.AddRigidBody("thrown", plant.AddModelInstance("thrown"), inertia)
    joint = plant.AddJoint(QuaternionFloatingJoint("thrown", plant.world_frame(), body.body_frame()))
    block = plant.RegisterCollisionGeometry(body, RigidTransform(), Box(*throw.size), "thrown", properties)
    return target, block, joint


def _never_touch(scene: Any, some: list[Any], others: list[Any] | None) -> None:
    from pydrake.geometry import CollisionFilterDeclaration, GeometrySet

    filters = CollisionFilterDeclaration()
    if others is None:
        filters.ExcludeWithin(GeometrySet(some))
    else:
        filters.ExcludeBetween(GeometrySet(some), GeometrySet(others))
    scene.collision_filter_manager().Apply(filters)
