"""Published anthropometric tables by sex: masses, lengths, centres of mass and radii of gyration of segments.

P. de Leva, "Adjustments to Zatsiorsky-Seluyanov's segment inertia parameters", Journal of Biomechanics 29, 1996, table
4: young men and women. D. A. Winter, "Biomechanics and Motor Control of Human Movement", 4th edition, 2009, figure 4.1,
after Drillis and Contini (1966). Both were taken from copies in programs, not from the papers.
"""

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from biped.model.geometry import STANDARD_GRAVITY
from biped.model.inertia import shifted
from biped.model.joint import Joint
from contact.arrays import Floats


class Segment(NamedTuple):
    """A segment of the body, between the two points given with its name."""

    mass: float  # over the body's mass
    length: float  # [m] mean of the people measured
    com: float  # over the length, from the first point
    sagittal: float  # radius of gyration about the AP axis, over the length
    transverse: float  # radius of gyration about the ML axis, over the length
    longitudinal: float  # radius of gyration about the segment's long axis, over the length


class People(NamedTuple):
    """Mean dimensions and segments of the people measured."""

    stature: float  # [m] mean
    head: Segment  # vertex to the gonions
    trunk: Segment  # suprasternale to the middle of the hips
    pelvis: Segment  # part of the trunk: omphalion to the middle of the hips
    shoulders: float  # [m] height of the middle of the shoulders above that of the hips
    upper_arm: Segment  # shoulder to elbow
    forearm: Segment  # elbow to wrist
    hand: Segment  # wrist to the third metacarpal
    thigh: Segment  # hip to knee
    shank: Segment  # knee to ankle
    foot: Segment  # heel to the tip of the toes


TABLE = {
    "male": People(
        stature=1.741,
        head=Segment(0.0694, 0.2033, 0.5976, 0.362, 0.376, 0.312),
        trunk=Segment(0.4346, 0.5319, 0.4486, 0.372, 0.347, 0.191),
        pelvis=Segment(0.1117, 0.1457, 0.6115, 0.615, 0.551, 0.587),
        shoulders=0.5155,
        upper_arm=Segment(0.0271, 0.2817, 0.5772, 0.285, 0.269, 0.158),
        forearm=Segment(0.0162, 0.2689, 0.4574, 0.276, 0.265, 0.121),
        hand=Segment(0.0061, 0.0862, 0.7900, 0.628, 0.513, 0.401),
        thigh=Segment(0.1416, 0.4222, 0.4095, 0.329, 0.329, 0.149),
        shank=Segment(0.0433, 0.4403, 0.4395, 0.251, 0.246, 0.102),
        foot=Segment(0.0137, 0.2581, 0.4415, 0.257, 0.245, 0.124),
    ),
    "female": People(
        stature=1.735,
        head=Segment(0.0668, 0.2002, 0.5894, 0.330, 0.359, 0.318),
        trunk=Segment(0.4257, 0.5293, 0.4151, 0.357, 0.339, 0.171),
        pelvis=Segment(0.1247, 0.1815, 0.4920, 0.433, 0.402, 0.444),
        shoulders=0.4979,
        upper_arm=Segment(0.0255, 0.2751, 0.5754, 0.278, 0.260, 0.148),
        forearm=Segment(0.0138, 0.2643, 0.4559, 0.261, 0.257, 0.094),
        hand=Segment(0.0056, 0.0780, 0.7474, 0.531, 0.454, 0.335),
        thigh=Segment(0.1478, 0.3685, 0.3612, 0.369, 0.364, 0.162),
        shank=Segment(0.0481, 0.4386, 0.4352, 0.267, 0.263, 0.092),
        foot=Segment(0.0129, 0.2283, 0.4014, 0.299, 0.279, 0.139),
    ),
}

#: Height of the ankle, breadth of a foot, and breadth from shoulder to shoulder, over the stature (Winter).
ANKLE_HEIGHT, FOOT_BREADTH, SHOULDERS_BREADTH = 0.039, 0.055, 0.259
#: Hip joint centre: distance from the midline, and below the front of the pelvis (ASIS), each as a constant [m] and a
#: share of the leg length (ASIS to ankle). R. Hara et al., "Predicting the location of the hip joint centres, impact of
#: age group and sex", Scientific Reports 6, 2016, from 180 people.
HIP_ASIDE, HIP_BELOW = (0.008, 0.086), (0.009, 0.078)


class Lump(NamedTuple):
    """A rigid mass."""

    mass: float  # [kg]
    com: Floats  # (3,) [m]
    inertia: Floats  # (3, 3) [kg m²] about the centre of mass

    def without(self, other: "Lump") -> "Lump":
        """Return the mass that remains when ``other`` is removed."""
        return together(self, Lump(-other.mass, other.com, -other.inertia))


def together(*parts: Lump) -> Lump:
    """Return the parts as one mass."""
    mass = sum(part.mass for part in parts)
    com = np.sum([part.mass * part.com for part in parts], axis=0) / mass
    return Lump(mass, com, np.sum([shifted(part.inertia, part.mass, part.com - com) for part in parts], axis=0))


def hanging(segment: Segment, people: People, stature: float, mass: float, top: Floats) -> Lump:
    """Return a segment of a body of ``stature`` [m] and ``mass`` [kg] that hangs down from ``top`` (3,) [m]."""
    length = segment.length / people.stature * stature
    segment_mass = segment.mass * mass
    radii = length * np.array([segment.sagittal, segment.transverse, segment.longitudinal])
    return Lump(segment_mass, top - [0.0, 0.0, segment.com * length], np.diag(segment_mass * radii**2))


#: Effort of a limp joint over the body's weight times its height: almost none. Our choice.
_EFFORT = 1e-9


def limp(joint: Joint, carried: Lump, lever: float, body: float, damping: float) -> Joint:
    """Return ``joint`` as a limp joint: damped, and with almost no torque of its actuator.

    Args:
        joint: joint about the Y axis, or next to such a joint.
        carried: mass carried by the joint.
        lever: [m] distance from the joint to the centre of mass of ``carried``.
        body: [N·m] weight times stature of the whole body.
        damping: damping of the joint, as a share of the critical damping of the carried mass.
    """
    inertia = float(carried.inertia[1, 1]) + carried.mass * lever**2
    critical = 2.0 * math.sqrt(inertia * carried.mass * -STANDARD_GRAVITY[2] * lever)
    return replace(joint, damping=damping * critical, max_effort=_EFFORT * body)
