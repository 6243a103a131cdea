"""Directions around a robot, and outlines of its feet, in top view.

Azimuths are those of ``push.azimuth``: a push at 0° drives the robot forward, at 90° to its left. The human faces −X,
and its left is −Y.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from biped.model import Model
from biped.model.legs import foot_under

#: Words for the directions in which a push drives the robot, from 0° in steps of 45°.
WORDS = ("front", "front left", "left", "back left", "back", "back right", "right", "front right")


def word_of(azimuth: float) -> str:
    """Return the word, of eight, for the direction in which a push of this azimuth [°] drives the robot."""
    return WORDS[round(azimuth / 45.0) % 8]


def direction_text(azimuth: float) -> str:
    """Return an azimuth [°] as text, with the word for it if it is one of the eight directions."""
    return f"{azimuth:g}°" + (f" {word_of(azimuth)}" if azimuth % 45.0 == 0.0 else "")


def evenly(count: int) -> list[float]:
    """Return evenly spaced directions [°], the first of them 0°."""
    return [round(360.0 * k / count, 9) for k in range(count)]


class Outline(NamedTuple):
    """A closed outline in top view: azimuths (n,) [rad] and distances (n,) [m] of its corners."""

    azimuth: NDArray[np.float64]
    distance: NDArray[np.float64]


def soles(model: Model) -> list[Outline]:
    """Return the outline of each foot's contact points in the home posture, about the middle between the ankles."""
    joints = [_joint_position(model, foot) for foot in model.feet]
    middle = np.mean(joints, axis=0)
    fx, fy, _ = model.facing
    outlines = []
    for foot in model.feet:
        points = [
            _joint_position(model, point.body) + point.position - middle
            for point in model.contact_points if foot_under(model, point.body) == foot
        ]  # fmt: skip
        hull = ConvexHull(np.array(points)[:, :2]).vertices
        x, y, _ = np.array([points[k] for k in (*hull, hull[0])]).T
        forward, left = x * fx + y * fy, -x * fy + y * fx
        outlines.append(Outline(np.arctan2(left, forward), np.hypot(x, y)))
    return outlines


def _joint_position(model: Model, foot: str) -> NDArray[np.float64]:
    """Return the position (3,) [m] of a body's joint in the home posture; contact points are relative to it."""
    body = model.bodies[model.body_index(foot)]
    return np.asarray(model.home_positions[model.body_index(foot)] - np.asarray(body.com))
