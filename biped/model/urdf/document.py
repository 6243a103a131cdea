"""Checked contents of a URDF file: links, joints, boxes and visuals in document order.

Pinocchio's parser prints its complaints on the terminal and raises an error without them, and it treats an invalid mass
as zero. Therefore everything that it reads is checked here first.
"""

import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from biped.model.errors import ModelError, duplicate, unknown
from biped.model.geometry import Vector3
from biped.model.importing.locking import FLOATING, Mimic
from biped.model.urdf import extension
from biped.model.urdf.attributes import numbers, scalar, text_attribute, triple
from biped.model.visual import Form

_JOINT_TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating")
_MOMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
_ZERO: Vector3 = (0.0, 0.0, 0.0)
#: Names reserved by Pinocchio: for its root, and for the floating root joint.
_RESERVED = ("universe", FLOATING)
#: Elements for other programs, which may contain expressions.
_FOR_OTHERS = ("gazebo", "transmission", "ros2_control", "mujoco", "sensor")
#: Elements that are read, or ignored without a note, by parent element.
_PARTS: Mapping[str, tuple[str, ...]] = {
    "robot": ("link", "joint", "material", extension.TAG, *_FOR_OTHERS),
    "link": ("inertial", "visual", "collision", *_FOR_OTHERS),
    "joint": ("origin", "parent", "child", "axis", "limit", "dynamics", "mimic", "calibration", "safety_controller"),
}
_ATTRIBUTES: Mapping[str, tuple[str, ...]] = {
    "limit": ("lower", "upper", "effort", "velocity"), "dynamics": ("damping", "friction"),
    "mimic": ("joint", "multiplier", "offset"),
}  # fmt: skip
_DYNAMICS = {"link": ("inertial",), "joint": _PARTS["joint"][:6]}
#: Elements that may occur once.
_SINGLE = ("inertial", "mass", "inertia", "origin", "parent", "child", "axis", "limit", "dynamics", "mimic", "geometry")


class UrdfJoint(NamedTuple):
    """A ``<joint>``: name, type, links on both sides, and mimicked joint."""

    name: str
    type: str
    parent: str
    child: str
    mimic: Mimic | None


class UrdfBox(NamedTuple):
    """A ``<box>`` in a link's frame: edges [m], centre [m], roll-pitch-yaw [rad]."""

    link: str
    size: Vector3
    xyz: Vector3
    rpy: Vector3


class UrdfVisual(NamedTuple):
    """A shape for drawing, in a link's frame; see `Visual` for ``size``, ``color`` and ``file``."""

    link: str
    form: Form
    size: Vector3
    xyz: Vector3
    rpy: Vector3
    color: Vector3 | None
    file: str


class Document(NamedTuple):
    """A checked URDF document: one tree of links."""

    name: str
    text: str
    root: str
    links: tuple[str, ...]
    joints: tuple[UrdfJoint, ...]
    boxes: tuple[UrdfBox, ...]
    visuals: tuple[UrdfVisual, ...]
    other_shapes: int  # number of collision shapes that are not boxes
    extension: extension.Extension
    left_out: tuple[str, ...] = ()  # notes on what is not read, one sentence each

    def moving_joints(self) -> list[UrdfJoint]:
        """Return the joints that are not fixed, depth first, siblings in document order."""
        pending, joints = [self.root], []
        while pending:
            link = pending.pop()
            joints += [joint for joint in self.joints if joint.child == link and joint.type != "fixed"]
            pending.extend(joint.child for joint in reversed(self.joints) if joint.parent == link)
        return joints


def source_text(source: str | Path) -> str:
    """Return the text of a URDF, from the file ``source``, or ``source`` itself if it is XML.

    Raises:
        ModelError: the file does not exist or cannot be read as text.
    """
    if isinstance(source, str) and source.lstrip().startswith("<"):
        return source.lstrip()
    try:
        content = Path(source).read_bytes()
    except FileNotFoundError:
        raise ModelError(f"there is no URDF file {str(source)!r}") from None
    except OSError as error:
        raise ModelError(f"the URDF file {str(source)!r} cannot be read: {error}") from None
    try:
        return content.decode("utf-8-sig").lstrip()
    except UnicodeDecodeError as error:
        try:
            return ET.tostring(ET.fromstring(content), encoding="unicode")  # in the encoding given in its first line
        except (ET.ParseError, LookupError, ValueError):
            raise ModelError(f"the URDF file {str(source)!r} cannot be read: {error}; save it as UTF-8") from None


def parse(text: str) -> Document:
    """Return the document in a text.

    Raises:
        ModelError: the text is not well-formed XML, a number or a name is missing or invalid, a joint has an
            unsupported type, or the links are not one tree.
    """
    robot = _robot(text)
    _check_expanded(robot)
    links = tuple(text_attribute(link, "name", "a <link>") for link in robot.findall("link"))
    if not links:
        raise ModelError("the URDF has no <link>: a robot needs at least one")
    _check_unique("links", links)
    joints = tuple(_joint(element, links) for element in robot.findall("joint"))
    _check_unique("joints", [joint.name for joint in joints])
    for link in robot.findall("link"):
        _check_inertial(link)
        _check_collisions(link)
    return Document(
        name=text_attribute(robot, "name", "<robot>"), text=text, root=_root(links, joints), links=links,
        joints=joints, boxes=tuple(box for link in robot.findall("link") for box in _boxes(link)),
        visuals=tuple(_visuals(robot)),
        other_shapes=sum(shape.tag != "box" for shape in robot.findall("link/collision/geometry/*")),
        extension=extension.read(robot), left_out=_not_read(robot),
    )  # fmt: skip


def without_shapes(text: str) -> str:
    """Return the URDF's text with only the parts that Pinocchio needs: those that determine masses and motions."""
    robot = ET.fromstring(text)
    for element in list(robot):
        kept = (part for part in element if part.tag in _DYNAMICS.get(element.tag, ()))
        element[:] = [part for part in kept if part.tag != "dynamics" or set(part.attrib) & {*_ATTRIBUTES["dynamics"]}]
        if element.tag not in _DYNAMICS:
            robot.remove(element)
    return ET.tostring(robot, encoding="unicode")


def _not_read(robot: ET.Element) -> tuple[str, ...]:
    """Return notes about unknown elements and attributes, for example misspelled ones."""
    pairs = dict.fromkeys((node.tag, part.tag) for node in (robot, *robot) if node.tag in _PARTS for part in node)
    unknown_pairs = (pair for pair in pairs if pair[1] not in _PARTS[pair[0]])
    elements = ", ".join(f"<{part.rpartition('}')[2]}> in <{parent}>" for parent, part in unknown_pairs)
    parts = robot.findall("joint/*")
    odd = ((part.tag, name) for part in parts for name in part.attrib if name not in _ATTRIBUTES.get(part.tag, name))
    notes = {"elements": elements, "attributes": ", ".join(dict.fromkeys(f"<{tag} {name}>" for tag, name in odd))}
    return tuple(f"{what} of the file are not read: {names}" for what, names in notes.items() if names)


def _check_expanded(robot: ET.Element) -> None:
    """Raise ModelError if a ``<robot>`` has macros, or expressions in parts that are read."""
    for element in robot.iter():
        if "xacro" in element.tag.lower():
            raise not_expanded(f"<xacro:{element.tag.rpartition('}')[2]}>")
    for element in [robot, *(part for child in robot if child.tag not in _FOR_OTHERS for part in child.iter())]:
        for text in (*element.attrib.values(), element.text or ""):
            if "${" in text or "$(" in text:
                raise not_expanded(f"<{element.tag}> {text.strip()!r}")


def not_expanded(macro: str) -> ModelError:
    """Return the error for a macro or an expression of xacro, ROS's macro language."""
    return ModelError(f"{macro} is xacro, which must be expanded: run `xacro FILE > robot.urdf` and load robot.urdf")


def _check_unique(what: str, names: Sequence[str]) -> None:
    error = duplicate(what, names)
    if error:
        raise error


def _robot(text: str) -> ET.Element:
    try:
        robot = ET.fromstring(text)
    except (ET.ParseError, ValueError) as error:
        if "<xacro:" in text:
            raise not_expanded("<xacro:…>") from None
        pointer = text.startswith("version https://git-lfs")
        hint = "; it is a pointer of Git LFS: run `git lfs pull`" if pointer else ""
        raise ModelError(f"the URDF is not well-formed XML: {error}{hint}") from None
    if robot.tag != "robot":
        raise ModelError(f"the outermost element of a URDF is <robot>, got <{robot.tag}>")
    return robot


def _joint(element: ET.Element, links: tuple[str, ...]) -> UrdfJoint:
    name = text_attribute(element, "name", "a <joint>")
    where = f"joint {name!r}"
    if name in _RESERVED:
        raise ModelError(f"{where}: Pinocchio reserves this name; rename the joint")
    _check_single(element, where)
    joint = UrdfJoint(
        name,
        text_attribute(element, "type", where),
        _end(element, "parent", where, links),
        _end(element, "child", where, links),
        _mimic(element, where),
    )
    if joint.type not in _JOINT_TYPES:
        raise ModelError(f"{where}: {unknown('joint type', joint.type, _JOINT_TYPES)}")
    _origin(element, where)
    _check_motion(element, joint.type, where)
    return joint


def _mimic(element: ET.Element, where: str) -> Mimic | None:
    mimic = element.find("mimic")
    if mimic is None:
        return None
    driver = text_attribute(mimic, "joint", f"{where}: <mimic>")
    return Mimic(driver, scalar(mimic, "multiplier", where, 1.0), scalar(mimic, "offset", where, 0.0))


def _end(element: ET.Element, tag: str, where: str, links: tuple[str, ...]) -> str:
    end = element.find(tag)
    if end is None:
        raise ModelError(f"{where} needs a <{tag} link=...>")
    link = text_attribute(end, "link", f"{where}: <{tag}>")
    if link not in links:
        raise ModelError(f"{where}: {tag}: {unknown('link', link, links)}")
    return link


def _check_motion(element: ET.Element, kind: str, where: str) -> None:
    if kind in ("fixed", "floating"):
        return
    axis = element.find("axis")
    if axis is not None and not any(triple(axis, "xyz", where)):
        raise ModelError(f"{where}: axis must not be zero")
    for dynamics in element.findall("dynamics"):
        for attribute in ("damping", "friction"):
            if scalar(dynamics, attribute, where, 0.0) < 0.0:
                raise ModelError(f"{where}: {attribute} must be zero or above, got {dynamics.get(attribute)}")
    limit = element.find("limit")
    if kind == "continuous" and limit is None:
        return
    if limit is None:
        raise ModelError(f"{where} is {kind} and needs a <limit effort=... velocity=...>")
    for attribute in ("effort", "velocity"):
        if scalar(limit, attribute, where) < 0.0:
            raise ModelError(f"{where}: limit: {attribute} must be zero or above, got {limit.get(attribute)}")
    for attribute in ("lower", "upper"):
        if limit.get(attribute) is not None:
            scalar(limit, attribute, where)


def _check_single(element: ET.Element, where: str) -> None:
    """Raise ModelError if an element that may occur once occurs with different contents."""
    for tag in _SINGLE:
        parts = element.findall(tag)
        if len(parts) > 1 and len({ET.canonicalize(ET.tostring(part), strip_text=True) for part in parts}) > 1:
            raise ModelError(f"{where} has {len(parts)} different elements <{tag}>; delete all but the right one")


def _origin(element: ET.Element, where: str) -> tuple[Vector3, Vector3]:
    origin = element.find("origin")
    if origin is None:
        return _ZERO, _ZERO
    if len({"xyz", "rpy", *origin.attrib}) > 2 and not {"xyz", "rpy"} <= set(origin.attrib):
        raise ModelError(f"{where}: <origin> has the attributes {', '.join(origin.attrib)}, not xyz [m] and rpy [rad]")
    return triple(origin, "xyz", where, _ZERO), triple(origin, "rpy", where, _ZERO)


def _check_inertial(link: ET.Element) -> None:
    inertial, where = link.find("inertial"), f"link {link.get('name')!r}"
    _check_single(link, where)
    if inertial is None:
        return
    _check_single(inertial, where)
    _origin(inertial, where)
    mass, inertia = inertial.find("mass"), inertial.find("inertia")
    if mass is None or inertia is None:
        raise ModelError(f"{where}: <inertial> needs a <mass value=...> and an <inertia ixx=...>")
    if scalar(mass, "value", where) < 0.0:
        raise ModelError(f"body {link.get('name')!r}: mass must not be below zero, got {mass.get('value')} kg")
    for moment in _MOMENTS:
        scalar(inertia, moment, where)


def _check_collisions(link: ET.Element) -> None:
    """Raise ModelError if a collision shape has negative sizes, which parsers ignore."""
    where = f"link {link.get('name')!r}: <collision>"
    for shape in link.findall("collision/geometry/*"):
        if shape.tag in _SIZES and min(_SIZES[shape.tag](shape, where)) < 0.0 and shape.tag != "mesh":
            raise ModelError(f"{where}: <{shape.tag}>: sizes must not be below zero, got {shape.attrib}")


def _boxes(link: ET.Element) -> list[UrdfBox]:
    """Return the boxes among a link's collision shapes or, if there are none, among its visuals."""
    name = link.get("name", "")
    for tag in ("collision", "visual"):
        boxes = []
        for element in link.findall(tag):
            box = element.find("geometry/box")
            if box is not None:
                where = f"link {name!r}: <{tag}>"
                boxes.append(UrdfBox(name, triple(box, "size", where), *_origin(element, where)))
        if boxes:
            return boxes
    return []


def _visuals(robot: ET.Element) -> Iterator[UrdfVisual]:
    """Yield the visuals of links, with the colours of their materials."""
    colors = {material.get("name"): _color(material) for material in robot.iter("material") if _color(material)}
    for link in robot.findall("link"):
        name = link.get("name", "")
        where = f"link {name!r}: <visual>"
        for element in link.findall("visual"):
            material, xyz_rpy = element.find("material"), _origin(element, where)
            color = None if material is None else _color(material) or colors.get(material.get("name"))
            for geometry in element.findall("geometry/*"):
                if geometry.tag in _SIZES:
                    size = _SIZES[geometry.tag](geometry, where)
                    if any(size):  # otherwise it is invisible
                        yield UrdfVisual(name, geometry.tag, size, *xyz_rpy, color, geometry.get("filename", ""))  # type: ignore[arg-type]


def _color(material: ET.Element) -> Vector3 | None:
    color = material.find("color")
    if color is None:
        return None
    red, green, blue, _ = numbers(color, "rgba", f"material {material.get('name')!r}", 4)
    return red, green, blue


def _ball(sphere: ET.Element, where: str) -> Vector3:
    edge = 2.0 * scalar(sphere, "radius", where)
    return edge, edge, edge


def _tube(cylinder: ET.Element, where: str) -> Vector3:
    edge = 2.0 * scalar(cylinder, "radius", where)
    return edge, edge, scalar(cylinder, "length", where)


def _pill(capsule: ET.Element, where: str) -> Vector3:
    x, y, length = _tube(capsule, where)
    return x, y, length + x


#: Size of a visual, by the element of its form.
_SIZES: Mapping[str, Callable[[ET.Element, str], Vector3]] = {
    "box": lambda box, where: triple(box, "size", where),
    "sphere": _ball,
    "cylinder": _tube,
    "capsule": _pill,
    "mesh": lambda mesh, where: triple(mesh, "scale", where, (1.0, 1.0, 1.0)),
}


def _root(links: tuple[str, ...], joints: tuple[UrdfJoint, ...]) -> str:
    _check_one_parent_each(joints)
    children = {joint.child for joint in joints}
    roots = [link for link in links if link not in children]
    if len(roots) != 1:
        names = ", ".join(repr(root) for root in roots) or "none"
        raise ModelError(f"a URDF needs exactly one root, a link that is the child of no joint; got {names}")
    _check_connected(roots[0], links, joints)
    return roots[0]


def _check_one_parent_each(joints: tuple[UrdfJoint, ...]) -> None:
    carrier: dict[str, str] = {}
    for joint in joints:
        if joint.child in carrier:
            pair = f"{carrier[joint.child]!r} and {joint.name!r}"
            raise ModelError(f"link {joint.child!r} is the child of joints {pair}; links of a URDF must form a tree")
        carrier[joint.child] = joint.name


def _check_connected(root: str, links: tuple[str, ...], joints: tuple[UrdfJoint, ...]) -> None:
    reached, pending = {root}, [root]
    while pending:
        link = pending.pop()
        new = [joint.child for joint in joints if joint.parent == link]
        reached.update(new)
        pending += new
    circle = [repr(link) for link in links if link not in reached]
    if circle:
        raise ModelError(f"links {', '.join(circle)} are not connected to {root!r}: their joints form a circle")
