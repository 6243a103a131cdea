"""Stepping loop, with Newton's method for each step. The text of this file is part of every generated module.

A generated module has a system's equations in place of the import of the equations below; see
``formulations.lagrangian.build``.
"""

from biped.kernels.solve.causes import NO_VELOCITY, NOT_CONVERGED
from formulations.lagrangian.kernels.equations import (  # replaced by generated code
    LINEAR_VELOCITY,
    MOTIONS,
    MULTIPLIER_SCALE,
    OBSERVED,
    PROJECTS,
    SIZE,
    UNKNOWNS,
    VELOCITY_ROWS,
    set_end,
    set_equations,
    set_guess,
    set_momentum,
    set_observed,
    set_tangent,
    set_velocity_equations,
)
from kernelcache import kernel, routine

# Return value of ``advance`` if all steps succeed; other values are causes of failure.
DONE = 0
# A relative residual below this that no longer falls is a rounding error; with a chart it is eps |q|/(h |v|).
ROUNDING = 1e-8
EPSILON = 2.0**-52
# Enough iterations for a Lagrangian that is not quadratic in the velocity.
VELOCITY_ITERATIONS = 50
VELOCITY_TOLERANCE = 1e-14
TINY = 1e-300


@kernel
def eliminate(A, b, size):
    """Replace b by the solution of A x = b, by Gaussian elimination with partial pivoting; False if A is singular."""
    for k in range(size):
        best, pivot = abs(A[k, k]), k
        for i in range(k + 1, size):
            if abs(A[i, k]) > best:
                best, pivot = abs(A[i, k]), i
        if not best > 0.0:
            return False
        if pivot != k:
            for j in range(k, size):
                A[k, j], A[pivot, j] = A[pivot, j], A[k, j]
            b[k], b[pivot] = b[pivot], b[k]
        inverse = 1.0 / A[k, k]
        for i in range(k + 1, size):
            factor = A[i, k] * inverse
            if factor != 0.0:
                for j in range(k + 1, size):
                    A[i, j] -= factor * A[k, j]
                b[i] -= factor * b[k]
    for k in range(size - 1, -1, -1):
        total = b[k]
        for j in range(k + 1, size):
            total -= A[k, j] * b[j]
        b[k] = total / A[k, k]
    return True


@kernel
def set_scales(q, p, r, A, h, scale):
    """Set the scales of the residual's rows: the momentum, or the precision with which a constraint is evaluated."""
    momentum = 0.0
    place = 0.0
    for i in range(SIZE):
        momentum = max(momentum, abs(p[i]))
        place = max(place, abs(q[i]))
    for i in range(MOTIONS):
        momentum = max(momentum, abs(r[i]))
    for i in range(MOTIONS):
        scale[i] = max(momentum, TINY)
    for i in range(MOTIONS, UNKNOWNS):
        slope = 0.0
        for j in range(MOTIONS):
            slope = max(slope, abs(A[i, j]))
        scale[i] = max(slope * place / abs(h), TINY)


@kernel
def set_scales_at_rest(q, r, A, h, scale):
    """Set the scales at rest; return True if the residual moves the coordinates by no more than rounding errors.

    At rest, forces cancel up to rounding errors. The momentum is almost zero, and thus not a suitable scale.
    """
    place = 0.0
    for i in range(SIZE):
        place = max(place, abs(q[i]))
    rounds = True
    for i in range(MOTIONS):
        inertia = 0.0
        for j in range(MOTIONS):
            inertia = max(inertia, abs(A[i, j]))
        scale[i] = max(scale[i], inertia * place / abs(h))
        rounds = rounds and abs(r[i]) <= EPSILON * scale[i]
    return rounds


@kernel
def relative(r, scale):
    """Return the largest ratio of a row of r to its scale; NaN if a row is NaN."""
    largest = 0.0
    for i in range(UNKNOWNS):
        row = abs(r[i]) / scale[i]
        if row != row:
            return row
        largest = max(largest, row)
    return largest


@kernel
def solve_step(q, p, z, h, c, r, A, d, z_start, scale, tolerance, most_iterations, most_backtracks):
    """Solve by Newton's method with backtracking from z; return success, relative residual, iterations."""
    best = 0.0
    iterations = 0
    backtracks = 0
    restored = False  # True: the previous candidate was better and is evaluated again, for the residual at its end
    while True:
        set_equations(q, p, z, h, c, r, A)
        if iterations == 0:
            set_scales(q, p, r, A, h, scale)
        norm = relative(r, scale)
        if restored or norm <= tolerance:
            return True, norm, iterations
        if iterations > 0 and not norm < best:
            if norm <= ROUNDING or (set_scales_at_rest(q, r, A, h, scale) and relative(r, scale) <= ROUNDING):
                restored = True
                for i in range(UNKNOWNS):
                    z[i] = z_start[i]
                continue
            if backtracks == most_backtracks:
                return False, norm, iterations
            backtracks += 1
            for i in range(UNKNOWNS):
                d[i] *= 0.5
                z[i] = z_start[i] - d[i]
            continue
        if iterations == most_iterations or norm != norm:
            return False, norm, iterations
        best = norm
        backtracks = 0
        iterations += 1
        for i in range(UNKNOWNS):
            z_start[i] = z[i]
            d[i] = r[i]
        if not eliminate(A, d, UNKNOWNS):
            return False, norm, iterations
        for i in range(UNKNOWNS):
            z[i] -= d[i]


@kernel
def find_velocity(q, p, w, c, r, A):
    """Solve for w = (v, μ): the velocity on the hidden constraints for momentum p (up to Dᵀg); return success.

    If p is not linear in v, w must contain a guess.
    """
    for i in range(VELOCITY_ROWS):
        if LINEAR_VELOCITY or i >= SIZE:
            w[i] = 0.0
    for _ in range(VELOCITY_ITERATIONS):
        set_velocity_equations(q, p, w, c, r, A)
        if not eliminate(A, r, VELOCITY_ROWS):
            return False
        change, size = 0.0, 0.0
        for i in range(VELOCITY_ROWS):
            w[i] -= r[i]
            if w[i] != w[i]:
                return False
            change = max(change, abs(r[i]))
            size = max(size, abs(w[i]))
        if LINEAR_VELOCITY or change <= VELOCITY_TOLERANCE * size:
            return True
    return False


@kernel
def record(q, p, w, c, row):
    """Write coordinates, momenta, velocities and observed quantities to a row."""
    set_momentum(q, w, c, row[SIZE : 2 * SIZE])
    for i in range(SIZE):
        row[i] = q[i]
        row[2 * SIZE + i] = w[i]
    set_observed(q, p, w, c, row[3 * SIZE : 3 * SIZE + OBSERVED])


@kernel
def set_candidate(past, known, z):
    """Set z by extrapolation from up to three earlier steps of equal length; without any, keep the guess."""
    for i in range(UNKNOWNS):
        if known >= 3:
            z[i] = 3.0 * (past[0, i] - past[1, i]) + past[2, i]
        elif known == 2:
            z[i] = 2.0 * past[0, i] - past[1, i]
        else:
            z[i] = past[0, i]


@kernel
def remember(past, z):
    for i in range(UNKNOWNS):
        past[2, i] = past[1, i]
        past[1, i] = past[0, i]
        past[0, i] = z[i]


@routine
def advance(state, past, done, ahead, c, step, weights, rows, every, table, multipliers, work, solver, report):
    """Take steps until ``rows`` rows are recorded; return DONE, or a cause of failure.

    ``state`` (2, SIZE) is configuration and momentum. ``done`` is the number of steps taken before, of which ``ahead``
    count for the first row. ``past`` (substeps, 3, UNKNOWNS): earlier solutions. ``report``: steps taken, relative
    residual, total Newton iterations, and most of a step. If ``done`` is 0, row 0 of ``table`` is the initial state.
    """
    q, p = state[0], state[1]
    r, d, z, z_start, scale, y, p_end, w, A, B = work
    tolerance, most_iterations, most_backtracks = solver
    if done == 0 and not find_velocity(q, p, w, c, r, B):
        return NO_VELOCITY
    if done == 0:
        record(q, p, w, c, table[0])
        for i in range(weights.shape[0]):
            set_guess(q, w, c, z)
            remember(past[i], z)
    for row in range(rows):
        for k in range(ahead if row == 0 else 0, every):
            multiplied = multipliers[row]
            for i in range(multiplied.shape[0]):
                if k == 0:
                    multiplied[i] = 0.0
            for part in range(weights.shape[0]):
                h = step * weights[part]
                set_candidate(past[part], done, z)
                solved, residual, iterations = solve_step(
                    q, p, z, h, c, r, A, d, z_start, scale, tolerance, most_iterations, most_backtracks
                )
                report[1] = max(report[1], residual)
                report[2] += iterations
                report[3] = max(report[3], iterations)
                if not solved:
                    report[1] = residual
                    return NOT_CONVERGED
                set_end(q, p, z, r, h, c, y, p_end)
                for i in range(SIZE):
                    q[i] = y[i]
                    p[i] = p_end[i]
                if PROJECTS:
                    if not find_velocity(q, p, w, c, r, B):
                        return NO_VELOCITY
                    set_tangent(q, p, w, c, p)
                remember(past[part], z)
                for i in range(multiplied.shape[0]):
                    if k == 0:
                        multiplied[i] += MULTIPLIER_SCALE * weights[part] * z[MOTIONS + i]
            done += 1
            report[0] = done
        for i in range(min(SIZE, MOTIONS)):
            w[i] = z[i]
        if not find_velocity(q, p, w, c, r, B):
            return NO_VELOCITY
        record(q, p, w, c, table[row + 1])
    return DONE
