"""Derivatives of the map of a time step, by the chain rule from derivatives of the step's equations.

Johnson, Schultz & Murphey 2014, (10)-(32), in the paper's notation. A step maps w = (q, p, u, ρ), where ρ are the
kinematic coordinates at its end, to q' and p'; its middle is z = (q_m, v). The unknowns are y = (q'_d, λ), where d
denotes the dynamic coordinates:

    E = p + h (1 − α) L_q − L_v + F⁻ − Dh(q)ᵀ λ = 0 (rows d),     h(q') = 0,     p' = h α L_q + L_v + F⁺,
    F⁻ = σ h f,    F⁺ = (1 − σ) h f.

    K y_w = −(E_w, h_w),                        K = [M  −Dh(q)ᵀ; Dh(q')  0],        M = ∂E/∂q'_d,
    K y_{ab} = −(remainder of a second differentiation without y_{ab}).

The system is solved as a whole, so only K must be regular; the paper's (29) and (30) also need det M ≠ 0. Kinematic
coordinates have q'_k = ρ. Misprints of the paper: F⁻¹ for F⁻ in (12), (18), M_k for M_{k+1} in (29), (30), and the
inverse of the first bracket is missing in (32).

The third derivatives of h L(q_m, v) by q and q' are sums of derivatives by q_m and v. The remainder of a second
differentiation of a row of E or p' is then, with e = ∂q'/∂w and D the selection of q from w,

    R = eᵀ S e + Dᵀ T + Tᵀ D,     T = C e + ½ B D − (curvature of h) λ_w,

where S, C and B are the row's second derivatives by q', by q and q', and by q. They are nonzero only for coordinates on
a common path with the row's coordinate, or coupled to it by a spring. Since R is symmetric, its upper triangle is
packed into a row, and all rows are solved together. A weighted sum of second derivatives has one R, with the weights of
the adjoint.

Coordinates are in the order of w: dynamic coordinates first.
"""

import math
from typing import NamedTuple

import numpy as np

from biped.kernels.midpoint.derivatives import BY_COORDINATES
from biped.kernels.solve.causes import DEPENDENT, NOT_FINITE, SINGULAR
from biped.kernels.solve.dense import add_rows, factor_dense, solve_dense_rows, solve_dense_transposed
from contact.arrays import Floats, Integers, unset
from contact.vectors import copy1, dot, load6
from formulations.mechanism.kernels.linearization import Derivatives
from formulations.mechanism.kernels.system import Mechanics
from kernelcache import kernel, part, routine

# Pivot / size of its column, below which the pivot is rounding error.
ROUNDING = 1e-13
# Number of columns that are solved together, so that they stay in the processor's cache.
STRIP = 96
# Width of vectorized loops: sums begin at a multiple of it, since a remainder is computed number by number.
TOGETHER = 16

# The two equations in which a third derivative of h L(q_m, v) occurs.
E_ROW = 0
P_ROW = 1
# Second derivatives of a row: S, C and B.
BY_ENDS, BY_BOTH, BY_STARTS, KINDS = range(4)


class Groups(NamedTuple):
    """Members of each row, all in one array."""

    first: Integers  # (rows + 1,) first member of each row
    member: Integers  # (.,)


class Chain(NamedTuple):
    """Coordinates in the order of w, and buffers: n coordinates, nd dynamic, m constraints, nw entries of w."""

    coordinate: Integers  # (n,) coordinate of the tree, in the order of w
    column: Integers  # (n,) position in w of each coordinate of the tree
    every: Integers  # (n,) 0, 1, …
    forced: Integers  # (nu,) coordinate, in the order of w, along which each torque of the inputs acts
    near: Groups  # for each dynamic coordinate, the coordinates coupled with it by third derivatives
    near_place: Integers  # (nd, n) index of each coordinate in ``near``, or −1
    held: Groups  # for each constraint, the coordinates on which it depends

    e_by_start: Floats  # (nd, n)
    e_by_end: Floats  # (nd, n)
    p_by_start: Floats  # (nd, n)
    p_by_end: Floats  # (nd, n)
    matrix: Floats  # (nd + m, nd + m) K, factored
    order: Integers  # (nd + m,)
    mass: Floats  # (nd, nd) M, factored
    mass_order: Integers  # (nd,)
    sizes: Floats  # (nd + m,) sizes of K's columns, without cancellation
    determinant: Floats  # (2,) det M, det[Dh(q') M⁻¹ Dh(q)ᵀ]
    solved: Floats  # (nd + m, nw) ∂(q'_d, λ)/∂w
    end: Floats  # (n, nw) ∂q'/∂w
    momentum: Floats  # (nd, nw) ∂p'/∂w

    discrete: Floats  # (8,) a third derivative of h L(q_m, v) by q and q'
    block_first: Integers  # (nd,) first entry of each coordinate's blocks
    blocks: Floats  # (.,) S, C and B of each row of E and p', for the coordinates in ``near``
    moved: Floats  # (n + m, nw) e of the coordinates in ``near``, and λ_w of the constraints
    turned: Floats  # (n + m, nw) factors of the rows of ``moved``
    t_row: Floats  # (nw,) a row of T
    leaning: Floats  # (m, n) curvatures of h by the coordinate of a row and all others
    bends: Floats  # (nd + m + nd, nw (nw + 1) / 2) R of E, h and p', packed; then −y_ab, and p'_ab
    load: Floats  # (nd + m,) right side of the adjoint equation
    adjoint: Floats  # (nd + m,) weights on E and h
    on_rows: Floats  # (2, nd) weights of E and p'
    forms: Floats  # (KINDS, n, n) weighted S, C and B


class SolvedStep(NamedTuple):
    """Solved step, and the arrays for its derivatives."""

    mechanics: Mechanics
    alpha: float
    h: float
    share: float  # σ
    q: Floats  # (n,) at the start of the step
    moved: Floats  # (n,) change in the step
    multiplier: Floats  # (m,) λ
    inputs: Floats  # (1, .) functions of time
    results: Derivatives
    chain: Chain


def new_groups(members: list[Integers]) -> Groups:
    """Return lists of members as groups."""
    first = np.cumsum([0, *(len(row) for row in members)], dtype=np.int64)
    return Groups(first, np.concatenate([np.zeros(0, dtype=np.int64), *members]).astype(np.int64))


def new_chain(
    dynamic: Integers, kinematic: Integers, forced: Integers, near: list[Integers], held: list[Integers], order: int
) -> Chain:
    """Return buffers for first derivatives of the map (order 2 of the equations), or also second ones (order 3).

    Args:
        dynamic: dynamic coordinates of the tree.
        kinematic: kinematic coordinates of the tree.
        forced: coordinate of the tree along which each torque of the inputs acts.
        near: for each dynamic coordinate, the coordinates that third derivatives may couple with it.
        held: for each constraint, the coordinates on which it depends.
        order: order of the derivatives of the equations, 2 or 3.
    """
    coordinate = np.concatenate([dynamic, kinematic]).astype(np.int64)
    n, nd, m = coordinate.size, dynamic.size, len(held)
    nw, rows = n + nd + forced.size + kinematic.size, nd + m
    column = np.empty(n, dtype=np.int64)
    column[coordinate] = np.arange(n)
    top = n if order >= 3 else 0
    near = [np.sort(column[members]) for members in near] if top else [np.zeros(0, dtype=np.int64)] * nd
    near_place = np.full((nd if top else 0, n), -1, dtype=np.int64)
    for row, members in enumerate(near if top else []):
        near_place[row, members] = np.arange(members.size)
    sizes = np.array([2 * KINDS * members.size**2 for members in near], dtype=np.int64)
    return Chain(
        coordinate=coordinate, column=column, every=np.arange(n), forced=column[forced], near=new_groups(near),
        near_place=near_place, held=new_groups([np.sort(column[members]) for members in held]),
        e_by_start=unset(nd, n), e_by_end=unset(nd, n), p_by_start=unset(nd, n), p_by_end=unset(nd, n),
        matrix=unset(rows, rows), order=np.zeros(rows, dtype=np.int64), mass=unset(nd, nd),
        mass_order=np.zeros(nd, dtype=np.int64), sizes=unset(rows), determinant=unset(2), solved=unset(rows, nw),
        end=unset(n, nw), momentum=unset(nd, nw), discrete=unset(8),
        block_first=np.cumsum([0, *sizes], dtype=np.int64)[:-1], blocks=unset(int(sizes.sum())),
        moved=unset(top + m, nw), turned=unset(top + m, nw), t_row=unset(nw), leaning=unset(m, n),
        bends=unset(rows + nd if top else 0, nw * (nw + 1) // 2), load=unset(rows), adjoint=unset(rows),
        on_rows=unset(2, nd), forms=unset(KINDS, top, top),
    )  # fmt: skip


# --- first derivatives ---


@part
def first_part(step):
    """Compute ∂(q'_d, λ)/∂w, ∂q'/∂w and ∂p'/∂w; return 0 or NOT_FINITE, SINGULAR (M), DEPENDENT (Dh(q') M⁻¹ Dh(q)ᵀ)."""
    set_row_slopes(step.results, step.multiplier, step.alpha, step.h, step.share, step.chain)
    set_matrix(step.results, step.h, step.chain)
    add_ballast_to_mass(step.mechanics.ballast, step.h, step.chain)
    factor_matrices(step.chain)
    set_right_sides(step.results, step.h, step.share, step.chain)
    solve_first(step.h, step.share, step.chain)
    return regularity(step.chain)


@kernel
def set_row_slopes(results, multiplier, alpha, h, share, chain):
    """Set ∂E/∂q, ∂E/∂q', ∂p'/∂q and ∂p'/∂q' from derivatives by q and v in the middle of the step."""
    n = chain.coordinate.shape[0]
    for j in range(chain.e_by_end.shape[0]):
        a = chain.coordinate[j]
        for k in range(n):
            b = chain.coordinate[k]
            by_q, by_v = results.hessian[a, b], results.hessian[a, n + b]
            rate_by_q, rate_by_v = results.hessian[n + a, b], results.hessian[n + a, n + b]
            f_by_q, f_by_v = h * results.force[a, b], h * results.force[a, n + b]
            e_by_q = (1.0 - alpha) * h * by_q - rate_by_q + share * f_by_q
            e_by_v = (1.0 - alpha) * h * by_v - rate_by_v + share * f_by_v
            p_by_q = alpha * h * by_q + rate_by_q + (1.0 - share) * f_by_q
            p_by_v = alpha * h * by_v + rate_by_v + (1.0 - share) * f_by_v
            chain.e_by_start[j, k] = (1.0 - alpha) * e_by_q - e_by_v / h
            chain.e_by_end[j, k] = alpha * e_by_q + e_by_v / h
            chain.p_by_start[j, k] = (1.0 - alpha) * p_by_q - p_by_v / h
            chain.p_by_end[j, k] = alpha * p_by_q + p_by_v / h
    add_held_slopes(results.curvature[0], multiplier, chain)


@kernel
def add_held_slopes(curvature, multiplier, chain):
    """Add the derivatives of −Dh(q)ᵀ λ by q."""
    held, nd = chain.held, chain.e_by_start.shape[0]
    for c in range(multiplier.shape[0]):
        for place in range(held.first[c], held.first[c + 1]):
            j = held.member[place]
            if j < nd:
                for other in range(held.first[c], held.first[c + 1]):
                    k = held.member[other]
                    bent = curvature[c, chain.coordinate[j], chain.coordinate[k]]
                    chain.e_by_start[j, k] -= multiplier[c] * bent


@kernel
def set_matrix(results, h, chain):
    """Set K, M and the sizes of their columns."""
    nd, m = chain.mass.shape[0], results.rows.shape[1]
    for j in range(nd):
        chain.sizes[j] = inertia_size(results.middle.poses.motion, results.beyond.inertia, chain.coordinate[j]) / h
    for c in range(m):
        chain.sizes[nd + c] = 0.0
    for j in range(nd):
        for k in range(nd):
            chain.mass[j, k] = chain.matrix[j, k] = chain.e_by_end[j, k]
        for c in range(m):
            chain.matrix[j, nd + c] = -results.rows[0, c, chain.coordinate[j]]
            chain.matrix[nd + c, j] = results.rows[1, c, chain.coordinate[j]]
    for c in range(m):
        for other in range(m):
            chain.matrix[nd + c, nd + other] = 0.0
    for i in range(nd + m):
        for k in range(nd + m):
            chain.sizes[k] += abs(chain.matrix[i, k])


@kernel
def add_ballast_to_mass(ballast, h, chain):
    """Add ballast to M, but not to K, so that M is regular if a coordinate moves no mass."""
    for k in range(ballast.coordinate.shape[0]):
        for j in range(chain.mass.shape[0]):
            if chain.coordinate[j] == ballast.coordinate[k]:
                chain.mass[j, j] += ballast.inertia[k] / h


@kernel
def inertia_size(motion, inertia, i):
    """Return the magnitude of the terms summed in M's diagonal, before cancellation."""
    s = load6(motion, i)
    slide, turn = math.sqrt(dot(s[:3], s[:3])), math.sqrt(dot(s[3:], s[3:]))
    moment = 0.0
    for a in range(3):
        for b in range(3, 6):
            moment += inertia[i, a, b] * inertia[i, a, b]
    spin = inertia[i, 3, 3] + inertia[i, 4, 4] + inertia[i, 5, 5]
    return slide * slide * inertia[i, 0, 0] + 2.0 * slide * turn * math.sqrt(moment) + turn * turn * spin


@kernel
def factor_matrices(chain):
    """Factor K, and separately M, for its determinant and the cause of a failure."""
    factor_dense(chain.matrix, chain.order)
    factor_dense(chain.mass, chain.mass_order)
    set_determinants(chain)


@kernel
def signed_pivot(factored, order, k):
    """Return pivot k of ``factor_dense`` with its sign: the product of all is the determinant."""
    return factored[k, k] if order[k] == k else -factored[k, k]


@kernel
def set_determinants(chain):
    """Set det M and det K / det M, pivot by pivot: the latter is det[Dh(q') M⁻¹ Dh(q)ᵀ] (Schur complement)."""
    nd, mass, share = chain.mass.shape[0], 1.0, 1.0
    for k in range(chain.order.shape[0]):
        share *= signed_pivot(chain.matrix, chain.order, k)
        if k < nd:
            mass *= signed_pivot(chain.mass, chain.mass_order, k)
            share /= signed_pivot(chain.mass, chain.mass_order, k)
    chain.determinant[0], chain.determinant[1] = mass, share if chain.order.shape[0] > nd else 1.0


@kernel
def smallest_pivot(factored, sizes):
    """Return the smallest pivot relative to its column's size; NaN if one is not finite."""
    least = math.inf
    for k in range(factored.shape[0]):
        share = abs(factored[k, k]) / sizes[k]
        if not share >= least:
            least = share
    return least


@kernel
def regularity(chain):
    """Return 0 if K is regular, otherwise the cause: NOT_FINITE, DEPENDENT or SINGULAR."""
    total = 0.0
    for k in range(chain.sizes.shape[0]):
        total += chain.sizes[k]
    if not math.isfinite(total):
        return NOT_FINITE
    if smallest_pivot(chain.matrix, chain.sizes) > ROUNDING:
        return 0
    return DEPENDENT if smallest_pivot(chain.mass, chain.sizes) > ROUNDING else SINGULAR


@kernel
def set_right_sides(results, h, share, chain):
    """Set the right sides −(E_w, h_w)."""
    n, nd, nu = chain.coordinate.shape[0], chain.mass.shape[0], chain.forced.shape[0]
    solved = chain.solved
    for i in range(solved.shape[0]):
        for b in range(solved.shape[1]):
            solved[i, b] = 0.0
    for j in range(nd):
        for k in range(n):
            solved[j, k] = -chain.e_by_start[j, k]
        for k in range(nd, n):
            solved[j, n + nu + k] = -chain.e_by_end[j, k]
        solved[j, n + j] = -1.0
    for c in range(results.rows.shape[1]):
        for k in range(nd, n):
            solved[nd + c, n + nu + k] = -results.rows[1, c, chain.coordinate[k]]
    for u in range(nu):
        if chain.forced[u] < nd:
            solved[chain.forced[u], n + nd + u] -= share * h


@kernel
def solve_first(h, share, chain):
    """Solve (10)-(15), (29), (30), extended to all of w."""
    n, nd, nu = chain.coordinate.shape[0], chain.mass.shape[0], chain.forced.shape[0]
    solved, end, momentum = chain.solved, chain.end, chain.momentum
    nw = solved.shape[1]
    solve_dense_rows(chain.matrix, chain.order, solved, 0, nw)
    for k in range(n):
        for b in range(nw):
            end[k, b] = solved[k, b] if k < nd else 0.0
        if k >= nd:
            end[k, n + nu + k] = 1.0
    for j in range(nd):
        for b in range(nw):
            momentum[j, b] = chain.p_by_start[j, b] if b < n else 0.0
        for k in range(nd, n):
            momentum[j, n + nu + k] = chain.p_by_end[j, k]
        add_rows(momentum[j], 1.0, chain.p_by_end[j], end, 0, nd, 0, nw)
    for u in range(nu):
        if chain.forced[u] < nd:
            momentum[chain.forced[u], n + nd + u] += (1.0 - share) * h


# --- second derivatives ---


@part
def second_part(step):
    """Write −∂²(q'_d, λ)/∂w² and ∂²p'/∂w² into ``bends``, (16)-(27), (31), (32); call after ``first_part``."""
    set_blocks(step.results, step.alpha, step.h, step.share, step.chain)
    bend_rows(step.results.curvature[0], step.chain)
    subtract_bent(step.results.bent, step.chain)
    bend_constraints(step.results.curvature[1], step.chain)
    solve_bends(step.chain)
    return 0


@kernel
def set_blocks(results, alpha, h, share, chain):
    """Set S, C and B of all rows of E and p'."""
    for place in range(chain.blocks.shape[0]):
        chain.blocks[place] = 0.0
    triples = results.triples
    for row in range(triples.total[0]):
        set_discrete(triples.value[row], alpha, h, chain.discrete)
        for of in range(3):
            j, a, b = turned_triple(triples.joint[row], of, chain.column)
            if j < chain.block_first.shape[0]:
                add_to_blocks(chain, j, of, a, b)
    bends, n = results.bends, chain.coordinate.shape[0]
    for row in range(bends.total[0]):
        j = chain.column[bends.place[row, 0]]
        if j < chain.block_first.shape[0]:
            add_bend_to_blocks(chain, j, bends.place[row], bends.value[row], alpha, h, share, n)


@kernel
def set_discrete(value, alpha, h, discrete):
    """Set the third derivatives of h L(q_m, v) by q and q' from those of L; index 4 a + 2 b + c, 0 for q, 1 for q'."""
    for place in range(8):
        discrete[place] = h * value[place]
    stride = 4
    while stride > 0:
        for place in range(8):
            if place & stride == 0:
                by_q, by_v = discrete[place], discrete[place + stride]
                discrete[place] = (1.0 - alpha) * by_q - by_v / h
                discrete[place + stride] = alpha * by_q + by_v / h
        stride //= 2


@kernel
def turned_triple(joint, of, column):
    """Return the coordinate of joint ``of`` of three, and those of the next two in cyclic order."""
    return column[joint[of]], column[joint[(of + 1) % 3]], column[joint[(of + 2) % 3]]


@kernel
def stride_of(of):
    """Return the stride of one of the three arguments in a row of ``discrete``."""
    return 4 >> (of % 3)


@kernel
def add_to_blocks(chain, j, of, a, b):
    """Add ``discrete`` of row j by the coordinates a and b, and by b and a."""
    first, size = chain.block_first[j], chain.near.first[j + 1] - chain.near.first[j]
    x, y = chain.near_place[j, a], chain.near_place[j, b]
    xy, yx, kind = x * size + y, y * size + x, size * size
    by_a, by_b = stride_of(of + 1), stride_of(of + 2)
    blocks, discrete = chain.blocks, chain.discrete
    for side in range(2):
        at, start = side * stride_of(of), first + side * KINDS * kind
        blocks[start + xy] += discrete[at + by_a + by_b]
        blocks[start + yx] += discrete[at + by_a + by_b]
        blocks[start + kind + xy] += discrete[at + by_b]
        blocks[start + kind + yx] += discrete[at + by_a]
        blocks[start + 2 * kind + xy] += discrete[at]
        blocks[start + 2 * kind + yx] += discrete[at]


@kernel
def change_of(variable, n, alpha, h):
    """Return a variable's coordinate, and the derivatives of q_m or v by q and q'."""
    if variable < n:
        return variable, 1.0 - alpha, alpha
    return variable - n, -1.0 / h, 1.0 / h


@kernel
def add_bend_to_blocks(chain, j, place, value, alpha, h, share, n):
    """Add a second derivative of a force to the blocks of row j."""
    first, size = chain.block_first[j], chain.near.first[j + 1] - chain.near.first[j]
    coordinate, at_start, at_end = change_of(place[1], n, alpha, h)
    other, other_start, other_end = change_of(place[2], n, alpha, h)
    x, y = chain.near_place[j, chain.column[coordinate]], chain.near_place[j, chain.column[other]]
    xy, yx, kind = x * size + y, y * size + x, size * size
    half = 0.5 if place[1] == place[2] else 1.0
    for side in range(2):
        part = half * h * value * (share if side == E_ROW else 1.0 - share)
        start = first + side * KINDS * kind
        chain.blocks[start + xy] += part * at_end * other_end
        chain.blocks[start + yx] += part * at_end * other_end
        chain.blocks[start + kind + xy] += part * at_start * other_end
        chain.blocks[start + kind + yx] += part * other_start * at_end
        chain.blocks[start + 2 * kind + xy] += part * at_start * other_start
        chain.blocks[start + 2 * kind + yx] += part * at_start * other_start


@kernel
def bend_rows(curvature, chain):
    """Write R of all rows of E and p', without third derivatives of h."""
    nd, m, n = chain.mass.shape[0], chain.leaning.shape[0], chain.coordinate.shape[0]
    for j in range(nd):
        begin, size = chain.near.first[j], chain.near.first[j + 1] - chain.near.first[j]
        members = chain.near.member[begin : begin + size]
        gather_moved(chain.end, members, chain.moved)
        for c in range(m):
            for k in range(n):
                chain.leaning[c, k] = curvature[c, chain.coordinate[j], chain.coordinate[k]]
        for side in range(2):
            start = chain.block_first[j] + side * KINDS * size * size
            blocks = chain.blocks[start : start + KINDS * size * size].reshape((KINDS, size, size))
            leaning = chain.leaning[: m if side == E_ROW else 0]
            row = chain.bends[j if side == E_ROW else nd + m + j]
            places = chain.near_place[j], members
            bend_row(blocks, places, leaning, chain.solved[nd:], chain.moved, chain.turned, chain.t_row, row)


@routine
def gather_moved(end, members, moved):
    """Copy ∂q'/∂w of some coordinates to the first rows of ``moved``."""
    for k in range(members.shape[0]):
        copy1(end[members[k]], moved[k])


@routine
def bend_row(blocks, places, leaning, multipliers, moved, turned, t_row, row):
    """Write the upper triangle of eᵀ S e + Dᵀ T + Tᵀ D.

    Args:
        blocks: S, C and B, (KINDS, size, size).
        places: (n,) index of each coordinate in the blocks, or −1; and (size,) the coordinates of the blocks.
        leaning: (., n) curvatures of h by the row's coordinate and each coordinate.
        multipliers: (., nw) λ_w.
        moved: e of the coordinates of the blocks; λ_w of constraints is appended.
        turned: buffer of the shape of ``moved``.
        t_row: (nw,) buffer.
        row: packed upper triangle to write.
    """
    place, members = places
    size = members.shape[0]
    for x in range(size):
        clear1(turned[x])
        add_rows(turned[x], 1.0, blocks[BY_ENDS, x], moved, 0, size, 0, t_row.shape[0])
        for y in range(size):
            turned[x, members[y]] += blocks[BY_BOTH, y, x]
    count = size
    for c in range(leaning.shape[0]):
        if holds(leaning, c):
            copy1(multipliers[c], moved[count])
            clear1(turned[count])
            for k in range(place.shape[0]):
                turned[count, k] = -leaning[c, k]
            count += 1
    pack_products(moved, turned, count, t_row, row)
    add_other_terms(blocks, places, leaning, multipliers, moved, t_row, row)


@kernel
def clear1(row):
    for b in range(row.shape[0]):
        row[b] = 0.0


@kernel
def holds(leaning, c):
    """Return whether a constraint depends on the row's coordinate."""
    depends = False
    for k in range(leaning.shape[1]):
        depends |= leaning[c, k] != 0.0
    return depends


@routine
def pack_products(moved, turned, count, t_row, row):
    """Write the upper triangle of Σ_k moved_kᵀ turned_k; ``t_row`` is a buffer for a row."""
    nw, start = moved.shape[1], 0
    for a in range(nw):
        begin = a - a % TOGETHER
        clear1(t_row[begin:])
        add_rows(t_row, 1.0, moved[:, a], turned, 0, count, begin, nw)
        copy1(t_row[a:], row[start : start + nw - a])
        start += nw - a


@routine
def add_other_terms(blocks, places, leaning, multipliers, moved, t_row, row):
    """Add the terms of Dᵀ T + Tᵀ D that are not in ``turned``: Dᵀ (T + ½ B D), from the diagonal on."""
    place, members = places
    nw, start = t_row.shape[0], 0
    for k in range(place.shape[0]):
        x, begin = place[k], k - k % TOGETHER
        clear1(t_row)
        add_rows(t_row, -1.0, leaning[:, k], multipliers, 0, leaning.shape[0], begin, nw)
        if x >= 0:
            add_rows(t_row, 1.0, blocks[BY_BOTH, x], moved, 0, members.shape[0], begin, nw)
            for y in range(members.shape[0]):
                t_row[members[y]] += blocks[BY_STARTS, x, y]
        packed, right = row[start : start + nw - k], t_row[k:]
        for b in range(right.shape[0]):
            packed[b] += right[b]
        start += nw - k


@kernel
def packed_place(a, b, nw):
    """Return the index of (a, b), a ≤ b, in a packed row."""
    return a * nw - a * (a - 1) // 2 + b - a


@kernel
def subtract_bent(bent, chain):
    """Subtract Σ λ_c D³h_c from the rows of E."""
    nw, nd = chain.end.shape[1], chain.mass.shape[0]
    for row in range(bent.total[0]):
        value = bent.value[row, BY_COORDINATES]
        for of in range(3):
            j, a, b = turned_triple(bent.joint[row], of, chain.column)
            if j < nd:
                chain.bends[j, packed_place(min(a, b), max(a, b), nw)] -= 2.0 * value if a == b else value


@kernel
def bend_constraints(curvature, chain):
    """Write R of the rows h(q') = 0: eᵀ D²h e."""
    nd = chain.mass.shape[0]
    for c in range(chain.held.first.shape[0] - 1):
        members = chain.held.member[chain.held.first[c] : chain.held.first[c + 1]]
        gather_moved(chain.end, members, chain.moved)
        size, nw = members.shape[0], chain.moved.shape[1]
        for x in range(size):
            for y in range(size):
                chain.forms[0, x, y] = curvature[c, chain.coordinate[members[x]], chain.coordinate[members[y]]]
            clear1(chain.turned[x])
            add_rows(chain.turned[x], 1.0, chain.forms[0, x], chain.moved, 0, size, 0, nw)
        pack_products(chain.moved, chain.turned, size, chain.t_row, chain.bends[nd + c])


@kernel
def solve_bends(chain):
    """Compute −y_ab = K⁻¹ R and p'_ab = R + ∂p'/∂q' q'_ab, strip by strip."""
    rows, nd = chain.matrix.shape[0], chain.mass.shape[0]
    count = chain.bends.shape[1]
    for first in range(0, count, STRIP):
        last = min(first + STRIP, count)
        solve_dense_rows(chain.matrix, chain.order, chain.bends, first, last)
        for j in range(nd):
            add_rows(chain.bends[rows + j], -1.0, chain.p_by_end[j], chain.bends, 0, nd, first, last)


@routine
def spread_bends(bends, sign, states, gap, line, result):
    """Unpack rows into symmetric matrices by (x, u), with ``gap`` rows and columns of zeros after ``states`` entries.

    Each row is written once, in order, which is fast; ``line`` (nw,) is a buffer for a row.
    """
    nw = line.shape[0]
    for i in range(bends.shape[0]):
        for a in range(gap):
            clear1(result[i, states + a])
        for a in range(nw):
            at, packed = a, bends[i]
            for b in range(a):
                line[b] = sign * packed[at]
                at += nw - b - 1
            rest, right = packed[at:], line[a:]
            for b in range(right.shape[0]):
                right[b] = sign * rest[b]
            row = result[i, a + (gap if a >= states else 0)]
            copy1(line[:states], row[:states])
            clear1(row[states : states + gap])
            copy1(line[states:], row[states + gap :])


# --- weighted sum of second derivatives ---


@part
def weighted_part(step):
    """Write Σ weights ∂²(q'_d, p')/∂w² (weights ``on_rows``) into row 0 of ``bends``; call after ``first_part``."""
    set_adjoint(step.chain)
    set_forms(step.results, step.alpha, step.h, step.share, step.chain)
    bend_forms(step.results, step.chain)
    return 0


@kernel
def set_adjoint(chain):
    """Set the weights on (E, h) from those on q'_d (first row of ``on_rows``) and p' (second row)."""
    nd, on_rows = chain.mass.shape[0], chain.on_rows
    for k in range(chain.load.shape[0]):
        chain.load[k] = 0.0
    for k in range(nd):
        total = on_rows[E_ROW, k]
        for j in range(nd):
            total += chain.p_by_end[j, k] * on_rows[P_ROW, j]
        chain.load[k] = total
    solve_dense_transposed(chain.matrix, chain.order, chain.load, chain.adjoint)
    for k in range(nd):
        on_rows[E_ROW, k] = -chain.adjoint[k]


@kernel
def set_forms(results, alpha, h, share, chain):
    """Set the weighted sums of S, C and B over all rows."""
    forms, n = chain.forms, chain.coordinate.shape[0]
    for kind in range(KINDS):
        for x in range(n):
            for y in range(n):
                forms[kind, x, y] = 0.0
    triples = results.triples
    for row in range(triples.total[0]):
        set_discrete(triples.value[row], alpha, h, chain.discrete)
        for of in range(3):
            j, a, b = turned_triple(triples.joint[row], of, chain.column)
            if j < chain.mass.shape[0]:
                add_to_forms(chain, j, of, a, b)
    bends = results.bends
    for row in range(bends.total[0]):
        j = chain.column[bends.place[row, 0]]
        if j < chain.mass.shape[0]:
            weight = share * chain.on_rows[E_ROW, j] + (1.0 - share) * chain.on_rows[P_ROW, j]
            add_bend_to_forms(chain, bends.place[row], h * weight * bends.value[row], alpha, h)


@kernel
def add_to_forms(chain, j, of, a, b):
    """Add ``discrete`` of row j to the weighted forms."""
    forms, discrete, row = chain.forms, chain.discrete, stride_of(of)
    by_a, by_b = stride_of(of + 1), stride_of(of + 2)
    on_e, on_p = chain.on_rows[E_ROW, j], chain.on_rows[P_ROW, j]
    ends = on_e * discrete[by_a + by_b] + on_p * discrete[row + by_a + by_b]
    starts = on_e * discrete[0] + on_p * discrete[row]
    forms[BY_ENDS, a, b] += ends
    forms[BY_ENDS, b, a] += ends
    forms[BY_BOTH, a, b] += on_e * discrete[by_b] + on_p * discrete[row + by_b]
    forms[BY_BOTH, b, a] += on_e * discrete[by_a] + on_p * discrete[row + by_a]
    forms[BY_STARTS, a, b] += starts
    forms[BY_STARTS, b, a] += starts


@kernel
def add_bend_to_forms(chain, place, value, alpha, h):
    """Add a weighted second derivative of a force to the forms."""
    forms, n = chain.forms, chain.coordinate.shape[0]
    coordinate, at_start, at_end = change_of(place[1], n, alpha, h)
    other, other_start, other_end = change_of(place[2], n, alpha, h)
    a, b = chain.column[coordinate], chain.column[other]
    part = 0.5 * value if place[1] == place[2] else value
    forms[BY_ENDS, a, b] += part * at_end * other_end
    forms[BY_ENDS, b, a] += part * at_end * other_end
    forms[BY_BOTH, a, b] += part * at_start * other_end
    forms[BY_BOTH, b, a] += part * other_start * at_end
    forms[BY_STARTS, a, b] += part * at_start * other_start
    forms[BY_STARTS, b, a] += part * at_start * other_start


@kernel
def bend_forms(results, chain):
    """Write R of the weighted sum, packed, into the first row of ``bends``."""
    nd = chain.mass.shape[0]
    bent, forms = results.bent, chain.forms
    for row in range(bent.total[0]):
        value = bent.value[row, BY_COORDINATES]
        for of in range(3):
            j, a, b = turned_triple(bent.joint[row], of, chain.column)
            if j < nd:
                forms[BY_STARTS, a, b] -= chain.on_rows[E_ROW, j] * value
                forms[BY_STARTS, b, a] -= chain.on_rows[E_ROW, j] * value
    subtract_end_curvature(results.curvature[1], chain)
    set_weighted_leaning(results.curvature[0], chain)
    gather_moved(chain.end, chain.every, chain.moved)
    places = chain.every, chain.every
    multipliers, moved, turned = chain.solved[nd:], chain.moved, chain.turned
    bend_row(forms, places, chain.leaning, multipliers, moved, turned, chain.t_row, chain.bends[0])


@kernel
def subtract_end_curvature(curvature, chain):
    """Subtract the curvature of h(q') = 0 from S."""
    held, nd = chain.held, chain.mass.shape[0]
    for c in range(held.first.shape[0] - 1):
        for place in range(held.first[c], held.first[c + 1]):
            a = held.member[place]
            for other in range(held.first[c], held.first[c + 1]):
                b = held.member[other]
                bent = curvature[c, chain.coordinate[a], chain.coordinate[b]]
                chain.forms[BY_ENDS, a, b] -= chain.adjoint[nd + c] * bent


@kernel
def set_weighted_leaning(curvature, chain):
    """Set ``leaning`` to the weighted sum of curvatures of h over the rows' coordinates."""
    held, nd = chain.held, chain.mass.shape[0]
    for c in range(chain.leaning.shape[0]):
        for k in range(chain.leaning.shape[1]):
            chain.leaning[c, k] = 0.0
        for place in range(held.first[c], held.first[c + 1]):
            j = held.member[place]
            if j < nd:
                for other in range(held.first[c], held.first[c + 1]):
                    k = held.member[other]
                    bent = curvature[c, chain.coordinate[j], chain.coordinate[k]]
                    chain.leaning[c, k] += chain.on_rows[E_ROW, j] * bent
