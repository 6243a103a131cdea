"""Joints of several degrees of freedom as joints of one, with bodies without mass between them.

So the thesis has its general joints (Wendlandt 1997, section 3.2.2): each degree of freedom is eliminated by itself,
and a body without mass adds nothing to the articulated inertias. The coordinates are those of the parts.
"""

from collections.abc import Sequence

import numpy as np

from biped.model.body import Body
from biped.model.errors import ModelError
from biped.model.geometry import Matrix3, Vector3, unit, vector3
from biped.model.joint import Joint, prismatic, revolute

_ZERO: Vector3 = (0.0, 0.0, 0.0)
_NOTHING: Matrix3 = (_ZERO, _ZERO, _ZERO)
# Two axes may be off a right angle by this much.
_SQUARE = 1e-9


def universal(name: str, axis: Vector3, second_axis: Vector3, position: Vector3 = _ZERO) -> tuple[Joint, Joint]:
    """A universal joint: a hinge about ``axis``, and on its cross one about ``second_axis``, fixed to the body.

    The parts are called ``<name>_1`` and ``<name>_2``; for `jointed`.

    Args:
        name: of the joint.
        axis: on the parent's side, in home axes.
        second_axis: across it.
        position: [m] of the cross in the parent's link frame.

    Raises:
        ModelError: an axis is zero or not finite, or they are not at a right angle.
    """
    first, second = unit(axis, f"joint {name!r}: axis"), unit(second_axis, f"joint {name!r}: second_axis")
    if abs(float(np.dot(first, second))) > _SQUARE:
        raise ModelError(f"joint {name!r}: second_axis {second} must be at a right angle to axis {first}")
    return revolute(f"{name}_1", first, position), revolute(f"{name}_2", second)


def cylindrical(name: str, axis: Vector3, position: Vector3 = _ZERO) -> tuple[Joint, Joint]:
    """A cylindrical joint: a slide along ``axis``, ``<name>_slide``, and a hinge about it, ``<name>_turn``.

    Raises:
        ModelError: the axis is zero or not finite.
    """
    return prismatic(f"{name}_slide", axis, position), revolute(f"{name}_turn", axis)


def planar(name: str, normal: Vector3, position: Vector3 = _ZERO) -> tuple[Joint, Joint, Joint]:
    """A planar joint: two slides across ``normal``, ``<name>_1``, ``<name>_2``, and a hinge about it, ``<name>_turn``.

    The first slides along the world's axis that is most nearly across, as far as it is; both make a right-handed system
    with the normal.

    Raises:
        ModelError: the normal is zero or not finite.
    """
    up = np.array(unit(normal, f"joint {name!r}: normal"))
    first = np.eye(3)[int(np.argmin(np.abs(up)))]
    first = first - (first @ up) * up
    axes = [vector3(one, "axis") for one in (first, np.cross(up, first), up)]
    return prismatic(f"{name}_1", axes[0], position), prismatic(f"{name}_2", axes[1]), revolute(f"{name}_turn", axes[2])


def jointed(
    name: str, joints: Sequence[Joint], mass: float, inertia: Matrix3, com: Vector3, parent: str | None = None
) -> tuple[Body, ...]:
    """A body that several joints carry, one on the other, with bodies without mass between: ``<name>_at_<joint>``.

    Args:
        name: of the body.
        joints: from the parent's side on, as `universal`, `cylindrical` and `planar` give them.
        mass: [kg] as for a `Body`, and so the rest.
        inertia: (3, 3) [kg m²].
        com: [m] in the link frame, which begins at the last joint.
        parent: the body that carries the first joint; None for the inertial frame.

    Returns:
        The bodies for a `Model`, the named one last.

    Raises:
        ModelError: there is no joint, or as a `Body` raises it.
    """
    if not joints:
        raise ModelError(f"body {name!r}: it needs a joint at least")
    bodies: list[Body] = []
    for joint in joints[:-1]:
        bodies.append(Body(f"{name}_at_{joint.name}", 0.0, _NOTHING, _ZERO, joint, parent))
        parent = bodies[-1].name
    return (*bodies, Body(name, mass, inertia, com, joints[-1], parent))
