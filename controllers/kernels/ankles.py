"""The body as an inverted pendulum about its ankles: what is sensed of its sway, and what they exert, compiled."""

import math
from typing import NamedTuple

from biped.kernels.tree.dynamics import centre_of_mass, momentum_about_reference
from biped.kernels.tree.kinematics import point_of_body, set_twists
from biped.kernels.tree.whole_body import velocity_at
from contact.arrays import Floats, Integers
from contact.vectors import cross, dot, load3, load4, load6, quat_difference, scale, sub
from kernelcache import kernel


class Ankles(NamedTuple):
    """The pendulum in the posture that is held, and the joints that pitch its feet."""

    foot: Integers  # (feet,) bodies
    dof: Integers  # (feet,) of the joint that carries each: the ankle's pitch
    turns: Floats  # (feet,) 1 where its torque on the foot turns the toes down, −1 where up
    flat: Floats  # (feet, 4) orientations of the feet in the posture
    forward: tuple[float, float, float]  # where the model faces
    left: tuple[float, float, float]
    mass: float  # [kg]
    toppling: float  # [N·m/rad] m g h: gravity's torque about the ankles by sway
    upright: float  # [rad] the sway of the posture
    kept: float  # of what the feet are felt by, from tick to tick
    felt: Floats  # (5,) what that was, and two rates as they were measured; not a number before the first tick


class Sway(NamedTuple):
    """Sensed sway angles and rates, anterior positive; small angles."""

    body: float  # [rad] of the centre of mass in space, from the posture
    body_rate: float  # [rad/s]
    legs: float  # [rad] the same from the feet, by the joints alone; smoothed
    legs_rate: float  # [rad/s] smoothed
    feet_rate: float  # [rad/s] of the feet in space, and so of the floor that they stand on; smoothed


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
    before = value if math.isnan(ankles.felt[place]) else ankles.felt[place]
    ankles.felt[place] = value + ankles.kept * (before - value)
    return ankles.felt[place]


@kernel
def steadied(ankles, place, value):
    """Return the mean of a number and its value a tick ago."""
    before = value if math.isnan(ankles.felt[place]) else ankles.felt[place]
    ankles.felt[place] = value
    return 0.5 * (value + before)


@kernel
def place_of_ankle(tree, poses, foot):
    """Return the position of the joint that carries a foot, relative to O."""
    return point_of_body(poses, foot, scale(-1.0, load3(tree.com_offset, foot)))


@kernel
def sway_of_body(ankles, tree, motion):
    """How far the line from between the ankles to the centre of mass leans forwards: slope and its rate [1, 1/s]."""
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
    """[N·m] that the floor exerts on the body about the ankles, more than in the posture: by the force that is felt."""
    tree, poses, total = measurement.tree, measurement.motion.poses, ankles.toppling * ankles.upright
    middle = (0.0, 0.0, 0.0)
    for k in range(ankles.foot.shape[0]):
        middle = sub(middle, scale(-1.0 / ankles.foot.shape[0], place_of_ankle(tree, poses, ankles.foot[k])))
    for c in range(tree.contact_body.shape[0]):
        total += dot(ankles.left, cross(sub(load3(poses.contact, c), middle), load3(measurement.force, c)))
    return total


@kernel
def exert(ankles, sway, torque):
    """Share −m g h (φ_0 + sway) on the body among the ankles, which push the feet the other way; the torque [N·m]."""
    wanted = ankles.toppling * (ankles.upright + sway)
    for k in range(ankles.foot.shape[0]):
        torque[ankles.dof[k]] = ankles.turns[k] * wanted / ankles.foot.shape[0]
    return wanted
