"""Directions around the human, seen from above, and its feet.

The human faces −X and its left is −Y. An azimuth is the angle from +X to where the push goes, about +Z: 0° is
backwards, 90° to the human's right, 180° forwards, 270° to its left.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from biped.model import human

#: Where a push goes, from 0° on in steps of 45°.
WORDS = ("back", "back right", "right", "front right", "front", "front left", "left", "back left")


def word_of(azimuth: float) -> str:
    """Where a push of this azimuth [°] goes, in words; the nearest of eight."""
    return WORDS[round(azimuth / 45.0) % 8]


def evenly(count: int) -> list[float]:
    """[°] so many directions, the first of them 0°."""
    return [round(360.0 * k / count, 9) for k in range(count)]


class Seen(NamedTuple):
    """Where something is on a drawing with the human's front at the top: (n,) to the right, (n,) up."""

    right: NDArray[np.float64]
    up: NDArray[np.float64]


def feet() -> list[Seen]:
    """[m] outlines of the human's soles, closed, seen from above about the middle between its ankles.

    The contact points of a sole are given from the ankle, where the centre of mass of the ankle's body is too.
    """
    model = human()
    outlines = []
    for side in ("left", "right"):
        ankle = model.home_positions[model.body_index(f"{side}_ankle")]
        points = [ankle + point.position for point in model.contact_points if point.body == f"{side}_foot"]
        corners = np.array([*points, points[0]])
        outlines.append(Seen(corners[:, 1], -corners[:, 0]))
    return outlines
