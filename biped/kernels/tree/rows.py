"""Positions, momenta and Jacobians of many configurations, for evaluations of whole trajectories."""

from biped.kernels.tree.dynamics import centre_of_mass, momentum_about_reference, set_tree_data
from biped.kernels.tree.kinematics import place_bodies
from contact.vectors import add, cross, load3, load6, store3, sub
from kernelcache import kernel, routine


@routine
def place_rows(tree, q, poses, com, contact):
    """Set centres of mass (rows, 3) [m] and contact points (rows, nc, 3) of (rows, nq), each relative to its O."""
    for row in range(q.shape[0]):
        place_bodies(tree, q[row], poses)
        store3(com, row, centre_of_mass(tree, poses))
        for c in range(contact.shape[1]):
            store3(contact[row], c, load3(poses.contact, c))


@routine
def differentiate_rows(tree, q, share, poses, com, contact):
    """Set the Jacobians of centres of mass (rows, 3, nv) and contact points (rows, nc, 3, nv), by the unit twists.

    ``share`` (n,) holds the bodies' shares of the total mass. The result arrays must be zero before the call.
    """
    for row in range(q.shape[0]):
        place_bodies(tree, q[row], poses)
        for i in range(share.shape[0]):
            add_point_jacobian(tree, poses, i, load3(poses.com, i), share[i], com[row])
        for c in range(contact.shape[1]):
            add_point_jacobian(tree, poses, tree.contact_body[c], load3(poses.contact, c), 1.0, contact[row, c])


@kernel
def add_point_jacobian(tree, poses, i, arm, factor, jacobian):
    """Add ``factor`` times the (3, nv) Jacobian of the point of body i at ``arm``, by the joints that carry it."""
    j = i
    while j >= 0:
        for dof in range(tree.first_v[j], tree.first_v[j] + tree.dofs[j]):
            s = load6(poses.motion, dof)
            linear = add(s[:3], cross(s[3:], arm))
            for axis in range(3):
                jacobian[axis, dof] += factor * linear[axis]
        j = tree.parent[j]


@routine
def fill_totals(tree, q, rates, data, momenta, coms):
    """Set momenta about the centre of mass (rows, 6), and that centre relative to O, of (rows, nq) and (rows, nv)."""
    for k in range(q.shape[0]):
        set_tree_data(tree, q[k], rates[k], data)
        linear, angular = momentum_about_reference(tree, data)
        com = centre_of_mass(tree, data.poses)
        spin = sub(angular, cross(com, linear))
        for axis in range(3):
            momenta[k, axis] = linear[axis]
            momenta[k, 3 + axis] = spin[axis]
            coms[k, axis] = com[axis]
