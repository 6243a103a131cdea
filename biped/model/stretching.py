"""Mapping of points between human bodies of different proportions, linear between sole, ankle, knee, hip and crown."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from biped.model.legs import foot_under
from biped.model.model import Model
from contact.arrays import Floats

_SIDES = {"left": -1.0, "right": 1.0}
#: Index of the height of a joint, by the leg's body that it carries.
_LEVELS = {"hip_1": 3, "hip_2": 3, "thigh": 3, "shank": 2, "ankle": 1, "foot": 1}


class Measures(NamedTuple):
    """Dimensions [m] of a human body in the home posture, with straight vertical legs."""

    heights: tuple[float, float, float, float, float]  # heights of sole, ankle, knee, hip and the top of the head
    trunk: float  # height of the trunk's centre of mass
    aside: float  # lateral distance of the legs' planes from the middle
    foot: float  # length of a sole

    def origin(self, body: str) -> Floats:
        """Return the home position (3,) of a body's joint; for the trunk, of its centre of mass."""
        side, _, part = body.partition("_")
        if body == "trunk":
            return np.array([0.0, 0.0, self.trunk])
        return np.array([0.0, _SIDES[side] * self.aside, self.heights[_LEVELS[part]]])

    def stretched(self, other: "Measures", body: str, places: ArrayLike) -> Floats:
        """Map ``places`` (…, 3) [m] on ``body`` to the dimensions ``other``; both are relative to the body's joint."""
        size = other.heights[-1] / self.heights[-1]
        longer = other.foot / self.foot if body.endswith("foot") else size
        x, y, z = np.moveaxis(np.asarray(places) + self.origin(body), -1, 0)
        plane = self.origin(body)[1]
        above = size * np.maximum(z - self.heights[-1], 0.0)
        there = (
            longer * x,
            size * (y - plane) + other.origin(body)[1],
            np.interp(z, self.heights, other.heights) + above,
        )
        return np.stack(there, axis=-1) - other.origin(body)


def measures_of(model: Model) -> Measures:
    """Return the dimensions of ``human()`` or a subject, from joints and points on soles and top of the head."""
    home = {body.name: place - body.com for body, place in zip(model.bodies, model.home_positions, strict=True)}
    points = (*model.contact_points, *model.body_points)  # after a fall, body_points are among the contact points
    ends = [
        float(home[point.body][0]) + point.position[0]
        for point in points if foot_under(model, point.body) == "left_foot"
    ]  # fmt: skip
    heights = [float(home[point.body][2]) + point.position[2] for point in points]
    levels = (home[f"left_{body}"][2] for body in ("foot", "shank", "thigh"))
    ankle, knee, hip = (float(z) for z in levels)
    trunk, aside = float(home["trunk"][2]), -float(home["left_thigh"][1])
    return Measures((min(heights), ankle, knee, hip, max(heights)), trunk, aside, max(ends) - min(ends))
