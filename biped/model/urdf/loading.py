"""From URDF to a model, through Pinocchio: it composes the placements and merges the fixed joints.

The axes of URDF's link frames are free; ours are parallel to the inertial frame in the home configuration,
which is the one where all joints of the URDF are at zero. What is read is turned accordingly.
"""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from biped.model.body import Body
from biped.model.contact_point import ContactPoint
from biped.model.errors import ModelError, unknown
from biped.model.geometry import Vector3, matrix3, rotation_about, vector3
from biped.model.joint import Joint
from biped.model.model import Model
from biped.model.shape import Box
from biped.model.urdf.document import Document, UrdfJoint, parse, source_text
from contact.arrays import Floats

GROUND = "world"
"""The customary name of a root link that is the ground."""

_UNIVERSE = 0
_FLOATING = "<floating>"  # no joint of a URDF file has this name


class _Home(NamedTuple):
    """Pinocchio's model and the rotation (3, 3) of each of its joint frames at home."""

    model: Any
    rotations: list[Floats]
    bodies: dict[int, str]  # by Pinocchio's joint: the link that it carries


def load_urdf(
    source: str | Path, *, floating: bool | None = None, gravity: ArrayLike | None = None, name: str | None = None
) -> Model:
    """The model in a URDF.

    Bodies are named after the link on their joint, and ordered depth first, siblings in document order.
    Links on fixed joints are merged. The boxes among the collision geometry become the model's shapes.
    Contact points, feet, gravity and the root's place at home are read if `save_urdf` has written them.

    Args:
        source: path of a file, or the XML itself.
        floating: whether the root link floats; else it is the ground and vanishes, and exactly one joint
            stands on it. By default as the file was saved; in a file from elsewhere the root link floats
            unless its name is ``world``.
        gravity: [m/s²] instead of the file's, or of 9.81 m/s² along −Z.
        name: instead of the robot's.

    Raises:
        ModelError: the file does not exist, is no URDF, or describes no model; one line says what and where.
    """
    document = parse(source_text(source))
    floats = _floats(document, floating)
    home = _at_home(document, floats)
    bodies = _bodies(document, home, floats)
    own = document.extension
    return Model(
        name=document.name if name is None else name,
        bodies=tuple(bodies),
        contact_points=_contact_points(document, home),
        shapes=_shapes(document, home),
        gravity=vector3(own.gravity if gravity is None else gravity, "gravity"),
        feet=tuple(_body_of(foot, "feet", document, home) for foot in own.feet),
    )


def _floats(document: Document, asked: bool | None) -> bool:
    if asked is not None:
        return asked
    saved = document.extension.floating
    return document.root != GROUND if saved is None else saved


def _at_home(document: Document, floats: bool) -> _Home:
    import pinocchio as pin

    try:
        root = (pin.JointModelFreeFlyer(), _FLOATING) if floats else ()
        model = pin.buildModelFromXML(document.text, *root)
    except (ValueError, RuntimeError) as error:
        raise ModelError(f"Pinocchio refuses the URDF of {document.name!r}: {str(error).splitlines()[0]}") from None
    bodies = {model.getJointId(joint.name): joint.child for joint in document.moving_joints()}
    if floats:
        bodies[1] = document.root
    return _Home(model, _home_rotations(model), bodies)


def _home_rotations(model: Any) -> list[Floats]:
    """Composed here: Pinocchio's own workspace for it grows with the cube of the degrees of freedom."""
    rotations = [np.eye(3)]
    for parent, placement in zip(model.parents[1:], model.jointPlacements[1:], strict=True):
        rotations.append(rotations[parent] @ placement.rotation)
    return rotations


def _bodies(document: Document, home: _Home, floats: bool) -> list[Body]:
    bodies = [_body(home, joint.name, joint) for joint in document.moving_joints()]
    if floats:
        _check_root_has_mass(document, home)
        bodies.insert(0, _floating_body(document, home))
    if not bodies:
        raise ModelError(
            f"the URDF of {document.name!r} does not move: its root is the ground and all joints are fixed"
        )
    return bodies


def _check_root_has_mass(document: Document, home: _Home) -> None:
    if home.model.inertias[1].mass == 0.0:
        raise ModelError(f"root link {document.root!r} has no mass and cannot float; load with floating=False")


def _floating_body(document: Document, home: _Home) -> Body:
    joint = Joint(document.extension.joint, "floating", position=document.extension.home)
    return _with_inertia(home, 1, joint, None)


def _body(home: _Home, name: str, urdf: UrdfJoint) -> Body:
    i = home.model.getJointId(name)
    parent = home.model.parents[i]
    position = vector3(home.rotations[parent] @ home.model.jointPlacements[i].translation, f"joint {name!r}: position")
    joint = _joint(home, i, urdf, position)
    return _with_inertia(home, i, joint, home.bodies[parent] if parent != _UNIVERSE else None)


def _joint(home: _Home, i: int, urdf: UrdfJoint, position: Vector3) -> Joint:
    if urdf.type == "floating":
        return Joint(urdf.name, "floating", position=position)
    motion = np.reshape(home.model.joints[i].createData().S, 6)  # Pinocchio's motion subspace, in the joint's frame
    if urdf.type == "prismatic":
        return Joint(urdf.name, "prismatic", vector3(home.rotations[i] @ motion[:3], "axis"), position)
    return Joint(urdf.name, "revolute", vector3(home.rotations[i] @ motion[3:], "axis"), position)


def _with_inertia(home: _Home, i: int, joint: Joint, parent: str | None) -> Body:
    R, inertia = home.rotations[i], home.model.inertias[i]
    turned = R @ inertia.inertia @ R.T
    return Body(
        name=home.bodies[i],
        mass=inertia.mass,
        inertia=matrix3(0.5 * (turned + turned.T), f"body {home.bodies[i]!r}: inertia"),
        com=vector3(R @ inertia.lever, f"body {home.bodies[i]!r}: com"),
        joint=joint,
        parent=parent,
    )


def _link_frame(link: str, what: str, document: Document, home: _Home) -> Any:
    import pinocchio as pin

    if link not in document.links:
        raise ModelError(f"{what}: {unknown('link', link, document.links)}")
    return home.model.frames[home.model.getFrameId(link, pin.FrameType.BODY)]


def _body_of(link: str, what: str, document: Document, home: _Home) -> str:
    frame = _link_frame(link, what, document, home)
    if frame.parentJoint == _UNIVERSE:
        raise ModelError(f"{what}: link {link!r} is fixed to the ground and does not move")
    return home.bodies[frame.parentJoint]


def _contact_points(document: Document, home: _Home) -> tuple[ContactPoint, ...]:
    points = []
    for point in document.extension.contacts:
        what = f"contact {point.name!r}"
        body = _body_of(point.link, what, document, home)
        frame = _link_frame(point.link, what, document, home)
        position = home.rotations[frame.parentJoint] @ frame.placement.act(np.array(point.xyz))
        points.append(ContactPoint(point.name, body, vector3(position, what)))
    return tuple(points)


def _shapes(document: Document, home: _Home) -> tuple[Box, ...]:
    """The boxes of the links that move."""
    shapes = []
    for box in document.boxes:
        frame = _link_frame(box.link, "box", document, home)
        if frame.parentJoint == _UNIVERSE:
            continue
        R = home.rotations[frame.parentJoint]
        center = vector3(R @ frame.placement.act(np.array(box.xyz)), "center")
        rotation = matrix3(R @ frame.placement.rotation @ rpy_matrix(box.rpy), "rotation")
        shapes.append(Box(home.bodies[frame.parentJoint], box.size, center, rotation))
    return tuple(shapes)


def rpy_matrix(rpy: Vector3) -> Floats:
    """(3, 3) URDF's rotation by roll, pitch, yaw [rad] about the fixed axes x, y, z, in this order."""
    roll, pitch, yaw = rpy
    x, y, z = np.eye(3)
    turns = [np.array(rotation_about(axis, angle)) for axis, angle in ((z, yaw), (y, pitch), (x, roll))]
    matrix: Floats = np.linalg.multi_dot(turns)
    return matrix
