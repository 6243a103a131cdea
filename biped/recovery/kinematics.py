"""Centre of mass and points of a model along a trajectory, with their Jacobians: all ticks at once, in NumPy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from biped.errors import InputError
from biped.kernels.tree.tree import FLOATING
from biped.model import Model
from contact.arrays import Floats


@dataclass(frozen=True, eq=False)
class Places:
    """Where a model is at each of N ticks, in world axes.

    Attributes:
        root: (N, 3) [m] centre of mass of the root.
        turn: (N, 3, 3) rotation of the root, body to world.
        com: (N, 3) [m] centre of mass of all.
        contact: (N, nc, 3) [m] contact points.
        com_jacobian: (N, 3, nv) ∂com by the unit twists of the configuration; empty if not asked for.
        contact_jacobian: (N, nc, 3, nv) the same of the points.
    """

    root: Floats
    turn: Floats
    com: Floats
    contact: Floats
    com_jacobian: Floats
    contact_jacobian: Floats


def places_of(model: Model, q: Floats, *, jacobians: bool = True) -> Places:
    """Places of root, centre of mass and contact points in configurations (N, nq), by Algorithm 3.1 of Wendlandt 1997.

    Args:
        model: whose root floats or not, and whose other joints are hinges.
        q: its configurations.
        jacobians: whether they are computed.

    Raises:
        InputError: a joint is neither the floating root nor a hinge.
    """
    tree, count = model.tree, len(q)
    n, nv = model.n, model.nv
    turn, centre = np.empty((n, count, 3, 3)), np.empty((n, count, 3))
    axis, joint = np.zeros((n, count, 3)), np.zeros((n, count, 3))
    for i in range(n):
        parent, a = int(tree.parent[i]), int(tree.first_q[i])
        if tree.kind[i] == FLOATING:
            turn[i], centre[i] = _matrices(q[:, a + 3 : a + 7]), q[:, a : a + 3]
            joint[i] = centre[i]
            continue
        if model.bodies[i].joint.kind != "revolute":
            raise InputError(f"joint {model.bodies[i].joint.name!r} is no hinge: recovery is of trees of hinges")
        base = np.broadcast_to(np.eye(3), (count, 3, 3)) if parent < 0 else turn[parent]
        from_centre = np.zeros((count, 3)) if parent < 0 else centre[parent]
        joint[i] = from_centre + base @ tree.joint_offset[i]
        turn[i] = base @ _about(tree.axis[i], q[:, a])
        axis[i] = turn[i] @ tree.axis[i]
        centre[i] = joint[i] + turn[i] @ tree.com_offset[i]
    mass = tree.mass / tree.mass.sum()
    com = np.einsum("i,ikx->kx", mass, centre)
    where = [int(body) for body in tree.contact_body]
    contact = np.empty((count, len(where), 3))
    for c, body in enumerate(where):
        contact[:, c] = centre[body] + turn[body] @ tree.contact_offset[c]
    if not jacobians:
        return Places(centre[0], turn[0], com, contact, np.zeros((0, 3, nv)), np.zeros((0, 0, 3, nv)))
    com_jacobian = _jacobian(model, axis, joint, centre, mass)
    contact_jacobian = np.zeros((count, len(where), 3, nv))
    for c, body in enumerate(where):
        _add_point(model, axis, joint, contact[:, c], body, contact_jacobian[:, c])
    return Places(centre[0], turn[0], com, contact, com_jacobian, contact_jacobian)


def _add_point(model: Model, axis: Floats, joint: Floats, point: Floats, body: int, jacobian: Floats) -> None:
    """The Jacobian (N, 3, nv) of one point of a body, by the joints that carry it."""
    tree, j = model.tree, body
    while j >= 0:
        dof = int(tree.first_v[j])
        if tree.kind[j] == FLOATING:
            jacobian[:, :, dof : dof + 3] = np.eye(3)
            jacobian[:, :, dof + 3 : dof + 6] = -hat(point - joint[j])
        else:
            jacobian[:, :, dof] = np.cross(axis[j], point - joint[j])
        j = int(tree.parent[j])


def _jacobian(model: Model, axis: Floats, joint: Floats, points: Floats, weight: Floats) -> Floats:
    """(N, 3, nv) of Σ weight_i (point of body i): Σ over the bodies outboard of each joint."""
    tree, count = model.tree, points.shape[1]
    beyond = weight.astype(float).copy()
    moment = weight[:, None, None] * points
    for i in range(model.n - 1, 0, -1):
        parent = int(tree.parent[i])
        if parent >= 0:
            beyond[parent] += beyond[i]
            moment[parent] += moment[i]
    found = np.zeros((count, 3, model.nv))
    for i in range(model.n):
        if beyond[i] == 0.0:
            continue
        dof = int(tree.first_v[i])
        if tree.kind[i] == FLOATING:
            found[:, :, dof : dof + 3] = beyond[i] * np.eye(3)
            found[:, :, dof + 3 : dof + 6] = -hat(moment[i] - beyond[i] * joint[i])
        else:
            found[:, :, dof] = np.cross(axis[i], moment[i] - beyond[i] * joint[i])
    return found


def hat(vectors: Floats) -> Floats:
    """(…, 3, 3) the matrices of a ×, for vectors a."""
    found = np.zeros((*vectors.shape, 3))
    x, y, z = vectors[..., 0], vectors[..., 1], vectors[..., 2]
    found[..., 0, 1], found[..., 0, 2], found[..., 1, 2] = -z, y, -x
    found[..., 1, 0], found[..., 2, 0], found[..., 2, 1] = z, -y, x
    return found


def _matrices(quaternion: Floats) -> Floats:
    """(N, 3, 3) of unit quaternions (N, 4)."""
    w, v = quaternion[:, 0, None, None], quaternion[:, 1:]
    cross = hat(v)
    turned: Floats = np.eye(3) + 2.0 * (w * cross + cross @ cross)
    return turned


def _about(axis: Floats, angle: Floats) -> Floats:
    """(N, 3, 3) turns about an axis."""
    cross = hat(np.asarray(axis))
    sine, cosine = np.sin(angle)[:, None, None], np.cos(angle)[:, None, None]
    turned: Floats = np.eye(3) + sine * cross + (1.0 - cosine) * (cross @ cross)
    return turned
