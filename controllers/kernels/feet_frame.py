"""Reference frame of a posture: the world, or a frame that moves with the feet."""

from typing import NamedTuple

from contact.analytic import sqrt
from contact.arrays import Floats, Integers
from contact.vectors import add, load3, load4, mat_vec, quat_conj, quat_difference, quat_matrix, quat_mul, scale
from kernelcache import kernel


class Frame(NamedTuple):
    """Reference frame of the posture: the world, or a frame that moves with the feet."""

    follows: float  # 1: moves with the feet, 0: fixed in the world
    foot: Integers  # (feet,) bodies of the feet
    place: tuple[float, float, float]  # [m] midpoint of the feet's centres of mass in the posture; z is zero
    turn: Floats  # (feet, 4) orientations of the feet in the posture


@kernel
def seen_from_feet(frame, poses):
    """Return the rotation from world axes to the feet's frame, and the feet's midpoint [m] relative to the root.

    The frame's rotation is the vertical part of the mean of the feet's rotations q q̄_0 = (w, x, y, z): (w, 0, 0, z),
    normalized.
    """
    share, middle, w, z = 1.0 / frame.foot.shape[0], (0.0, 0.0, 0.0), 0.0, 0.0
    for k in range(frame.foot.shape[0]):
        i = frame.foot[k]
        middle = add(middle, scale(share, load3(poses.com, i)))
        turned = quat_difference(load4(poses.quaternion, i), load4(frame.turn, k))
        w, z = w + turned[0], z + turned[3]
    size = sqrt(w * w + z * z)
    return quat_conj((w / size, 0.0, 0.0, z / size)), middle


@kernel
def in_frame(frame, poses, place, turn, velocity, omega):
    """Return the root's pose and velocities in the frame: midpoint and heading of the feet, or the world.

    Velocities are relative to the world and only rotated, since a foot in the air moves by the last tick's torques
    and not with the body.
    """
    back, middle = seen_from_feet(frame, poses)
    R = quat_matrix(back)
    # Positions of bodies are relative to the root's centre of mass.
    x, y, _ = add(mat_vec(R, (-middle[0], -middle[1], 0.0)), frame.place)
    return (x, y, place[2]), quat_mul(back, turn), mat_vec(R, velocity), mat_vec(R, omega)
