"""Toes: the part of each foot that is before its ball, on a hinge.

The hinge lies across the foot, at its middle height above the metatarsophalangeal joints. Where these are, and which
share of the foot's mass the toes have, is of S. Delp and co-workers, "An interactive graphics-based model of the lower
extremity to study orthopaedic surgical procedures", IEEE Transactions on Biomedical Engineering 37, 1990, as OpenSim's
gait2392 has it. That the toes are a box, and half as high as the ankle, is ours.
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

#: What a subject's segments may name.
TOES = ("toes", "limp-toes")
#: Its bodies, by name.
BODIES = tuple(f"{side}_toes" for side, _ in SIDES)
#: Of a foot's length from the heel, where the hinge is: 0.1788 m of a man of 1.80 m, whose foot has by de Leva (1996)
#: 0.267 m. Of its mass, the toes': 0.2166 kg of 1.5666 kg.
BALL, SHARE = 0.670, 0.138
#: Of the ankle's height: how high the toes are.
HEIGHT = 0.5
#: Of limp toes: they would just not swing, if they hung. Ours.
_LIMP_DAMPING = 1.0
# [°] of the great toe, of the same source as the legs' ranges (`biped.model.human`); extension is positive.
_RANGE = (-45.0, 70.0)


class Toes(NamedTuple):
    """Those of a foot, and what is behind them, from its ankle: [m]."""

    tip: float  # x
    heel: float
    breadth: float
    ankle: float  # how high it is above the sole

    @property
    def ball(self) -> float:
        """[m] x of the hinge."""
        return self.heel - BALL * (self.heel - self.tip)

    @property
    def hinge(self) -> Floats:
        """(3,) [m]."""
        return np.array([self.ball, 0.0, HEIGHT * self.ankle / 2.0 - self.ankle])

    @property
    def size(self) -> Vector3:
        """[m] of their box."""
        return self.ball - self.tip, self.breadth, HEIGHT * self.ankle

    @property
    def middle(self) -> Floats:
        """(3,) [m] of their box, from the hinge."""
        return np.array([(self.tip - self.ball) / 2.0, 0.0, 0.0])

    def lump(self, foot: float) -> Lump:
        """Of a foot of so much mass [kg], toes and all."""
        mass = SHARE * foot
        return Lump(mass, self.hinge + self.middle, np.array(box_inertia(mass, self.size)))

    def body(self, side: str, foot: float, *, limp_in: float | None) -> Body:
        """Of a foot of so much mass [kg]; limp in somebody whose weight times stature [N·m] is given."""
        own = self.lump(foot)
        joint = revolute(f"{side}_toes_pitch", Y, vector3(self.hinge, "hinge"))
        if limp_in is not None:
            joint = limp(joint, own, float(np.linalg.norm(self.middle)), limp_in, _LIMP_DAMPING)
        inertia, com = matrix3(own.inertia, "inertia"), vector3(self.middle, "com")
        return Body(f"{side}_toes", own.mass, inertia, com, joint, f"{side}_foot")

    def points(self, side: str, corners: Sequence[ContactPoint]) -> Iterator[ContactPoint]:
        """The sole's corners, of which the first two, the outer and the inner tip, are on the toes; then the ball's."""
        for k, point in enumerate(corners):
            on_toes = replace(point, body=f"{side}_toes", position=vector3(point.position - self.hinge, "place"))
            yield on_toes if k < 2 else point
        for k, point in enumerate(corners[:2], len(corners) + 1):
            yield replace(point, name=f"{side}_{k}", position=(self.ball, *point.position[1:]))

    def box(self, side: str) -> Box:
        """Theirs."""
        return Box(f"{side}_toes", self.size, vector3(self.middle, "middle"))


def ranges() -> Iterator[tuple[str, float, float]]:
    """[rad] by joint: how far it turns."""
    for side, _ in SIDES:
        low, high = map(math.radians, _RANGE)
        yield f"{side}_toes_pitch", low, high
