"""Rows of links between two bodies that are not joints: lengths of springs, and user-defined functions.

They follow the joints' rows in the same arrays, so that forces act along them as along freedoms of joints. User-defined
functions depend on positions of points. Constraints are rigid rows, inequalities are freedoms with lower limit zero. A
potential is a freedom with its energy as coordinate and a force of −1; each two of its bodies have a link.
"""

import math
from typing import NamedTuple

from biped.kernels.tree.joint_rows import inboard_pose, set_rotations, set_rows
from contact.arrays import Floats, Integers
from contact.vectors import add, cross, dot, load3, load9, mat_vec, scale, store3, store_twist, sub
from formulations.mechanism.kernels.custom import (
    ENERGY,
    FORCES,
    JACOBIAN,
    POTENTIAL,
    VALUES,
    Customs,
    along,
    ask_custom,
    set_strains,
)
from kernelcache import kernel, routine


class CustomLinks(NamedTuple):
    """User-defined links (l), consecutive among the joints, and the points (p) that they depend on."""

    customs: Customs
    custom: Integers  # (l,) index of each link's function
    is_first: Integers  # (l,) 1 for the first link of a function, which counts a potential's energy; 0 for others
    begin: int  # index of the first link among the joints
    body: Integers  # (p,) body of each point; −1: the ground
    offset: Floats  # (p, 3) [m] from the centre of mass, the body's axes; on the ground from the origin
    arm: Floats  # (p, 3) buffer: offset in world axes
    place: Floats  # (p, 3) buffer: position in the world


@kernel
def set_length(joints, poses, j, value, rows):
    """Set the only row of spring j, the distance of its points; the gradient is zero at distance zero."""
    com, _, rotation = inboard_pose(joints, poses, j)
    b, row = joints.outboard[j], joints.first[j]
    arm_in = mat_vec(rotation, load3(joints.inboard_point, j))
    arm_out = mat_vec(load9(poses.rotation, b), load3(joints.outboard_point, j))
    way = sub(add(load3(poses.com, b), arm_out), add(com, arm_in))
    length = math.sqrt(dot(way, way))
    n = scale(1.0 / length if length > 0.0 else 0.0, way)
    value[row] = length
    store_twist(rows, 2 * row, scale(-1.0, n), cross(n, arm_in))
    store_twist(rows, 2 * row + 1, n, cross(arm_out, n))


@kernel
def set_lengths(joints, count, poses, value, rows):
    """Set the rows of the springs, which are the last ``count`` joints."""
    for j in range(joints.inboard.shape[0] - count, joints.inboard.shape[0]):
        set_length(joints, poses, j, value, rows)


@kernel
def ask_all(links, poses):
    """Evaluate all user-defined functions at given poses."""
    for p in range(links.body.shape[0]):
        arm, place = load3(links.offset, p), load3(links.offset, p)
        if links.body[p] >= 0:
            arm = mat_vec(load9(poses.rotation, links.body[p]), arm)
            place = add(load3(poses.com, links.body[p]), arm)
        store3(links.arm, p, arm)
        store3(links.place, p, place)
    customs = links.customs
    set_strains(customs, links.place, links.offset[0])  # functions depend on positions only
    for k in range(customs.kind.shape[0]):
        is_potential = customs.kind[k] == POTENTIAL
        ask_custom(customs, k, 0.0, ENERGY if is_potential else VALUES)
        ask_custom(customs, k, 0.0, FORCES if is_potential else JACOBIAN)


@kernel
def custom_gradient(links, k, c, body):
    """Return linear and angular impulse on one body for a unit impulse along row c of link k's function."""
    customs, force, moment = links.customs, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    begin, size = customs.first[k], customs.first[k + 1] - customs.first[k]
    for i in range(size):
        p = customs.point[begin + i]
        if links.body[p] == body:
            slope = -customs.force[begin + i]
            if customs.kind[k] != POTENTIAL:
                slope = customs.jacobian[customs.slopes[k] + c * size + i]
            n = along(customs.axis[begin + i], slope)
            force, moment = add(force, n), add(moment, cross(load3(links.arm, p), n))
    return force, moment


@kernel
def set_custom_rows(links, joints, poses, value, rows):
    """Set values and gradients of the rows of user-defined functions."""
    ask_all(links, poses)
    customs = links.customs
    for link in range(links.custom.shape[0]):
        j, k = links.begin + link, links.custom[link]
        for row in range(joints.first[j], joints.first[j + 1]):
            c = row - joints.first[j]
            if customs.kind[k] == POTENTIAL:
                value[row] = customs.energy[k] if links.is_first[link] == 1 else 0.0
            else:
                value[row] = customs.values[customs.value[k] + c]
            for side in range(2):
                body = joints.inboard[j] if side == 0 else joints.outboard[j]
                if body >= 0:
                    force, moment = custom_gradient(links, k, c, body)
                    store_twist(rows, 2 * row + side, force, moment)


@kernel
def custom_energy(links, joints, coordinate):
    """Return the energy [J] of user-defined potentials, from the coordinates of all rows."""
    total = 0.0
    for link in range(links.custom.shape[0]):
        if links.customs.kind[links.custom[link]] == POTENTIAL:
            total += coordinate[joints.first[links.begin + link]]
    return total


@kernel
def custom_fall(links, joints, bodies, rows, h):
    """Return the estimated energy [J] that user-defined potentials give in a step from rest: Σ h² f²/m."""
    total = 0.0
    for link in range(links.custom.shape[0]):
        j = links.begin + link
        if links.customs.kind[links.custom[link]] == POTENTIAL:
            for side in range(2):
                body = joints.inboard[j] if side == 0 else joints.outboard[j]
                if body >= 0:
                    force = load3(rows, 2 * joints.first[j] + side)
                    total += h * h * dot(force, force) / bodies.mass[body]
    return total


@routine
def rows_at_poses(joints, springs, links, poses, before, value, rows):
    """Set rotation matrices, and values and gradients of all rows, at given poses; an entry from Python."""
    set_rotations(poses)
    set_rows(joints, poses, before, value, rows)
    set_lengths(joints, springs, poses, value, rows)
    if links.custom.shape[0] > 0:
        set_custom_rows(links, joints, poses, value, rows)
