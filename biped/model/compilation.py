"""Compilation of bodies and contact points to the constant arrays of the kernels."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from biped.kernels.tree import tree
from biped.model.body import Body
from biped.model.closing_joint import ClosingJoint
from biped.model.contact_point import ContactPoint
from biped.model.geometry import STANDARD_GRAVITY, Vector3
from biped.model.joint import Joint
from contact.arrays import Floats

#: [rad or m] Deflection of a stop under the greatest effort of its joint.
STOP_YIELD = {"revolute": math.radians(1.0), "helical": math.radians(1.0), "prismatic": 1e-3}
#: [s] A stop's damping over its stiffness.
STOP_TIME = 0.02
#: Relative excess of speed at which the speed limit exerts the greatest effort.
SPEED_YIELD = 0.05
#: [m] Lever of the model's weight for stops of hinges with unlimited effort.
WEIGHT_LEVER = 0.1
#: A joint is limp if its greatest effort is below this share of the weight (times the lever, for hinges).
LIMP = 1e-6


def compile_tree(bodies: Sequence[Body], contacts: Sequence[ContactPoint], gravity: Vector3) -> tree.Tree:
    """Return the `Tree` of ``bodies``, sorted parents first and without fixed joints.

    The coordinates of a floating joint are the position of the centre of mass: its ``com_offset`` is zero, and its
    ``joint_offset`` is the centre of mass at home.
    """
    index = {body.name: i for i, body in enumerate(bodies)}
    com_offset = _floats([_com_offset(body) for body in bodies], 3)
    nq = [body.joint.nq for body in bodies]
    nv = [body.joint.nv for body in bodies]
    return tree.Tree(
        parent=_integers([-1 if body.parent is None else index[body.parent] for body in bodies]),
        kind=_integers([body.joint.code for body in bodies]), axis=_floats([body.joint.axis for body in bodies], 3),
        pitch=_pitch(bodies), joint_offset=_floats([_joint_offset(body, bodies, index) for body in bodies], 3),
        com_offset=com_offset, mass=np.array([body.mass for body in bodies]),
        inertia=_floats([np.ravel(body.inertia) for body in bodies], 9), first_q=_integers(np.cumsum([0, *nq[:-1]])),
        first_v=_integers(np.cumsum([0, *nv[:-1]])), dofs=_integers(nv), gravity=np.array(gravity),
        contact_body=_integers([index[point.body] for point in contacts]),
        contact_offset=_floats([np.subtract(point.position, bodies[index[point.body]].com) for point in contacts], 3),
        armature=np.repeat([body.joint.armature for body in bodies], nv), passive=_passive(bodies),
    )  # fmt: skip


def _pitch(bodies: Sequence[Body]) -> Floats:
    """Return the joints' pitches for ``Tree.pitch``; empty without helical joints."""
    pitch = np.array([body.joint.pitch for body in bodies])
    return pitch if pitch.any() else np.zeros(0)


def compile_closing(joints: Sequence[ClosingJoint], bodies: Sequence[Body]) -> tree.ClosingJoints:
    """Return the constraints of the closing joints for the kernels, in addition to the `Tree` of ``bodies``."""
    index = {body.name: i for i, body in enumerate(bodies)}
    inboard = [-1 if joint.parent is None else index[joint.parent] for joint in joints]
    outboard = [index[joint.child] for joint in joints]
    rows = [row for joint in joints for row in joint.rows]
    counts = [len(joint.rows) for joint in joints]
    bases = [np.zeros(3) if i < 0 else np.array(bodies[i].com) for i in inboard]
    return tree.ClosingJoints(
        inboard=_integers(inboard),
        outboard=_integers(outboard),
        inboard_point=_floats([np.subtract(j.position, com) for j, com in zip(joints, bases, strict=True)], 3),
        outboard_point=_floats(
            [np.subtract(j.child_position, bodies[i].com) for j, i in zip(joints, outboard, strict=True)], 3
        ),
        alignment=_floats([joint.alignment for joint in joints], 4),
        first=_integers(np.cumsum([0, *counts])),
        joint=_integers(np.repeat(np.arange(len(joints)), counts)),
        kind=_integers([row.kind for row in rows]),
        axis=_floats([row.axis for row in rows], 3),
        other=_floats([row.other for row in rows], 3),
        reference=_floats([row.reference for row in rows], 3),
        pitch=np.array([row.pitch for row in rows]),
    )


def _passive(bodies: Sequence[Body]) -> Floats:
    """Return the joints' limits and bearings for ``Tree.passive``; no rows if no joint has any."""
    joints = [body.joint for body in bodies]
    if not any(joint.is_limited or joint.damping or joint.friction for joint in joints):
        return np.zeros((0, tree.PASSIVE))
    mass = sum(body.mass for body in bodies)
    return _floats([_passive_row(joint, mass) for joint in joints], tree.PASSIVE)


def _passive_row(joint: Joint, mass: float) -> Floats:
    """Return the limits, with stops that yield as given under the greatest effort (or the weight, see `LIMP`)."""
    weight = -mass * STANDARD_GRAVITY[2] * (WEIGHT_LEVER if joint.turns else 1.0)
    load = joint.max_effort if LIMP * weight < joint.max_effort < math.inf else weight
    stiffness = load / STOP_YIELD[joint.kind] if joint.has_axis else 0.0
    row = np.zeros(tree.PASSIVE)
    row[[tree.LOWER, tree.UPPER, tree.MAX_SPEED, tree.MAX_EFFORT]] = (
        joint.lower,
        joint.upper,
        joint.max_velocity,
        joint.max_effort,
    )
    row[tree.MIN_EFFORT] = -joint.max_effort
    row[[tree.DAMPING, tree.FRICTION]] = joint.damping, joint.friction
    row[[tree.STOP_STIFFNESS, tree.STOP_DAMPING]] = stiffness, STOP_TIME * stiffness
    if joint.max_velocity < math.inf:
        row[tree.SPEED_DAMPING] = load / (SPEED_YIELD * joint.max_velocity)
    return row


def _com_offset(body: Body) -> Floats:
    return np.zeros(3) if body.joint.kind == "floating" else np.array(body.com)


def _joint_offset(body: Body, bodies: Sequence[Body], index: dict[str, int]) -> Floats:
    """Return the vector [m] from the parent's centre of mass, or the inertial frame, to the origin of `com_offset`."""
    if body.parent is None:
        return np.add(body.joint.position, np.subtract(body.com, _com_offset(body)))
    return np.subtract(body.joint.position, bodies[index[body.parent]].com)


def _integers(values: ArrayLike) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    return np.array(values, dtype=np.int64)


def _floats(rows: Sequence[ArrayLike], columns: int) -> Floats:
    return np.ascontiguousarray(np.array(rows, dtype=np.float64).reshape(len(rows), columns))
