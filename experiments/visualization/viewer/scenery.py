"""Loads on a model and objects around it, from a run's disturbances."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from biped.disturbances import Disturbance, described
from biped.model import Model
from biped.model.geometry import Vector3, vector3

#: [m] A model without contacts that hangs deeper than this below the origin has no visible floor.
BELOW = 0.01


@dataclass(frozen=True)
class LoadBox:
    """Load: a box fixed to a body."""

    body: int  # number of the body
    center: Vector3  # [m] from the centre of mass of the body with all its loads, home axes
    size: Vector3  # [m] edges


@dataclass(frozen=True)
class PatchArea:
    """Rectangle of the floor with its own friction, in the floor's frame."""

    x: tuple[float, float]  # [m] lower and upper end
    y: tuple[float, float]  # [m] lower and upper end
    mu: float  # coefficient of static friction


@dataclass(frozen=True)
class Scenery:
    """Objects that do not change during a run."""

    projectile_size: Vector3 | None = None  # [m] edges of a thrown box; None: no box
    loads: tuple[LoadBox, ...] = ()  # loads on bodies
    patches: tuple[PatchArea, ...] = ()  # patches of the floor
    moving_floor: bool = False  # whether the floor moves
    floor: bool = True  # whether the floor is visible


def scenery_of(model: Model, disturbances: Sequence[Disturbance | Mapping[str, Any]]) -> Scenery:
    """Return the scenery of a model with its loads; ``disturbances`` may be descriptions from a run."""
    descriptions = [d if isinstance(d, Mapping) else described(d) for d in disturbances]
    projectiles = [vector3(d["size"], "size") for d in descriptions if d["kind"] == "throw"]
    patches = tuple(
        PatchArea((d["x"][0], d["x"][1]), (d["y"][0], d["y"][1]), d["floor"]["mu_s"])
        for d in descriptions
        if d["kind"] == "patch"
    )
    loads = [d for d in descriptions if d["kind"] == "load"]
    moving = any(d["kind"] in ("platform", "swayreferenced") for d in descriptions)
    boxes = _load_boxes(model, loads)
    return Scenery(projectiles[0] if projectiles else None, boxes, patches, moving, not _hangs_below(model))


def _hangs_below(model: Model) -> bool:
    """Return whether a model hangs below the origin without contacts, where the floor would hide it."""
    return not model.nc and not model.is_floating and float(model.home_positions[:, 2].min()) < -BELOW


def _load_boxes(model: Model, loads: Sequence[Mapping[str, Any]]) -> tuple[LoadBox, ...]:
    """Return the loads' positions relative to their bodies' centres of mass.

    A load is given relative to its body's previous centre of mass, which it displaces by its share of the mass
    (``Model.with_load``). Loads are therefore taken off again, the last one first.
    """
    com = {body.name: np.zeros(3) for body in model.bodies}
    mass = {body.name: body.mass for body in model.bodies}
    boxes = []
    for load in reversed(loads):
        name, at = load["body"], np.asarray(load["position"], dtype=float)
        com[name] = com[name] - load["mass"] / mass[name] * at
        mass[name] -= load["mass"]
        edge = (load["mass"] / 1000.0) ** (1.0 / 3.0)
        size = (edge, edge, edge) if load["size"] is None else load["size"]
        center = vector3(com[name] + at, "centre of the load")
        boxes.append(LoadBox(model.body_index(name), center, vector3(size, "size of the load")))
    return tuple(reversed(boxes))
