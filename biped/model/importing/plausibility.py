"""Checks of a robot's units: values that suggest other units than kg, m and kg m²."""

import math
from collections.abc import Sequence

import numpy as np

from biped.model.body import Body
from biped.model.importing.repair import DENSITY
from contact.errors import listed

#: [kg] From palm-sized walkers to the heaviest legged machines; with a wrong density or unit, a mass is outside.
MASSES = 0.1, 1000.0
#: [m] Above the size of the tallest walking machines; in mm a humanoid measures 1000 and more.
LENGTH = 10.0
#: Smallest radius of gyration over that of a steel ball of equal mass; an inertia 1000 times too small is below it.
COMPACT = 1.0 / 3.0


def doubts(bodies: Sequence[Body]) -> list[str]:
    """Return a note for each kind of implausible value."""
    total, size = math.fsum(body.mass for body in bodies), _size(bodies)
    notes = []
    if not MASSES[0] <= total <= MASSES[1]:
        notes.append(f"the mass is {total:.3g} kg, not {MASSES[0]:g} to {MASSES[1]:g} kg: are masses in kg?")
    if size > LENGTH:
        notes.append(f"the robot's extent is {size:.3g} m, more than {LENGTH:g} m: are lengths in m?")
    odd = [body.name for body in bodies if body.mass and _is_odd(body, total, size if len(bodies) > 2 else math.inf)]
    if odd:
        notes.append(f"inertias are out of proportion to masses, for {listed(odd)}: are they in kg m²?")
    return notes


def _size(bodies: Sequence[Body]) -> float:
    """Return the largest extent [m] of joints and centres of mass along an axis, at home."""
    joints: dict[str | None, np.ndarray] = {None: np.zeros(3)}
    for body in bodies:
        joints[body.name] = joints[body.parent] + np.array(body.joint.position)
    joints[None] = joints[bodies[0].name]
    centers = [joints[body.name] + np.array(body.com) for body in bodies]
    return float(np.ptp([*joints.values(), *centers], axis=0).max())


def _is_odd(body: Body, total: float, size: float) -> bool:
    """Return True if the radius of gyration exceeds the robot's size, or is far below that of a steel ball."""
    radius = math.sqrt(max(float(np.linalg.eigvalsh(np.array(body.inertia))[-1]), 0.0) / body.mass)
    ball = math.sqrt(0.4) * (3.0 * body.mass / (4.0 * math.pi * DENSITY)) ** (1.0 / 3.0)
    return radius > size > 0.0 or (0.0 < radius < COMPACT * ball and body.mass > 0.01 * total)
