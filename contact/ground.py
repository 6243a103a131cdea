"""What the contact points stand on: a floor, parts of it with other parameters, and its motion.

The contact law (``contact.point_law``) knows a horizontal plane at rest. It is applied in the floor's own frame: a
point's chord is the change of its place in that frame, P' = Rᵀ(P − o), from the start of the step to its end, so that
both ends are exact however the floor moves. The force is turned to the world by the frame at the middle of the step.
What the floor's motion does to the body is the difference between the force's work along the chord in the world
and that along the chord in the floor's frame.

Which part of the floor a point stands on is decided at the start of a step and holds through it, as its mode does.
"""

from typing import NamedTuple

import numpy as np

from contact import vectors as vec
from contact.arrays import Floats, Integers
from contact.numbers import filled
from contact.piecewise import Signals, count_signals, signal_at
from contact.point_law import FloorParameters, stored_energy
from contact.regimes import point_force, point_force_derivative
from kernelcache import kernel, routine

# Rows of ``Ground.frame``.
START = 0
MIDDLE = 1
END = 2


class Ground(NamedTuple):
    """A floor with its patches and its motion."""

    like: FloorParameters  # whose classes choose the kernels of the contact law; its numbers are not read
    law: Floats  # (1 + patches, numbers) the numbers of each part's ``FloorParameters``; the floor's own in row 0
    bounds: Floats  # (1 + patches, 4) [m] least x, most x, least y, most y in the floor's frame; row 0 is not read
    region: Integers  # (nc,) the row of ``law`` under each contact point in this step
    motion: Signals  # of 6: displacement [m], rotation vector [rad]; or of none, for a floor at rest
    pivot: Floats  # (3,) [m] the point of the floor's frame about which it turns
    frame: Floats  # (3, 16) origin [m], rotation, quaternion of the floor at the start, middle and end of this step


@kernel
def is_moving(ground):
    return count_signals(ground.motion) > 0


@kernel
def law_of_region(ground, region):
    return filled(ground.like, ground.law[region])


@kernel
def law_at(ground, c):
    """The parameters of the floor under contact point c."""
    return law_of_region(ground, ground.region[c])


@kernel
def region_of(ground, x, y):
    """The last of the patches that holds the point (x, y) of the floor, or the floor itself."""
    found = 0
    for i in range(1, ground.bounds.shape[0]):
        b = ground.bounds[i]
        if b[0] <= x <= b[1] and b[2] <= y <= b[3]:
            found = i
    return found


@routine
def place_frame(ground, row, t):
    """The floor's frame at time t into a row of ``ground.frame``."""
    shift = (signal_at(ground.motion, 0, t), signal_at(ground.motion, 1, t), signal_at(ground.motion, 2, t))
    phi = (signal_at(ground.motion, 3, t), signal_at(ground.motion, 4, t), signal_at(ground.motion, 5, t))
    turn = vec.quat_exp(phi)
    R = vec.quat_matrix(turn)
    pivot = vec.triple(ground.pivot)
    origin = vec.add(shift, vec.sub(pivot, vec.mat_vec(R, pivot)))
    frame = ground.frame[row]
    frame[0], frame[1], frame[2] = origin
    frame[3], frame[4], frame[5], frame[6], frame[7], frame[8], frame[9], frame[10], frame[11] = R
    frame[12], frame[13], frame[14], frame[15] = turn


@kernel
def rotation_of(ground, row):
    f = ground.frame[row]
    return f[3], f[4], f[5], f[6], f[7], f[8], f[9], f[10], f[11]


@kernel
def to_floor(ground, row, point):
    """A point of the world in the floor's frame."""
    if not is_moving(ground):
        return point
    return vec.mat_t_vec(rotation_of(ground, row), vec.sub(point, vec.load3(ground.frame, row)))


@kernel
def to_world(ground, force):
    """A force in the floor's frame, turned to the world as the floor stands in the middle of the step."""
    if not is_moving(ground):
        return force
    return vec.mat_vec(rotation_of(ground, MIDDLE), force)


@kernel
def force_in_floor(ground, force):
    """The inverse of ``to_world``."""
    if not is_moving(ground):
        return force
    return vec.mat_t_vec(rotation_of(ground, MIDDLE), force)


@kernel
def begin_ground(ground, origin, contact, begin, end):
    """The floor's frames in the step from ``begin`` to ``end``, and the regions under the points at its start."""
    if is_moving(ground):
        place_frame(ground, START, begin)
        place_frame(ground, MIDDLE, 0.5 * (begin + end))
        place_frame(ground, END, end)
    set_regions(ground, origin, contact)


@kernel
def set_regions(ground, origin, contact):
    """The regions under the contact points, whose places relative to ``origin`` are given; needs the START frame."""
    if ground.bounds.shape[0] > 1:
        for c in range(contact.shape[0]):
            at = to_floor(ground, START, vec.add(origin, vec.load3(contact, c)))
            ground.region[c] = region_of(ground, at[0], at[1])


@kernel
def floor_force(ground, state, c, middle, velocity):
    """The floor's force on contact point c [N], world axes; its chord is in the floor's frame."""
    anchor = (state.anchor[c, 0], state.anchor[c, 1])
    return to_world(ground, point_force(law_at(ground, c), state.mode[c], middle, velocity, anchor))


@kernel
def floor_force_derivative(ground, state, c, middle, velocity, h):
    """∂F/∂P_{k+1} in world axes [N/m]: R_middle D R_endᵀ, with D in the floor's frame."""
    anchor = (state.anchor[c, 0], state.anchor[c, 1])
    D = point_force_derivative(law_at(ground, c), state.mode[c], middle, velocity, anchor, h)
    if not is_moving(ground):
        return D
    R = rotation_of(ground, END)
    turned = (R[0], R[3], R[6], R[1], R[4], R[7], R[2], R[5], R[8])
    return vec.mat_mul(vec.mat_mul(rotation_of(ground, MIDDLE), D), turned)


@kernel
def stored_at(ground, region, mode, at, anchor):
    """Energy in the springs of a point at ``at`` in the floor's frame, on a region [J]."""
    return stored_energy(law_of_region(ground, region), mode, at, anchor)


def resting_frames() -> Floats:
    """The frames of a floor that has not moved."""
    return np.tile(np.concatenate([np.zeros(3), np.eye(3).ravel(), [1.0, 0.0, 0.0, 0.0]]), (3, 1))
