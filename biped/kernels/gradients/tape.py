"""A function as the list of its sums, products and quotients: its value, and backwards its gradient.

An operation takes two numbers of the list and appends a third. Those that do not need one another stand together,
sorted by what they do, so that each run of equal ones is a loop without a branch. Backwards (the reverse mode of
automatic differentiation; Griewank and Walther 2008) the derivatives of a weighted sum of the results by all arguments
cost a few times as much as the results, however many arguments there are.
"""

import math
from typing import NamedTuple

from contact.arrays import Floats, Integers
from contact.jit import kernel, routine

# What an operation does.
ADD = 0
SUB = 1
MUL = 2
DIV = 3
NEG = 4
SQRT = 5
SIN = 6
COS = 7
MAX = 8
MIN = 9

# What a guard says: that the first number compared with the second is so.
LESS = 0
LESS_OR_EQUAL = 1
EQUAL = 2


class Tape(NamedTuple):
    """A function of so many arguments, whose branches were taken one way."""

    value: Floats  # (numbers,) arguments and constants, then a result for each operation
    weight: Floats  # (numbers,) derivatives of what is differentiated
    first: Integers  # (operations,) what each takes
    second: Integers  # (operations,)
    run: Integers  # (runs, 3) what the operations from … to do
    result: Integers  # (results,) where they are; −1: zero
    guard: Integers  # (guards, 4) comparison, first, second, outcome


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
    """Fill ``weight`` with the derivatives of Σ weights · results by all numbers; after ``evaluate_tape``."""
    v, w, a, b, offset = tape.value, tape.weight, tape.first, tape.second, operations_from(tape)
    w[:] = 0.0
    for k in range(tape.result.shape[0]):
        if tape.result[k] >= 0:
            w[tape.result[k]] += weights[k]
    for r in range(tape.run.shape[0] - 1, -1, -1):
        kind, begin, end = tape.run[r, 0], tape.run[r, 1], tape.run[r, 2]
        if kind == ADD:
            for i in range(begin, end):
                g = w[offset + i]
                w[a[i]] += g
                w[b[i]] += g
        elif kind == SUB:
            for i in range(begin, end):
                g = w[offset + i]
                w[a[i]] += g
                w[b[i]] -= g
        elif kind == MUL:
            for i in range(begin, end):
                g = w[offset + i]
                w[a[i]] += g * v[b[i]]
                w[b[i]] += g * v[a[i]]
        elif kind == DIV:
            for i in range(begin, end):
                g = w[offset + i] / v[b[i]]
                w[a[i]] += g
                w[b[i]] -= g * v[offset + i]
        else:
            for i in range(begin, end):
                x, y, g = v[a[i]], v[b[i]], w[offset + i]
                w[a[i]] += g * slope(kind, x, y, v[offset + i])
                if kind == MAX or kind == MIN:
                    w[b[i]] += g * (1.0 - slope(kind, x, y, v[offset + i]))


@kernel
def slope(kind, x, y, found):
    """The derivative of one of the other operations by its first number."""
    if kind == NEG:
        return -1.0
    if kind == SQRT:
        return 0.5 / found
    if kind == SIN:
        return math.cos(x)
    if kind == COS:
        return -math.sin(x)
    if kind == MAX:
        return 1.0 if x >= y else 0.0
    return 1.0 if x <= y else 0.0
