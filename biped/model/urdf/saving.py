"""Saving of a model as URDF with the model's own link frames, so that no joint has a rotated frame."""

import math
import xml.etree.ElementTree as ET
from pathlib import Path

from biped.model.body import Body
from biped.model.errors import ModelError
from biped.model.geometry import Vector3, matrix_rpy
from biped.model.importing.joints import NO_LIMIT
from biped.model.joint import Joint
from biped.model.model import Model
from biped.model.shape import Box
from biped.model.urdf import extension
from biped.model.urdf.attributes import words
from biped.model.urdf.loading import GROUND
from biped.model.visual import Visual


def save_urdf(model: Model, path: str | Path) -> None:
    """Write ``model`` to the URDF file ``path``; `load_urdf` restores the model's arrays within 1e-12.

    Raises:
        ModelError: the model has a spherical or helical joint, which URDF does not support.
    """
    Path(path).write_text(urdf_text(model), encoding="utf-8")


def urdf_text(model: Model) -> str:
    """Return ``model`` as the text of a URDF file.

    Raises:
        ModelError: the model has a spherical or helical joint, which URDF does not support.
    """
    _check_joints(model)
    robot = ET.Element("robot", {"name": model.name})
    ground = _ground_name(model)
    if not model.is_floating:
        ET.SubElement(robot, "link", {"name": ground})
    for body in model.bodies:
        boxes = [box for box in model.shapes if box.body == body.name]
        _write_link(robot, body, boxes, [visual for visual in model.visuals if visual.body == body.name])
    for body in model.bodies:
        if body.joint.kind != "floating":
            _write_joint(robot, body, ground)
    extension.write(robot, model, ground)
    ET.indent(robot)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(robot, encoding="unicode") + "\n"


def _check_joints(model: Model) -> None:
    instead = {"spherical": "; three revolute joints can take its place", "helical": ""}
    for joint in (body.joint for body in model.bodies):
        if joint.kind in instead:
            raise ModelError(f"joint {joint.name!r} is {joint.kind}, which URDF does not support{instead[joint.kind]}")


def _ground_name(model: Model) -> str:
    name = GROUND
    while name in model.body_names:
        name += "_"
    return name


def _write_link(robot: ET.Element, body: Body, boxes: list[Box], visuals: list[Visual]) -> None:
    link = ET.SubElement(robot, "link", {"name": body.name})
    if body.mass:
        _write_inertial(ET.SubElement(link, "inertial"), body)
    for visual in visuals or [Visual(box.body, "box", box.size, box.center, box.rotation) for box in boxes]:
        _write_visual(ET.SubElement(link, "visual"), visual)
    for box in boxes:
        element = ET.SubElement(link, "collision")
        _write_origin(element, box.center, matrix_rpy(box.rotation))
        ET.SubElement(ET.SubElement(element, "geometry"), "box", {"size": words(box.size)})


def _write_inertial(inertial: ET.Element, body: Body) -> None:
    _write_origin(inertial, body.com)
    ET.SubElement(inertial, "mass", {"value": words([body.mass])})
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = body.inertia
    moments = {"ixx": xx, "ixy": xy, "ixz": xz, "iyy": yy, "iyz": yz, "izz": zz}
    ET.SubElement(inertial, "inertia", {name: words([moment]) for name, moment in moments.items()})


def _write_visual(element: ET.Element, visual: Visual) -> None:
    x, _, z = visual.size
    sizes = {
        "box": {"size": words(visual.size)},
        "sphere": {"radius": words([0.5 * x])},
        "cylinder": {"radius": words([0.5 * x]), "length": words([z])},
        "capsule": {"radius": words([0.5 * x]), "length": words([z - x])},
        "mesh": {"filename": visual.file, "scale": words(visual.size)},
    }
    _write_origin(element, visual.center, matrix_rpy(visual.rotation))
    ET.SubElement(ET.SubElement(element, "geometry"), visual.form, sizes[visual.form])
    if visual.color is not None:
        material = ET.SubElement(element, "material", {"name": ""})
        ET.SubElement(material, "color", {"rgba": words((*visual.color, 1.0))})


def _write_joint(robot: ET.Element, body: Body, ground: str) -> None:
    joint = ET.SubElement(robot, "joint", {"name": body.joint.name, "type": _type(body.joint)})
    _write_origin(joint, body.joint.position)
    ET.SubElement(joint, "parent", {"link": ground if body.parent is None else body.parent})
    ET.SubElement(joint, "child", {"link": body.name})
    ET.SubElement(joint, "axis", {"xyz": words(body.joint.axis)})
    _write_limit(joint, body.joint)
    if body.joint.damping or body.joint.friction:
        dynamics = {"damping": words([body.joint.damping]), "friction": words([body.joint.friction])}
        ET.SubElement(joint, "dynamics", dynamics)


def _type(joint: Joint) -> str:
    """Return URDF's type of a joint; hinges without limits are continuous."""
    bounded = math.isfinite(joint.lower) or math.isfinite(joint.upper)
    return "continuous" if joint.kind == "revolute" and not bounded else joint.kind


def _write_limit(element: ET.Element, joint: Joint) -> None:
    limits = {"effort": joint.max_effort, "velocity": joint.max_velocity}
    if _type(joint) != "continuous":
        limits = {"lower": joint.lower, "upper": joint.upper} | limits
    elif all(math.isinf(limit) for limit in limits.values()):
        return
    written = {name: words([max(-NO_LIMIT, min(limit, NO_LIMIT))]) for name, limit in limits.items()}
    ET.SubElement(element, "limit", written)


def _write_origin(element: ET.Element, xyz: Vector3, rpy: Vector3 = (0.0, 0.0, 0.0)) -> None:
    ET.SubElement(element, "origin", {"xyz": words(xyz), "rpy": words(rpy)})
