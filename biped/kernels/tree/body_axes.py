"""Velocities in the axes of the bodies, as other implementations have them, from those in the world's."""

from biped.kernels.tree.tree import REVOLUTE
from contact.vectors import load3, load4, mat_t_vec, mat_vec, quat_about, quat_matrix, quat_mul, store4
from kernelcache import routine


@routine
def turn_velocity(tree, q, velocity, into_bodies, quaternion, result):
    """A velocity (nv,) whose floating and spherical parts are turned into the axes of their bodies, or out of them.

    Args:
        tree: of which.
        q: (nq,) configuration.
        velocity: (nv,) in world axes for ``into_bodies``, else in those of the bodies.
        into_bodies: 1 or 0.
        quaternion: (n, 4) room: the bodies' orientations.
        result: (nv,).
    """
    for i in range(tree.parent.shape[0]):
        parent, start, dof = tree.parent[i], tree.first_q[i], tree.first_v[i]
        turn = (1.0, 0.0, 0.0, 0.0)
        if tree.kind[i] == REVOLUTE:
            turn = quat_about(load3(tree.axis, i), q[start])
        elif tree.dofs[i] > 1:
            last = start + tree.dofs[i] - 3
            turn = (q[last], q[last + 1], q[last + 2], q[last + 3])
        if parent >= 0:
            turn = quat_mul(load4(quaternion, parent), turn)
        store4(quaternion, i, turn)
        if tree.dofs[i] == 1:
            result[dof] = velocity[dof]
        else:
            R = quat_matrix(turn)
            for first in range(dof, dof + tree.dofs[i], 3):
                part = (velocity[first], velocity[first + 1], velocity[first + 2])
                turned = mat_t_vec(R, part) if into_bodies == 1 else mat_vec(R, part)
                result[first], result[first + 1], result[first + 2] = turned
