"""Conversion of Pinocchio's model of a robot to a model of this package.

Pinocchio's joint frames have arbitrary axes; here they are parallel to the inertial frame in the home configuration, in
which all joints are at zero. Vectors and tensors are rotated accordingly.
"""

import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Unpack

from biped.model.contact_point import ContactPoint
from biped.model.errors import ModelError, ModelWarning
from biped.model.geometry import Vector3, horizontal, vector3
from biped.model.importing import contacts, locking, repair
from biped.model.importing.bodies import at_home, bodies_of, inertia_of
from biped.model.importing.joints import notes_on_limits
from biped.model.importing.looks import visuals_of
from biped.model.importing.options import COLLISION, Options, by_joint, check_options
from biped.model.importing.plausibility import doubts
from biped.model.importing.robot import Robot
from biped.model.model import Model
from biped.model.regularity import UnresistedJointError
from biped.model.visual import Visual


def from_pinocchio(model: Any, geometry: Any = None, visual: Any = None, **options: Unpack[Options]) -> Model:
    """Convert a ``pinocchio.Model`` to a `Model`.

    Each body is named after the link on its joint. Supported are joints with one degree of freedom, spherical joints,
    and a free-flyer as the root's joint.

    Args:
        model: the ``pinocchio.Model``, without mimic joints.
        geometry: the model's ``pinocchio.GeometryModel`` for collisions; needed for ``contacts="collision"``.
        visual: the model's ``pinocchio.GeometryModel`` for drawing; None: bodies have no visuals.
        options: options of the import, such as ``feet``; see `biped.model.importing.options.Options`.

    Raises:
        ModelError: a joint's type is not supported, or an option is invalid or does not apply to this model.
    """
    check_options(options)
    joints = locking.moving_joints(model)
    floats = bool(joints) and model.joints[1].shortname() == "JointModelFreeFlyer"
    if options.get("floating") not in (None, floats):
        does = "floats" if floats else "does not float"
        raise ModelError(f"floating = {not floats}, but the root of Pinocchio's model {does}; leave this option out")
    robot = Robot(
        model=model,
        name=model.name or "robot",
        order=joints,
        floating=joints[0] if floats else None,
        home=_root_place(model) if floats else (0.0, 0.0, 0.0),
        geometry=None if geometry is None else partial(carried_over, geometry, model),
        visuals=None if visual is None else partial(drawn, visual, model),
        gravity=vector3(model.gravity.linear, "gravity"),
    )
    return build(robot, options)


def _root_place(model: Any) -> Vector3:
    """Return the root's position [m] in an MJCF's reference configuration; in other files, the origin."""
    known = model.referenceConfigurations
    return vector3(known["qpos0"][:3], "home") if "qpos0" in known else (0.0, 0.0, 0.0)


def drawn(visual: Any, model: Any, links: contacts.Links) -> list[Visual]:
    """Return the visuals of a model with locked joints, from the geometry ``visual`` of the original ``model``."""
    return visuals_of(carried_over(visual, model, links.model, range(links.model.njoints)), links)


def carried_over(geometry: Any, model: Any, locked: Any, joints: Collection[int]) -> Any:
    """Return the geometry of ``model`` on ``joints``, transferred to the model ``locked`` with locked joints."""
    import pinocchio as pin

    result = pin.GeometryModel()
    for shape in geometry.geometryObjects:
        old = model.frames[shape.parentFrame]
        row = locked.getFrameId(old.name, old.type)
        new = locked.frames[row]
        place = new.placement * old.placement.actInv(shape.placement)
        if new.parentJoint in joints:
            looks = (shape.meshPath, shape.meshScale, shape.overrideMaterial, shape.meshColor)
            result.addGeometryObject(
                pin.GeometryObject(shape.name, new.parentJoint, row, place, shape.geometry, *looks)
            )
    return result


def build(robot: Robot, options: Options) -> Model:
    """Return the model of a robot with these options; warnings and notes list its differences from the file.

    Raises:
        ModelError: an option is invalid or does not apply, or the robot is not a system of rigid bodies.
    """
    locked = _locked(robot, options)
    rest = {joint: at for joint, at in locked.posture.items() if joint in locking.moving_joints(locked.model)}
    home = at_home(locked.model)
    bodies, mended = bodies_of(locked.model, home, robot, options)
    facing = horizontal(options.get("facing", robot.facing), "facing")
    feet = tuple(options.get("feet", robot.feet))
    points = _contact_points(robot, home, options, feet, facing, rest)
    notes = (
        *robot.notes,
        *locked.notes,
        *repair.notes_on_repairs(locked.merged, mended),
        *(contacts.edge_notes(points) if options.get("contacts") == COLLISION else ()),
        *(notes_on_limits(locked.model) if options.get("limits", True) else ()),
        *doubts(bodies),
    )
    name, gravity = options.get("name"), options.get("gravity")
    try:
        model = Model(
            name=robot.name if name is None else name, bodies=tuple(bodies), contact_points=tuple(points),
            shapes=() if robot.boxes is None else tuple(robot.boxes(home)),
            gravity=vector3(robot.gravity if gravity is None else gravity, "gravity"),
            feet=tuple(home.body(foot, "feet") for foot in feet), facing=facing, posture=tuple(rest.items()),
            notes=notes, visuals=() if robot.visuals is None else tuple(robot.visuals(home)),
            closing_joints=() if robot.closing is None else tuple(robot.closing(home)),
            actuators=tuple(actuator for actuator in robot.actuators if locked.model.existJointName(actuator.joint)),
            floor_friction=options.get("floor", {}).get("mu", robot.floor),
        )  # fmt: skip
    except UnresistedJointError as error:
        raise UnresistedJointError(f"{error}; {repair.WAYS_OUT}") from None
    for note in notes:
        warnings.warn(f"{model.name}: {note}", ModelWarning, stacklevel=3)
    return model


@dataclass(frozen=True)
class _Locked:
    """Pinocchio's model with locked joints, the posture of all joints, and notes."""

    model: Any
    posture: Mapping[str, float]
    merged: Mapping[str, str]
    notes: tuple[str, ...]


def _locked(robot: Robot, options: Options) -> _Locked:
    joints = locking.joints_with_axis(robot.model)
    posture = dict(robot.posture) | by_joint(options.get("posture", {}), "posture", joints)
    locked = by_joint(options.get("locked", {}), "locked", joints)
    mimics = {joint: mimic for joint, mimic in robot.mimics.items() if joint in joints and joint not in locked}
    following = locking.mimicked(mimics, posture | locked, locking.all_joints(robot.model))
    stopped = following | locked
    model = locking.lock(robot.model, stopped)
    merged: dict[str, str] = {}
    while options.get("repair") == "merge" and (unphysical := _first_unphysical(model)):
        joint, body, why = unphysical
        merged[body] = why
        stopped[joint] = posture.get(joint, 0.0)
        model = locking.lock(robot.model, stopped)
    return _Locked(model, posture, merged, tuple(locking.mimic_notes(following, robot.mimics)))


def _first_unphysical(model: Any) -> tuple[str, str, str] | None:
    """Return (joint, body, reason) of the first impossible rigid body on a joint that can be locked."""
    home = at_home(model)
    for name in locking.joints_with_axis(model):
        i = model.getJointId(name)
        why = repair.why_not(inertia_of(home, i))
        if why:
            return name, home.bodies[i], why
    return None


def _contact_points(
    robot: Robot,
    home: contacts.Links,
    options: Options,
    feet: Sequence[str],
    facing: Vector3,
    rest: Mapping[str, float],
) -> list[ContactPoint]:
    requested = options.get("contacts")
    if requested is None:
        return [] if robot.points is None else robot.points(home)
    if not isinstance(requested, str):
        return contacts.given(requested, home)
    if robot.geometry is None:
        raise ModelError("contacts = 'collision' needs the argument geometry; pass it, or list points by link")
    geometry = robot.geometry(home.model, {home.frame(foot, "feet").parentJoint for foot in feet})
    return contacts.contact_points(feet, home, geometry, locking.place(home.model, rest), facing)
