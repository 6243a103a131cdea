"""One step of the generalized midpoint rule in generalized coordinates, in linear time (Johnson & Murphey 2009).

The discrete Lagrangian (19) is h L(q_m, v) with q_m = (1 − α) q_k + α q_{k+1} and v = (q_{k+1} − q_k)/h. For a tree
whose joints have one coordinate each, let s_j be the unit twists at q_m, V_i the bodies' velocities there, H_j the
momentum and F_j the wrench of all bodies outboard of joint j, all about one point O in world axes. Then
∂L/∂q̇_j = s_j · H_j and ∂T/∂q_j = (V_parent × s_j) · H_j, so that (45) and the momentum after the step are

    e_j  = p_j − r_j · H_j + (1 − α) h s_j · F_j,        r_j  = s_j − (1 − α) h V_parent × s_j,
    p_j' =      r_j'· H_j +    α     h s_j · F_j,        r_j' = s_j +    α     h V_parent × s_j,

each in one outboard and one inboard pass. Impulses of potentials are split by 1 − α and α as here, those of other
forces in halves, as in the paper; the callers that add them set the share.

The unknown is the displacement Δ = q_{k+1} − q_k, so that no digit of it is lost if q is large.
"""

import math
from typing import NamedTuple

from biped.kernels.midpoint.elimination import TwoBlocks, new_two_blocks, store_momentum_blocks, subtract_arm_block
from biped.kernels.tree.dynamics import turn_inertias
from biped.kernels.tree.kinematics import Poses, motion_cross, new_poses, place_bodies
from contact import vectors as v
from contact.arrays import Floats, unset
from kernelcache import kernel


class MidpointBuffers(NamedTuple):
    """Buffers for one step of a tree of n joints of one coordinate each."""

    middle: Floats  # (n,) q_m
    moved: Floats  # (n,) Δ, the unknown
    rates: Floats  # (n,) v
    poses: Poses  # at q_m
    inertia: Floats  # (n, 9) [kg m²] about each centre of mass, world axes
    velocity: Floats  # (n, 6) V_i
    momentum: Floats  # (n, 6) momentum of body i alone
    carried: Floats  # (n, 6) H_i of all bodies outboard of joint i, once the residual is set
    impulse: Floats  # (n, 6) impulses on body i in e; once the residual is set, on all bodies outboard of joint i
    left: Floats  # (n, 6) r_i
    right: Floats  # (n, 6) c_i
    load: Floats  # (n,) p and the impulses along the coordinates in e
    residual: Floats  # (n,) e
    delta: Floats  # (n,) Newton's step
    diagonal: Floats  # (n,) diagonal terms of the joints in Newton's matrix
    factors: TwoBlocks


def new_midpoint_buffers(n: int, nc: int) -> MidpointBuffers:
    """Return buffers for the steps of a tree of n bodies and nc points, filled with NaN."""
    return MidpointBuffers(
        middle=unset(n), moved=unset(n), rates=unset(n), poses=new_poses(n, n, nc), inertia=unset(n, 9),
        velocity=unset(n, 6), momentum=unset(n, 6), carried=unset(n, 6), impulse=unset(n, 6), left=unset(n, 6),
        right=unset(n, 6), load=unset(n), residual=unset(n), delta=unset(n), diagonal=unset(n),
        factors=new_two_blocks(n),
    )  # fmt: skip


@kernel
def set_middle(q, alpha, h, buffers):
    """Set q_m and v of a step from ``q`` by ``buffers.moved``, at which the Lagrangian is evaluated."""
    for j in range(q.shape[0]):
        buffers.middle[j] = q[j] + alpha * buffers.moved[j]
        buffers.rates[j] = buffers.moved[j] / h


@kernel
def place_middle(tree, q, alpha, h, buffers):
    """Set poses, velocities and momenta at the middle of a step from ``q`` by ``buffers.moved``; the twists r and c."""
    set_middle(q, alpha, h, buffers)
    place_bodies(tree, buffers.middle, buffers.poses)
    turn_inertias(tree, buffers.poses, buffers.inertia)
    move_middle(tree, alpha, h, buffers)


@kernel
def move_middle(tree, alpha, h, buffers):
    """Do the part of ``place_middle`` that depends on the rates."""
    for i in range(tree.parent.shape[0]):
        s = v.load6(buffers.poses.motion, i)
        parent = tree.parent[i]
        V, bracket = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        if parent >= 0:
            V = v.load6(buffers.velocity, parent)
            bracket = motion_cross(V, s)
        v.store6(buffers.left, i, v.add_scaled6(s, (alpha - 1.0) * h, bracket))
        v.store6(buffers.right, i, v.scale6(1.0 / h, v.add_scaled6(s, alpha * h, bracket)))
        V = v.add_scaled6(V, buffers.rates[i], s)
        v.store6(buffers.velocity, i, V)
        v.store6(buffers.momentum, i, momentum_of(tree, buffers, i, V))


@kernel
def momentum_of(tree, buffers, i, V):
    """Return h_i = I_i V_i, about O."""
    com = v.load3(buffers.poses.com, i)
    linear = v.scale(tree.mass[i], v.add(V[:3], v.cross(V[3:], com)))
    return linear + v.add(v.mat_vec(v.load9(buffers.inertia, i), V[3:]), v.cross(com, linear))


@kernel
def set_gravity_impulses(tree, buffers, duration):
    """Set ``buffers.impulse`` to the impulses of uniform gravity on the bodies in ``duration``."""
    for i in range(tree.parent.shape[0]):
        impulse = v.scale(duration * tree.mass[i], v.triple(tree.gravity))
        v.store6(buffers.impulse, i, impulse + v.cross(v.load3(buffers.poses.com, i), impulse))


@kernel
def add_point_impulse(buffers, i, arm, impulse):
    """Add an impulse on body i at ``arm`` from O."""
    v.store6(buffers.impulse, i, v.add6(v.load6(buffers.impulse, i), impulse + v.cross(arm, impulse)))


@kernel
def rotor_momentum_of(tree, buffers, j):
    """Return a v of the rotor of joint j, equal at both ends of the step, since it does not depend on q."""
    return tree.armature[j] * buffers.rates[j]


@kernel
def set_midpoint_residual(tree, buffers, prescribed):
    """Set e and return its norm over the free coordinates; needs ``place_middle``, impulses and ``load``.

    Afterwards ``carried`` and ``impulse`` are sums over all outboard bodies. The entry of e of a prescribed coordinate
    is, up to its sign, the impulse that drives the coordinate.
    """
    n = tree.parent.shape[0]
    for i in range(n):
        v.store6(buffers.carried, i, v.load6(buffers.momentum, i))
    total = 0.0
    for i in range(n - 1, -1, -1):
        H, G = v.load6(buffers.carried, i), v.load6(buffers.impulse, i)
        e = buffers.load[i] - v.dot6(v.load6(buffers.left, i), H) + v.dot6(v.load6(buffers.poses.motion, i), G)
        e -= rotor_momentum_of(tree, buffers, i)
        buffers.residual[i] = e
        if prescribed[i] == 0:
            total += e * e
        parent = tree.parent[i]
        if parent >= 0:
            v.store6(buffers.carried, parent, v.add6(v.load6(buffers.carried, parent), H))
            v.store6(buffers.impulse, parent, v.add6(v.load6(buffers.impulse, parent), G))
    return math.sqrt(total)


@kernel
def set_midpoint_blocks(tree, h, gravity_duration, buffers):
    """Set the blocks of bodies under uniform gravity, and of rotors; callers add forces before ``eliminate_blocks``."""
    for i in range(tree.parent.shape[0]):
        com = v.load3(buffers.poses.com, i)
        store_momentum_blocks(
            buffers.factors, i, tree.mass[i], com, v.load9(buffers.inertia, i), v.load6(buffers.momentum, i)
        )
        impulse = v.scale(gravity_duration * tree.mass[i], v.triple(tree.gravity))
        subtract_arm_block(buffers.factors.by_pose, i, com, impulse)
        buffers.diagonal[i] = tree.armature[i] / h


@kernel
def set_midpoint_momentum(tree, h, buffers, load, momentum):
    """Set p after the step, from sums of momenta as ``set_midpoint_residual`` leaves them.

    Args:
        tree: the tree.
        h: [s] length of the step.
        buffers: buffers, with ``impulse`` on each body alone in the second part of the step, which is summed up.
        load: (n,) impulses along the coordinates in the second part.
        momentum: (n,) receives the result.
    """
    for i in range(tree.parent.shape[0] - 1, -1, -1):
        s = v.load6(buffers.poses.motion, i)
        H, G = v.load6(buffers.carried, i), v.load6(buffers.impulse, i)
        p = h * v.dot6(v.load6(buffers.right, i), H) + v.dot6(s, G)  # r' is h c
        momentum[i] = p + load[i] + rotor_momentum_of(tree, buffers, i)
        parent = tree.parent[i]
        if parent >= 0:
            v.store6(buffers.impulse, parent, v.add6(v.load6(buffers.impulse, parent), G))


@kernel
def point_velocity(buffers, i, arm):
    """Return the velocity [m/s] of the point of body i at ``arm`` from O, at the middle of the step."""
    V = v.load6(buffers.velocity, i)
    return v.add(V[:3], v.cross(V[3:], arm))
