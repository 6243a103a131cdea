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
def place_node(mechanics, rates, buffers):
    """Place the tree at ``buffers.node_q`` with ``rates``, as in a time step of zero length."""
    node = buffers.node
    copy1(rates, node.moved)
    place_middle(mechanics.tree, buffers.node_q, 0.0, 1.0, node)
    place_points(mechanics.points, node.poses, buffers.node_arms)


@kernel
def load_momenta(tree, node, momentum):
    """Set the momenta p_j = s_j · H_j, including those of rotors."""
    for i in range(tree.parent.shape[0]):
        store6(node.factors.wrench, i, load6(node.momentum, i))
    project_wrenches(tree, node, momentum)
    for j in range(momentum.shape[0]):
        momentum[j] += tree.armature[j] * node.rates[j]


@part
def momentum_part(world):
    """Write p = M(q) v at ``node_q`` and ``node_rates`` into ``node_momentum``."""
    buffers = world.buffers
    place_node(world.mechanics, buffers.node_rates, buffers)
    load_momenta(world.mechanics.tree, buffers.node, buffers.node_momentum)
    return 0


@part
def rates_part(world):
    """Write the rates v of a momentum, M(q) v = p with Dh v = 0, into ``node_rates``; return 0 or a cause of failure.

    Arguments are ``node_q``, ``node_momentum``, and ``given_rates`` of prescribed coordinates (zero for others).
    """
    mechanics, buffers = world.mechanics, world.buffers
    node, border, tree = buffers.node, buffers.node_border, mechanics.tree
    place_node(mechanics, buffers.given_rates, buffers)
    load_momenta(tree, node, node.load)
    for j in range(buffers.node_q.shape[0]):
        node.residual[j] = buffers.node_momentum[j] - node.load[j]
    failed = factor_node(mechanics, buffers)
    if failed != 0:
        return failed
    for c in range(border.load.shape[0]):
        border.load[c] = -row_times(border.rows, c, buffers.given_rates)
    solve_border(tree, node, 0.0, border, node.residual, buffers.node_rates)
    for j in range(buffers.node_q.shape[0]):
        buffers.node_rates[j] += buffers.given_rates[j]
    return 0


@kernel
def factor_node(mechanics, buffers):
    """Factor M(q) of the dynamic coordinates, bordered by the constraints; return SINGULAR, DEPENDENT or 0.

    The matrix is Newton's matrix of a time step of unit length of the tree at rest, with α = 0 and without forces.
    """
    node, border, tree = buffers.node, buffers.node_border, mechanics.tree
    rest(tree, node)
    set_midpoint_blocks(tree, 1.0, 0.0, node)
    add_ballast(mechanics.ballast, 1.0, node.diagonal)
    if eliminate_blocks(tree, node, 0.0, 1.0, node.diagonal, mechanics.prescribed) >= 0:
        return SINGULAR
    set_node_rows(mechanics, buffers)
    for c in range(buffers.values.shape[0]):
        copy1(border.rows[c], border.columns[c])
    set_ballast_border(mechanics.ballast, 1.0, buffers.values.shape[0], border)
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
    """Write kinetic and potential energy [J] at ``node_q`` and ``node_rates`` into ``energy``."""
    place_node(world.mechanics, world.buffers.node_rates, world.buffers)
    set_energies(world.mechanics, world.buffers)
    return 0


@kernel
def set_energies(mechanics, buffers):
    """Set the energies of a placed tree."""
    tree, node, arms, q = mechanics.tree, buffers.node, buffers.node_arms, buffers.node_q
    buffers.energy[0] = kinetic_energy(tree, node)
    of_springs = spring_energy(mechanics.springs, mechanics.coordinate_springs, mechanics.weights, arms, q)
    buffers.energy[1] = weight_energy(tree, node) + of_springs + custom_energy(buffers.customs, arms, q)


@kernel
def weight_energy(tree, node):
    total = 0.0
    for i in range(tree.parent.shape[0]):
        total -= tree.mass[i] * dot(triple(tree.gravity), load3(node.poses.com, i))
    return total


@part
def constraints_part(world):
    """Write h(q) at ``node_q`` into ``values``, and Dh(q) into the first rows of ``node_border``."""
    mechanics, buffers = world.mechanics, world.buffers
    node = buffers.node
    place_node(mechanics, buffers.given_rates, buffers)
    set_constraint_values(mechanics.constraints, node.poses, buffers.node_arms, buffers.node_q, buffers.values)
    set_custom_values(buffers.customs, buffers.node_arms, buffers.node_q, buffers.values)
    set_node_rows(mechanics, buffers)
    return 0


@kernel
def set_node_rows(mechanics, buffers):
    """Write Dh(q) into the first rows of ``node_border``."""
    tree, points, poses = mechanics.tree, mechanics.points, buffers.node.poses
    arms, rows = buffers.node_arms, buffers.node_border.rows
    set_constraint_rows(tree, mechanics.constraints, points, poses, arms, buffers.node_q, rows)
    set_custom_rows(tree, buffers.customs, points, poses, arms, buffers.node_q, rows)
