"""A function as the list of its sums, products and quotients: its value, and backwards its derivatives.

An operation takes two numbers of the list and appends a third. Those that do not need one another stand together,
sorted by what they do, so that each run of equal ones is a loop without a branch.

Backwards (the reverse mode of automatic differentiation; Griewank and Walther 2008) each number has a weight: the sum,
over the operations that take it, of their weights times their partial derivatives. These are numbers of the list
themselves, which its maker appends. Sums hand their weight on as it is, so that only the weights that differ have a
row; each is gathered once from rows before it. The derivatives of a weighted sum of the results by all arguments then
cost about as much as the results, however many arguments there are, and those of twelve results at once three times
that.
"""

import math
from typing import NamedTuple

import numpy as np

from contact.arrays import Floats, Integers
from contact.vectors import add_scaled6, load6, store6
from kernelcache import kernel, part, routine

# What an operation does.
ADD, SUB, MUL, DIV, NEG, SQRT, SIN, COS, MAX, MIN = range(10)
AT_LEAST = 10  # 1 where the first number is not less than the second, else 0: what maxima have as derivatives

# What a guard says: that the first number compared with the second is so.
LESS, LESS_OR_EQUAL, EQUAL = range(3)

# What ``differentiate_results`` gives back: all is done, or another branch is to be taken there.
DONE = 0
ELSEWHERE = 1

# Results whose derivatives are gathered at once: two six-vectors.
LANES = 12
NOTHING = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


class Tape(NamedTuple):
    """A function of so many arguments, whose branches were taken one way."""

    value: Floats  # (numbers,) arguments and constants, then a result for each operation
    first: Integers  # (operations,) what each takes
    second: Integers  # (operations,)
    run: Integers  # (runs, 3) what the operations from … to do
    result: Integers  # (results,) where they are; −1: zero
    guard: Integers  # (guards, 4) comparison, first, second, outcome
    # Backwards, rows of weights; the first are those of the results, and given:
    edge: Integers  # (rows + 1,) where the edges that a row is gathered from begin
    user: Integers  # (edges,) from which row before it
    partial: Integers  # (edges,) where in ``value`` the derivative stands
    sign: Floats  # (edges,) of it
    weight: Floats  # (rows,)
    argument: Integers  # (arguments,) the row of each; −1: nothing depends on it
    gradient: Floats  # (arguments,) of what is differentiated


class TapeJacobian(NamedTuple):
    """A tape, and room for the derivatives of all its results by some arguments that follow one another."""

    tape: Tape
    left: Floats  # (rows, 6) weights for twelve results at once
    right: Floats  # (rows, 6)
    start: Integers  # (1,) the first of these arguments
    found: Floats  # (results, arguments)


def new_tape_jacobian(tape: Tape, start: int, count: int) -> TapeJacobian:
    """Room for the derivatives by ``count`` arguments from ``start`` on."""
    rows, results = len(tape.weight), len(tape.result)
    return TapeJacobian(
        tape, np.zeros((rows, 6)), np.zeros((rows, 6)), np.array([start], dtype=np.int64), np.zeros((results, count))
    )


@kernel
def operations_from(tape):
    """Where the results of operations begin."""
    return tape.value.shape[0] - tape.first.shape[0]


@routine
def evaluate_tape(tape):
    """The results for the arguments that are in ``value``; whether all branches are those that were noted."""
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
    """The other operations."""
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
    """Whether every comparison comes out as it did when the function was noted."""
    v = tape.value
    for k in range(tape.guard.shape[0]):
        kind, x, y = tape.guard[k, 0], v[tape.guard[k, 1]], v[tape.guard[k, 2]]
        found = x < y if kind == LESS else (x <= y if kind == LESS_OR_EQUAL else x == y)
        if found != (tape.guard[k, 3] == 1):
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
    """The derivatives of all results into ``found``, for the arguments that are in the tape's ``value``.

    DONE, or ELSEWHERE with nothing found, where branches are others than those that were noted.
    """
    if not evaluate_tape(jacobian.tape):
        return ELSEWHERE
    jacobian.found[:] = 0.0
    first = 0
    while first < jacobian.found.shape[0]:
        after = seed_lanes(jacobian, first)
        gather_lanes(jacobian.tape, jacobian.left, jacobian.right)
        take_lanes(jacobian, first, after)
        first = after
    return DONE


@kernel
def seed_lanes(jacobian, first):
    """A lane for each of the next results that are not zero everywhere; the first result that has none any more."""
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
    """The weights of all rows, for twelve results at once."""
    for row in range(tape.result.shape[0], left.shape[0]):
        one, other = NOTHING, NOTHING
        for e in range(tape.edge[row], tape.edge[row + 1]):
            slope, user = tape.sign[e] * tape.value[tape.partial[e]], tape.user[e]
            one = add_scaled6(one, slope, load6(left, user))
            other = add_scaled6(other, slope, load6(right, user))
        store6(left, row, one)
        store6(right, row, other)


@kernel
def take_lanes(jacobian, first, after):
    """From the lanes to the rows of ``found`` that the results from ``first`` on have."""
    tape, found, start = jacobian.tape, jacobian.found, jacobian.start[0]
    lane = 0
    for k in range(first, after):
        if tape.result[k] >= 0:
            side = jacobian.left if lane < 6 else jacobian.right
            for column in range(found.shape[1]):
                row = tape.argument[start + column]
                if row >= 0:
                    found[k, column] = side[row, lane % 6]
            lane += 1
