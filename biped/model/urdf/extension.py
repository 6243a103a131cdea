"""Element ``<biped>`` in a robot's URDF for data that URDF does not have; other programs ignore it.

    <biped floating="true" joint="body" home="0.0 0.0 1.23" gravity="0.0 0.0 -9.81" facing="1.0 0.0 0.0">
      <contact name="left_1" link="left_foot" xyz="-0.159 -0.05 -0.06"/>
      <foot link="left_foot"/>
      <joint name="left_knee" armature="0.01" posture="0.3"/>
      <closing_joint name="brace" type="revolute">
        <parent link="brace_shank" xyz="0.0 0.0 -0.4" rpy="0.0 0.0 0.0"/>
        <child link="left_foot" xyz="0.0 0.05 0.0" rpy="0.0 0.0 0.0"/>
        <axis xyz="0.0 1.0 0.0"/>
      </closing_joint>
    </biped>

``joint`` is the name of the floating joint, ``home`` the position of the root link in the home configuration, and
``facing`` the forward direction in it. A closing joint has a frame on each of its links; the frames coincide at zero
joint angle. Its axes are in that frame: ``axis``, and ``second_axis`` of a universal joint. A helical joint has a
``pitch`` [m/rad].
"""

import xml.etree.ElementTree as ET
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from biped.model.closing_joint import ClosingJoint
from biped.model.errors import ModelError
from biped.model.geometry import STANDARD_GRAVITY, Vector3, matrix3, matrix_rpy, quaternion_matrix
from biped.model.model import Model
from biped.model.urdf.attributes import scalar, text_attribute, triple, words

TAG = "biped"


class PointData(NamedTuple):
    """Contact point in the frame of a URDF link."""

    name: str
    link: str
    xyz: Vector3
    radius: float


class FrameData(NamedTuple):
    """Frame on a URDF link."""

    link: str
    xyz: Vector3
    rpy: Vector3


class ClosingData(NamedTuple):
    """Joint that closes a loop."""

    name: str
    kind: str
    parent: FrameData
    child: FrameData
    axis: Vector3
    second_axis: Vector3 | None
    pitch: float


class Extension(NamedTuple):
    """Contents of ``<biped>``; the defaults apply to a file without this element."""

    floating: bool | None = None
    joint: str = "floating_base"
    home: Vector3 = (0.0, 0.0, 0.0)
    gravity: Vector3 = STANDARD_GRAVITY
    contacts: tuple[PointData, ...] = ()
    feet: tuple[str, ...] = ()
    facing: Vector3 = (1.0, 0.0, 0.0)
    armature: Mapping[str, float] = MappingProxyType({})
    posture: Mapping[str, float] = MappingProxyType({})
    closing: tuple[ClosingData, ...] = ()


def read(robot: ET.Element) -> Extension:
    """Return the extension of a ``<robot>``.

    Raises:
        ModelError: an attribute is missing or invalid.
    """
    element = robot.find(TAG)
    if element is None:
        return Extension()
    where = f"<{TAG}>"
    return Extension(
        floating=_truth(element),
        joint=element.get("joint", Extension().joint),
        home=triple(element, "home", where, (0.0, 0.0, 0.0)),
        gravity=triple(element, "gravity", where, STANDARD_GRAVITY),
        contacts=tuple(_point(point) for point in element.findall("contact")),
        feet=tuple(text_attribute(foot, "link", f"{where}: <foot>") for foot in element.findall("foot")),
        facing=triple(element, "facing", where, (1.0, 0.0, 0.0)),
        armature=_by_joint(element, "armature"),
        posture=_by_joint(element, "posture"),
        closing=tuple(_closing(joint) for joint in element.findall("closing_joint")),
    )


def _by_joint(element: ET.Element, attribute: str) -> dict[str, float]:
    where = f"<{TAG}>: <joint>"
    return {
        text_attribute(joint, "name", where): scalar(joint, attribute, where)
        for joint in element.findall("joint")
        if joint.get(attribute) is not None
    }


def _truth(element: ET.Element) -> bool | None:
    value = element.get("floating")
    if value not in (None, "true", "false"):
        raise ModelError(f"<{TAG}>: floating must be 'true' or 'false', got {value!r}")
    return None if value is None else value == "true"


def _point(element: ET.Element) -> PointData:
    name = text_attribute(element, "name", f"<{TAG}>: <contact>")
    where = f"<{TAG}>: contact {name!r}"
    radius = 0.0 if element.get("radius") is None else scalar(element, "radius", where)
    return PointData(name, text_attribute(element, "link", where), triple(element, "xyz", where), radius)


def _closing(element: ET.Element) -> ClosingData:
    name = text_attribute(element, "name", f"<{TAG}>: <closing_joint>")
    where = f"<{TAG}>: closing joint {name!r}"
    axis, second = element.find("axis"), element.find("second_axis")
    return ClosingData(
        name,
        text_attribute(element, "type", where),
        _frame(element, "parent", where),
        _frame(element, "child", where),
        (1.0, 0.0, 0.0) if axis is None else triple(axis, "xyz", where),
        None if second is None else triple(second, "xyz", where),
        0.0 if element.get("pitch") is None else scalar(element, "pitch", where),
    )


def _frame(joint: ET.Element, side: str, where: str) -> FrameData:
    element = joint.find(side)
    if element is None:
        raise ModelError(f"{where} needs an element <{side} link=... xyz=...>")
    where, zero = f"{where}: <{side}>", (0.0, 0.0, 0.0)
    link = text_attribute(element, "link", where)
    return FrameData(link, triple(element, "xyz", where, zero), triple(element, "rpy", where, zero))


def write(robot: ET.Element, model: Model, ground: str) -> None:
    """Add the extension that restores ``model``; ``ground`` is the name of the link that does not move."""
    element = ET.SubElement(robot, TAG, {"floating": "true" if model.is_floating else "false"})
    if model.is_floating:
        element.set("joint", model.root.joint.name)
        element.set("home", words(model.root.joint.position))
    element.set("gravity", words(model.gravity))
    if model.facing != Extension().facing:
        element.set("facing", words(model.facing))
    for point in model.contact_points:
        contact = {"name": point.name, "link": point.body, "xyz": words(point.position)}
        ET.SubElement(element, "contact", contact | ({"radius": words([point.radius])} if point.radius else {}))
    for foot in model.feet:
        ET.SubElement(element, "foot", {"link": foot})
    _write_joints(element, model)
    for joint in model.closing_joints:
        _write_closing(element, joint, ground)


def _write_joints(element: ET.Element, model: Model) -> None:
    posture = dict(model.posture)
    for joint in (body.joint for body in model.bodies):
        values = {"armature": joint.armature} if joint.armature else {}
        values |= {"posture": posture[joint.name]} if joint.name in posture else {}
        if values:
            numbers = {name: words([value]) for name, value in values.items()}
            ET.SubElement(element, "joint", {"name": joint.name} | numbers)


def _write_closing(element: ET.Element, joint: ClosingJoint, ground: str) -> None:
    closing = ET.SubElement(element, "closing_joint", {"name": joint.name, "type": joint.kind})
    turned = matrix_rpy(matrix3(np.transpose(quaternion_matrix(joint.alignment)), "alignment"))
    ET.SubElement(closing, "parent", {"link": joint.parent or ground, "xyz": words(joint.position)})
    child = {"link": joint.child, "xyz": words(joint.child_position)}
    ET.SubElement(closing, "child", child | ({"rpy": words(turned)} if any(turned) else {}))
    ET.SubElement(closing, "axis", {"xyz": words(joint.axis)})
    if joint.second_axis is not None:
        ET.SubElement(closing, "second_axis", {"xyz": words(joint.second_axis)})
    if joint.pitch:
        closing.set("pitch", words([joint.pitch]))
