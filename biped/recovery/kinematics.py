"""Centre of mass and contact points of a model along a trajectory, with their Jacobians."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from biped.kernels.tree.kinematics import new_poses
from biped.kernels.tree.rows import differentiate_rows, place_rows
from biped.model import Model
from contact.arrays import Floats


@dataclass(frozen=True, eq=False)
class Places:
    """Where a model with a floating root is at each of N ticks, in world axes.

    Attributes:
        com: (N, 3) [m] centre of mass of all.
        contact: (N, nc, 3) [m] contact points.
        com_jacobian: (N, 3, nv) ∂com by the unit twists of the configuration; empty if not asked for.
        contact_jacobian: (N, nc, 3, nv) the same of the points.
    """

    com: Floats
    contact: Floats
    com_jacobian: Floats
    contact_jacobian: Floats


def places_of(model: Model, q: Floats, *, jacobians: bool = True) -> Places:
    """Centre of mass and contact points in configurations (N, nq), and how they move with these."""
    tree, poses = model.tree, new_poses(model.n, model.nv, model.nc)
    q = np.ascontiguousarray(q)
    com, contact = np.empty((len(q), 3)), np.empty((len(q), model.nc, 3))
    place_rows(tree, q, poses, com, contact)
    count, root = len(q) if jacobians else 0, q[:, :3]
    by_com, by_contact = np.zeros((count, 3, model.nv)), np.zeros((count, model.nc, 3, model.nv))
    differentiate_rows(tree, q[:count], tree.mass / tree.mass.sum(), poses, by_com, by_contact)
    return Places(root + com, root[:, None] + contact, by_com, by_contact)
