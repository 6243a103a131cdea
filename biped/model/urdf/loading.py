"""Loading of URDF through Pinocchio, which composes the placements and merges the fixed joints."""

from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from biped.model.closing_joint import ClosingJoint
from biped.model.errors import ModelError, reason_of
from biped.model.geometry import Matrix3, Vector3, matrix3, matrix_rpy, rpy_matrix, rpy_quaternion, vector3
from biped.model.importing.contacts import UNIVERSE, Links
from biped.model.importing.conversion import build
from biped.model.importing.locking import FLOATING
from biped.model.importing.options import Options, check_options
from biped.model.importing.robot import Robot
from biped.model.model import Model
from biped.model.shape import Box
from biped.model.urdf.document import Document, UrdfBox, UrdfVisual, parse, source_text, without_shapes
from biped.model.urdf.extension import ClosingData
from biped.model.urdf.meshes import collision_text, mesh_file
from biped.model.visual import Visual

GROUND = "world"
"""Usual name of a root link that is the ground."""


def load_urdf(source: str | Path, **options: Unpack[Options]) -> Model:
    """Load a model from a URDF.

    Each body is named after the link on its joint; bodies are ordered depth first, siblings as in the file. Links on
    fixed joints become parts of their parents; the options ``contacts`` and ``feet`` may still name them. Mimic joints
    are locked at the position for which the joints that they mimic are at rest. Collision boxes become the model's
    shapes, visual geometry its visuals. Limits, damping and friction of joints are kept. In a file written by
    `save_urdf`, contact points, feet, armature, gravity and the root's home position are also read, and the root link
    floats by default if it did in the saved model; in other files, it floats unless its name is ``world``.

    Args:
        source: path of a file, or the XML itself.
        options: settings in addition to the file; see `biped.model.importing.options.Options`.

    Raises:
        ModelError: the file is missing, is not a URDF, or describes no model, or an option is invalid; the message is
            one line with location and remedy.

    Warns:
        ModelWarning: a part of the file was changed, or is not simulated.
    """
    check_options(options)
    document = parse(source_text(source))
    data = document.extension
    floats = _floats(document, options.get("floating"))
    robot = Robot(
        model=_read(document, floats),
        name=document.name,
        order=[joint.name for joint in document.moving_joints()],
        floating=data.joint + "_" * (data.joint in {joint.name for joint in document.joints}) if floats else None,
        home=data.home,
        mimics={joint.name: joint.mimic for joint in document.joints if joint.mimic is not None},
        geometry=partial(_collision, document, _folder(source), options.get("packages", ())),
        gravity=data.gravity,
        feet=data.feet,
        points=lambda links: [
            links.point(point.name, point.link, point.xyz, point.radius) for point in document.extension.contacts
        ],
        closing=lambda links: [_closing_joint(joint, links) for joint in document.extension.closing],
        boxes=lambda links: _boxes(document, links),
        visuals=lambda links: _visuals(document, links, _folder(source), options.get("packages", ())),
        armature=data.armature,
        facing=data.facing,
        posture=data.posture,
        notes=(*document.left_out, *_not_hit(document)),
    )
    return build(robot, options)


def _folder(source: str | Path) -> Path | None:
    return None if isinstance(source, str) and source.lstrip().startswith("<") else Path(source).resolve().parent


def _floats(document: Document, floating: bool | None) -> bool:
    if floating is not None:
        return floating
    saved = document.extension.floating
    return document.root != GROUND if saved is None else saved


def _read(document: Document, floats: bool) -> Any:
    import pinocchio as pin

    try:
        root = (pin.JointModelFreeFlyer(), FLOATING) if floats else ()
        return pin.buildModelFromXML(without_shapes(document.text), *root)
    except (ValueError, LookupError, RuntimeError) as error:
        raise ModelError(f"Pinocchio refuses the URDF of {document.name!r}: {reason_of(error)}") from None


def _collision(
    document: Document, folder: Path | None, packages: Sequence[str], model: Any, joints: Collection[int]
) -> Any:
    """Return Pinocchio's collision geometry on these joints."""
    import pinocchio as pin

    links = {frame.name for frame in model.frames if frame.parentJoint in joints}
    text = collision_text(document.text, links, folder, packages)
    try:
        return pin.buildGeomFromUrdfString(model, text, pin.GeometryType.COLLISION)
    except (ValueError, LookupError, RuntimeError) as error:
        why = f"the collision geometry of {document.name!r} cannot be read: {reason_of(error)}"
        raise ModelError(f"{why}; give the points in the option 'contacts' instead") from None


def _closing_joint(data: ClosingData, links: Links) -> ClosingJoint:
    what = f"closing joint {data.name!r}"
    parent, position, R = links.placed(*data.parent, what)
    child, child_position, turned = links.placed(*data.child, what)
    if child is None:
        raise ModelError(f"{what}: link {data.child.link!r} is fixed to the ground: swap <child> and <parent>")
    alignment = rpy_quaternion(matrix_rpy(matrix3(R @ turned.T, what)))
    axis = vector3(R @ np.array(data.axis), what)
    second = None if data.second_axis is None else vector3(R @ np.array(data.second_axis), what)
    return ClosingJoint(
        data.name, data.kind, parent, child, axis, position, child_position, alignment, second, data.pitch
    )


def _boxes(document: Document, links: Links) -> list[Box]:
    """Return the boxes of the moving links."""
    placed = ((box, _placed(box, links)) for box in document.boxes)
    return [Box(place[0], box.size, *place[1:]) for box, place in placed if place is not None]


def _visuals(document: Document, links: Links, folder: Path | None, packages: Sequence[str]) -> list[Visual]:
    """Return the visuals of the moving links; a missing mesh keeps the name in the file."""
    visuals = []
    for visual in document.visuals:
        place = _placed(visual, links)
        if place is not None:
            body, center, rotation = place
            path = mesh_file(visual.file, folder, packages) if visual.form == "mesh" else None
            file = visual.file if path is None else str(path)
            visuals.append(Visual(body, visual.form, visual.size, center, rotation, visual.color, file))
    return visuals


def _placed(drawn: UrdfBox | UrdfVisual, links: Links) -> tuple[str, Vector3, Matrix3] | None:
    """Return the body of a box or a visual, with its center and rotation there; None on the ground."""
    import pinocchio as pin

    frame = links.model.frames[links.model.getFrameId(drawn.link, pin.FrameType.BODY)]
    if frame.parentJoint == UNIVERSE:
        return None
    R = links.rotations[frame.parentJoint]
    center = vector3(R @ frame.placement.act(np.array(drawn.xyz)), "center")
    rotation = matrix3(R @ frame.placement.rotation @ rpy_matrix(drawn.rpy), "rotation")
    return links.bodies[frame.parentJoint], center, rotation


def _not_hit(document: Document) -> tuple[str, ...]:
    """Return a note if links have collision shapes that a model does not use."""
    count = document.other_shapes
    if not count:
        return ()
    return (f"collision shapes of links that are not boxes are ignored: {count}",)
