"""Toes: the part of each foot in front of its ball, on a hinge.

The hinge is across the foot, at its middle height above the metatarsophalangeal joints. Its location, and the toes'
share of the foot's mass, are from S. Delp and co-workers, "An interactive graphics-based model of the lower extremity
to study orthopaedic surgical procedures", IEEE Transactions on Biomedical Engineering 37, 1990, as in OpenSim's
gait2392. The toes are a box, half as high as the ankle; this is our choice.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from biped.model.anthropometry import Lump, limp
from biped.model.body import Body
from biped.model.contact_point import ContactPoint
from biped.model.geometry import Vector3, matrix3, vector3
from biped.model.human import SIDES, Y
from biped.model.inertia import box_inertia
from biped.model.joint import revolute
from biped.model.shape import Box
from contact.arrays import Floats

#: Names of the toes among a subject's segments.
TOES = ("toes", "limp-toes")
#: Names of the toes' bodies.
BODIES = tuple(f"{side}_toes" for side, _ in SIDES)
#: Location of the hinge from the heel over the foot's length: 0.1788 m for a man of 1.80 m, whose foot has 0.267 m by
#: de Leva (1996). Share of the toes in the foot's mass: 0.2166 kg of 1.5666 kg.
BALL, SHARE = 0.670, 0.138
#: Height of the toes over the ankle's height.
HEIGHT = 0.5
#: Damping of limp toes over the critical damping if they hung. Our choice.
_LIMP_DAMPING = 1.0
# [°] of the great toe, from the source of the legs' ranges (`biped.model.human`); extension is positive.
_RANGE = (-45.0, 70.0)


class Toes(NamedTuple):
    """Dimensions [m] of a foot with toes; positions are relative to the ankle joint, with x backward."""

    tip: float  # x
    heel: float
    breadth: float
    ankle: float  # height above the sole

    @property
    def ball(self) -> float:
        """Location x [m] of the hinge."""
        return self.heel - BALL * (self.heel - self.tip)

    @property
    def hinge(self) -> Floats:
        """Location of the hinge (3,) [m]."""
        return np.array([self.ball, 0.0, HEIGHT * self.ankle / 2.0 - self.ankle])

    @property
    def size(self) -> Vector3:
        """Edge lengths [m] of the toes' box."""
        return self.ball - self.tip, self.breadth, HEIGHT * self.ankle

    @property
    def middle(self) -> Floats:
        """Middle of the box (3,) [m], from the hinge."""
        return np.array([(self.tip - self.ball) / 2.0, 0.0, 0.0])

    def lump(self, foot: float) -> Lump:
        """Return the mass properties of the toes; ``foot`` is the mass [kg] of foot and toes."""
        mass = SHARE * foot
        return Lump(mass, self.hinge + self.middle, np.array(box_inertia(mass, self.size)))

    def body(self, side: str, foot: float, *, limp_in: float | None) -> Body:
        """Return the toes' body; ``foot`` is the mass [kg] of foot and toes, ``limp_in`` as ``body`` of `limp`."""
        lump = self.lump(foot)
        joint = revolute(f"{side}_toes_pitch", Y, vector3(self.hinge, "hinge"))
        if limp_in is not None:
            joint = limp(joint, lump, float(np.linalg.norm(self.middle)), limp_in, _LIMP_DAMPING)
        inertia, com = matrix3(lump.inertia, "inertia"), vector3(self.middle, "com")
        return Body(f"{side}_toes", lump.mass, inertia, com, joint, f"{side}_foot")

    def points(self, side: str, corners: Sequence[ContactPoint]) -> Iterator[ContactPoint]:
        """Yield the sole's corners, of which the first two (outer and inner tip) are on the toes, then the ball's."""
        for k, point in enumerate(corners):
            on_toes = replace(point, body=f"{side}_toes", position=vector3(point.position - self.hinge, "place"))
            yield on_toes if k < 2 else point
        for k, point in enumerate(corners[:2], len(corners) + 1):
            yield replace(point, name=f"{side}_{k}", position=(self.ball, *point.position[1:]))

    def box(self, side: str) -> Box:
        """Return the box of the toes."""
        return Box(f"{side}_toes", self.size, vector3(self.middle, "middle"))


def ranges() -> Iterator[tuple[str, float, float]]:
    """Yield the ranges of motion [rad] of the toes, by joint."""
    for side, _ in SIDES:
        low, high = map(math.radians, _RANGE)
        yield f"{side}_toes_pitch", low, high
