"""Directions around the human, seen from above, and its feet.

An azimuth is that of ``push.azimuth``: 0° drives the human forwards, 90° to its left. The human faces −X and its
left is −Y.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from biped.model import human

#: Where a push drives the human, from 0° on in steps of 45°.
WORDS = ("front", "front left", "left", "back left", "back", "back right", "right", "front right")


def word_of(azimuth: float) -> str:
    """Where a push of this azimuth [°] drives the human; the nearest of eight words."""
    return WORDS[round(azimuth / 45.0) % 8]


def evenly(count: int) -> list[float]:
    """[°] so many directions, the first of them 0°."""
    return [round(360.0 * k / count, 9) for k in range(count)]


class Outline(NamedTuple):
    """A closed outline seen from above: (n,) azimuths [rad] and (n,) distances [m] of its corners."""

    azimuth: NDArray[np.float64]
    distance: NDArray[np.float64]


def soles() -> list[Outline]:
    """Of the human, about the middle between its ankles.

    The contact points of a sole are given from the ankle, where the centre of mass of the ankle's body is too.
    """
    model = human()
    outlines = []
    for side in ("left", "right"):
        ankle = model.home_positions[model.body_index(f"{side}_ankle")]
        points = [ankle + point.position for point in model.contact_points if point.body == f"{side}_foot"]
        x, y, _ = np.array([*points, points[0]]).T
        outlines.append(Outline(np.arctan2(-y, -x), np.hypot(x, y)))
    return outlines
