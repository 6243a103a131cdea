"""OpenSim model (``.osim``) of a model's rigid bodies and joints, and a run in its coordinates.

Frames are at the joints, in ISB axes in the home configuration (x forward, y up, z to the right). Muscles, contact and
passive joint torques are not included.
"""

import re
from collections.abc import Callable
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import numpy as np
from scipy.spatial.transform import Rotation

from biped.model import Model
from biped.model.body import Body
from biped.model.joint import Joint
from biped.runs.row_layout import POSE
from biped.runs.run import Run
from contact.arrays import Floats
from experiments.visualization.export.tables import Table, by_axis, columns, joint_values, to_isb

_FREE = ("rx", "ry", "rz", "tx", "ty", "tz")


def has_skeleton(model: Model) -> bool:
    """Return whether OpenSim has all joint types of a model: not if it has ball or screw joints."""
    return all(body.joint.kind in _JOINTS for body in model.bodies)


def skeleton(model: Model) -> str:
    """Return the text of an ``.osim`` file for OpenSim 4."""
    document = Element("OpenSimDocument", Version="40000")
    root = SubElement(document, "Model", name=_valid(model.name))
    _write(root, "gravity", to_isb(model.gravity, model.facing))
    bodies = SubElement(SubElement(root, "BodySet", name="bodyset"), "objects")
    joints = SubElement(SubElement(root, "JointSet", name="jointset"), "objects")
    for body in model.bodies:
        _add_body(bodies, body, model)
        _add_joint(joints, body, model)
    ElementTree.indent(document)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(document, "unicode") + "\n"


def skeleton_coordinates(run: Run) -> Table:
    """Return the coordinates [rad], [m] of the skeleton; a floating root turns about x, y, z in sequence."""
    model = run.state.model
    table: Table = {}
    for body in model.bodies:
        if body.joint.kind == "floating":
            name = body.joint.name
            turns = Rotation.from_quat(columns(run, name, POSE[3:]), scalar_first=True)
            place = columns(run, name, ("x", "y", "z")) - turns.apply(body.com)
            renamed = Rotation.from_matrix(to_isb(np.eye(3), model.facing).T)
            angles = (renamed * turns * renamed.inv()).as_euler("XYZ")
            table |= by_axis(np.unwrap(angles, axis=0), f"{_valid(name)}_r")
            table |= by_axis(to_isb(place, model.facing), f"{_valid(name)}_t")
    for name in model.joint_names:
        table[_valid(name)] = joint_values(run, name)
    return table


def _add_body(bodies: Element, body: Body, model: Model) -> None:
    axes = to_isb(np.eye(3), model.facing).T
    inertia = axes @ np.asarray(body.inertia) @ axes.T
    element = SubElement(bodies, "Body", name=_valid(body.name))
    _write(element, "mass", [body.mass])
    _write(element, "mass_center", to_isb(body.com, model.facing))
    _write(element, "inertia", [*np.diag(inertia), inertia[0, 1], inertia[0, 2], inertia[1, 2]])


def _add_joint(joints: Element, body: Body, model: Model) -> None:
    """Add the joint between two frames at its position, whose z axis (for a slide: x) is along the joint's axis."""
    kind, turned = _JOINTS[body.joint.kind]
    name = _valid(body.joint.name)
    element = SubElement(joints, kind, name=name)
    ends = {f"{name}_parent": _path(body.parent), f"{name}_child": _path(body.name)}
    for socket, end in zip(("socket_parent_frame", "socket_child_frame"), ends, strict=True):
        SubElement(element, socket).text = end
    coordinates = SubElement(element, "coordinates")
    for coordinate in _coordinates(body.joint):
        child = SubElement(coordinates, "Coordinate", name=coordinate)
        if np.isfinite([body.joint.lower, body.joint.upper]).all():
            _write(child, "range", [body.joint.lower, body.joint.upper])
    turn = turned(to_isb(body.joint.axis, model.facing))
    # a floating body is placed from the origin
    begin = (0.0, 0.0, 0.0) if body.joint.kind == "floating" else body.joint.position
    places = to_isb([begin, (0.0, 0.0, 0.0)], model.facing)
    frames = SubElement(element, "frames")
    for (end, of), place in zip(ends.items(), places, strict=True):
        frame = SubElement(frames, "PhysicalOffsetFrame", name=end)
        SubElement(frame, "socket_parent").text = of
        _write(frame, "translation", place)
        _write(frame, "orientation", turn)


def _coordinates(joint: Joint) -> tuple[str, ...]:
    if joint.kind == "floating":
        return tuple(f"{_valid(joint.name)}_{part}" for part in _FREE)
    return () if joint.kind == "fixed" else (_valid(joint.name),)


def _turned_z(axis: Floats) -> Floats:
    """Return the angles (3,) [rad] about x, y, z in sequence that turn z to a unit vector: (sin β, −sin α cos β, …)."""
    return np.array([np.arctan2(-axis[1], axis[2]), np.arcsin(np.clip(axis[0], -1.0, 1.0)), 0.0])


def _turned_x(axis: Floats) -> Floats:
    """Return the angles (3,) [rad] about x, y, z in sequence that turn x to a unit vector: (cos β cos γ, sin γ, …)."""
    return np.array([0.0, np.arctan2(-axis[2], axis[0]), np.arcsin(np.clip(axis[1], -1.0, 1.0))])


def _path(body: str | None) -> str:
    return "/ground" if body is None else f"/bodyset/{_valid(body)}"


def _valid(name: str) -> str:
    """Return a name with the characters that OpenSim allows."""
    return re.sub(r"[^\w.-]", "_", name)


def _write(parent: Element, key: str, values: "Floats | list[float]") -> None:
    SubElement(parent, key).text = " ".join(f"{float(value):.17g}" for value in values)


def _not_turned(_: Floats) -> Floats:
    return np.zeros(3)


#: OpenSim's joint type for each kind of joint, and the function that returns the frames' rotation for an axis.
_JOINTS: dict[str, tuple[str, Callable[[Floats], Floats]]] = {
    "floating": ("FreeJoint", _not_turned),
    "fixed": ("WeldJoint", _not_turned),
    "revolute": ("PinJoint", _turned_z),
    "prismatic": ("SliderJoint", _turned_x),
}
