"""What is asked about a mechanism at one configuration: momenta, rates, energies, constraints."""

from biped.kernels.mechanism.border import factor_border, row_times, solve_border
from biped.kernels.mechanism.constraints import set_constraint_rows, set_constraint_values
from biped.kernels.mechanism.points import place_points
from biped.kernels.mechanism.potentials import spring_energy
from biped.kernels.mechanism.step import DEPENDENT, SINGULAR
from biped.kernels.midpoint.elimination import eliminate_blocks
from biped.kernels.midpoint.equations import place_middle, set_midpoint_blocks
from biped.kernels.tree.kinematics import add6
from contact.jit import kernel, routine
from contact.vectors import copy1, dot, dot6, load3, load6, store6, triple

NOTHING = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@kernel
def place_node(mechanics, q, rates, room):
    """The tree at q with some rates; a step of no length, whose twists r and c are s."""
    node = room.node
    copy1(rates, node.moved)
    place_middle(mechanics.tree, q, 0.0, 1.0, node)
    place_points(mechanics.points, node.poses, room.node_arms)


@routine
def momentum_from_rates(mechanics, q, rates, room, momentum):
    """p = M(q) v, (n,)."""
    place_node(mechanics, q, rates, room)
    load_momenta(mechanics.tree, room.node, momentum)


@kernel
def load_momenta(tree, node, momentum):
    for i in range(tree.parent.shape[0]):
        store6(node.carried, i, load6(node.momentum, i))
    for i in range(tree.parent.shape[0] - 1, -1, -1):
        H = load6(node.carried, i)
        momentum[i] = dot6(load6(node.poses.motion, i), H) + tree.armature[i] * node.rates[i]
        parent = tree.parent[i]
        if parent >= 0:
            store6(node.carried, parent, add6(load6(node.carried, parent), H))


@kernel
def factor_mass(mechanics, q, room):
    """M(q) of what is not prescribed, bordered by the constraints; SINGULAR, DEPENDENT or 0.

    It is Newton's matrix of a step of unit length of a tree at rest, α = 0, without forces.
    """
    node, border = room.node, room.node_border
    for j in range(q.shape[0]):
        room.node_rates[j] = 0.0
    place_node(mechanics, q, room.node_rates, room)
    for i in range(q.shape[0]):
        store6(node.carried, i, NOTHING)
        store6(node.impulse, i, NOTHING)
        store6(node.right, i, load6(node.poses.motion, i))
        store6(node.left, i, load6(node.poses.motion, i))
    set_midpoint_blocks(mechanics.tree, 1.0, 0.0, node)
    if eliminate_blocks(mechanics.tree, node, 0.0, 1.0, node.diagonal, mechanics.prescribed) >= 0:
        return SINGULAR
    set_constraint_rows(mechanics.tree, mechanics.constraints, mechanics.points, node.poses, room.node_arms, border.rows)
    for c in range(border.rows.shape[0]):
        copy1(border.rows[c], border.columns[c])
    if factor_border(mechanics.tree, node, 0.0, border) >= 0:
        return DEPENDENT
    return 0


@routine
def rates_from_momentum(mechanics, q, momentum, given_rates, room):
    """v with M(q) v = p but for forces of the constraints, on which v is, into ``room.node_rates``; 0, or why not.

    ``given_rates`` (n,) has those of the prescribed coordinates, and zero for the others.
    """
    node, border = room.node, room.node_border
    momentum_from_rates(mechanics, q, given_rates, room, node.load)
    for j in range(q.shape[0]):
        node.residual[j] = momentum[j] - node.load[j]
    failed = factor_mass(mechanics, q, room)
    if failed != 0:
        return failed
    for c in range(border.load.shape[0]):
        border.load[c] = -row_times(border.rows, c, given_rates)
    solve_border(mechanics.tree, node, 0.0, border, node.residual, room.node_rates)
    for j in range(q.shape[0]):
        room.node_rates[j] += given_rates[j]
    return 0


@routine
def energies(mechanics, q, rates, room):
    """Kinetic and potential energy [J]."""
    place_node(mechanics, q, rates, room)
    node, tree = room.node, mechanics.tree
    kinetic = potential = 0.0
    for i in range(tree.parent.shape[0]):
        kinetic += 0.5 * dot6(load6(node.velocity, i), load6(node.momentum, i))
        kinetic += 0.5 * tree.armature[i] * rates[i] * rates[i]
        potential -= tree.mass[i] * dot(triple(tree.gravity), load3(node.poses.com, i))
    potential += spring_energy(
        mechanics.springs, mechanics.coordinate_springs, mechanics.weights, mechanics.points, room.node_arms, q
    )
    return kinetic, potential


@routine
def constraints_at(mechanics, q, room, values, rows):
    """h(q) (m,) and Dh(q) (m, n)."""
    for j in range(q.shape[0]):
        room.node_rates[j] = 0.0
    place_node(mechanics, q, room.node_rates, room)
    set_constraint_values(mechanics.constraints, mechanics.points, room.node.poses, room.node_arms, q, values)
    set_constraint_rows(mechanics.tree, mechanics.constraints, mechanics.points, room.node.poses, room.node_arms, rows)
