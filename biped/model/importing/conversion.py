"""From Pinocchio's model of a robot to ours.

The axes of Pinocchio's joint frames are free; ours are parallel to the inertial frame in the home configuration,
which is the one where all joints are at zero. What is read is turned accordingly.
"""

import math
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Unpack, cast

import numpy as np

from biped.model.body import Body
from biped.model.contact_point import ContactPoint
from biped.model.errors import ModelError, ModelWarning
from biped.model.geometry import Vector3, horizontal, matrix3, vector3
from biped.model.importing import contacts, locking, repair
from biped.model.importing.composites import taken_apart
from biped.model.importing.locking import Mimic
from biped.model.importing.options import COLLISION, Options, by_joint, check_options
from biped.model.joint import PASSIVE, Joint, Kind
from biped.model.model import STANDARD_GRAVITY, Model
from biped.model.shape import Box
from contact.arrays import Floats

#: From here on a limit in a file is none: what save_urdf writes where URDF demands one, and Pinocchio's own.
NO_LIMIT = 1e9
#: What a model keeps and no step feels.
_NOT_SIMULATED = {
    "lower": "position limits", "upper": "position limits", "max_velocity": "velocity limits",
    "max_effort": "effort limits", "damping": "joint damping", "friction": "joint friction",
}  # fmt: skip


@dataclass(frozen=True)
class Robot:
    """A robot as a reader of files found it.

    Attributes:
        model: Pinocchio's.
        floating: the name that the floating root joint is to have, or None where the root is another joint.
        home: [m] where the root link is at home.
        order: of the joints that move; bodies follow it, but that parents stand before their children.
        mimics: joints that mimic others.
        geometry: makes Pinocchio's collision geometry of what is on some joints of the model, once others are locked.
        gravity: [m/s²].
        feet: links.
        points: makes the contact points that the file itself has.
        boxes: makes the boxes to draw.
        armature: by joint.
        facing: where it looks.
        posture: by joint.
        notes: what its reader left out, a sentence each.
    """

    model: Any
    name: str
    order: Sequence[str]
    floating: str | None = None
    home: Vector3 = (0.0, 0.0, 0.0)
    mimics: Mapping[str, Mimic] = field(default_factory=dict)
    geometry: Callable[[Any, Collection[int]], Any] | None = None
    gravity: Vector3 = STANDARD_GRAVITY
    feet: tuple[str, ...] = ()
    points: Callable[[contacts.Links], list[ContactPoint]] | None = None
    boxes: Callable[[contacts.Links], list[Box]] | None = None
    armature: Mapping[str, float] = field(default_factory=dict)
    facing: Vector3 = (1.0, 0.0, 0.0)
    posture: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def from_pinocchio(model: Any, geometry: Any = None, **options: Unpack[Options]) -> Model:
    """The model that a ``pinocchio.Model`` describes.

    Bodies are named after the link on their joint. Joints of one degree of freedom, spherical ones, composites of
    these, and a floating root are read. Between the parts of a composite joint stand links without mass: see the
    option ``repair``.

    Args:
        model: Pinocchio's, with independent joints.
        geometry: its ``pinocchio.GeometryModel`` for collisions, for ``contacts="collision"``.
        options: see `biped.model.importing.options.Options`.

    Raises:
        ModelError: a joint is of another type, or an option does not fit; one line says what and where.
    """
    check_options(options)
    return build(as_robot(model, geometry, {}, options), options)


def as_robot(model: Any, geometry: Any, names: Mapping[str, Sequence[str]], options: Options) -> Robot:
    """A Pinocchio model as a reader of files would have found it; ``names`` as for ``taken_apart``.

    Raises:
        ModelError: the option ``floating`` says otherwise than the model.
    """
    apart = taken_apart(model, names)
    joints = locking.moving_joints(apart)
    floats = bool(joints) and apart.joints[1].shortname() == "JointModelFreeFlyer"
    if options.get("floating") not in (None, floats):
        does = "floats" if floats else "does not float"
        raise ModelError(f"floating: the root of Pinocchio's model {does}; build it with the root joint that is meant")
    return Robot(
        model=apart,
        name=model.name or "robot",
        order=joints,
        floating=joints[0] if floats else None,
        home=_root_place(model) if floats else (0.0, 0.0, 0.0),
        geometry=None if geometry is None else partial(_carried_over, geometry, model),
        gravity=vector3(model.gravity.linear, "gravity"),
    )


def _root_place(model: Any) -> Vector3:
    """[m] Where the file has the root: MJCF's configuration of reference; of other models the origin."""
    known = model.referenceConfigurations
    return vector3(known["qpos0"][:3], "home") if "qpos0" in known else (0.0, 0.0, 0.0)


def _carried_over(geometry: Any, model: Any, locked: Any, joints: Collection[int]) -> Any:
    """The geometry of ``model`` for the same with joints locked, as far as it is on these joints of that."""
    import pinocchio as pin

    result = pin.GeometryModel()
    for shape in geometry.geometryObjects:
        old = model.frames[shape.parentFrame]
        row = locked.getFrameId(old.name, old.type)
        new = locked.frames[row]
        place = new.placement * old.placement.actInv(shape.placement)
        if new.parentJoint in joints:
            result.addGeometryObject(pin.GeometryObject(shape.name, new.parentJoint, row, place, shape.geometry))
    return result


def build(robot: Robot, options: Options) -> Model:
    """The model of a robot, changed as the options say; what is not simulated of it is told, and kept in its notes.

    Raises:
        ModelError: an option does not fit, or the robot is no system of rigid bodies.
    """
    locked = _locked(robot, options)
    rest = {joint: at for joint, at in locked.posture.items() if joint in locking.moving_joints(locked.model)}
    home = _at_home(locked.model)
    bodies, mended = _bodies(locked.model, home, robot, options)
    facing = horizontal(options.get("facing", robot.facing), "facing")
    feet = tuple(options.get("feet", robot.feet))
    points = _contact_points(robot, home, options, feet, facing, rest)
    notes = (
        *robot.notes,
        *locked.notes,
        *repair.told_of_repairs(locked.merged, mended),
        *(contacts.told_of_edges(points) if options.get("contacts") == COLLISION else ()),
        *_without_room(locked.model),
        *_not_simulated(bodies),
    )
    asked, gravity = options.get("name"), options.get("gravity")
    model = Model(
        name=robot.name if asked is None else asked,
        bodies=tuple(bodies),
        contact_points=tuple(points),
        shapes=() if robot.boxes is None else tuple(robot.boxes(home)),
        gravity=vector3(robot.gravity if gravity is None else gravity, "gravity"),
        feet=tuple(home.body(foot, "feet") for foot in feet),
        facing=facing,
        posture=tuple(rest.items()),
        notes=notes,
    )
    for note in notes:
        warnings.warn(f"{model.name}: {note}", ModelWarning, stacklevel=3)
    return model


@dataclass(frozen=True)
class _Locked:
    """Pinocchio's model with joints locked, the posture of all, and what was done."""

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
    while options.get("repair") == "merge" and (found := _first_unphysical(model)):
        joint, body, why = found
        merged[body] = why
        stopped[joint] = posture.get(joint, 0.0)
        model = locking.lock(robot.model, stopped)
    return _Locked(model, posture, merged, tuple(locking.told_of_mimics(following, robot.mimics)))


def _first_unphysical(model: Any) -> tuple[str, str, str] | None:
    """(joint, body, why) of a body that no rigid body is, on a joint that can be locked."""
    home = _at_home(model)
    for name in locking.joints_with_axis(model):
        i = model.getJointId(name)
        why = repair.why_not(_inertia(home, i))
        if why:
            return name, home.bodies[i], why
    return None


def _at_home(model: Any) -> contacts.Links:
    return contacts.Links(model, _home_rotations(model), _links_on_joints(model))


def _home_rotations(model: Any) -> list[Floats]:
    """Composed here: Pinocchio's own workspace for it grows with the cube of the degrees of freedom."""
    rotations = [np.eye(3)]
    for parent, placement in zip(model.parents[1:], model.jointPlacements[1:], strict=True):
        rotations.append(rotations[parent] @ placement.rotation)
    return rotations


def _links_on_joints(model: Any) -> dict[int, str]:
    """By joint: the first link on it, which those that are welded to it come after; else the joint's own name."""
    import pinocchio as pin

    found = dict(enumerate(model.names))
    for frame in reversed(list(model.frames)):
        if frame.type == pin.FrameType.BODY:
            found[frame.parentJoint] = frame.name
    return found


def _inertia(home: contacts.Links, i: int) -> repair.Inertia:
    """Of the body on Pinocchio's joint i, in home axes."""
    R, inertia = home.rotations[i], home.model.inertias[i]
    return repair.Inertia(inertia.mass, R @ inertia.lever, R @ inertia.inertia @ R.T)


def _bodies(model: Any, home: contacts.Links, robot: Robot, options: Options) -> tuple[list[Body], dict[str, str]]:
    """The bodies, and which of them were mended, with why."""
    order = [name for name in robot.order if model.existJointName(name)]
    known = [name for name in order if model.joints[model.getJointId(name)].nv == 1]
    armature = dict(robot.armature) | _armature(options.get("armature", {}), known)
    mended: dict[str, str] = {}
    bodies = []
    if robot.floating is not None:
        bodies.append(_floating_body(home, robot, options, mended))
    for name in order:
        i = model.getJointId(name)
        if robot.floating is None or i != 1:
            bodies.append(_body(home, i, _joint(home, i, armature), options, mended))
    if not bodies:
        raise ModelError(
            f"the URDF of {robot.name!r} does not move: its root is the ground and all joints are fixed; load with "
            "floating=True to let it float"
        )
    _check_one_root(bodies)
    return bodies, mended


def _check_one_root(bodies: Sequence[Body]) -> None:
    roots = [repr(body.name) for body in bodies if body.parent is None]
    if len(roots) > 1:
        raise ModelError(
            f"a model has exactly one root, a body whose parent is None; found {', '.join(roots)}, all on the ground; "
            "load with floating=True to let the link that carries them float"
        )


def _armature(armature: float | Mapping[str, float], joints: Sequence[str]) -> dict[str, float]:
    if isinstance(armature, Mapping):
        return by_joint(armature, "armature", joints)
    return by_joint({"*": armature}, "armature", joints) if joints else {}


def _floating_body(home: contacts.Links, robot: Robot, options: Options, mended: dict[str, str]) -> Body:
    if home.model.inertias[1].mass == 0.0 and options.get("repair") != "inertia":
        raise ModelError(f"root link {home.bodies[1]!r} has no mass and cannot float; load with floating=False")
    joint = Joint(cast("str", robot.floating), "floating", position=robot.home)
    return _body(home, 1, joint, options, mended, parent=False)


def _body(
    home: contacts.Links, i: int, joint: Joint, options: Options, mended: dict[str, str], parent: bool = True
) -> Body:
    inertia, name = _inertia(home, i), home.bodies[i]
    why = repair.why_not(inertia)
    if why and inertia.mass >= 0.0:
        if options.get("repair") != "inertia":
            raise repair.refuse(name, why)
        mended[name] = why
        inertia = repair.least(inertia)
    above = home.model.parents[i]
    return Body(
        name=name,
        mass=inertia.mass,
        inertia=matrix3(0.5 * (inertia.tensor + inertia.tensor.T), f"body {name!r}: inertia"),
        com=vector3(inertia.com, f"body {name!r}: com"),
        joint=joint,
        parent=home.bodies[above] if parent and above != contacts.UNIVERSE else None,
    )


def _joint(home: contacts.Links, i: int, armature: Mapping[str, float]) -> Joint:
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


def _without_room(model: Any) -> list[str]:
    """A sentence, if joints have a least position above the greatest."""
    lower, upper = model.lowerPositionLimit, model.upperPositionLimit
    joints = [(name, model.joints[model.getJointId(name)]) for name in locking.joints_with_axis(model)]
    names = [name for name, joint in joints if joint.nq == 1 and lower[joint.idx_q] > upper[joint.idx_q]]
    return [f"position limits that leave no room are left out: {', '.join(names)}"] if names else []


def _limit(value: float) -> float:
    return math.copysign(math.inf, value) if abs(value) >= NO_LIMIT else float(value)


def _not_simulated(bodies: Iterable[Body]) -> list[str]:
    """A sentence, if the joints have something that no step feels."""
    counts: dict[str, int] = {}
    for body in bodies:
        for what in {what for name, what in _NOT_SIMULATED.items() if getattr(body.joint, name) != PASSIVE[name]}:
            counts[what] = counts.get(what, 0) + 1
    listed = ", ".join(f"{what} ({counts[what]})" for what in dict.fromkeys(_NOT_SIMULATED.values()) if what in counts)
    return [f"kept in its joints, but not simulated: {listed}"] if counts else []


def _contact_points(
    robot: Robot,
    home: contacts.Links,
    options: Options,
    feet: Sequence[str],
    facing: Vector3,
    rest: Mapping[str, float],
) -> list[ContactPoint]:
    asked = options.get("contacts")
    if asked is None:
        return [] if robot.points is None else robot.points(home)
    if not isinstance(asked, str):
        return contacts.given(asked, home)
    if robot.geometry is None:
        raise ModelError("contacts = 'collision' needs collision geometry, which was not given; give points by link")
    geometry = robot.geometry(home.model, {home.frame(foot, "feet").parentJoint for foot in feet})
    return contacts.found(feet, home, geometry, locking.place(home.model, rest), facing)
