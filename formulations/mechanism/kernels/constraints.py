"""Holonomic constraints h(q) = 0 and their derivatives, one row each (section IV-D of Johnson & Murphey 2009)."""

import math
from typing import NamedTuple

from contact.arrays import Floats, Integers
from contact.vectors import cross, dot, load3, scale, sub
from formulations.mechanism.kernels.points import add_pairings, add_point_pairings, turned
from kernelcache import kernel

# Kinds of rows.
ALONG = 0  # n · (p₁ − p₂) − c, where a body or the world carries n
DISTANCE = 1  # (|p₁ − p₂|² − L²) / 2L: (37), scaled so that the multiplier is the wire's tension
LINEAR = 2  # a q₁ + b q₂ − c: (39)
CUSTOM = 3  # user-defined
STRING = 4  # (|p₁ − p₂|² − L²) / 2L, where L is a coordinate, given in ``carrier``
CAM = 5  # s(q₁) − q₂, s(θ) = c₀ + Σ a_k cos kθ + b_k sin kθ

# Columns of ``number``.
FIRST_FACTOR = 0
SECOND_FACTOR = 1
CONSTANT = 2  # c, or L of a DISTANCE
NUMBERS = 3
# First column of a CAM's a₁, b₁, a₂, b₂, …, after c₀.
HARMONICS = 1


class Constraints(NamedTuple):
    """Constraint rows (m); body −1 is the ground."""

    kind: Integers  # (m,)
    first: Integers  # (m,) first point or coordinate
    second: Integers  # (m,) second point or coordinate
    carrier: Integers  # (m,) body that carries n; for a STRING, the coordinate that is its length
    direction: Floats  # (m, 3) n in home axes
    number: Floats  # (m, NUMBERS or as many as the longest CAM has)


@kernel
def set_constraint_values(constraints, poses, arms, q, values):
    """Set h(q), except user-defined rows, from poses and points (``arms``) placed at q."""
    for c in range(constraints.kind.shape[0]):
        kind, first, second = constraints.kind[c], constraints.first[c], constraints.second[c]
        constant = constraints.number[c, CONSTANT]
        if kind == LINEAR:
            values[c] = (
                constraints.number[c, FIRST_FACTOR] * q[first]
                + constraints.number[c, SECOND_FACTOR] * q[second]
                - constant
            )
        elif kind == CAM:
            values[c] = cam_lift(constraints.number, c, q[first])[0] - q[second]
        elif kind == ALONG:
            apart = sub(load3(arms, first), load3(arms, second))
            values[c] = dot(turned(poses, constraints.carrier[c], load3(constraints.direction, c)), apart) - constant
        elif kind == DISTANCE or kind == STRING:
            length = length_of(constraints, c, q)
            apart = sub(load3(arms, first), load3(arms, second))
            values[c] = (dot(apart, apart) - length * length) / (2.0 * length)


@kernel
def cam_lift(number, c, angle):
    """Return s(θ) of row c, and its first three derivatives."""
    lift, slope, bend, third = number[c, 0], 0.0, 0.0, 0.0
    for k in range(1, (number.shape[1] - HARMONICS) // 2 + 1):
        a, b = number[c, HARMONICS + 2 * k - 2], number[c, HARMONICS + 2 * k - 1]
        cosine, sine = math.cos(k * angle), math.sin(k * angle)
        along, across = a * cosine + b * sine, b * cosine - a * sine
        lift += along
        slope += k * across
        bend -= k * k * along
        third -= k * k * k * across
    return lift, slope, bend, third


@kernel
def length_of(constraints, c, q):
    """Return the length L of a DISTANCE or a STRING."""
    return q[constraints.carrier[c]] if constraints.kind[c] == STRING else constraints.number[c, CONSTANT]


@kernel
def set_constraint_rows(tree, constraints, points, poses, arms, q, rows):
    """Write Dh(q), except user-defined rows, into the first rows of ``rows`` (., n); (38), (40)."""
    for c in range(constraints.kind.shape[0]):
        kind, first, second = constraints.kind[c], constraints.first[c], constraints.second[c]
        row = rows[c]
        for j in range(row.shape[0]):
            row[j] = 0.0
        if kind == LINEAR:
            row[first] += constraints.number[c, FIRST_FACTOR]
            row[second] += constraints.number[c, SECOND_FACTOR]
        elif kind == CAM:
            row[first] += cam_lift(constraints.number, c, q[first])[1]
            row[second] -= 1.0
        elif kind == ALONG or kind == DISTANCE or kind == STRING:
            apart = sub(load3(arms, first), load3(arms, second))
            if kind == ALONG:
                carrier = constraints.carrier[c]
                n = turned(poses, carrier, load3(constraints.direction, c))
                add_pairings(tree, poses, carrier, (0.0, 0.0, 0.0), cross(n, apart), row)
            else:
                length = length_of(constraints, c, q)
                n = scale(1.0 / length, apart)
                if kind == STRING:
                    row[constraints.carrier[c]] -= 0.5 * (dot(apart, apart) / (length * length) + 1.0)
            add_point_pairings(tree, poses, points.body[first], load3(arms, first), n, row)
            add_point_pairings(tree, poses, points.body[second], load3(arms, second), scale(-1.0, n), row)
