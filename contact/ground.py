"""Ground under the contact points: a floor, patches with different parameters, and the floor's motion.

The contact law (``contact.point_law``) assumes a horizontal plane at rest. It is applied in the floor's frame: a
point's chord is the change of its position in that frame, P' = Rᵀ(P − o), from the start of the step to its end, so
that both ends are exact for any motion of the floor. The force is rotated to the world by the frame at the middle of
the step. The work of the floor's motion on the body is the difference between the force's works along the chords in the
world and in the floor's frame.

The part of the floor under a point, like the point's mode, is determined at the start of a step and held through it.
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
    """A floor with its patches and its motion, as arrays for the kernels."""

    like: FloorParameters  # only its classes are used, which select the kernels of the contact law
    law: Floats  # (1 + patches, numbers) numbers of the ``FloorParameters`` of the floor (row 0) and each patch
    bounds: Floats  # (1 + patches, 4) [m] smallest and largest x, y of each patch, floor's frame; row 0 is unused
    region: Integers  # (nc,) row of ``law`` under each contact point in this step
    motion: Signals  # 6 signals: displacement [m], rotation vector [rad]; empty for a floor at rest
    pivot: Floats  # (3,) [m] point about which the floor rotates, in the floor's frame
    frame: Floats  # (3, 16) origin [m], rotation, quaternion of the floor at the start, middle and end of this step


@kernel
def is_moving(ground):
    return count_signals(ground.motion) > 0


@kernel
def law_of_region(ground, region):
    return filled(ground.like, ground.law[region])


@kernel
def law_at(ground, c):
    """Return the parameters of the floor under contact point c."""
    return law_of_region(ground, ground.region[c])


@kernel
def region_of(ground, x, y):
    """Return the row of the last patch that contains the point (x, y) of the floor; 0 without patch: the floor."""
    region = 0
    for i in range(1, ground.bounds.shape[0]):
        b = ground.bounds[i]
        if b[0] <= x <= b[1] and b[2] <= y <= b[3]:
            region = i
    return region


@routine
def place_frame(ground, row, t):
    """Write the floor's frame at time t to a row of ``ground.frame``."""
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
    """Return a point in world axes as a point in the floor's frame."""
    if not is_moving(ground):
        return point
    return vec.mat_t_vec(rotation_of(ground, row), vec.sub(point, vec.load3(ground.frame, row)))


@kernel
def to_world(ground, force):
    """Return a force in the floor's frame rotated to the world by the frame in the middle of the step."""
    if not is_moving(ground):
        return force
    return vec.mat_vec(rotation_of(ground, MIDDLE), force)


@kernel
def force_in_floor(ground, force):
    """Return a force in world axes rotated to the floor's frame, the inverse of ``to_world``."""
    if not is_moving(ground):
        return force
    return vec.mat_t_vec(rotation_of(ground, MIDDLE), force)


@kernel
def begin_ground(ground, origin, contact, begin, end):
    """Set the floor's frames in the step from ``begin`` to ``end``, and the regions under the points at its start."""
    if is_moving(ground):
        place_frame(ground, START, begin)
        place_frame(ground, MIDDLE, 0.5 * (begin + end))
        place_frame(ground, END, end)
    set_regions(ground, origin, contact)


@kernel
def set_regions(ground, origin, contact):
    """Set the regions under contact points whose positions are relative to ``origin``; the START frame must be set."""
    if ground.bounds.shape[0] > 1:
        for c in range(contact.shape[0]):
            at = to_floor(ground, START, vec.add(origin, vec.load3(contact, c)))
            ground.region[c] = region_of(ground, at[0], at[1])


@kernel
def floor_force(ground, state, c, middle, velocity):
    """Return the ground reaction force on contact point c [N], world axes; its chord is in the floor's frame."""
    anchor = (state.anchor[c, 0], state.anchor[c, 1])
    return to_world(ground, point_force(law_at(ground, c), state.mode[c], middle, velocity, anchor))


@kernel
def floor_force_derivative(ground, state, c, middle, velocity, h):
    """Return ∂F/∂P_{k+1} in world axes [N/m]: R_middle D R_endᵀ, with D in the floor's frame."""
    anchor = (state.anchor[c, 0], state.anchor[c, 1])
    D = point_force_derivative(law_at(ground, c), state.mode[c], middle, velocity, anchor, h)
    if not is_moving(ground):
        return D
    R = rotation_of(ground, END)
    turned = (R[0], R[3], R[6], R[1], R[4], R[7], R[2], R[5], R[8])
    return vec.mat_mul(vec.mat_mul(rotation_of(ground, MIDDLE), D), turned)


@kernel
def stored_at(ground, region, mode, at, anchor):
    """Return the energy [J] in the springs of a point at ``at`` in the floor's frame, on a region of the floor."""
    return stored_energy(law_of_region(ground, region), mode, at, anchor)


def resting_frames() -> Floats:
    """Return the frames (3, 16) of a floor that has not moved."""
    return np.tile(np.concatenate([np.zeros(3), np.eye(3).ravel(), [1.0, 0.0, 0.0, 0.0]]), (3, 1))
