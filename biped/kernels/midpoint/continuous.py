"""Continuous dynamics of a tree whose joints have one coordinate each (Johnson & Murphey 2009, section IV-B), in O(n).

With V_i the bodies' velocities, h_i their momenta and F_i the wrenches that act on them, about one point O in world
axes, equation (28) is s_j · Σ (I_i a_i + V_i ×* h_i − F_i) = f_j over all bodies at and beyond joint j. A coordinate
whose motion is prescribed accelerates as it is told; what drives it is left over.

It uses the room of a midpoint step: its middle is the configuration, its impulses are forces.
"""

from biped.kernels.midpoint.elimination import eliminate_blocks, solve_blocks, store_momentum_blocks, wrench_cross
from biped.kernels.midpoint.equations import momentum_of, place_middle
from biped.kernels.tree.factorization import add_scaled6
from biped.kernels.tree.kinematics import add6, motion_cross
from contact.jit import kernel
from contact.vectors import copy1, dot6, load3, load6, load9, store6


@kernel
def place_now(tree, q, v, room):
    """Poses, velocities and momenta of the state (q, v): those of a step of length 1 whose beginning counts alone."""
    copy1(v, room.moved)
    place_middle(tree, q, 0.0, 1.0, room)
    for i in range(tree.parent.shape[0]):
        s = load6(room.poses.motion, i)
        store6(room.left, i, s)
        store6(room.right, i, s)


@kernel
def set_accelerations(tree, room, acceleration, bodies):
    """Rates of change of the bodies' twists at O into ``bodies`` (n, 6), for the joints' accelerations (n,)."""
    for i in range(tree.parent.shape[0]):
        s = load6(room.poses.motion, i)
        parent = tree.parent[i]
        a = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        if parent >= 0:
            bracket = motion_cross(load6(room.velocity, parent), s)
            a = add_scaled6(load6(bodies, parent), room.rates[i], bracket)
        store6(bodies, i, add_scaled6(a, acceleration[i], s))


@kernel
def set_force_balance(tree, room, acceleration, bodies, balance):
    """What joints lack to accelerate like this (n,): f_j + s_j · F − inertia; needs ``place_now`` and ``room.load``.

    ``room.impulse`` has the bodies' forces, and afterwards those less what their inertia takes, of all bodies beyond.
    """
    set_accelerations(tree, room, acceleration, bodies)
    for i in range(tree.parent.shape[0]):
        taken = add6(
            momentum_of(tree, room, i, load6(bodies, i)),
            wrench_cross(load6(room.velocity, i), load6(room.momentum, i)),
        )
        store6(room.impulse, i, add_scaled6(load6(room.impulse, i), -1.0, taken))
    for i in range(tree.parent.shape[0] - 1, -1, -1):
        lacking = load6(room.impulse, i)
        balance[i] = room.load[i] + dot6(load6(room.poses.motion, i), lacking) - tree.armature[i] * acceleration[i]
        parent = tree.parent[i]
        if parent >= 0:
            store6(room.impulse, parent, add6(load6(room.impulse, parent), lacking))


@kernel
def factor_mass(tree, room, prescribed):
    """M(q) of the coordinates that are free, eliminated; the joint where it is singular, or −1.

    It is Newton's matrix of a midpoint step for which poses do not matter: α = 0 and no length. Needs ``place_now``, and
    clears ``room.impulse``.
    """
    for i in range(tree.parent.shape[0]):
        com, inertia = load3(room.poses.com, i), load9(room.inertia, i)
        store_momentum_blocks(room.factors, i, tree.mass[i], com, inertia, load6(room.momentum, i))
        store6(room.carried, i, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
        store6(room.impulse, i, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    return eliminate_blocks(tree, room, 0.0, 0.0, tree.armature, prescribed)


@kernel
def solve_mass(tree, room, load, solution):
    """M⁻¹ load, zero where a coordinate is prescribed; needs ``factor_mass``."""
    solve_blocks(tree, room, 0.0, load, solution)
