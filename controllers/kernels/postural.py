"""Feedback of the sway about the ankles, compiled."""

from typing import NamedTuple

from biped.kernels.loop.closed_loop import control
from biped.kernels.tree.dynamics import centre_of_mass, momentum_about_reference
from biped.kernels.tree.kinematics import point_of_body, set_twists
from biped.kernels.tree.whole_body import velocity_at
from contact.arrays import Floats, Integers
from contact.jit import kernel
from contact.vectors import dot, load3, scale, sub


class PosturalLaw(NamedTuple):
    """All of the controller."""

    foot: Integers  # (feet,) bodies
    dof: Integers  # (feet,) of the joint that carries each: the ankle's pitch
    turns: Floats  # (feet,) 1 where its torque on the foot turns the toes down, −1 where up
    forward: tuple[float, float, float]  # where the model faces
    mass: float  # [kg]
    toppling: float  # [N·m/rad] m g h: gravity's torque about the ankles by sway
    upright: float  # [rad] the sway of the posture
    stiffness: float  # of the feedback, in parts of the toppling torque
    damping: float  # [s] likewise


@control.register(PosturalLaw)
def postural_torques(law, measurement, torque, recorded):
    """u = −m g h (φ_0 + K (φ − φ_0) + D φ̇) on the body, shared by the ankles."""
    tree, motion = measurement.tree, measurement.motion
    set_twists(tree, motion.poses, motion.rates, motion.velocity)
    sway, rate = sway_of_body(law, tree, motion)
    wanted = law.upright + law.stiffness * (sway - law.upright) + law.damping * rate
    for k in range(law.foot.shape[0]):
        torque[law.dof[k]] = law.turns[k] * law.toppling * wanted / law.foot.shape[0]
    recorded[0], recorded[1] = sway, law.toppling * wanted


@kernel
def ankle(law, tree, poses, k):
    """The place of an ankle, relative to O."""
    i = law.foot[k]
    return point_of_body(poses, i, scale(-1.0, load3(tree.com_offset, i)))


@kernel
def sway_of_body(law, tree, motion):
    """How far the line from between the ankles to the centre of mass leans forwards: slope and its rate [1, 1/s]."""
    share = 1.0 / law.foot.shape[0]
    arm = centre_of_mass(tree, motion.poses)
    velocity = scale(1.0 / law.mass, momentum_about_reference(tree, motion)[0])
    for k in range(law.foot.shape[0]):
        place = ankle(law, tree, motion.poses, k)
        arm = sub(arm, scale(share, place))
        velocity = sub(velocity, scale(share, velocity_at(motion, law.foot[k], place)[:3]))
    slope = dot(law.forward, arm) / arm[2]
    return slope, (dot(law.forward, velocity) - slope * velocity[2]) / arm[2]
