"""Kernels of an inverted pendulum about the ankles: sensed sway, and ankle torques."""

import math
from typing import NamedTuple

from biped.kernels.tree.dynamics import centre_of_mass, momentum_about_reference
from biped.kernels.tree.kinematics import point_of_body, set_twists
from biped.kernels.tree.whole_body import velocity_at
from contact.arrays import Floats, Integers
from contact.vectors import cross, dot, load3, load4, load6, quat_difference, scale, sub
from kernelcache import kernel


class Ankles(NamedTuple):
    """Inverted pendulum in the reference posture, and the joints that pitch the feet."""

    foot: Integers  # (feet,) bodies of the feet
    dof: Integers  # (feet,) degree of freedom of each foot's joint, the ankle's pitch
    turns: Floats  # (feet,) 1 if a positive torque turns the toes down, −1 if up
    flat: Floats  # (feet, 4) orientations of the feet in the posture
    forward: tuple[float, float, float]  # direction that the model faces
    left: tuple[float, float, float]
    mass: float  # [kg]
    toppling: float  # [N·m/rad] m g h, gravity's torque about the ankles per sway angle
    upright: float  # [rad] sway of the posture
    kept: float  # share of a filtered signal of the feet that is kept from tick to tick
    filtered: Floats  # (5,) filtered signals and two measured rates; NaN before the first tick


class Sway(NamedTuple):
    """Sensed sway angles and rates, anterior positive; small angles."""

    body: float  # [rad] sway of the centre of mass in space, from the posture
    body_rate: float  # [rad/s]
    legs: float  # [rad] sway relative to the feet, from the joints alone; filtered
    legs_rate: float  # [rad/s] filtered
    feet_rate: float  # [rad/s] rate of the feet in space, and thus of the floor; filtered


@kernel
def sense_sway(ankles, measurement):
    """Return the sway of body and feet from the measured posture and rates; must be called once per tick.

    Signals of the feet are low-pass filtered, and rates are means of two ticks: light feet on stiff springs oscillate
    with a rate that changes sign from step to step, which feedback would amplify.
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
    """Return the mean of a value and the value of the previous tick."""
    before = value if math.isnan(ankles.filtered[place]) else ankles.filtered[place]
    ankles.filtered[place] = value
    return 0.5 * (value + before)


@kernel
def place_of_ankle(tree, poses, foot):
    """Return the position [m] of the joint that carries a foot, relative to O."""
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
    """Set ankle torques that sum up to −m g h (φ_0 + sway) on the body; return their sum on the feet [N·m]."""
    feet_torque = ankles.toppling * (ankles.upright + sway)
    for k in range(ankles.foot.shape[0]):
        torque[ankles.dof[k]] = ankles.turns[k] * feet_torque / ankles.foot.shape[0]
    return feet_torque
