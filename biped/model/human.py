"""The human of Wendlandt (1997): 13 bodies, 18 degrees of freedom, measured on a person.

J. M. Wendlandt, "Control and Simulation of Multibody Systems", dissertation, University of California at Berkeley,
1997. Every number is from its section 4.1 unless stated otherwise. The inertial frame is on the floor; the person faces
−X and its left is −Y. Positions are those of the home configuration.
"""

import math
from collections.abc import Mapping
from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np

from biped.model.body import Body
from biped.model.contact_point import ContactPoint
from biped.model.geometry import Matrix3, Vector3, rotation_about, vector3
from biped.model.inertia import principal_inertia
from biped.model.joint import Joint, floating, revolute
from biped.model.model import Model
from biped.model.shape import Box, Capsule

X: Vector3 = (1.0, 0.0, 0.0)
Y: Vector3 = (0.0, 1.0, 0.0)
Z: Vector3 = (0.0, 0.0, 1.0)

# Link 1, the central body: "center of mass at (0, 0, 123) cm", "axes of inertia (1.67, 1.58, 0.581)", "mass 45 Kg".
TRUNK_COM: Vector3 = (0.0, 0.0, 1.23)
TRUNK_MASS = 45.0
TRUNK_MOMENTS: Vector3 = (1.67, 1.58, 0.581)
# Not in the text: the box that has these moments, rounded to millimetres.
TRUNK_SIZE: Vector3 = (0.256, 0.299, 0.597)

# "The orientation of the principal axis frame for the feet is formed from the inertial frame by rotating
# about the −Y axis by 8.547 degrees."
FOOT_TILT = math.radians(8.547)
FOOT_MASS = 1.455  # links 7 and 13
FOOT_MOMENTS: Vector3 = (0.00189, 0.00608, 0.00662)

LATERAL = 0.15  # the legs are in the planes y = ∓15 cm

# The sole is not in the text. The foot's principal moments are those of a box 0.211 x 0.100 x 0.075 m;
# with its middle below the foot's centre of mass it reaches this far from the ankle, and in the home
# configuration it is on the floor, where the text has put the inertial frame.
TOE = 0.159  # in front of the ankle, towards −X
HEEL = 0.052  # behind it
SOLE_WIDTH = 0.10
FOOT_HEIGHT = 0.075
ANKLE_HEIGHT = 0.06  # joints 6, 7, 12 and 13 are at z = 6 cm


# Not in the text: surface points that touch the floor after a fall, as in the viewer. Head, arms and pelvis are part of
# the trunk. Home positions (x, distance from the middle, z) [m]; points off the middle are on both sides.
_ON_TRUNK = {
    "head_top": (0.006, 0.0, 1.778), "head_front": (-0.094, 0.0, 1.66), "head_back": (0.099, 0.0, 1.66),
    "head": (0.0, 0.077, 1.66), "shoulder": (0.004, 0.25, 1.402), "chest": (-0.125, 0.1, 1.3),
    "back": (0.102, 0.1, 1.38), "elbow": (0.062, 0.252, 1.115), "forearm": (0.022, 0.292, 1.1),
    "hand": (-0.066, 0.27, 0.772), "hip": (0.006, 0.19, 0.96), "groin": (-0.102, 0.1, 0.96),
    "buttock": (0.122, 0.1, 0.95),
}  # fmt: skip
# [m] from the knee joint: (x, outward distance).
_ON_KNEE = {"knee": (-0.058, 0.0), "knee_outside": (0.0, 0.053)}

# Capsules for collisions with blocks and between the legs, as thick as in the viewer: home positions of the axis's ends
# (x, distance from the middle, z) [m], and the radius [m].
_HEAD = ((0.0, 0.0, 1.63), (0.0, 0.0, 1.688), 0.09)
_ARM = (((0.006, 0.215, 1.40), (0.035, 0.25, 1.115), 0.045), ((0.035, 0.25, 1.115), (-0.05, 0.265, 0.80), 0.035))
_LIMBS = {
    "thigh": ((0.0, LATERAL, 0.90), (0.0, LATERAL, 0.50), 0.075),
    "shank": ((0.0, LATERAL, 0.46), (0.0, LATERAL, 0.12), 0.052),
    "foot": ((0.012, LATERAL, 0.04), (-0.119, LATERAL, 0.04), 0.04),
}

# [°] Ranges of motion: American Academy of Orthopaedic Surgeons, "Joint Motion: Method of Measuring and Recording",
# 1965. Signs of a left joint: adduction, flexion, internal rotation, extension (a bent knee is negative), inversion and
# dorsiflexion are positive. Right joints about X and Z mirror them.
_RANGES = {
    "hip_roll": (-45.0, 30.0), "hip_pitch": (-30.0, 120.0), "hip_yaw": (-45.0, 45.0), "knee_pitch": (-135.0, 0.0),
    "ankle_roll": (-15.0, 35.0), "ankle_pitch": (-50.0, 20.0),
}  # fmt: skip
# [°] Dorsiflexion under load is more than twice that of a hanging foot (20° of the Academy):
# A. Rabin, Z. Kozol, "Weightbearing and nonweightbearing ankle dorsiflexion range of motion", JAPMA 102, 2012.
_STANDING_RANGES = _RANGES | {"ankle_pitch": (-50.0, 40.0)}


class _Segment(NamedTuple):
    """A body of one leg; home positions of its joint and its centre of mass are (x, z), y being the leg's."""

    body: str
    joint: str
    axis: Vector3
    joint_at: tuple[float, float]
    com_at: tuple[float, float]
    mass: float
    inertia: Matrix3


# "The inertias about each axis for link 2, 3, 6, 8, 9, and 12 are equal and are 0.00028", mass 0.343 kg.
_SMALL = (0.343, principal_inertia((0.00028, 0.00028, 0.00028)))

# Links 2..7 of the left leg, 8..13 of the right. The axes are those of figure 4.1.
_LEG = (
    _Segment("hip_1", "hip_roll", X, (0.0, 0.96), (0.0, 0.96), *_SMALL),
    _Segment("hip_2", "hip_pitch", Y, (0.0, 0.96), (0.0, 0.96), *_SMALL),
    _Segment("thigh", "hip_yaw", Z, (0.0, 0.96), (0.0, 0.73), 7.5, principal_inertia((0.163, 0.171, 0.0198))),
    _Segment("shank", "knee_pitch", Y, (0.0, 0.50), (0.0, 0.28), 4.79, principal_inertia((0.0961, 0.0959, 0.00784))),
    _Segment("ankle", "ankle_roll", X, (0.0, 0.06), (0.0, 0.06), *_SMALL),
    _Segment(
        *("foot", "ankle_pitch", Y, (0.0, 0.06), (-0.05325, 0.03473), FOOT_MASS),
        principal_inertia(FOOT_MOMENTS, rotation_about((0.0, -1.0, 0.0), FOOT_TILT)),
    ),
)

SIDES = (("left", -1.0), ("right", 1.0))


@cache
def human() -> Model:
    """Return the human of Wendlandt (1997); every call returns the same object.

    It has a floating trunk, two legs of six hinges each, and a contact point at each corner of the soles.

    The hinges are, with their axes, ``left_hip_roll`` (X), ``left_hip_pitch`` (Y), ``left_hip_yaw`` (Z),
    ``left_knee_pitch`` (Y), ``left_ankle_roll`` (X), ``left_ankle_pitch`` (Y), then those of the right leg. Contact
    points ``left_1`` … ``left_4`` go around the sole: outer toe, inner toe, inner heel, outer heel; the right foot
    mirrors the left.

    Contact points elsewhere on the body (``body_points``) and the ranges of motion of the joints (``ranges``) have an
    effect only after a fall; they are not in the thesis.

    The masses sum to 74.548 kg; the thesis prints 74.558.
    """
    trunk = Body("trunk", TRUNK_MASS, principal_inertia(TRUNK_MOMENTS), (0.0, 0.0, 0.0), floating("body", TRUNK_COM))
    legs = [body for side, sign in SIDES for body in _leg(side, sign)]
    return Model(
        name="human",
        bodies=(trunk, *legs),
        contact_points=tuple(point for side, sign in SIDES for point in _sole(side, sign)),
        shapes=(Box("trunk", TRUNK_SIZE), *(_foot_box(side) for side, _ in SIDES)),
        feet=("left_foot", "right_foot"),
        facing=(-1.0, 0.0, 0.0),
        body_points=(*_trunk_points(), *(point for side, sign in SIDES for point in _knee_points(side, sign))),
        capsules=(*_trunk_capsules(), *(capsule for side, sign in SIDES for capsule in _leg_capsules(side, sign))),
        touching=tuple((f"left_{left}", f"right_{right}") for left, right in product(_LIMBS, repeat=2)),
        ranges=tuple(row for side, sign in SIDES for row in ranges_of_side(side, sign, _RANGES)),
    )


@cache
def standing_ranges() -> tuple[tuple[str, float, float], ...]:
    """Return the human's ranges of motion [rad] on loaded feet, (joint, lower, upper); see ``ranges`` for a fall."""
    return tuple(row for side, sign in SIDES for row in ranges_of_side(side, sign, _STANDING_RANGES))


def _leg(side: str, sign: float) -> list[Body]:
    bodies = []
    parent, parent_at = "trunk", TRUNK_COM
    for part in _LEG:
        joint_at = _at(part.joint_at, sign)
        com = _from(joint_at, _at(part.com_at, sign))
        name = f"{side}_{part.body}"
        bodies.append(Body(name, part.mass, part.inertia, com, _joint(side, part, _from(parent_at, joint_at)), parent))
        parent, parent_at = name, joint_at
    return bodies


def _joint(side: str, part: _Segment, position: Vector3) -> Joint:
    return revolute(f"{side}_{part.joint}", part.axis, position)


def _at(xz: tuple[float, float], sign: float) -> Vector3:
    return xz[0], sign * LATERAL, xz[1]


def _from(start: Vector3, end: Vector3) -> Vector3:
    """Return ``end`` [m] relative to ``start``, without the digits below 1e-12 that the subtraction leaves."""
    return vector3(np.round(np.subtract(end, start), 12), "place")


def _sole(side: str, sign: float) -> list[ContactPoint]:
    outer, inner = sign * SOLE_WIDTH / 2, -sign * SOLE_WIDTH / 2
    corners = ((-TOE, outer), (-TOE, inner), (HEEL, inner), (HEEL, outer))
    return [
        ContactPoint(f"{side}_{i}", f"{side}_foot", (x, y, -ANKLE_HEIGHT)) for i, (x, y) in enumerate(corners, start=1)
    ]


def _foot_box(side: str) -> Box:
    center = ((HEEL - TOE) / 2, 0.0, FOOT_HEIGHT / 2 - ANKLE_HEIGHT)
    return Box(f"{side}_foot", (TOE + HEEL, SOLE_WIDTH, FOOT_HEIGHT), center)


def _trunk_points() -> list[ContactPoint]:
    points = []
    for name, (x, aside, z) in _ON_TRUNK.items():
        for side, sign in SIDES if aside else (("", 0.0),):
            at = _from(TRUNK_COM, (x, sign * aside, z))
            points.append(ContactPoint(f"{side}_{name}".removeprefix("_"), "trunk", at))
    return points


def _trunk_capsules() -> list[Capsule]:
    arms = [(_aside(begin, sign), _aside(end, sign), r) for _, sign in SIDES for begin, end, r in _ARM]
    return [Capsule("trunk", _from(TRUNK_COM, begin), _from(TRUNK_COM, end), r) for begin, end, r in (_HEAD, *arms)]


def _leg_capsules(side: str, sign: float) -> list[Capsule]:
    joints = {part.body: _at(part.joint_at, sign) for part in _LEG}
    return [
        Capsule(
            f"{side}_{part}", _from(joints[part], _aside(begin, sign)), _from(joints[part], _aside(end, sign)), radius
        )
        for part, (begin, end, radius) in _LIMBS.items()
    ]


def _aside(place: Vector3, sign: float) -> Vector3:
    """Return ``place``, whose y [m] is the distance from the midline, on the side with this ``sign``."""
    return place[0], sign * place[1], place[2]


def _knee_points(side: str, sign: float) -> list[ContactPoint]:
    return [
        ContactPoint(f"{side}_{name}", f"{side}_shank", (x, sign * outside, 0.0))
        for name, (x, outside) in _ON_KNEE.items()
    ]


def ranges_of_side(side: str, sign: float, ranges: Mapping[str, tuple[float, float]]) -> list[tuple[str, float, float]]:
    """Return a side's ranges of motion [rad] from the left side's [°]; the right side's about X and Z are mirrored."""
    rows = []
    for joint, limits in ranges.items():
        mirrored = 1.0 if joint.endswith("_pitch") else -sign
        lower, upper = sorted(mirrored * math.radians(limit) for limit in limits)
        rows.append((f"{side}_{joint}", lower, upper))
    return rows
