"""Derivatives of a mechanism's potentials, constraints and forces, up to the third order.

Derivatives of the tree are in ``biped.kernels.midpoint.derivatives``. Those of components use ``jets``: springs are
functions of r = d · d, with d between two points; constraints are products; wrenches are paired with unit twists.
Derivatives of the highest order are appended to lists: ``third`` and ``bent`` are ``Triples``, ``bends`` are ``Bends``.
"""

import math
from typing import NamedTuple

import numpy as np

from biped.kernels.tree.kinematics import motion_cross
from contact.arrays import Floats, Integers
from contact.vectors import add, cross, dot, dot6, load3, load6, scale
from formulations.mechanism.kernels import jets as jet
from formulations.mechanism.kernels.constraints import ALONG, CAM, DISTANCE, STRING, cam_lift, length_of
from formulations.mechanism.kernels.forces import BODY, SPATIAL, wrench_of
from formulations.mechanism.kernels.points import turned
from formulations.mechanism.kernels.potentials import NEWTONIAN
from kernelcache import kernel, routine

NOWHERE = (0.0, 0.0, 0.0)


class Bends(NamedTuple):
    """List of second derivatives of forces along coordinates by two variables of (q, v), in either order."""

    total: Integers  # (1,) number of rows
    place: Integers  # (., 3) coordinate of the force, and two variables: k for q_k, n + k for v_k
    value: Floats  # (.,) derivatives


def new_bends(rows: int) -> Bends:
    """Return an empty list with space for ``rows`` derivatives."""
    return Bends(np.zeros(1, dtype=np.int64), np.zeros((rows, 3), dtype=np.int64), np.full(rows, np.nan))


@routine
def add_bend(bends, of, first, second, value):
    """Append a second derivative of the force along ``of`` by two variables."""
    row = bends.total[0]
    bends.total[0] = row + 1
    bends.place[row, 0], bends.place[row, 1], bends.place[row, 2] = of, first, second
    bends.value[row] = value


@kernel
def polynomial_slopes(coefficient, k, x):
    """Return value, derivative and second derivative of Σ c_j x^j, j from 1."""
    value = slope = bend = 0.0
    for j in range(coefficient.shape[1], 0, -1):
        bend = bend * x + 2.0 * slope
        slope = slope * x + value
        value = value * x + coefficient[k, j - 1]
    return value * x, slope * x + value, bend * x + 2.0 * slope


@kernel
def spring_by_square(springs, k, r):
    """Return the derivatives V', V'' and V''' of spring k by r, the square of the distance."""
    x = math.sqrt(r)
    if springs.law[k] == NEWTONIAN:
        c = springs.coefficient[k, 0] / (r * x)
        return 0.5 * c, -0.75 * c / r, 1.875 * c / (r * r)
    force, slope, bend = polynomial_slopes(springs.coefficient, k, x - springs.rest[k])
    if springs.rest[k] == 0.0 and bend == 0.0:  # linear from zero, and smooth there
        return 0.5 * slope, 0.0, 0.0
    pull = force / x
    return 0.5 * pull, 0.25 * (slope - pull) / r, 0.125 * (bend / x - 3.0 * (slope - pull) / r) / r


@kernel
def add_spring_derivatives(mechanics, poses, arms, jets, order, gradient, hessian, third):
    """Add the derivatives of −V of all springs up to ``order`` 1, 2 or 3."""
    springs, points = mechanics.springs, mechanics.points
    for s in range(springs.law.shape[0]):
        first, second = springs.first[s], springs.second[s]
        vectors = (load3(arms, first), load3(arms, second), NOWHERE)
        jet.set_jets(mechanics.tree.parent, poses.motion, (points.body[first], points.body[second], -1), vectors, jets)
        by_r = spring_by_square(springs, s, jet.product0(jets, jet.APART, jet.APART))
        add_function_of_square(jets, by_r, order, gradient, hessian, third)


@routine
def add_function_of_square(jets, by_r, order, gradient, hessian, third):
    """Subtract the derivatives of V(r), r = d · d, by the chain rule."""
    V1, V2, V3 = by_r
    count, member = jets.total[0], jets.member
    for i in range(count):
        r_i = jet.product1(jets, jet.APART, jet.APART, i)
        gradient[member[i]] -= V1 * r_i
        if order >= 2:
            for j in range(i, count):
                r_j, r_ij = jet.product1(jets, jet.APART, jet.APART, j), jet.product2(jets, jet.APART, jet.APART, i, j)
                jet.add2(hessian, member[i], member[j], -(V1 * r_ij + V2 * r_i * r_j))
                if order >= 3:
                    for k in range(j, count):
                        r_k = jet.product1(jets, jet.APART, jet.APART, k)
                        value = V1 * jet.product3(jets, jet.APART, jet.APART, i, j, k) + V3 * r_i * r_j * r_k
                        value += V2 * r_ij * r_k
                        value += V2 * jet.product2(jets, jet.APART, jet.APART, i, k) * r_j
                        value += V2 * jet.product2(jets, jet.APART, jet.APART, j, k) * r_i
                        jet.add3(third, member[i], member[j], member[k], -value)


@kernel
def add_weight_derivatives(mechanics, poses, arms, jets, order, gradient, hessian, third):
    """Add the derivatives of force · p of all constant forces at points."""
    weights, points = mechanics.weights, mechanics.points
    for w in range(weights.point.shape[0]):
        point = weights.point[w]
        vectors = (load3(arms, point), NOWHERE, load3(weights.force, w))
        jet.set_jets(mechanics.tree.parent, poses.motion, (points.body[point], -1, -1), vectors, jets)
        for i in range(jets.total[0]):
            gradient[jets.member[i]] += jet.product1(jets, jet.TURNED, jet.FIRST, i)
        if order >= 2:
            add_product_hessian(jets, jet.TURNED, jet.FIRST, 1.0, hessian)
        if order >= 3:
            add_product_third(jets, jet.TURNED, jet.FIRST, 1.0, third)


@kernel
def add_coordinate_spring_derivatives(mechanics, q, order, gradient, hessian, third):
    """Add the derivatives of −V of all springs at one coordinate."""
    springs = mechanics.coordinate_springs
    for s in range(springs.coordinate.shape[0]):
        j = springs.coordinate[s]
        force, slope, bend = polynomial_slopes(springs.coefficient, s, q[j] - springs.rest[s])
        gradient[j] -= force
        if order >= 2:
            hessian[j, j] -= slope
        if order >= 3:
            jet.add3(third, j, j, j, -bend)


@routine
def add_product_hessian(jets, a, b, factor, hessian):
    count, member = jets.total[0], jets.member
    for i in range(count):
        for j in range(i, count):
            jet.add2(hessian, member[i], member[j], factor * jet.product2(jets, a, b, i, j))


@routine
def add_product_third(jets, a, b, factor, third):
    count, member = jets.total[0], jets.member
    for i in range(count):
        for j in range(i, count):
            for k in range(j, count):
                jet.add3(third, member[i], member[j], member[k], factor * jet.product3(jets, a, b, i, j, k))


@kernel
def add_constraint_derivatives(mechanics, poses, arms, q, jets, hessians, multiplier, order, third):
    """Add D²h to ``hessians`` (m, n, n), and if ``order`` is 3, Σ λ_c D³h_c to the list ``third``."""
    constraints, points = mechanics.constraints, mechanics.points
    for c in range(constraints.kind.shape[0]):
        kind = constraints.kind[c]
        if kind == CAM:
            j = constraints.first[c]
            _, _, bend, change = cam_lift(constraints.number, c, q[j])
            hessians[c, j, j] += bend
            if order >= 3:
                jet.add3(third, j, j, j, multiplier[c] * change)
        elif kind == ALONG or kind == DISTANCE or kind == STRING:
            first, second, carrier = constraints.first[c], constraints.second[c], -1
            n, a, factor = NOWHERE, jet.APART, 1.0
            if kind == ALONG:
                carrier, a = constraints.carrier[c], jet.TURNED
                n = turned(poses, carrier, load3(constraints.direction, c))
            else:
                factor = 0.5 / length_of(constraints, c, q)
            bodies = (points.body[first], points.body[second], carrier)
            vectors = (load3(arms, first), load3(arms, second), n)
            jet.set_jets(mechanics.tree.parent, poses.motion, bodies, vectors, jets)
            add_product_hessian(jets, a, jet.APART, factor, hessians[c])
            if order >= 3:
                add_product_third(jets, a, jet.APART, factor * multiplier[c], third)
            if kind == STRING:
                length = constraints.carrier[c]
                add_length_derivatives(jets, length, q[length], hessians[c], multiplier[c], order, third)


@routine
def add_length_derivatives(jets, j, length, hessian, multiplier, order, third):
    """Add the derivatives by the length's coordinate j: h = r f − L/2 with f = 1/2L, r the square of the distance."""
    count, member = jets.total[0], jets.member
    r = jet.product0(jets, jet.APART, jet.APART)
    f1, f2, f3 = -0.5 / length**2, 1.0 / length**3, -3.0 / length**4
    hessian[j, j] += r * f2
    if order >= 3:
        jet.add3(third, j, j, j, multiplier * r * f3)
    for i in range(count):
        a, r_a = member[i], jet.product1(jets, jet.APART, jet.APART, i)
        hessian[a, j] += r_a * f1
        hessian[j, a] += r_a * f1
        if order >= 3:
            jet.add3(third, a, j, j, multiplier * r_a * f2)
            for k in range(i, count):
                jet.add3(third, a, member[k], j, multiplier * f1 * jet.product2(jets, jet.APART, jet.APART, i, k))


@kernel
def twist_change(motion, kind, k, inner, outer):
    """Return the derivative of s_k by q_inner and q_outer (inner ≤ outer; −1: only outer), in the wrench's axes.

    In body axes, where a BODY wrench is constant, only joints beyond k turn s_k; in world axes, only those before k.
    """
    s = load6(motion, k)
    if kind == BODY:
        if inner >= 0:
            s = motion_cross(s, load6(motion, inner))
        return motion_cross(s, load6(motion, outer))
    s = motion_cross(load6(motion, outer), s)
    if inner >= 0:
        s = motion_cross(load6(motion, inner), s)
    return s


@routine
def wrench_slope(motion, kind, arm, wrench, k, inner, outer):
    """Return ∂²(s_k · wrench)/∂q_inner ∂q_outer, inner ≤ outer on the body's path; ``inner`` −1: ∂/∂q_outer."""
    if kind == BODY:
        if k >= (inner if inner >= 0 else outer):
            return 0.0
        return dot6(twist_change(motion, kind, k, inner, outer), wrench)
    value = 0.0
    moment = wrench[3:]
    if kind != SPATIAL:
        # The force acts along the derivative of p; the moment about p is constant in world axes.
        force = wrench[:3]
        moment = add(moment, scale(-1.0, cross(arm, force)))
        value = dot(point_slope(motion, arm, k, inner, outer), force)
        if outer < k:
            value += dot(twist_change(motion, kind, k, inner, outer)[3:], moment)
        return value
    return dot6(twist_change(motion, kind, k, inner, outer), wrench) if outer < k else 0.0


@kernel
def point_slope(motion, arm, k, inner, outer):
    """Return ∂²p/∂q_k ∂q_outer; with ``inner`` ≥ 0, the third derivative, also by q_inner."""
    last = max(k, outer)
    s = load6(motion, last)
    p = add(s[:3], cross(s[3:], arm))
    middle = min(k, outer)
    if inner >= 0:
        if inner > middle:
            middle, inner = inner, middle
        return cross(load6(motion, inner)[3:], cross(load6(motion, middle)[3:], p))
    return cross(load6(motion, middle)[3:], p)


@kernel
def add_force_derivatives(mechanics, inputs, row, middle, order, by, bends):
    """Add ∂f/∂(q, v) to ``by`` (n, 2n), and if ``order`` is 3, ∂²f/∂q∂q to ``bends``; f is linear in v."""
    forces = mechanics.forces
    n = forces.damping.shape[0]
    for j in range(n):
        by[j, n + j] -= forces.damping[j]
    for f in range(forces.wrench_kind.shape[0]):
        kind, body = forces.wrench_kind[f], forces.wrench_body[f]
        arm, wrench = wrench_of(forces, inputs, row, middle.poses, f)
        k = body
        while k >= 0:
            add_wrench_slopes(mechanics.tree.parent, middle.poses.motion, kind, body, arm, wrench, k, by[k])
            if order >= 3:
                add_wrench_bends(mechanics.tree.parent, middle.poses.motion, kind, body, arm, wrench, k, bends)
            k = mechanics.tree.parent[k]


@routine
def add_wrench_slopes(parents, motion, kind, body, arm, wrench, k, row):
    """Add the derivatives of s_k · wrench by all q."""
    outer = body
    while outer >= 0:
        row[outer] += wrench_slope(motion, kind, arm, wrench, k, -1, outer)
        outer = parents[outer]


@routine
def add_wrench_bends(parents, motion, kind, body, arm, wrench, k, bends):
    """Add the second derivatives of s_k · wrench by all q."""
    outer = body
    while outer >= 0:
        inner = outer
        while inner >= 0:
            add_bend(bends, k, inner, outer, wrench_slope(motion, kind, arm, wrench, k, inner, outer))
            inner = parents[inner]
        outer = parents[outer]
