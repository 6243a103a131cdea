"""Momenta, rates, energies and constraints of a mechanism at one configuration."""

from biped.kernels.midpoint.elimination import eliminate_blocks
from biped.kernels.midpoint.equations import place_middle, set_midpoint_blocks
from biped.kernels.solve.causes import DEPENDENT, SINGULAR
from biped.kernels.tree.dynamics import kinetic_energy, project_wrenches
from contact.vectors import copy1, dot, load3, load6, store6, triple
from formulations.mechanism.kernels.ballast import add_ballast, set_ballast_border
from formulations.mechanism.kernels.border import factor_border, row_times, solve_border
from formulations.mechanism.kernels.constraints import set_constraint_rows, set_constraint_values
from formulations.mechanism.kernels.custom import custom_energy, set_custom_rows, set_custom_values
from formulations.mechanism.kernels.points import place_points
from formulations.mechanism.kernels.potentials import spring_energy
from kernelcache import kernel, part

NOTHING = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@kernel
def place_node(mechanics, rates, room):
    """Place the tree at ``room.node_q`` with ``rates``, as in a step of zero length: c is s."""
    node = room.node
    copy1(rates, node.moved)
    place_middle(mechanics.tree, room.node_q, 0.0, 1.0, node)
    place_points(mechanics.points, node.poses, room.node_arms)


@kernel
def load_momenta(tree, node, momentum):
    """p_j = s_j · H_j, and those of rotors."""
    for i in range(tree.parent.shape[0]):
        store6(node.factors.wrench, i, load6(node.momentum, i))
    project_wrenches(tree, node, momentum)
    for j in range(momentum.shape[0]):
        momentum[j] += tree.armature[j] * node.rates[j]


@part
def momentum_part(world):
    """p = M(q) v of ``node_q`` and ``node_rates``, into ``node_momentum``."""
    room = world.room
    place_node(world.mechanics, room.node_rates, room)
    load_momenta(world.mechanics.tree, room.node, room.node_momentum)
    return 0


@part
def rates_part(world):
    """v with M(q) v = p but for forces of the constraints, on which v is, into ``node_rates``; 0, or why not.

    Of ``node_q``, ``node_momentum`` and ``given_rates``, which has those of prescribed coordinates, and else zeros.
    """
    mechanics, room = world.mechanics, world.room
    node, border, tree = room.node, room.node_border, mechanics.tree
    place_node(mechanics, room.given_rates, room)
    load_momenta(tree, node, node.load)
    for j in range(room.node_q.shape[0]):
        node.residual[j] = room.node_momentum[j] - node.load[j]
    failed = factor_node(mechanics, room)
    if failed != 0:
        return failed
    for c in range(border.load.shape[0]):
        border.load[c] = -row_times(border.rows, c, room.given_rates)
    solve_border(tree, node, 0.0, border, node.residual, room.node_rates)
    for j in range(room.node_q.shape[0]):
        room.node_rates[j] += room.given_rates[j]
    return 0


@kernel
def factor_node(mechanics, room):
    """M(q) of what is not prescribed, bordered by the constraints; SINGULAR, DEPENDENT or 0.

    It is Newton's matrix of a step of unit length of the tree at rest, α = 0, without forces.
    """
    node, border, tree = room.node, room.node_border, mechanics.tree
    rest(tree, node)
    set_midpoint_blocks(tree, 1.0, 0.0, node)
    add_ballast(mechanics.ballast, 1.0, node.diagonal)
    if eliminate_blocks(tree, node, 0.0, 1.0, node.diagonal, mechanics.prescribed) >= 0:
        return SINGULAR
    set_node_rows(mechanics, room)
    for c in range(room.values.shape[0]):
        copy1(border.rows[c], border.columns[c])
    set_ballast_border(mechanics.ballast, 1.0, room.values.shape[0], border)
    if factor_border(tree, node, 0.0, border) >= 0:
        return DEPENDENT
    return 0


@kernel
def rest(tree, node):
    """Clear the velocity terms of the tree."""
    for i in range(tree.parent.shape[0]):
        s = load6(node.poses.motion, i)
        store6(node.left, i, s)
        store6(node.right, i, s)
        store6(node.momentum, i, NOTHING)
        store6(node.carried, i, NOTHING)
        store6(node.impulse, i, NOTHING)


@part
def energies_part(world):
    """Kinetic and potential energy [J] of ``node_q`` and ``node_rates``, into ``energy``."""
    place_node(world.mechanics, world.room.node_rates, world.room)
    set_energies(world.mechanics, world.room)
    return 0


@kernel
def set_energies(mechanics, room):
    """Set the energies of a placed tree."""
    tree, node, arms, q = mechanics.tree, room.node, room.node_arms, room.node_q
    room.energy[0] = kinetic_energy(tree, node)
    of_springs = spring_energy(mechanics.springs, mechanics.coordinate_springs, mechanics.weights, arms, q)
    room.energy[1] = weight_energy(tree, node) + of_springs + custom_energy(room.customs, arms, q)


@kernel
def weight_energy(tree, node):
    total = 0.0
    for i in range(tree.parent.shape[0]):
        total -= tree.mass[i] * dot(triple(tree.gravity), load3(node.poses.com, i))
    return total


@part
def constraints_part(world):
    """h(q) of ``node_q`` into ``values``, and Dh(q) into the first rows of ``node_border``."""
    mechanics, room = world.mechanics, world.room
    node = room.node
    place_node(mechanics, room.given_rates, room)
    set_constraint_values(mechanics.constraints, node.poses, room.node_arms, room.node_q, room.values)
    set_custom_values(room.customs, room.node_arms, room.node_q, room.values)
    set_node_rows(mechanics, room)
    return 0


@kernel
def set_node_rows(mechanics, room):
    """Dh(q) into the first rows of ``node_border``."""
    tree, points, poses = mechanics.tree, mechanics.points, room.node.poses
    arms, rows = room.node_arms, room.node_border.rows
    set_constraint_rows(tree, mechanics.constraints, points, poses, arms, room.node_q, rows)
    set_custom_rows(tree, room.customs, points, poses, arms, room.node_q, rows)
