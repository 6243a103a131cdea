"""Tangent coordinates of states, and differences of configurations in tangent coordinates."""

import numpy as np

from biped.kernels.tree.dynamics import new_tree_data, set_tree_data
from biped.kernels.tree.kinematics import Poses
from biped.model import Model
from contact.arrays import Floats
from contact.vectors import quat_difference, quat_exp, quat_mul, rotation_vector

#: Units of a degree of freedom, its momentum and its torque, by True for a turn.
_UNITS = {True: ("rad", "N·m·s", "N·m"), False: ("m", "N·s", "N")}


def configuration_names(model: Model) -> tuple[list[str], list[str]]:
    """Return names and units of the displacements δq, one per velocity; turns are rotation vectors in world axes."""
    return _dof_names(model), [_UNITS[turns][0] for turns in _turns(model)]


def momentum_names(model: Model) -> tuple[list[str], list[str]]:
    """Return names and units of the generalized momenta."""
    return [f"p_{name}" for name in _dof_names(model)], [_UNITS[turns][1] for turns in _turns(model)]


def anchor_names(model: Model) -> tuple[list[str], list[str]]:
    """Return names and units of the anchors of contact points."""
    names = [f"anchor_{axis}_{point}" for point in model.contact_names for axis in "xy"]
    return names, ["m"] * len(names)


def torque_names(model: Model) -> tuple[list[str], list[str], list[int]]:
    """Return names, units and degrees of freedom of the torques that can be held on joints."""
    first = 6 if model.is_floating else 0
    turns = _turns(model)
    names = [f"torque_{name}" for name in _dof_names(model)[first:]]
    return names, [_UNITS[turns[dof]][2] for dof in range(first, model.nv)], list(range(first, model.nv))


def _dof_names(model: Model) -> list[str]:
    """Return one name per degree of freedom: its joint's name, with a world axis if the joint has several."""
    names: list[str] = []
    for body in model.bodies:
        whose = body.name if body.joint.kind == "floating" else body.joint.name
        several = {
            "floating": ["x", "y", "z", "turn_x", "turn_y", "turn_z"],
            "spherical": ["turn_x", "turn_y", "turn_z"],
        }
        names += [f"{whose}_{axis}" for axis in several[body.joint.kind]] if body.joint.kind in several else [whose]
    return names


def _turns(model: Model) -> list[bool]:
    turns: list[bool] = []
    for body in model.bodies:
        kind = body.joint.kind
        turns += {"floating": [False] * 3 + [True] * 3, "spherical": [True] * 3}.get(kind, [kind != "prismatic"])
    return turns


def displaced(model: Model, q: Floats, delta: Floats) -> Floats:
    """Return q ⊕ δ (nq,); turns of floating and spherical joints are rotation vectors in world axes."""
    new_q, poses = q.copy(), _parents(model, q)
    for i, a, j, straight, turns in _joints(model):
        new_q[a : a + straight] += delta[j : j + straight]
        if turns:
            at, dof = a + straight, j + straight
            phi = _parent_rotation(model, poses, i).T @ delta[dof : dof + 3]
            new_q[at : at + 4] = quat_mul(quat_exp(tuple(phi)), tuple(q[at : at + 4]))
    return new_q


def displacement(model: Model, q: Floats, to: Floats) -> Floats:
    """Return the displacement δ (nv,), in tangent coordinates, from a configuration ``q`` to ``to``: q ⊕ δ = ``to``."""
    delta, poses = np.zeros(model.nv), _parents(model, q)
    for i, a, j, straight, turns in _joints(model):
        delta[j : j + straight] = to[a : a + straight] - q[a : a + straight]
        if turns:
            at, dof = a + straight, j + straight
            turn = rotation_vector(quat_difference(tuple(to[at : at + 4]), tuple(q[at : at + 4])))
            delta[dof : dof + 3] = _parent_rotation(model, poses, i) @ np.array(turn)
    return delta


def _parents(model: Model, q: Floats) -> Poses | None:
    """Return the poses if a spherical joint has a parent body, whose rotation is needed; else None."""
    if not any(body.joint.kind == "spherical" and body.parent is not None for body in model.bodies):
        return None
    data = new_tree_data(model.n, model.nv, model.nc)
    set_tree_data(model.tree, q, np.zeros(model.nv), data)
    return data.poses


def _parent_rotation(model: Model, poses: Poses | None, i: int) -> Floats:
    parent = int(model.tree.parent[i])
    return np.eye(3) if parent < 0 or poses is None else poses.rotation[parent].reshape(3, 3)


def _joints(model: Model) -> list[tuple[int, int, int, int, bool]]:
    """Return, per joint: body, first coordinate, first degree of freedom, count of translations, True for 3D turns."""
    tree = model.tree
    joints = []
    for i, body in enumerate(model.bodies):
        straight = {"floating": 3, "spherical": 0}.get(body.joint.kind, 1)
        turns = body.joint.kind in ("floating", "spherical")
        joints.append((i, int(tree.first_q[i]), int(tree.first_v[i]), straight, turns))
    return joints
