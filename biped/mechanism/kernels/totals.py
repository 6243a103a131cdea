"""Momenta and centre of mass of a whole tree, for each row of a recorded motion."""

from biped.kernels.tree.dynamics import centre_of_mass, momentum_about_reference, set_tree_data
from contact.jit import routine
from contact.vectors import cross, sub


@routine
def fill_totals(tree, q, rates, data, momenta, coms):
    """From configurations and rates (rows, n): linear and angular momentum about the centre of mass, and that."""
    for k in range(q.shape[0]):
        set_tree_data(tree, q[k], rates[k], data)
        linear, angular = momentum_about_reference(tree, data)
        com = centre_of_mass(tree, data.poses)
        spin = sub(angular, cross(com, linear))
        for axis in range(3):
            momenta[k, axis] = linear[axis]
            momenta[k, 3 + axis] = spin[axis]
            coms[k, axis] = com[axis]
