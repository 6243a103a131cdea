"""Single and double pendulums about the ankles that represent a body in a posture, without its feet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from biped.dynamics.whole_body import WholeBody
from biped.errors import InputError
from biped.identification.channels import GRAVITY
from biped.model.legs import Leg, legs_of
from contact.arrays import Floats

if TYPE_CHECKING:
    from biped.model import Model
    from biped.model.geometry import Vector3


def pendulum_of(model: Model, q: ArrayLike) -> dict[str, float]:
    """Return ``inertia`` [kg·m²] and ``toppling`` [N·m/rad] of the body above the ankles, rigid in posture q.

    ``toppling`` is the gravitational torque per angle, m g h, with h the height of the centre of mass above the ankles.

    Raises:
        InputError: the model does not have two legs.
    """
    feet = {leg.foot for leg in _legs(model)}
    ankles = _middle(model, q, [leg.foot for leg in _legs(model)])
    mass, com, inertia = _together(model, q, [body.name for body in model.bodies if body.name not in feet])
    arm = com - ankles
    return {"inertia": inertia + mass * float(arm @ arm), "toppling": GRAVITY * mass * float(arm[1])}


def heights_of(model: Model, q: ArrayLike) -> tuple[float, float]:
    """Return heights [m]: of the ankles above the lowest contact point, and of the body's CoM above the ankles.

    Raises:
        InputError: the model does not have two legs.
    """
    ankles = _middle(model, q, [leg.foot for leg in _legs(model)])
    placed = WholeBody(model, q)
    soles = min(float(placed.contact_position(name)[2]) for name in model.contact_names)
    return float(ankles[1]) - soles, pendulum_of(model, q)["toppling"] / (GRAVITY * model.total_mass)


def height_of(model: Model, q: ArrayLike, body: str, point: Vector3, *, above_hips: bool) -> tuple[bool, float]:
    """Return True if a point of a body is above the hips, and its height [m] above the ankles.

    If it is above the hips and ``above_hips`` is set, the height is measured from the hips. ``point`` [m] is given from
    the body's centre of mass.

    Raises:
        InputError: the model does not have two legs.
    """
    legs = _legs(model)
    tops = [model.bodies[model.joint_index(leg.sagittal[0])].name for leg in legs]
    on_trunk = not any(body in _subtree(model, top) for top in tops)
    joints = tops if above_hips and on_trunk else [leg.foot for leg in legs]
    return on_trunk, float(WholeBody(model, q).position(body, np.array(point))[2] - _middle(model, q, joints)[1])


def double_pendulum_of(model: Model, q: ArrayLike) -> dict[str, float]:
    """Return masses [kg], lengths [m] and inertias [kg·m²] for ``biped.identification.DoublePendulum``, by name.

    Raises:
        InputError: the model does not have two legs.
    """
    legs = _legs(model)
    tops = [model.bodies[model.joint_index(leg.sagittal[0])].name for leg in legs]
    below = {name for top in tops for name in _subtree(model, top)}
    feet = {leg.foot for leg in legs}
    ankles, hips = _middle(model, q, [leg.foot for leg in legs]), _middle(model, q, tops)
    leg_mass, leg_com, leg_inertia = _together(model, q, [name for name in below if name not in feet])
    mass, com, inertia = _together(model, q, [body.name for body in model.bodies if body.name not in below])
    return {
        "leg_mass": leg_mass, "leg_length": float(np.linalg.norm(hips - ankles)),
        "leg_com": float(np.linalg.norm(leg_com - ankles)), "leg_inertia": leg_inertia,
        "trunk_mass": mass, "trunk_com": float(np.linalg.norm(com - hips)), "trunk_inertia": inertia,
    }  # fmt: skip


def _legs(model: Model) -> tuple[Leg, ...]:
    legs = legs_of(model)
    if not legs or not all(leg.sagittal for leg in legs):
        raise InputError("a body without two legs with ankles does not give the model's parameters: set [model.set]")
    return legs


def _subtree(model: Model, top: str) -> set[str]:
    subtree = {top}
    for body in model.bodies:  # parents precede their children
        if body.parent in subtree:
            subtree.add(body.name)
    return subtree


def _middle(model: Model, q: ArrayLike, names: list[str]) -> Floats:
    """Return the mean position (2,) [m], forward and up, of the joints between bodies and their parents."""
    placed = WholeBody(model, q)
    bodies = [model.bodies[model.body_index(name)] for name in names]
    return _sagittal(model, np.mean([placed.position(body.name, -np.array(body.com)) for body in bodies], axis=0))


def _sagittal(model: Model, place: Floats) -> Floats:
    return np.array([float(np.dot(model.facing, place)), float(place[2])])


def _together(model: Model, q: ArrayLike, names: list[str]) -> tuple[float, Floats, float]:
    """Return mass [kg], centre of mass (2,) [m] and pitch inertia about it [kg·m²] of several bodies together."""
    placed, left = WholeBody(model, q), np.array(model.left)
    bodies = [model.bodies[model.body_index(name)] for name in names]
    places = np.array([_sagittal(model, placed.position(body.name)) for body in bodies])
    masses = np.array([body.mass for body in bodies])
    com = masses @ places / masses.sum()
    inertia = float(masses @ ((places - com) ** 2).sum(axis=1))
    for body in bodies:
        across = placed.orientation(body.name).T @ left
        inertia += float(across @ np.array(body.inertia) @ across)
    return float(masses.sum()), com, inertia
