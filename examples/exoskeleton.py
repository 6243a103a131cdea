"""A human with a spring-loaded brace at each knee: two bars, hinged to thigh and shank, close a loop.

    biped run balance --robot examples/exoskeleton.py:exoskeleton --set push.impulse=8
    biped run balance --robot examples/exoskeleton.py:exoskeleton --set push.impulse=8 --integrator rigid
    biped tune examples/tune-exoskeleton.toml

Thigh, shank and both bars are a four-bar linkage with one degree of freedom, the knee. Controllers drive the legs and
hold the hinges of the brace by springs and dampers (``controller.held``), which are the gains of the exoskeleton.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from biped import Body, ClosingJoint, Line, Model, human, revolute, standing

#: Mass [kg] and thickness [m] of a bar.
MASS, THICKNESS = 0.8, 0.03
#: Distances [m]: upper hinge below the hip, lower hinge below the knee, middle hinge before the knee, brace from the
#: leg.
UPPER, LOWER, AHEAD, OUTSIDE = 0.10, 0.30, 0.10, 0.09
Y = (0.0, 1.0, 0.0)
Array = NDArray[np.float64]


def exoskeleton() -> Model:
    """Return ``biped.human()`` with braces, in the posture in which their springs are at rest."""
    person = human()
    bodies, closing, lines = list(person.bodies), [], []
    for side, outside in (("left", -OUTSIDE), ("right", OUTSIDE)):
        knee = person.bodies[person.body_index(f"{side}_shank")].joint.position
        top = np.array((0.0, outside, -UPPER))
        bend = np.add(knee, (-AHEAD, outside, 0.0))  # the human faces −x
        bottom = np.add(knee, (0.0, outside, -LOWER))
        upper, lower = bend - top, bottom - bend
        names = f"{side}_upper_bar", f"{side}_lower_bar"
        bodies += [
            _bar(names[0], upper, f"{side}_brace_top", top, f"{side}_thigh"),
            _bar(names[1], lower, f"{side}_brace_bend", upper, names[0]),
        ]
        closing.append(
            ClosingJoint(f"{side}_brace_bottom", "revolute", names[1], f"{side}_shank", Y, lower, bottom - knee)
        )
        lines += [Line(name, name, end=along) for name, along in zip(names, (upper, lower), strict=True)]
    braced = replace(
        person, name="exoskeleton", bodies=tuple(bodies), closing_joints=tuple(closing), lines=tuple(lines)
    )
    q = standing(braced).q
    return replace(braced, posture=tuple((joint, q[braced.coordinate(joint)]) for joint in braced.joint_names))


def _bar(name: str, along: Array, joint: str, place: Array, parent: str) -> Body:
    """Return a rod that extends by ``along`` [m] from its hinge."""
    thin = (along @ along) * np.eye(3) - np.outer(along, along)
    inertia = MASS / 12.0 * (thin + THICKNESS**2 * np.eye(3))
    return Body(name, MASS, inertia, 0.5 * along, revolute(joint, Y, place), parent)
