"""Joints with several degrees of freedom, as chains of simple joints with massless bodies between them.

The general joints of Wendlandt 1997, section 3.2.2, are built this way: each degree of freedom is eliminated
separately, and a body without mass adds nothing to the articulated inertias. The coordinates are those of the simple
joints.
"""

from collections.abc import Sequence

import numpy as np

from biped.model.body import Body
from biped.model.errors import ModelError
from biped.model.geometry import Matrix3, Vector3, unit, vector3
from biped.model.joint import Joint, prismatic, revolute

_ZERO: Vector3 = (0.0, 0.0, 0.0)
_NOTHING: Matrix3 = (_ZERO, _ZERO, _ZERO)
# Tolerance of a right angle between two axes.
_SQUARE = 1e-9


def universal(name: str, axis: Vector3, second_axis: Vector3, position: Vector3 = _ZERO) -> tuple[Joint, Joint]:
    """Return a universal joint: a hinge about ``axis`` on the parent and a hinge about ``second_axis`` on the body.

    The hinges are named ``<name>_1`` and ``<name>_2``; pass them to `jointed`.

    Args:
        name: name of the joint.
        axis: axis on the parent, in inertial axes, in the home configuration.
        second_axis: axis on the body, orthogonal to ``axis``, in inertial axes, in the home configuration.
        position: [m] position of the joint in the parent's link frame.

    Raises:
        ModelError: an axis is zero or not finite, or the axes are not orthogonal.
    """
    first, second = unit(axis, f"joint {name!r}: axis"), unit(second_axis, f"joint {name!r}: second_axis")
    if abs(float(np.dot(first, second))) > _SQUARE:
        raise ModelError(f"joint {name!r}: second_axis {second} must be at a right angle to axis {first}")
    return revolute(f"{name}_1", first, position), revolute(f"{name}_2", second)


def cylindrical(name: str, axis: Vector3, position: Vector3 = _ZERO) -> tuple[Joint, Joint]:
    """Return a cylindrical joint: a sliding joint ``<name>_slide`` along ``axis`` and a hinge ``<name>_turn`` about it.

    ``axis`` is in inertial axes, in the home configuration; ``position`` [m] is in the parent's link frame.

    Raises:
        ModelError: the axis is zero or not finite.
    """
    return prismatic(f"{name}_slide", axis, position), revolute(f"{name}_turn", axis)


def planar(name: str, normal: Vector3, position: Vector3 = _ZERO) -> tuple[Joint, Joint, Joint]:
    """Return a planar joint: sliding joints ``<name>_1``, ``<name>_2`` and a hinge ``<name>_turn`` about ``normal``.

    ``normal`` is in inertial axes, in the home configuration; ``position`` [m] is in the parent's link frame. The first
    joint slides along the projection onto the plane of the inertial axis closest to it. The directions of the sliding
    joints and ``normal`` form a right-handed system.

    Raises:
        ModelError: the normal is zero or not finite.
    """
    up = np.array(unit(normal, f"joint {name!r}: normal"))
    first = np.eye(3)[int(np.argmin(np.abs(up)))]
    first = first - (first @ up) * up
    axes = [vector3(direction, "axis") for direction in (first, np.cross(up, first), up)]
    return prismatic(f"{name}_1", axes[0], position), prismatic(f"{name}_2", axes[1]), revolute(f"{name}_turn", axes[2])


def jointed(
    name: str, joints: Sequence[Joint], mass: float, inertia: Matrix3, com: Vector3, parent: str | None = None
) -> tuple[Body, ...]:
    """Return a body carried by several joints in series, with massless bodies ``<name>_at_<joint>`` between them.

    Args:
        name: name of the body.
        joints: joints in order, the parent's first; for example those that `universal` returns.
        mass: [kg] mass of the body.
        inertia: (3, 3) [kg m²] about the centre of mass, in the axes of the body's link frame.
        com: [m] position of the centre of mass in the body's link frame, whose origin is at the last joint.
        parent: name of the body that carries the first joint; None: the ground.

    Returns:
        Bodies for a `Model`, the named one last.

    Raises:
        ModelError: ``joints`` is empty, or a value is invalid for `Body`.
    """
    if not joints:
        raise ModelError(f"body {name!r}: joints is empty; give at least one joint")
    bodies: list[Body] = []
    for joint in joints[:-1]:
        bodies.append(Body(f"{name}_at_{joint.name}", 0.0, _NOTHING, _ZERO, joint, parent))
        parent = bodies[-1].name
    return (*bodies, Body(name, mass, inertia, com, joints[-1], parent))
