"""Conversion of a `Model` to a mechanism.

A spherical joint becomes rotations about z, y and x. A floating root becomes translations along x, y and z, which are
the position of its centre of mass, and these rotations. If a joint's axis is not along x, y or z, its transform stands
between constant rotations.
"""

import math
import warnings
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from biped.model import Body, Model, ModelWarning
from biped.model.geometry import matrix3, matrix_rpy
from biped.model.joint import Joint
from formulations.mechanism.component import Force
from formulations.mechanism.forces import Damper
from formulations.mechanism.frames import Frame, Transform, screw
from formulations.mechanism.mechanism import Mechanism


def from_model(model: Model) -> Mechanism:
    """Convert a `Model` to a mechanism.

    A body BODY gives two frames: ``BODY``, its link frame, and ``BODY_com`` at its centre of mass, on principal axes.
    Variables have the names of the joints; those of a spherical joint end in ``_yaw``, ``_pitch``, ``_roll`` (rotations
    about z, y and x), those of a floating root also in ``_x``, ``_y``, ``_z`` (position of its centre of mass).

    Raises:
        ModelError: the model has joints that close loops; close them by constraints of the mechanism.
        ModelWarning: (a warning) limits, dry friction and armature of joints, and contact points, are left out, since a
            mechanism does not support them.
    """
    model.check_tree("the conversion to a mechanism")
    children: dict[str | None, list[Body]] = defaultdict(list)
    for body in model.bodies:
        children[body.parent].append(body)
    made: dict[str, Frame] = {}
    for body in reversed(model.bodies):
        hung = [made[child.name] for child in children[body.name]]
        made[body.name] = _frames_of(body, hung)
    for note in _not_carried(model):
        warnings.warn(f"{model.name}: {note}", ModelWarning, stacklevel=3)
    gravity = model.gravity if any(model.gravity) else None
    dampers: list[Force] = [
        Damper(body.joint.name, body.joint.damping)
        for body in model.bodies
        if body.joint.has_axis and body.joint.damping
    ]
    return Mechanism(model.name, [made[body.name] for body in children[None]], gravity, forces=dampers)


def _not_carried(model: Model) -> list[str]:
    joints = [body.joint for body in model.bodies]
    names_of = {
        "limits": [joint.name for joint in joints if joint.is_limited],
        "dry friction": [joint.name for joint in joints if joint.friction],
        "armature": [joint.name for joint in joints if joint.armature],
        "contact": list(model.contact_names),
    }
    return [f"a mechanism has no {what}, left out of {', '.join(names)}" for what, names in names_of.items() if names]


def _frames_of(body: Body, hung: Sequence[Frame]) -> Frame:
    """Return the frames of a joint and its body, with mass and children, below the parent's link frame."""
    joint, com = body.joint, np.array(body.com)
    inside = [*_mass_frames(body), *hung]
    if joint.kind == "floating":
        at_com = [("t" + axis, f"{joint.name}_{axis}") for axis in "xyz"]
        link = _chain(_shift(-com), body.name, inside)
        return _chain([*at_com, *_turns(joint.name)], None, [link])
    if joint.kind == "spherical":
        return _chain([*_shift(joint.position), *_turns(joint.name)], body.name, inside)
    if joint.kind == "helical":
        moved = screw(joint.name, joint.axis, *inside, pitch=joint.pitch, name=body.name)
        return _chain(_shift(joint.position), None, [moved])
    before, kind, after = _about(joint)
    return _chain([*_shift(joint.position), *before, (kind, joint.name), *after], body.name, inside)


Step = tuple[str, float | str]


def _chain(steps: Sequence[Step], name: str | None, children: Sequence[Frame]) -> Frame:
    """Return a chain of frames; the last has the name and the children."""
    steps = list(steps) or [("tx", 0.0)]
    frame = Frame(_transform(steps[-1][0]), steps[-1][1], tuple(children), name)
    for kind, parameter in reversed(steps[:-1]):
        frame = Frame(_transform(kind), parameter, (frame,))
    return frame


def _transform(kind: str) -> Transform:
    return kind  # type: ignore[return-value] # one of them


def _shift(offset: ArrayLike) -> list[Step]:
    return [("t" + axis, float(x)) for axis, x in zip("xyz", np.asarray(offset), strict=True) if x]


def _turns(joint: str) -> list[Step]:
    return [("rz", f"{joint}_yaw"), ("ry", f"{joint}_pitch"), ("rx", f"{joint}_roll")]


def _about(joint: Joint) -> tuple[list[Step], str, list[Step]]:
    """Return rotations that bring an axis of the frame onto the joint's, the kind of transform, and rotations back."""
    kind = "r" if joint.kind == "revolute" else "t"
    x, y, z = joint.axis
    for i, name in enumerate("xyz"):
        if joint.axis[i] == 1.0:
            return [], kind + name, []
        if joint.axis[i] == -1.0:
            half = "r" + "yzx"[i]
            return [(half, math.pi)], kind + name, [(half, -math.pi)]
    around, down = math.atan2(y, x), math.atan2(math.hypot(x, y), z)
    before: list[Step] = [("rz", around), ("ry", down)]
    return before, kind + "z", [("ry", -down), ("rz", -around)]


def _mass_frames(body: Body) -> list[Frame]:
    if body.mass == 0.0:
        return []
    J = np.array(body.inertia)
    steps, moments = _shift(body.com), np.diag(J)
    if np.any(np.diag(moments) != J):
        moments, axes = np.linalg.eigh(J)
        axes[:, 2] *= np.linalg.det(axes)
        roll, pitch, yaw = matrix_rpy(matrix3(axes, "principal axes"))
        steps += [("rz", yaw), ("ry", pitch), ("rx", roll)]
    frame = _chain(steps, None, ())
    weight = (body.mass, *(max(float(moment), 0.0) for moment in moments))
    return [_with_mass(frame, weight, f"{body.name}_com")]


def _with_mass(frame: Frame, mass: tuple[float, ...], name: str) -> Frame:
    """Return the chain of frames with a mass and a name on its last frame."""
    chain = [frame]
    while chain[-1].children:
        chain.append(chain[-1].children[0])
    result = Frame(chain[-1].transform, chain[-1].parameter, (), name, mass)  # type: ignore[arg-type] # checked there
    for link in reversed(chain[:-1]):
        result = Frame(link.transform, link.parameter, (result,))
    return result
