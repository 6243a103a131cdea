"""Check that every motion of a tree moves inertia, so that its mass matrix is invertible.

A body may have no mass, or be a point or a thin rod, if each joint also moves other bodies with inertia or a rotor.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from biped.model.body import Body
from biped.model.errors import ModelError
from biped.model.geometry import rotation_about
from biped.model.inertia import is_solid
from biped.model.joint import Joint
from contact.arrays import Floats


class UnresistedJointError(ModelError):
    """Error for a joint that moves no inertia, so that its acceleration would be undefined."""


#: Rounding, relative to the inertia that a joint moves if all bodies that it carries are rigidly connected.
_LEAST = 1e-12


def check_regular(bodies: Sequence[Body]) -> None:
    """Raise an error if a joint of the tree moves no inertia.

    Args:
        bodies: bodies of the tree, parents before children, without fixed joints.

    Raises:
        ModelError: no body has mass.
        UnresistedJointError: the mass matrix is singular in every configuration.
    """
    if all(is_solid(body.inertia) for body in bodies):
        return
    if not any(body.mass for body in bodies):
        raise ModelError("a model needs a body with mass")
    loose = next(loose_bodies(bodies), None)
    if loose is None:
        return
    what = f"joint {loose.joint.name!r} of body {loose.name!r} moves no inertia"
    about, rotor = ("", ", or the joint an armature") if loose.joint.has_axis else (" about some axis", "")
    reason = "the body has no mass" if loose.mass == 0.0 else "its inertia is that of a point or a thin rod"
    raise UnresistedJointError(
        f"{what}{about}: {reason}, and no body farther out resists; give one of these mass and inertia{rotor}"
    )


def loose_bodies(bodies: Sequence[Body]) -> Iterator[Body]:
    """Yield bodies whose joints move no inertia, outermost first, by articulated-body inertias (Wendlandt, 3.2.3).

    A matrix that is singular in all configurations is singular in a random one, which is used here. A joint that was
    reported is treated as fixed from then on.
    """
    index = {body.name: i for i, body in enumerate(bodies)}
    rotations, origins, coms = _posture(bodies, index)
    articulated = [_spatial(body, R, com) for body, R, com in zip(bodies, rotations, coms, strict=True)]
    rigid = [block.copy() for block in articulated]
    for i in range(len(bodies) - 1, -1, -1):
        body = bodies[i]
        axis = rotations[index[body.parent]] @ body.joint.axis if body.parent else np.array(body.joint.axis)
        for twist in _twists(body.joint, axis, origins[i]):
            u = articulated[i] @ twist
            pivot = twist @ u + body.joint.armature
            if not pivot > _LEAST * (twist @ rigid[i] @ twist + body.joint.armature):
                yield body
                continue
            articulated[i] -= np.outer(u, u) / pivot
        if body.parent:
            articulated[index[body.parent]] += articulated[i]
            rigid[index[body.parent]] += rigid[i]


def _posture(bodies: Sequence[Body], index: dict[str, int]) -> tuple[list[Floats], list[Floats], list[Floats]]:
    """Return rotations, origins of the link frames and centres of mass [m] in a random configuration."""
    rng = np.random.default_rng(0)
    rotations: list[Floats] = []
    origins: list[Floats] = []
    coms: list[Floats] = []
    for body in bodies:
        R, origin = np.eye(3), np.zeros(3)
        if body.parent:
            R, origin = rotations[index[body.parent]], origins[index[body.parent]]
        origin = origin + R @ body.joint.position
        value = float(rng.uniform(0.3, 1.2))
        if body.joint.kind == "prismatic":
            origin = origin + value * (R @ body.joint.axis)
        else:
            axis = body.joint.axis if body.joint.has_axis else rng.standard_normal(3)
            R = R @ np.array(rotation_about(axis, value))
            origin = origin + body.joint.pitch * value * (R @ body.joint.axis)
        rotations.append(R)
        origins.append(origin)
        coms.append(origin + R @ body.com)
    return rotations, origins, coms


def _twists(joint: Joint, axis: Floats, origin: Floats) -> list[Floats]:
    """Return unit twists (v, ω) (6,) of a joint's degrees of freedom, about the inertial origin."""
    none = np.zeros(3)
    slides = [axis] if joint.kind == "prismatic" else list(np.eye(3)) if joint.kind == "floating" else []
    turns = [axis] if joint.turns else list(np.eye(3)) if joint.nv >= 3 else []
    return [np.concatenate((slide, none)) for slide in slides] + [
        np.concatenate((np.cross(origin, turn) + joint.pitch * turn, turn)) for turn in turns
    ]


def _spatial(body: Body, rotation: Floats, com: Floats) -> Floats:
    """Return the spatial inertia (6, 6) of a body about the inertial origin, from twists (v, ω) to momenta."""
    x, y, z = com
    hat = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    J = rotation @ np.array(body.inertia) @ rotation.T
    return np.block([[body.mass * np.eye(3), -body.mass * hat], [body.mass * hat, J - body.mass * hat @ hat]])
