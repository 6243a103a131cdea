"""Inverted pendulum about the ankles: sensed sway, and ankle torques; compiled."""

import math
from typing import NamedTuple

from biped.kernels.tree.dynamics import centre_of_mass, momentum_about_reference
from biped.kernels.tree.kinematics import point_of_body, set_twists
from biped.kernels.tree.whole_body import velocity_at
from contact.arrays import Floats, Integers
from contact.vectors import cross, dot, load3, load4, load6, quat_difference, scale, sub
from kernelcache import kernel


class Ankles(NamedTuple):
    """Pendulum in the reference posture, and the joints that pitch its feet."""

    foot: Integers  # (feet,) bodies
    dof: Integers  # (feet,) of the joint that carries each: the ankle's pitch
    turns: Floats  # (feet,) 1 if its torque on the foot turns the toes down, −1 if up
    flat: Floats  # (feet, 4) orientations of the feet in the posture
    forward: tuple[float, float, float]  # direction that the model faces
    left: tuple[float, float, float]
    mass: float  # [kg]
    toppling: float  # [N·m/rad] m g h: gravity's torque about the ankles by sway
    upright: float  # [rad] the sway of the posture
    kept: float  # low-pass filter of the feet's signals: share kept from tick to tick
    filtered: Floats  # (5,) filtered signals and two measured rates; NaN before the first tick


class Sway(NamedTuple):
    """Sensed sway angles and rates, anterior positive; small angles."""

    body: float  # [rad] sway of the centre of mass in space, from the posture
    body_rate: float  # [rad/s]
    legs: float  # [rad] sway relative to the feet, from the joints alone; filtered
    legs_rate: float  # [rad/s] filtered
    feet_rate: float  # [rad/s] of the feet in space, thus of the floor; filtered


@kernel
def sense_sway(ankles, measurement):
    """Return the sway of body and feet from the measured posture and rates; call once a tick.

    Signals of the feet pass a low-pass filter, and rates are means of two ticks: light feet on stiff springs oscillate
    at a rate that changes sign from step to step, which a torque that follows it would amplify.
    """
    tree, motion = measurement.tree, measurement.motion
    set_twists(tree, motion.poses, motion.rates, motion.velocity)
    sway, rate = sway_of_body(ankles, tree, motion)
    tilt = tilt_rate = 0.0
    share = 1.0 / ankles.foot.shape[0]
    for k in range(ankles.foot.shape[0]):
        i = ankles.foot[k]
        _, x, y, z = quat_difference(load4(motion.poses.quaternion, i), load4(ankles.flat, k))
        tilt += share * 2.0 * dot(ankles.left, (x, y, z))
        tilt_rate += share * dot(ankles.left, load6(motion.velocity, i)[3:])
    away = sway - ankles.upright
    return Sway(
        body=away,
        body_rate=rate,
        legs=smoothed(ankles, 0, away - tilt),
        legs_rate=smoothed(ankles, 1, steadied(ankles, 3, rate - tilt_rate)),
        feet_rate=smoothed(ankles, 2, steadied(ankles, 4, tilt_rate)),
    )


@kernel
def smoothed(ankles, place, value):
    """Return the low-pass filtered value; the filter starts at its first input."""
    before = value if math.isnan(ankles.filtered[place]) else ankles.filtered[place]
    ankles.filtered[place] = value + ankles.kept * (before - value)
    return ankles.filtered[place]


@kernel
def steadied(ankles, place, value):
    """Return the mean of a number and its value a tick ago."""
    before = value if math.isnan(ankles.filtered[place]) else ankles.filtered[place]
    ankles.filtered[place] = value
    return 0.5 * (value + before)


@kernel
def place_of_ankle(tree, poses, foot):
    """Return the position of the joint that carries a foot, relative to O."""
    return point_of_body(poses, foot, scale(-1.0, load3(tree.com_offset, foot)))


@kernel
def sway_of_body(ankles, tree, motion):
    """Return slope and its rate [1, 1/s] of the line from the ankles' midpoint to the centre of mass, forward."""
    share = 1.0 / ankles.foot.shape[0]
    arm = centre_of_mass(tree, motion.poses)
    velocity = scale(1.0 / ankles.mass, momentum_about_reference(tree, motion)[0])
    for k in range(ankles.foot.shape[0]):
        place = place_of_ankle(tree, motion.poses, ankles.foot[k])
        arm = sub(arm, scale(share, place))
        velocity = sub(velocity, scale(share, velocity_at(motion, ankles.foot[k], place)[:3]))
    slope = dot(ankles.forward, arm) / arm[2]
    return slope, (dot(ankles.forward, velocity) - slope * velocity[2]) / arm[2]


@kernel
def torque_from_floor(ankles, measurement):
    """Return the floor's torque [N·m] about the ankles, relative to the posture, from the sensed contact forces."""
    tree, poses, total = measurement.tree, measurement.motion.poses, ankles.toppling * ankles.upright
    middle = (0.0, 0.0, 0.0)
    for k in range(ankles.foot.shape[0]):
        middle = sub(middle, scale(-1.0 / ankles.foot.shape[0], place_of_ankle(tree, poses, ankles.foot[k])))
    for c in range(tree.contact_body.shape[0]):
        total += dot(ankles.left, cross(sub(load3(poses.contact, c), middle), load3(measurement.force, c)))
    return total


@kernel
def exert(ankles, sway, torque):
    """Distribute the body torque −m g h (φ_0 + sway) among the ankles (opposite on the feet); return it [N·m]."""
    body_torque = ankles.toppling * (ankles.upright + sway)
    for k in range(ankles.foot.shape[0]):
        torque[ankles.dof[k]] = ankles.turns[k] * body_torque / ankles.foot.shape[0]
    return body_torque
