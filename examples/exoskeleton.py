"""The human with a brace beside each knee, in a loop: two bars hinged to thigh and shank, and a spring between them.

    biped run balance --robot examples/exoskeleton.py:exoskeleton --set push.impulse=8
    biped run balance --robot examples/exoskeleton.py:exoskeleton --set push.impulse=8 --integrator rigid
    biped tune examples/tune-exoskeleton.toml

Thigh, shank and both bars are a four-bar linkage with one freedom, the knee's. The controllers know the legs, and hold
the brace's own hinges by springs and dampers (``controller.held``): those are the exoskeleton's gains.
"""

from dataclasses import replace

import numpy as np

from biped import Body, ClosingJoint, Model, human, revolute, standing
from biped.model import Line
from biped.model.geometry import Matrix3, Vector3, matrix3, vector3

#: [kg] of a bar, and [m] its thickness.
MASS, THICKNESS = 0.8, 0.03
#: [m] From the hip down to the brace's upper hinge; from the knee down to its lower one; how far before the knee it
#: bends, and how far outside of the leg it is.
UPPER, LOWER, AHEAD, OUTSIDE = 0.10, 0.30, 0.10, 0.09
Y: Vector3 = (0.0, 1.0, 0.0)


def exoskeleton() -> Model:
    """``biped.human()`` with the braces; its posture is that in which these are at rest."""
    person = human()
    bodies, closing, lines = list(person.bodies), [], []
    for side, outside in (("left", -OUTSIDE), ("right", OUTSIDE)):
        knee = person.bodies[person.body_index(f"{side}_shank")].joint.position
        top = vector3((0.0, outside, -UPPER), "top")
        bend = vector3(np.add(knee, (-AHEAD, outside, 0.0)), "bend")  # it faces −x
        bottom = vector3(np.add(knee, (0.0, outside, -LOWER)), "bottom")
        upper, lower = vector3(np.subtract(bend, top), "upper"), vector3(np.subtract(bottom, bend), "lower")
        names = f"{side}_upper_bar", f"{side}_lower_bar"
        bodies += [
            _bar(names[0], upper, f"{side}_brace_top", top, f"{side}_thigh"),
            _bar(names[1], lower, f"{side}_brace_bend", upper, names[0]),
        ]
        end = vector3(np.subtract(bottom, knee), "end")
        closing.append(ClosingJoint(f"{side}_brace_bottom", "revolute", names[1], f"{side}_shank", Y, lower, end))
        lines += [Line(name, name, end=way) for name, way in zip(names, (upper, lower), strict=True)]
    braced = replace(
        person, name="exoskeleton", bodies=tuple(bodies), closing_joints=tuple(closing), lines=tuple(lines)
    )
    q = standing(braced).q
    return replace(braced, posture=tuple((joint, q[braced.coordinate(joint)]) for joint in braced.joint_names))


def _bar(name: str, way: Vector3, joint: str, place: Vector3, parent: str) -> Body:
    """A rod along ``way`` from its hinge."""
    return Body(name, MASS, _rod_inertia(way), vector3(0.5 * np.array(way), "com"), revolute(joint, Y, place), parent)


def _rod_inertia(way: Vector3) -> Matrix3:
    along = np.array(way)
    thin = (along @ along) * np.eye(3) - np.outer(along, along)
    return matrix3(MASS / 12.0 * (thin + THICKNESS**2 * np.eye(3)), "inertia")
