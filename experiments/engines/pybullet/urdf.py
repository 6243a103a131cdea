"""A model as URDF for engines that import URDF: principal inertias, and given collision shapes.

Importers convert products of inertia to principal axes with various tolerances; principal inertias avoid this. The link
frames are the model's.
"""

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from biped.errors import InputError
from biped.model import Body, Model, ModelError
from biped.model.geometry import IDENTITY, Matrix3, Vector3, matrix3, matrix_rpy
from biped.model.importing.joints import NO_LIMIT
from biped.model.urdf.attributes import words
from biped.model.urdf.saving import urdf_text
from contact.arrays import Floats


@dataclass(frozen=True)
class Solid:
    """A collision sphere or box, fixed to a body."""

    body: str  # name of the body
    size: tuple[float, ...]  # [m] (radius,) of a sphere, or the three edges of a box
    center: Vector3  # [m] in the body's link frame
    rotation: Matrix3 = IDENTITY  # rotation from the box's axes to home axes
    link: str = ""  # name of a massless link for this solid; empty: it belongs to the body's link


def principal_axes(body: Body) -> tuple[Floats, Floats]:
    """Return the principal moments (3,) [kg m²], and the rotation (3, 3) from the principal axes to the link's axes."""
    J = np.asarray(body.inertia)
    moments = np.diagonal(J).copy()
    if np.array_equal(J, np.diag(moments)):
        return moments, np.eye(3)
    moments, R = np.linalg.eigh(J)
    R[:, 0] *= np.sign(np.linalg.det(R))
    return moments, R


def principal_urdf(model: Model, solids: Sequence[Solid]) -> str:
    """Return a model without spherical joints as the text of a URDF file."""
    try:
        robot = ET.fromstring(urdf_text(model))
    except ModelError as error:
        raise InputError(str(error)) from None
    for element in [element for element in robot if element.tag not in ("link", "joint")]:
        robot.remove(element)  # elements that only biped reads
    links = {element.get("name", ""): element for element in robot.iter("link")}
    for name, link in links.items():
        link.clear()
        link.set("name", name)
        if name not in model.body_names:  # the ground of a model that does not float
            _inertial(link, (0.0, 0.0, 0.0), IDENTITY, 0.0, np.zeros(3))
    for body in model.bodies:
        moments, R = principal_axes(body)
        _inertial(links[body.name], body.com, matrix3(R, "principal axes"), body.mass, moments)
    for solid in solids:
        _collision(_fixed_link(robot, solid) if solid.link else links[solid.body], solid)
    for joint in robot.iter("joint"):
        _free(joint)
    return ET.tostring(robot, encoding="unicode")


def _fixed_link(robot: ET.Element, solid: Solid) -> ET.Element:
    joint = ET.SubElement(robot, "joint", {"name": solid.link, "type": "fixed"})
    ET.SubElement(joint, "parent", {"link": solid.body})
    ET.SubElement(joint, "child", {"link": solid.link})
    link = ET.SubElement(robot, "link", {"name": solid.link})
    _inertial(link, (0.0, 0.0, 0.0), IDENTITY, 0.0, np.zeros(3))
    return link


def _free(joint: ET.Element) -> None:
    """Remove limits, damping and friction of a joint."""
    if joint.get("type") == "revolute":
        joint.set("type", "continuous")
    for element in [*joint.findall("dynamics"), *(joint.findall("limit") if joint.get("type") == "continuous" else ())]:
        joint.remove(element)
    for limit in joint.findall("limit"):  # a slide must have a limit; a lower limit above the upper one has no effect
        for name, value in (("lower", 1.0), ("upper", -1.0), ("effort", NO_LIMIT), ("velocity", NO_LIMIT)):
            limit.set(name, words([value]))


def _inertial(link: ET.Element, com: Vector3, axes: Matrix3, mass: float, moments: Floats) -> None:
    element = ET.SubElement(link, "inertial")
    ET.SubElement(element, "origin", {"xyz": words(com), "rpy": words(matrix_rpy(axes))})
    ET.SubElement(element, "mass", {"value": words([mass])})
    names = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
    values = (*moments, 0.0, 0.0, 0.0)
    ET.SubElement(element, "inertia", {name: words([value]) for name, value in zip(names, values, strict=True)})


def _collision(link: ET.Element, solid: Solid) -> None:
    element = ET.SubElement(link, "collision")
    ET.SubElement(element, "origin", {"xyz": words(solid.center), "rpy": words(matrix_rpy(solid.rotation))})
    geometry = ET.SubElement(element, "geometry")
    if len(solid.size) == 1:
        ET.SubElement(geometry, "sphere", {"radius": words(solid.size)})
    else:
        ET.SubElement(geometry, "box", {"size": words(solid.size)})
