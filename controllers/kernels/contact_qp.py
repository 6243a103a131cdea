"""Quadratic program for accelerations and contact forces within friction pyramids.

    minimize    ½ xᵀ H x − gᵀ x + ½ ε |f − f⁰|²
    subject to  A x − G f = b                      equation of motion of the floating base
                f of each point in its friction pyramid
                lower ≤ D x + F f ≤ upper          torques, and other bounded quantities

by the dual active-set method of Goldfarb and Idnani 1983 (Mathematical Programming 27, 1-33). It starts from the least
cost without inequalities, and adds violated inequalities one by one. H is dense and small, and the cost of forces is
diagonal: the method needs one factorization of H, and the Schur complement of the active constraints. A tick whose
forces are all within their pyramids needs no iteration.
"""

import math
from typing import NamedTuple

import numpy as np

from biped.kernels.solve.dense import solve_cholesky, solve_cholesky_rows
from contact.arrays import Floats, Integers
from kernelcache import kernel, routine

# Outcomes of a program.
SOLVED = 0
INFEASIBLE = 1  # no x and f fulfil all constraints
UNFINISHED = 2  # the iteration limit was reached
NOT_FINITE = 3  # a number is NaN, or H is not positive definite

#: Rows of A: force and moment on the base.
BASE = 6
#: Sides of a friction pyramid; its edges lie on the cone, so that 0.92 to 1 of the friction is available.
SIDES = 8
INNER = math.cos(math.pi / SIDES)
_ANGLES = [(2 * k + 1) * math.pi / SIDES for k in range(SIDES)]
COSINES = tuple(math.cos(angle) for angle in _ANGLES)
SINES = tuple(math.sin(angle) for angle in _ANGLES)

#: [N, N·m, rad/s²] Tolerance of a constraint.
TOLERANCE = 1e-7
#: Share of a constraint's squared length outside the span of the active constraints, below which a difference of
#: squares is too inaccurate, and the length is computed from the remainder itself.
UNSURE = 1e-6
#: Share of the squared length below which a constraint depends on the active constraints.
DEPENDENT = 1e-22
#: Limit of added and dropped constraints.
MOST_ITERATIONS = 200


class ContactQp(NamedTuple):
    """Program with n unknowns x, forces at m points (world axes), r two-sided rows; and solver buffers."""

    hessian: Floats  # (n, n) H, symmetric; its Cholesky factor afterwards
    gradient: Floats  # (n,) g
    spread: Floats  # (1,) ε
    preferred: Floats  # (3m,) f⁰; zero for points without load
    base: Floats  # (6, n) A
    grasp: Floats  # (6, 3m) G
    load: Floats  # (6,) b
    carries: Integers  # (m,) 1 if a point may push, 0 if its force is zero
    friction: Floats  # (1,) μ
    rows: Floats  # (r, n + 3m) D and F
    lower: Floats  # (r,) or −∞
    upper: Floats  # (r,) or ∞
    unknown: Floats  # (n + 3m,) solution: x and f
    # Buffers for N = n + 3m active constraints (as many as unknowns) and one to be added:
    counts: Integers  # (3,) number of active constraints, number of iterations, outcome
    active: Integers  # (N + 1,) active constraints
    normal: Floats  # (N + 1, N) gradients c of the active constraints, by row
    pulled: Floats  # (N + 1, N) H⁻¹ c, by row
    factor: Floats  # (N + 1, N + 1) lower Cholesky factor of c · H⁻¹ c
    multiplier: Floats  # (N + 1,)
    change: Floats  # (N + 1,) change of the multipliers
    direction: Floats  # (N,) direction of the unknowns


def new_contact_qp(n: int, m: int, r: int) -> ContactQp:
    """Return a program of this size."""
    size = n + 3 * m
    return ContactQp(
        hessian=np.zeros((n, n)), gradient=np.zeros(n), spread=np.full(1, np.nan), preferred=np.zeros(3 * m),
        base=np.zeros((BASE, n)), grasp=np.zeros((BASE, 3 * m)), load=np.zeros(BASE),
        carries=np.zeros(m, dtype=np.int64), friction=np.full(1, np.nan), rows=np.zeros((r, size)),
        lower=np.full(r, -np.inf), upper=np.full(r, np.inf), unknown=np.zeros(size),
        counts=np.zeros(3, dtype=np.int64), active=np.zeros(size + 1, dtype=np.int64),
        normal=np.zeros((size + 1, size)), pulled=np.zeros((size + 1, size)), factor=np.zeros((size + 1, size + 1)),
        multiplier=np.zeros(size + 1), change=np.zeros(size + 1), direction=np.zeros(size),
    )  # fmt: skip


# Indices in ``ContactQp.counts``.
ACTIVE, ITERATIONS, ENDED = range(3)


@kernel
def factor_contact_qp(qp):
    """Replace H by its Cholesky factor, for any number of ``solve_contact_qp``."""
    factor_hessian(qp.hessian)


@kernel
def solve_contact_qp(qp, bounded):
    """Solve the program with its first ``bounded`` rows, write ``qp.unknown``, and return the outcome.

    ``factor_contact_qp`` must be called before. Unless the outcome is SOLVED, ``unknown`` is not a solution.
    """
    qp.counts[ACTIVE], qp.counts[ITERATIONS] = 0, 0
    start_at_least_cost(qp)
    result, is_refined = UNFINISHED, False
    while qp.counts[ITERATIONS] < MOST_ITERATIONS:
        worst, violation = most_violated(qp, bounded)
        if worst < 0 and is_refined:
            result = SOLVED if is_finite(qp.unknown) else NOT_FINITE
            break
        if math.isnan(violation):
            result = NOT_FINITE
            break
        is_refined = worst < 0
        if is_refined:
            refine(qp)
        elif not take_in(qp, worst, violation):
            result = INFEASIBLE if qp.counts[ITERATIONS] < MOST_ITERATIONS else UNFINISHED
            break
    qp.counts[ENDED] = result
    return result


@kernel
def factor_hessian(hessian):
    """Factor H = L Lᵀ, with L in its lower triangle."""
    n = hessian.shape[0]
    for j in range(n):
        for k in range(j):
            scale = hessian[j, k]
            for i in range(j, n):
                hessian[i, j] -= scale * hessian[i, k]
        root = math.sqrt(hessian[j, j])
        for i in range(j, n):
            hessian[i, j] /= root


@kernel
def start_at_least_cost(qp):
    """Solve for the least cost under the equality alone: x = H⁻¹(g + Aᵀ λ), f = f⁰ − Gᵀ λ / ε."""
    n = qp.hessian.shape[0]
    for row in range(BASE):
        normal = qp.normal[row]
        for i in range(n):
            normal[i] = qp.base[row, i]
        for point in range(qp.carries.shape[0]):
            for axis in range(3 * point, 3 * point + 3):
                normal[n + axis] = -qp.grasp[row, axis] if qp.carries[point] else 0.0
        weigh(qp, row)
    solve_cholesky_rows(qp.hessian, qp.pulled, BASE)
    for row in range(BASE):
        append(qp, row)
        qp.active[row] = -1
        qp.multiplier[row] = 0.0
    put_unknowns(qp)
    correct(qp)


@kernel
def refine(qp):
    """Recompute the least cost under the active constraints, free of accumulated rounding errors.

    If forces cost almost nothing, Cᵀ H⁻¹ C is ill conditioned; two corrections reduce its errors to their cube.
    """
    put_unknowns(qp)
    correct(qp)
    correct(qp)


@kernel
def put_unknowns(qp):
    """Set the unknowns from the multipliers: x, f ← H⁻¹ (g + Cᵀ λ), from the preferred forces."""
    n, size = qp.hessian.shape[0], qp.unknown.shape[0]
    for i in range(n):
        qp.unknown[i] = qp.gradient[i]
    solve_cholesky(qp.hessian, qp.unknown)
    for i in range(n, size):
        qp.unknown[i] = qp.preferred[i - n]
    add_pulled(qp, qp.multiplier)


@kernel
def correct(qp):
    """Correct the multipliers by (C H⁻¹ Cᵀ)⁻¹ times the active constraints' errors."""
    for j in range(qp.counts[ACTIVE]):
        qp.change[j] = bound_of(qp, j) - product(qp.normal[j], qp.unknown, qp.unknown.shape[0])
    solve_active(qp)
    for j in range(qp.counts[ACTIVE]):
        qp.multiplier[j] += qp.change[j]
    add_pulled(qp, qp.change)


@kernel
def add_pulled(qp, multiplier):
    """Add H⁻¹ Cᵀ λ to x, f."""
    for j in range(qp.counts[ACTIVE]):
        for i in range(qp.unknown.shape[0]):
            qp.unknown[i] += multiplier[j] * qp.pulled[j, i]


@kernel
def bound_of(qp, place):
    """Return the bound of the active constraint at index ``place``."""
    first = SIDES * qp.carries.shape[0]
    if place < BASE:
        return qp.load[place]
    if qp.active[place] < first:
        return 0.0
    row, end = (qp.active[place] - first) // 2, (qp.active[place] - first) % 2
    return qp.lower[row] if end == 0 else -qp.upper[row]


@kernel
def pull(qp, place):
    """Compute H⁻¹ c of the constraint at index ``place``."""
    if weigh(qp, place):
        solve_cholesky(qp.hessian, qp.pulled[place])


@kernel
def weigh(qp, place):
    """Start H⁻¹ c: c / ε for forces, c for accelerations; return True if c has entries for accelerations."""
    n, size = qp.hessian.shape[0], qp.unknown.shape[0]
    moves = False
    for i in range(n):
        qp.pulled[place, i] = qp.normal[place, i]
        moves = moves or qp.normal[place, i] != 0.0
    for i in range(n, size):
        qp.pulled[place, i] = qp.normal[place, i] / qp.spread[0]
    return moves


@kernel
def append(qp, place):
    """Add the constraint after the last active one to the factor; return True if it is independent.

    Then ``change`` is r, and ``direction`` is H⁻¹ c' with the part c' = c − Cᵀ r outside the active constraints' span.
    """
    size = qp.unknown.shape[0]
    row = qp.factor[place]
    length = product(qp.normal[place], qp.pulled[place], size)
    for i in range(size):
        qp.direction[i] = qp.pulled[place, i]
    for j in range(place):
        row[j] = 0.0
    project(qp, place)
    left = length
    for j in range(place):
        left -= row[j] * row[j]
    if left <= UNSURE * length:
        left = length_outside(qp, place)
    if place >= size or left <= DEPENDENT * length:
        return False
    row[place] = math.sqrt(left)
    qp.counts[ACTIVE] = place + 1
    return True


@kernel
def project(qp, place):
    """Remove the active constraints' part from ``direction``, add it to the factor's row; write r to ``change``."""
    size = qp.unknown.shape[0]
    for j in range(place):
        qp.change[j] = product(qp.normal[j], qp.direction, size)
    solve_lower(qp, place)
    for j in range(place):
        qp.factor[place, j] += qp.change[j]
    solve_upper(qp, place)
    for j in range(place):
        for i in range(size):
            qp.direction[i] -= qp.change[j] * qp.pulled[j, i]


@routine
def length_outside(qp, place):
    """Return c' · H⁻¹ c' from the remainder itself instead of a difference of squares.

    If forces cost almost nothing, they dominate a constraint's length, and the rest is lost in rounding.
    A second projection removes the rounding error of the first within the span (Daniel et al. 1976,
    Mathematics of Computation 30).
    """
    size = qp.unknown.shape[0]
    project(qp, place)
    for j in range(place):
        qp.change[j] = qp.factor[place, j]
    solve_upper(qp, place)
    outside = 0.0
    for i in range(size):
        normal = qp.normal[place, i]
        for j in range(place):
            normal -= qp.change[j] * qp.normal[j, i]
        outside += normal * qp.direction[i]
    return outside


@kernel
def product(a, b, size):
    total = 0.0
    for i in range(size):
        total += a[i] * b[i]
    return total


@kernel
def solve_active(qp):
    """Solve ``change`` ← (C H⁻¹ Cᵀ)⁻¹ ``change`` of the active constraints C."""
    count = qp.counts[ACTIVE]
    solve_lower(qp, count)
    solve_upper(qp, count)


@kernel
def solve_lower(qp, count):
    for i in range(count):
        for k in range(i):
            qp.change[i] -= qp.factor[i, k] * qp.change[k]
        qp.change[i] /= qp.factor[i, i]


@kernel
def solve_upper(qp, count):
    for i in range(count - 1, -1, -1):
        qp.change[i] /= qp.factor[i, i]
        for k in range(i):
            qp.change[k] -= qp.factor[i, k] * qp.change[i]


@kernel
def is_finite(numbers):
    total = 0.0
    for i in range(numbers.shape[0]):
        total += numbers[i]
    return math.isfinite(total)


@kernel
def most_violated(qp, bounded):
    """Return the most violated inequality, or −1 if none is, and its (negative) violation; NaN if a value is NaN.

    Inequalities are numbered: the sides of each point's pyramid, then lower and upper bound of each row.
    """
    n, size, points = qp.hessian.shape[0], qp.unknown.shape[0], qp.carries.shape[0]
    worst, least = -1, -TOLERANCE
    share = qp.friction[0] * INNER
    for point in range(points):
        if qp.carries[point]:
            first = n + 3 * point
            held = share * qp.unknown[first + 2]
            for side in range(SIDES):
                value = held - COSINES[side] * qp.unknown[first] - SINES[side] * qp.unknown[first + 1]
                if value < least or math.isnan(value):
                    worst, least = SIDES * point + side, value
    for row in range(bounded):
        value = product(qp.rows[row], qp.unknown, size)
        above, below = value - qp.lower[row], qp.upper[row] - value
        if above < least or math.isnan(above):
            worst, least = SIDES * points + 2 * row, above
        if below < least or math.isnan(below):
            worst, least = SIDES * points + 2 * row + 1, below
    return worst, least


@kernel
def put_normal(qp, which, place):
    """Write the gradient c of an inequality c · (x, f) ≥ bound."""
    n, points = qp.hessian.shape[0], qp.carries.shape[0]
    normal = qp.normal[place]
    if which < SIDES * points:
        normal[:] = 0.0
        point, side = which // SIDES, which % SIDES
        normal[n + 3 * point] = -COSINES[side]
        normal[n + 3 * point + 1] = -SINES[side]
        normal[n + 3 * point + 2] = qp.friction[0] * INNER
        return
    row, end = (which - SIDES * points) // 2, (which - SIDES * points) % 2
    sign = 1.0 - 2.0 * end
    for i in range(normal.shape[0]):
        normal[i] = sign * qp.rows[row, i]
    for point in range(points):
        if not qp.carries[point]:
            for axis in range(3):
                normal[n + 3 * point + axis] = 0.0


@kernel
def take_in(qp, which, violation):
    """Activate a violated inequality and drop those that it frees; return False if that is impossible."""
    new_multiplier = 0.0  # multiplier of the new constraint
    while qp.counts[ITERATIONS] < MOST_ITERATIONS:
        qp.counts[ITERATIONS] += 1
        place = qp.counts[ACTIVE]
        put_normal(qp, which, place)
        pull(qp, place)
        independent = append(qp, place)
        dropped, most = first_to_drop(qp, place)
        full = math.inf
        if independent:
            full = -violation / (qp.factor[place, place] * qp.factor[place, place])
        length = min(most, full)
        if length == math.inf:
            return False
        for j in range(place):
            qp.multiplier[j] -= length * qp.change[j]
        new_multiplier += length
        if independent:
            violation += length * qp.factor[place, place] * qp.factor[place, place]
            move(qp, length)
        if full <= most:
            qp.multiplier[place] = new_multiplier
            qp.active[place] = which
            return True
        qp.counts[ACTIVE] = place
        drop(qp, dropped)
    return False


@kernel
def first_to_drop(qp, count):
    """Return the active inequality whose multiplier reaches zero first, and the step length until then."""
    dropped, most = -1, math.inf
    for j in range(BASE, count):
        if qp.change[j] > 0.0 and qp.multiplier[j] < most * qp.change[j]:
            dropped, most = j, qp.multiplier[j] / qp.change[j]
    return dropped, most


@kernel
def move(qp, length):
    """Move along H⁻¹ (c − Cᵀ r), which leaves the active constraints' values unchanged."""
    for i in range(qp.unknown.shape[0]):
        qp.unknown[i] += length * qp.direction[i]


@kernel
def drop(qp, place):
    """Drop an active constraint; Givens rotations make the factor triangular again."""
    size, count = qp.unknown.shape[0], qp.counts[ACTIVE]
    for i in range(place, count - 1):
        qp.multiplier[i] = qp.multiplier[i + 1]
        qp.active[i] = qp.active[i + 1]
        for k in range(size):
            qp.normal[i, k] = qp.normal[i + 1, k]
            qp.pulled[i, k] = qp.pulled[i + 1, k]
        for k in range(i + 2):
            qp.factor[i, k] = qp.factor[i + 1, k]
    for j in range(place, count - 1):
        a, b = qp.factor[j, j], qp.factor[j, j + 1]
        radius = math.hypot(a, b)
        cosine, sine = a / radius, b / radius
        for i in range(j, count - 1):
            a, b = qp.factor[i, j], qp.factor[i, j + 1]
            qp.factor[i, j] = cosine * a + sine * b
            qp.factor[i, j + 1] = cosine * b - sine * a
    qp.counts[ACTIVE] = count - 1
