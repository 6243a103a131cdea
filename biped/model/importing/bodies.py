"""Conversion of Pinocchio's joints and inertias to bodies, in home axes."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from biped.model.body import Body
from biped.model.errors import ModelError
from biped.model.geometry import matrix3, vector3
from biped.model.importing import contacts, repair
from biped.model.importing.joints import joint_of
from biped.model.importing.options import Options, by_joint
from biped.model.importing.robot import Robot
from biped.model.joint import Joint
from contact.arrays import Floats


def at_home(model: Any) -> contacts.Links:
    """Return the links of a Pinocchio model in the home configuration."""
    return contacts.Links(model, _home_rotations(model), _links_on_joints(model))


def _home_rotations(model: Any) -> list[Floats]:
    """Return the links' rotations, without Pinocchio's data, which grow with the cube of the degrees of freedom."""
    rotations = [np.eye(3)]
    for parent, placement in zip(model.parents[1:], model.jointPlacements[1:], strict=True):
        rotations.append(rotations[parent] @ placement.rotation)
    return rotations


def _links_on_joints(model: Any) -> dict[int, str]:
    """Return, by joint, the first link on it, before links welded to this link; without a link, the joint's name."""
    import pinocchio as pin

    links = dict(enumerate(model.names))
    for frame in reversed(list(model.frames)):
        if frame.type == pin.FrameType.BODY:
            links[frame.parentJoint] = frame.name
    return links


def inertia_of(home: contacts.Links, i: int) -> repair.Inertia:
    """Return the inertia of the body on Pinocchio's joint i, in home axes."""
    R, inertia = home.rotations[i], home.model.inertias[i]
    return repair.Inertia(inertia.mass, R @ inertia.lever, R @ inertia.inertia @ R.T)


def bodies_of(model: Any, home: contacts.Links, robot: Robot, options: Options) -> tuple[list[Body], dict[str, str]]:
    """Return the bodies, and the reasons why some of them were repaired, by name."""
    order = [name for name in robot.order if model.existJointName(name)]
    known = [name for name in order if model.joints[model.getJointId(name)].nv == 1]
    given = _given(robot, options, known)
    limits = options.get("limits", True)
    mended: dict[str, str] = {}
    bodies = []
    if robot.floating is not None:
        bodies.append(_floating_body(home, robot, options, mended))
    for name in order:
        i = model.getJointId(name)
        if robot.floating is None or i != 1:
            bodies.append(_body(home, i, joint_of(home, i, given, limits), options, mended))
    if not bodies:
        raise ModelError(
            f"no link of the URDF of {robot.name!r} moves: the root is the ground and all joints are fixed; load it "
            "with floating=True to let it float"
        )
    return bodies, mended


def _given(robot: Robot, options: Options, joints: Sequence[str]) -> dict[str, dict[str, float]]:
    """Return damping, friction and armature from the robot's file and the options, by field and joint."""
    given = {"armature": dict(robot.armature)}
    for field in ("armature", "damping", "friction"):
        values: Any = options.get(field, {})
        if not isinstance(values, Mapping):
            values = {"*": values} if joints else {}
        given[field] = given.get(field, {}) | by_joint(values, field, joints)
    return given


def _floating_body(home: contacts.Links, robot: Robot, options: Options, mended: dict[str, str]) -> Body:
    if home.model.inertias[1].mass == 0.0 and options.get("repair") != "inertia":
        raise ModelError(f"root link {home.bodies[1]!r} cannot float without mass; load with floating=False to fix it")
    joint = Joint(cast("str", robot.floating), "floating", position=robot.home)
    return _body(home, 1, joint, options, mended, parent=False)


def _body(
    home: contacts.Links, i: int, joint: Joint, options: Options, mended: dict[str, str], parent: bool = True
) -> Body:
    inertia, name = inertia_of(home, i), home.bodies[i]
    why = repair.why_not(inertia)
    if why and inertia.mass >= 0.0:
        if options.get("repair") == "inertia":
            mended[name] = why
            inertia = repair.least(inertia)
        elif not repair.is_thin(inertia):
            raise repair.refuse(name, why)
    above = home.model.parents[i]
    return Body(
        name=name,
        mass=inertia.mass,
        inertia=matrix3(0.5 * (inertia.tensor + inertia.tensor.T), f"body {name!r}: inertia"),
        com=vector3(inertia.com, f"body {name!r}: com"),
        joint=joint,
        parent=home.bodies[above] if parent and above != contacts.UNIVERSE else None,
    )
