"""Potential energies other than uniform gravity: forces, and their terms in Newton's matrix (section IV-C)."""

import math
from typing import NamedTuple

from biped.kernels.midpoint.elimination import subtract_arm_block
from biped.kernels.midpoint.equations import add_point_impulse
from biped.kernels.tree.factorization import add_point_block
from contact.arrays import Floats, Integers
from contact.vectors import dot, load3, mat_add, mat_scale, outer, scale, sub
from formulations.mechanism.kernels.points import add_point_pairings
from kernelcache import kernel

# Laws of springs between two points: V(x), x their distance.
POLYNOMIAL = 0  # V' = Σ c_k (x − x₀)^k, k from 1
NEWTONIAN = 1  # V = −c₁ / x, c₁ = G m₁ m₂


class Springs(NamedTuple):
    """Springs along the line between two points."""

    law: Integers  # (ns,)
    first: Integers  # (ns,) points
    second: Integers  # (ns,)
    rest: Floats  # (ns,) [m] x₀
    coefficient: Floats  # (ns, degree) c_1, c_2, …
    border: Integers  # (ns,) first row in the border of Newton's matrix; −1 if one end is fixed to the world


class CoordinateSprings(NamedTuple):
    """Springs at one coordinate, such as torsional springs."""

    coordinate: Integers  # (nk,)
    rest: Floats  # (nk,)
    coefficient: Floats  # (nk, degree)


class Weights(NamedTuple):
    """Constant forces at points, for gravity on single masses."""

    point: Integers  # (nw,)
    force: Floats  # (nw, 3) [N]


@kernel
def polynomial(coefficient, k, x):
    """Return integral, value and derivative of Σ c_j x^j, j from 1."""
    energy = force = slope = 0.0
    for j in range(coefficient.shape[1], 0, -1):
        c = coefficient[k, j - 1]
        slope = slope * x + j * c
        force = force * x + c
        energy = energy * x + c / (j + 1)
    return energy * x * x, force * x, slope


@kernel
def spring_law(springs, k, x):
    """Return V, V' / x and V'' of spring k at a distance x; without a rest length, V' / x is finite at x = 0."""
    if springs.law[k] == NEWTONIAN:
        strength = springs.coefficient[k, 0]
        return -strength / x, strength / (x * x * x), -2.0 * strength / (x * x * x)
    energy, force, slope = polynomial(springs.coefficient, k, x - springs.rest[k])
    if x == 0.0 and springs.rest[k] == 0.0:
        return energy, slope, slope
    return energy, force / x, slope


@kernel
def stretch(springs, arms, k):
    return sub(load3(arms, springs.first[k]), load3(arms, springs.second[k]))


@kernel
def add_spring_impulses(springs, coordinate_springs, weights, points, arms, q, duration, buffers, load):
    """Add the impulses in ``duration`` of all potentials to the bodies' impulses and the coordinates' load."""
    for k in range(springs.law.shape[0]):
        apart = stretch(springs, arms, k)
        _, pull, _ = spring_law(springs, k, math.sqrt(dot(apart, apart)))
        impulse = scale(-duration * pull, apart)
        add_to_point(points, arms, springs.first[k], impulse, buffers)
        add_to_point(points, arms, springs.second[k], scale(-1.0, impulse), buffers)
    for k in range(weights.point.shape[0]):
        add_to_point(points, arms, weights.point[k], scale(duration, load3(weights.force, k)), buffers)
    for k in range(coordinate_springs.coordinate.shape[0]):
        j = coordinate_springs.coordinate[k]
        _, force, _ = polynomial(coordinate_springs.coefficient, k, q[j] - coordinate_springs.rest[k])
        load[j] -= duration * force


@kernel
def add_to_point(points, arms, k, impulse, buffers):
    if points.body[k] >= 0:
        add_point_impulse(buffers, points.body[k], load3(arms, k), impulse)


@kernel
def stiffness_of(springs, k, apart):
    """Return V'/x, and the matrix of second derivatives of V by p₁: (V'/x) 1 + (V'' − V'/x) n nᵀ."""
    square = dot(apart, apart)
    _, pull, slope = spring_law(springs, k, math.sqrt(square))
    along = (slope - pull) / square if square > 0.0 else 0.0
    K = mat_add(outer(scale(along, apart), apart), mat_scale(pull, (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)))
    return pull, K


@kernel
def add_spring_blocks(springs, coordinate_springs, weights, points, arms, q, alpha, duration, buffers):
    """Add the potentials' terms within one body to Newton's matrix; the rest is in the border."""
    for k in range(springs.law.shape[0]):
        apart = stretch(springs, arms, k)
        pull, K = stiffness_of(springs, k, apart)
        impulse = scale(-duration * pull, apart)
        subtract_at(points, arms, springs.first[k], impulse, buffers)
        subtract_at(points, arms, springs.second[k], scale(-1.0, impulse), buffers)
        if springs.border[k] < 0:
            add_stiffness(points, arms, springs.first[k], mat_scale(duration, K), buffers)
            add_stiffness(points, arms, springs.second[k], mat_scale(duration, K), buffers)
    for k in range(weights.point.shape[0]):
        subtract_at(points, arms, weights.point[k], scale(duration, load3(weights.force, k)), buffers)
    for k in range(coordinate_springs.coordinate.shape[0]):
        j = coordinate_springs.coordinate[k]
        _, _, slope = polynomial(coordinate_springs.coefficient, k, q[j] - coordinate_springs.rest[k])
        buffers.diagonal[j] += alpha * duration * slope


@kernel
def subtract_at(points, arms, k, impulse, buffers):
    if points.body[k] >= 0:
        subtract_arm_block(buffers.factors.by_pose, points.body[k], load3(arms, k), impulse)


@kernel
def add_stiffness(points, arms, k, K, buffers):
    if points.body[k] >= 0:
        arm = load3(arms, k)
        add_point_block(buffers.factors.by_pose, points.body[k], arm, arm, K)


@kernel
def set_spring_border(tree, springs, points, arms, alpha, duration, buffers, border):
    """Set the rows of springs between bodies: T δ − Uᵀ δφ = e, δφ + α K U δ = 0; φ impulse on p₁, U = ∂(p₁ − p₂)/∂q."""
    for k in range(springs.law.shape[0]):
        start = springs.border[k]
        if start >= 0:
            first, second = springs.first[k], springs.second[k]
            for axis in range(3):
                row = border.columns[start + axis]
                for j in range(row.shape[0]):
                    row[j] = 0.0
                n = (-1.0 * (axis == 0), -1.0 * (axis == 1), -1.0 * (axis == 2))
                add_point_pairings(tree, buffers.poses, points.body[first], load3(arms, first), n, row)
                add_point_pairings(tree, buffers.poses, points.body[second], load3(arms, second), scale(-1.0, n), row)
            _, K = stiffness_of(springs, k, stretch(springs, arms, k))
            set_spring_rows(border, start, mat_scale(-alpha * duration, K))


@kernel
def set_spring_rows(border, start, K):
    """Set rows α K U from columns −Uᵀ, and the corner to 1; the argument ``K`` is −α K."""
    for axis in range(3):
        first, second, third = K[3 * axis], K[3 * axis + 1], K[3 * axis + 2]
        for j in range(border.rows.shape[1]):
            border.rows[start + axis, j] = (
                first * border.columns[start, j]
                + second * border.columns[start + 1, j]
                + third * border.columns[start + 2, j]
            )
        border.corner[start + axis, start + axis] = 1.0
        border.load[start + axis] = 0.0


@kernel
def spring_energy(springs, coordinate_springs, weights, arms, q):
    """Return the energy [J] of all potentials except uniform gravity."""
    total = 0.0
    for k in range(springs.law.shape[0]):
        apart = stretch(springs, arms, k)
        energy, _, _ = spring_law(springs, k, math.sqrt(dot(apart, apart)))
        total += energy
    for k in range(weights.point.shape[0]):
        total -= dot(load3(weights.force, k), load3(arms, weights.point[k]))
    for k in range(coordinate_springs.coordinate.shape[0]):
        j = coordinate_springs.coordinate[k]
        energy, _, _ = polynomial(coordinate_springs.coefficient, k, q[j] - coordinate_springs.rest[k])
        total += energy
    return total
