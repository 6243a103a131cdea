"""URDF files on which xacro, ROS's macro language, has not been run."""

import xml.etree.ElementTree as ET
from collections.abc import Iterator

from biped.model.errors import ModelError

#: Elements of xacro, which had no name space of their own at first.
_TAGS = ("include", "macro", "property", "arg", "if", "unless", "call", "insert_block", "element", "attribute")
_EXPRESSIONS = ("${", "$(")
#: Elements for other programs, which may have expressions of their own.
FOR_OTHERS = ("gazebo", "transmission", "ros2_control", "mujoco", "sensor")


def check_expanded(robot: ET.Element) -> None:
    """Raise ModelError where a ``<robot>`` has macros, or expressions in what a model is read from."""
    for found in _unexpanded(robot):
        raise not_expanded(found)


def not_expanded(found: str) -> ModelError:
    """The error for a macro or an expression of xacro."""
    return ModelError(f"{found} is xacro, which is not expanded: run `xacro FILE > robot.urdf` and load robot.urdf")


def _unexpanded(robot: ET.Element) -> Iterator[str]:
    """Macros anywhere, and expressions outside of what other programs read."""
    for element in robot.iter():
        space, _, tag = element.tag.rpartition("}")
        if "xacro" in space.lower() or (space and tag in _TAGS):
            yield f"<xacro:{tag}>"
    yield from (f"<{child.tag}>" for child in robot if child.tag in _TAGS)
    for element in [robot, *(part for child in robot if child.tag not in FOR_OTHERS for part in child.iter())]:
        for text in (*element.attrib.values(), element.text or ""):
            if any(sign in text for sign in _EXPRESSIONS):
                yield f"<{element.tag}> {text.strip()!r}"
