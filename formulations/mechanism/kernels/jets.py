"""Derivatives of a mechanism's points and directions by its coordinates, to the third order.

A point p of a body moves by p_k = v_k + ω_k × p with the coordinate of joint k, (v_k, ω_k) being the joint's unit
twist; a direction n fixed to a body by n_k = ω_k × n. Joints nearer to the root rotate the derivative by a farther
joint:

    p_{kl} = ω_k × p_l,        p_{klm} = ω_k × (ω_l × p_m),        k ≤ l ≤ m on the body's path to the root,

and with n in place of p. Derivatives by coordinates that do not move the body are zero. Forces and constraints of
mechanisms are functions of products a · b of sums of such vectors; this module differentiates the products.
"""

from typing import NamedTuple

import numpy as np

from biped.kernels.midpoint.derivatives import BY_COORDINATES, next_triple
from contact.arrays import Floats, Integers
from contact.vectors import add, cross, dot, load6, scale, store3
from kernelcache import kernel, routine

# Number of vectors, two points and a direction, and index of the direction.
VECTORS = 3
DIRECTION = 2

Weights3 = tuple[float, float, float]
FIRST: Weights3 = (1.0, 0.0, 0.0)
APART: Weights3 = (1.0, -1.0, 0.0)
TURNED: Weights3 = (0.0, 0.0, 1.0)


class Jets(NamedTuple):
    """Two points and a direction, with the coordinates that move any of them, the members, the outermost first."""

    total: Integers  # (1,) number of members
    member: Integers  # (n,) joints of the members
    moves: Floats  # (3, n) 1 where a member moves a vector, else 0
    value: Floats  # (3, 3) the three vectors
    first: Floats  # (3 n, 3) first derivatives of the vectors, vector by vector
    turn: Floats  # (n, 3) ω of the members


def new_jets(n: int) -> Jets:
    """Return buffers for vectors that n coordinates move."""
    return Jets(
        total=np.zeros(1, dtype=np.int64),
        member=np.zeros(n, dtype=np.int64),
        moves=np.full((VECTORS, n), np.nan),
        value=np.full((VECTORS, 3), np.nan),
        first=np.full((VECTORS * n, 3), np.nan),
        turn=np.full((n, 3), np.nan),
    )


@routine
def set_jets(parents, motion, bodies, vectors, jets):
    """Set members and all first derivatives of vectors fixed to three bodies; −1: the ground.

    This kernel and the following ones are not inlined, to keep the machine code short.
    """
    n = jets.member.shape[0]
    first, second, carrier = bodies
    for w in range(VECTORS):
        store3(jets.value, w, vectors[w])
    count = 0
    while max(first, second, carrier) >= 0:
        j = max(first, second, carrier)
        s = load6(motion, j)
        jets.member[count] = j
        store3(jets.turn, count, s[3:])
        set_first(jets, 0, n, count, first == j, add(s[:3], cross(s[3:], vectors[0])))
        set_first(jets, 1, n, count, second == j, add(s[:3], cross(s[3:], vectors[1])))
        set_first(jets, 2, n, count, carrier == j, cross(s[3:], vectors[2]))
        parent = parents[j]
        first = parent if first == j else first
        second = parent if second == j else second
        carrier = parent if carrier == j else carrier
        count += 1
    jets.total[0] = count


@kernel
def set_first(jets, w, n, i, moves, change):
    jets.moves[w, i] = 1.0 if moves else 0.0
    store3(jets.first, w * n + i, change if moves else (0.0, 0.0, 0.0))


@kernel
def weighted(jets, start, step, weights):
    """Return the weighted sum of the three vectors in rows start, start + step, …."""
    rows = jets.first
    x = y = z = 0.0
    for w in range(VECTORS):
        k = start + w * step
        x += weights[w] * rows[k, 0]
        y += weights[w] * rows[k, 1]
        z += weights[w] * rows[k, 2]
    return x, y, z


@kernel
def moved_by(jets, j, weights):
    """Return the weights of the vectors that member j moves, and zero for the other vectors."""
    return weights[0] * jets.moves[0, j], weights[1] * jets.moves[1, j], weights[2] * jets.moves[2, j]


@kernel
def turn_of(jets, j):
    return jets.turn[j, 0], jets.turn[j, 1], jets.turn[j, 2]


@kernel
def vector0(jets, weights):
    """Return the weighted sum of the three vectors."""
    x, value = (0.0, 0.0, 0.0), jets.value
    for w in range(VECTORS):
        x = add(x, scale(weights[w], (value[w, 0], value[w, 1], value[w, 2])))
    return x


@kernel
def vector1(jets, weights, i):
    """Return the derivative of the weighted sum by member i."""
    return weighted(jets, i, jets.member.shape[0], weights)


@kernel
def vector2(jets, weights, i, j):
    """Return the second derivative of the weighted sum by members i ≤ j, i the outer one."""
    return cross(turn_of(jets, j), vector1(jets, moved_by(jets, j, weights), i))


@kernel
def vector3(jets, weights, i, j, k):
    """Return the third derivative of the weighted sum by members i ≤ j ≤ k, i the outermost."""
    return cross(turn_of(jets, k), vector2(jets, moved_by(jets, k, weights), i, j))


@kernel
def product0(jets, a, b):
    """Return a · b; a and b are the weights of two sums."""
    return dot(vector0(jets, a), vector0(jets, b))


@routine
def product1(jets, a, b, i):
    """Return the derivative of a · b by member i."""
    return dot(vector1(jets, a, i), vector0(jets, b)) + dot(vector0(jets, a), vector1(jets, b, i))


@routine
def product2(jets, a, b, i, j):
    """Return the second derivative of a · b by members i ≤ j, i the outer one."""
    return (
        dot(vector2(jets, a, i, j), vector0(jets, b))
        + dot(vector1(jets, a, i), vector1(jets, b, j))
        + dot(vector1(jets, a, j), vector1(jets, b, i))
        + dot(vector0(jets, a), vector2(jets, b, i, j))
    )  # fmt: skip


@routine
def product3(jets, a, b, i, j, k):
    """Return the third derivative of a · b by members i ≤ j ≤ k, i the outermost."""
    total = dot(vector3(jets, a, i, j, k), vector0(jets, b)) + dot(vector0(jets, a), vector3(jets, b, i, j, k))
    total += dot(vector2(jets, a, i, j), vector1(jets, b, k)) + dot(vector1(jets, a, k), vector2(jets, b, i, j))
    total += dot(vector2(jets, a, i, k), vector1(jets, b, j)) + dot(vector1(jets, a, j), vector2(jets, b, i, k))
    return total + dot(vector2(jets, a, j, k), vector1(jets, b, i)) + dot(vector1(jets, a, i), vector2(jets, b, j, k))


@routine
def add2(hessian, a, b, value):
    """Add to a second derivative and its symmetric entry."""
    hessian[a, b] += value
    if a != b:
        hessian[b, a] += value


@routine
def add3(triples, a, b, c, value):
    """Append a third derivative by three coordinates, in any order, to a list."""
    row, share = next_triple(triples, a, b, c)
    triples.value[row, BY_COORDINATES] = share * value
