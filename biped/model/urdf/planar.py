"""URDF's planar joints as joints of one degree of freedom in a row; Pinocchio's reading of them has no axis."""

import xml.etree.ElementTree as ET

from biped.model.compound import planar
from biped.model.geometry import Vector3
from biped.model.importing.joints import NO_LIMIT
from biped.model.urdf.attributes import triple, words

PLANAR = "planar"
#: URDF's words for the kinds of the joints in the row.
_TYPES = {"prismatic": "prismatic", "revolute": "continuous"}
_DEFAULT_AXIS: Vector3 = (1.0, 0.0, 0.0)
_LIMITS = {"lower": -NO_LIMIT, "upper": NO_LIMIT, "effort": NO_LIMIT, "velocity": NO_LIMIT}


def in_a_row(robot: ET.Element) -> list[str]:
    """Put two slides and a hinge in the place of each planar joint of a checked ``<robot>``, as `planar` names them.

    Links without mass stand between: ``<child>_at_<joint>``.

    Returns:
        A sentence for what of the file is left out.
    """
    left_out = []
    for place, element in reversed(list(enumerate(robot))):
        if element.tag == "joint" and element.get("type") == PLANAR:
            said = [tag for tag in ("limit", "dynamics") if element.find(tag) is not None]
            if said:
                left_out.append(f"of planar joint {element.get('name')!r} {' and '.join(said)} are left out")
            robot.remove(element)
            for part in reversed(_row(element)):
                robot.insert(place, part)
    return left_out[::-1]


def _row(element: ET.Element) -> list[ET.Element]:
    """The joints in the place of one, and the links between them."""
    name, (above, below) = element.get("name", ""), (_end(element, side) for side in ("parent", "child"))
    axis, origin = element.find("axis"), element.find("origin")
    parts: list[ET.Element] = []
    joints = planar(name, _DEFAULT_AXIS if axis is None else triple(axis, "xyz", f"joint {name!r}"))
    for joint in joints:
        link = below if joint is joints[-1] else f"{below}_at_{joint.name}"
        if link != below:
            parts.append(ET.Element("link", {"name": link}))
        part = ET.Element("joint", {"name": joint.name, "type": _TYPES[joint.kind]})
        part.extend([ET.Element("parent", {"link": above}), ET.Element("child", {"link": link})])
        part.append(ET.Element("axis", {"xyz": words(joint.axis)}))
        if joint is joints[0] and origin is not None:
            part.append(origin)
        if joint.kind == "prismatic":  # which must have some
            part.append(ET.Element("limit", {key: words([limit]) for key, limit in _LIMITS.items()}))
        parts.append(part)
        above = link
    return parts


def _end(element: ET.Element, side: str) -> str:
    end = element.find(side)
    return "" if end is None else end.get("link", "")
