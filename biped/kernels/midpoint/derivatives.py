"""Derivatives of a tree's Lagrangian to the third order, if every joint has one coordinate, in O(n depth²).

With them a step of the midpoint rule is linearized to the first and the second order (Johnson, Schultz & Murphey 2014,
(10)-(27)). They need no symbols and no differences. Let V_i be body i's velocity and I_i its inertia, about one point,
in world axes. Seen from the body, the inertia is constant and only V_i changes. By the coordinates x_k ∈ {q_k, v_k} of
the joints k ≤ l ≤ m on one path to the root, its changes seen from any body outboard of them are

    W_{q_k} = b_k = V_parent(k) × s_k,      W_{v_k} = s_k,                 (× the Lie bracket of twists)
    W_{x_k q_l} = W_{x_k} × s_l,            W_{x_k v_l} = 0,
    W_{x_k q_l q_m} = (W_{x_k} × s_l) × s_m,        and 0 with any other order of them,

equal for all those bodies. So the derivatives of T = Σ ½ V_i · I_i V_i need only sums over all bodies outboard of the
outermost joint m, their momentum H_m and inertia I_m. By the invariance of pairings,

    T_{x_k}          = W_{x_k} · H_k,
    T_{x_k q_l}      = W_{x_k} · κ_l,                κ_l = I_l b_l + s_l ×* H_l,
    T_{x_k v_l}      = W_{x_k} · I_l s_l,
    T_{x_k y_l q_m}  = W_{x_k} · (s_m ×* I_m W_{y_l} + I_m (W_{y_l} × s_m) + [y = q] s_l ×* κ_m),
    T_{x_k y_l v_m}  = W_{x_k} · [y = q] s_l ×* I_m s_m:

vectors of the outer joints, dotted with those of the inner ones. Joints that are not on one path do not couple.
Uniform gravity g acts on the outboard masses; with P_m = the linear part of I_m s_m, the change of their first moment,

    −U_{q_k} = s_k · (wrench of gravity outboard of k),   −U_{q_k q_l} = ω_k · (P_l × g),
    −U_{q_k q_l q_m} = ω_k · ((ω_l × P_m) × g).

They are explicit because dual numbers or complex steps through the kernels of the step would need one pass for each
direction, O(n) for the first derivatives and O(n²) for the second, each several times as expensive as the step itself.

The index of a variable in the results is k for q_k and n + k for v_k. Third derivatives are sparse, and listed.
"""

from typing import NamedTuple

import numpy as np

from biped.kernels.midpoint.elimination import wrench_cross
from biped.kernels.tree.factorization import add_block, block_times, store_block
from biped.kernels.tree.kinematics import motion_cross
from contact.arrays import Floats, Integers
from contact.vectors import add6, cross, dot, dot6, load3, load6, load9, scale, store3, store6, triple
from kernelcache import kernel

# A third derivative is by one variable of each of three joints: by the coordinate or by the rate.
BY_Q = 0
BY_V = 1
#: Index in a row of ``Triples.value`` of the derivative by the three coordinates.
BY_COORDINATES = 0


class Beyond(NamedTuple):
    """Sums over all bodies outboard of each joint, at the coordinates and rates of a ``MidpointBuffers``."""

    inertia: Floats  # (n, 6, 6) I_i
    momentum: Floats  # (n, 6) H_i
    weight: Floats  # (n, 6) wrench of gravity
    bent: Floats  # (n, 6) b_i
    swept: Floats  # (n, 6) I_i s_i
    kappa: Floats  # (n, 6) κ_i
    pulled: Floats  # (n, 3) P_i × g


class Triples(NamedTuple):
    """A list of third derivatives by variables of three joints, which vanish for joints on different branches.

    A derivative is the sum of all rows with its joints in any order. If some of the three joints are equal, so that
    several orders coincide, each row has the share of one of them.
    """

    total: Integers  # (1,) number of rows
    joint: Integers  # (., 3)
    value: Floats  # (., 8) derivatives by q or v of each joint, indexed by ``place_of``


def new_triples(rows: int) -> Triples:
    """Return an empty list with space for ``rows`` rows."""
    return Triples(
        total=np.zeros(1, dtype=np.int64), joint=np.zeros((rows, 3), dtype=np.int64), value=np.full((rows, 8), np.nan)
    )


def new_beyond(n: int) -> Beyond:
    """Return sums for a tree of n joints, filled with NaN."""
    shapes: tuple[tuple[int, ...], ...] = ((n, 6, 6), (n, 6), (n, 6), (n, 6), (n, 6), (n, 6), (n, 3))
    return Beyond(*(np.full(shape, np.nan) for shape in shapes))


@kernel
def gather_beyond(tree, buffers, beyond):
    """Set all sums in ``beyond``; needs ``place_middle``."""
    n = tree.parent.shape[0]
    for i in range(n):
        com = load3(buffers.poses.com, i)
        store_block(beyond.inertia, i, tree.mass[i], com, com, load9(buffers.inertia, i))
        store6(beyond.momentum, i, load6(buffers.momentum, i))
        force = scale(tree.mass[i], triple(tree.gravity))
        store6(beyond.weight, i, force + cross(com, force))
    for i in range(n - 1, -1, -1):
        s, b = load6(buffers.poses.motion, i), (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        parent = tree.parent[i]
        if parent >= 0:
            b = motion_cross(load6(buffers.velocity, parent), s)
            add_block(beyond.inertia, parent, i)
            store6(beyond.momentum, parent, add6(load6(beyond.momentum, parent), load6(beyond.momentum, i)))
            store6(beyond.weight, parent, add6(load6(beyond.weight, parent), load6(beyond.weight, i)))
        swept = block_times(beyond.inertia, i, s)
        store6(beyond.bent, i, b)
        store6(beyond.swept, i, swept)
        bent = block_times(beyond.inertia, i, b)
        store6(beyond.kappa, i, add6(bent, wrench_cross(s, load6(beyond.momentum, i))))
        store3(beyond.pulled, i, cross(swept[:3], triple(tree.gravity)))


@kernel
def set_lagrangian_gradient(tree, buffers, beyond, gradient):
    """Set L_q and L_v, (2n,)."""
    n = tree.parent.shape[0]
    for k in range(n):
        s, H = load6(buffers.poses.motion, k), load6(beyond.momentum, k)
        gradient[k] = dot6(load6(beyond.bent, k), H) + dot6(s, load6(beyond.weight, k))
        gradient[n + k] = dot6(s, H) + tree.armature[k] * buffers.rates[k]


@kernel
def put2(hessian, a, b, value):
    hessian[a, b] = value
    hessian[b, a] = value


@kernel
def orders_of(k, middle, m):
    """Return the number of orders of three joints that coincide."""
    if k == middle and middle == m:
        return 6.0
    return 2.0 if k == middle or middle == m or k == m else 1.0


@kernel
def next_triple(triples, k, middle, m):
    """Append a row of zeros to the list; return its index, and one over the number of coinciding orders."""
    row = triples.total[0]
    triples.total[0] = row + 1
    triples.joint[row, 0], triples.joint[row, 1], triples.joint[row, 2] = k, middle, m
    for place in range(8):
        triples.value[row, place] = 0.0
    return row, 1.0 / orders_of(k, middle, m)


@kernel
def set_lagrangian_hessian(tree, buffers, beyond, hessian):
    """Set the second derivatives of L, (2n, 2n), which must be zero before where joints do not couple."""
    n = tree.parent.shape[0]
    for m in range(n):
        kappa, swept, pulled = load6(beyond.kappa, m), load6(beyond.swept, m), load3(beyond.pulled, m)
        k = m
        while k >= 0:
            s, b = load6(buffers.poses.motion, k), load6(beyond.bent, k)
            put2(hessian, k, m, dot6(b, kappa) + dot(s[3:], pulled))
            put2(hessian, n + k, m, dot6(s, kappa))
            put2(hessian, k, n + m, dot6(b, swept))
            put2(hessian, n + k, n + m, dot6(s, swept))
            k = tree.parent[k]
        hessian[n + m, n + m] += tree.armature[m]


@kernel
def list_lagrangian_third(tree, buffers, beyond, triples):
    """Append the third derivatives of L."""
    for m in range(tree.parent.shape[0]):
        kappa, swept = load6(beyond.kappa, m), load6(beyond.swept, m)
        s = load6(buffers.poses.motion, m)
        middle = m
        while middle >= 0:
            s_l, b_l = load6(buffers.poses.motion, middle), load6(beyond.bent, middle)
            turned = add6(turned_momentum(beyond.inertia, m, s, b_l), wrench_cross(s_l, kappa))
            slid = turned_momentum(beyond.inertia, m, s, s_l)
            dragged = wrench_cross(s_l, swept)
            pulled = cross(cross(s_l[3:], swept[:3]), triple(tree.gravity))
            list_inner(tree, buffers, beyond, triples, (m, middle), (turned, slid, dragged, pulled))
            middle = tree.parent[middle]


@kernel
def turned_momentum(inertia, m, s, W):
    """Return s ×* I_m W + I_m (W × s): the change of I_m W as the outboard bodies turn by s, with W fixed."""
    return add6(wrench_cross(s, block_times(inertia, m, W)), block_times(inertia, m, motion_cross(W, s)))


@kernel
def list_inner(tree, buffers, beyond, triples, outer, wrenches):
    """Append the third derivatives by a variable of joint m, one of joint l, and those of the joints up to the root."""
    m, middle = outer
    turned, slid, dragged, pulled = wrenches
    k = middle
    while k >= 0:
        s, b = load6(buffers.poses.motion, k), load6(beyond.bent, k)
        row, share = next_triple(triples, k, middle, m)
        values = triples.value[row]
        values[place_of(BY_Q, BY_Q, BY_Q)] = share * (dot6(b, turned) + dot(s[3:], pulled))
        values[place_of(BY_V, BY_Q, BY_Q)] = share * dot6(s, turned)
        values[place_of(BY_Q, BY_V, BY_Q)] = share * dot6(b, slid)
        values[place_of(BY_V, BY_V, BY_Q)] = share * dot6(s, slid)
        values[place_of(BY_Q, BY_Q, BY_V)] = share * dot6(b, dragged)
        values[place_of(BY_V, BY_Q, BY_V)] = share * dot6(s, dragged)
        k = tree.parent[k]


@kernel
def place_of(first, second, third):
    """Return the index in a row of ``Triples.value``."""
    return 4 * first + 2 * second + third
