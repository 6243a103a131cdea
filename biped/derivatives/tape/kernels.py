"""A function as a tape of its sums, products and quotients: evaluation, and derivatives in reverse mode.

An operation takes two numbers of the tape and appends a third. Independent operations are sorted by kind, so that each
run of equal ones is a loop without a branch.

In reverse mode (Griewank and Walther 2008) each number has a weight: the sum, over the operations that take it, of
their weights times their partial derivatives. The partial derivatives are numbers of the tape too, which the recorder
appends. Sums pass on their weight unchanged, so that only different weights have a row; each row is gathered once from
rows before it. The derivatives of a weighted sum of the results by all arguments cost about as much as the results,
for any number of arguments; those of twelve results at once cost three times as much.
"""

import math
from typing import NamedTuple

import numpy as np

from contact.arrays import Floats, Integers
from contact.vectors import add_scaled6, load6, store6
from kernelcache import kernel, part, routine

# Kinds of operations.
ADD, SUB, MUL, DIV, NEG, SQRT, SIN, COS, MAX, MIN = range(10)
AT_LEAST = 10  # 1 if the first number is not less than the second, else 0: the derivative of a maximum

# Comparisons of guards: of the first number with the second.
LESS, LESS_OR_EQUAL, EQUAL = range(3)

# Return values of ``differentiate_results``: done, or another branch is taken there.
DONE = 0
ELSEWHERE = 1

# Number of results whose derivatives are gathered at once: two six-vectors.
LANES = 12
NOTHING = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


class Tape(NamedTuple):
    """A recorded function of several arguments, with one choice of branches."""

    value: Floats  # (numbers,) arguments and constants, then a result for each operation
    first: Integers  # (operations,) index in ``value`` of the first operand
    second: Integers  # (operations,) index of the second operand
    run: Integers  # (runs, 3) kind, first and end of each run of equal operations
    result: Integers  # (results,) indices in ``value``; −1: zero
    guard: Integers  # (guards, 4) comparison, first, second, outcome
    # Reverse mode: rows of weights, of which the first are the given weights of the results.
    edge: Integers  # (rows + 1,) first edge of each row
    user: Integers  # (edges,) earlier row that the edge gathers from
    partial: Integers  # (edges,) index in ``value`` of the partial derivative
    sign: Floats  # (edges,) sign of the partial derivative
    weight: Floats  # (rows,) weights
    argument: Integers  # (arguments,) row of each argument; −1: no result depends on it
    gradient: Floats  # (arguments,) derivatives of the weighted sum of results


class TapeJacobian(NamedTuple):
    """A tape with buffers for the derivatives of all its results by some consecutive arguments."""

    tape: Tape
    left: Floats  # (rows, 6) weights for the first six of twelve results
    right: Floats  # (rows, 6) weights for the other six
    start: Integers  # (1,) index of the first of these arguments
    derivatives: Floats  # (results, arguments) derivatives


def new_tape_jacobian(tape: Tape, start: int, count: int) -> TapeJacobian:
    """Return buffers for the derivatives by ``count`` arguments from ``start`` on."""
    rows, results = len(tape.weight), len(tape.result)
    return TapeJacobian(
        tape, np.zeros((rows, 6)), np.zeros((rows, 6)), np.array([start], dtype=np.int64), np.zeros((results, count))
    )


@kernel
def operations_from(tape):
    """Return the index in ``value`` of the first operation's result."""
    return tape.value.shape[0] - tape.first.shape[0]


@routine
def evaluate_tape(tape):
    """Evaluate the results for the arguments in ``value``; return True if all branches are the recorded ones."""
    v, a, b, offset = tape.value, tape.first, tape.second, operations_from(tape)
    for r in range(tape.run.shape[0]):
        kind, begin, end = tape.run[r, 0], tape.run[r, 1], tape.run[r, 2]
        if kind == ADD:
            for i in range(begin, end):
                v[offset + i] = v[a[i]] + v[b[i]]
        elif kind == SUB:
            for i in range(begin, end):
                v[offset + i] = v[a[i]] - v[b[i]]
        elif kind == MUL:
            for i in range(begin, end):
                v[offset + i] = v[a[i]] * v[b[i]]
        elif kind == DIV:
            for i in range(begin, end):
                v[offset + i] = v[a[i]] / v[b[i]]
        else:
            for i in range(begin, end):
                v[offset + i] = rarely(kind, v[a[i]], v[b[i]])
    return holds(tape)


@kernel
def rarely(kind, x, y):
    """Return the result of one of the less frequent operations."""
    if kind == NEG:
        return -x
    if kind == SQRT:
        return math.sqrt(x)
    if kind == SIN:
        return math.sin(x)
    if kind == COS:
        return math.cos(x)
    if kind == AT_LEAST:
        return 1.0 if x >= y else 0.0
    return max(x, y) if kind == MAX else min(x, y)


@kernel
def holds(tape):
    """Return True if every comparison has its recorded outcome."""
    v = tape.value
    for k in range(tape.guard.shape[0]):
        kind, x, y = tape.guard[k, 0], v[tape.guard[k, 1]], v[tape.guard[k, 2]]
        outcome = x < y if kind == LESS else (x <= y if kind == LESS_OR_EQUAL else x == y)
        if outcome != (tape.guard[k, 3] == 1):
            return False
    return True


@routine
def differentiate_tape(tape, weights):
    """Fill ``gradient`` with the derivatives of Σ weights · results by all arguments; after ``evaluate_tape``."""
    v, w, edge = tape.value, tape.weight, tape.edge
    results = tape.result.shape[0]
    for k in range(results):
        w[k] = weights[k]
    for row in range(results, w.shape[0]):
        total = 0.0
        for e in range(edge[row], edge[row + 1]):
            total += tape.sign[e] * v[tape.partial[e]] * w[tape.user[e]]
        w[row] = total
    for k in range(tape.argument.shape[0]):
        tape.gradient[k] = w[tape.argument[k]] if tape.argument[k] >= 0 else 0.0


@part
def differentiate_results(jacobian):
    """Write the derivatives of all results to ``derivatives``, for the arguments in the tape's ``value``.

    Return DONE, or ELSEWHERE without derivatives if a branch differs from the recorded ones.
    """
    if not evaluate_tape(jacobian.tape):
        return ELSEWHERE
    jacobian.derivatives[:] = 0.0
    first = 0
    while first < jacobian.derivatives.shape[0]:
        after = seed_lanes(jacobian, first)
        gather_lanes(jacobian.tape, jacobian.left, jacobian.right)
        take_lanes(jacobian, first, after)
        first = after
    return DONE


@kernel
def seed_lanes(jacobian, first):
    """Assign lanes to the next results that are not constantly zero; return the first result without a lane."""
    result, lane, k = jacobian.tape.result, 0, first
    for row in range(result.shape[0]):
        store6(jacobian.left, row, NOTHING)
        store6(jacobian.right, row, NOTHING)
    while k < result.shape[0] and (lane < LANES or result[k] < 0):
        if result[k] >= 0:
            side = jacobian.left if lane < 6 else jacobian.right
            side[k, lane % 6] = 1.0
            lane += 1
        k += 1
    return k


@routine
def gather_lanes(tape, left, right):
    """Gather the weights of all rows for twelve results at once."""
    for row in range(tape.result.shape[0], left.shape[0]):
        first, other = NOTHING, NOTHING
        for e in range(tape.edge[row], tape.edge[row + 1]):
            slope, user = tape.sign[e] * tape.value[tape.partial[e]], tape.user[e]
            first = add_scaled6(first, slope, load6(left, user))
            other = add_scaled6(other, slope, load6(right, user))
        store6(left, row, first)
        store6(right, row, other)


@kernel
def take_lanes(jacobian, first, after):
    """Copy the lanes to the rows of ``derivatives`` of the results from ``first`` on."""
    tape, derivatives, start = jacobian.tape, jacobian.derivatives, jacobian.start[0]
    lane = 0
    for k in range(first, after):
        if tape.result[k] >= 0:
            side = jacobian.left if lane < 6 else jacobian.right
            for column in range(derivatives.shape[1]):
                row = tape.argument[start + column]
                if row >= 0:
                    derivatives[k, column] = side[row, lane % 6]
            lane += 1
