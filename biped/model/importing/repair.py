"""Repair of impossible rigid bodies: without mass, or with an inertia that no distribution of mass has."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from biped.model.errors import ModelError
from biped.model.inertia import checked_inertia
from contact.arrays import Floats

#: [kg] Mass given to a link without mass.
LEAST_MASS = 1e-3
#: [kg/m³] Density of steel; the smallest inertia of a link is that of a steel ball of its mass.
DENSITY = 7850.0


class Inertia(NamedTuple):
    """Mass [kg], centre of mass [m] and inertia about it (3, 3) [kg m²], in home axes."""

    mass: float
    com: Floats
    tensor: Floats


def why_not(inertia: Inertia) -> str | None:
    """Return the reason why no solid body has this inertia, as a clause, or None if it is possible."""
    if inertia.mass == 0.0:
        return "has no mass"
    try:
        checked_inertia(inertia.tensor, "inertia", solid=True)
    except ModelError as error:
        return f"cannot be a rigid body: its {error}"
    return None


def is_thin(inertia: Inertia) -> bool:
    """Return True if a body can have this inertia, provided that its joint also moves other mass."""
    if inertia.mass == 0.0:
        return not inertia.tensor.any()
    try:
        checked_inertia(inertia.tensor, "inertia")
    except ModelError:
        return False
    return True


#: Remedies for impossible bodies, for messages.
WAYS_OUT = (
    "load with repair='merge' to weld the body to its parent, or with repair='inertia' to give it the least inertia "
    "that a body can have"
)


def refuse(name: str, why: str) -> ModelError:
    """Return the error with the remedies."""
    return ModelError(f"body {name!r} {why}; {WAYS_OUT}")


def least(inertia: Inertia) -> Inertia:
    """Return the nearest inertia that a rigid body can have.

    The second moments of mass (those of the distribution, Σ m x xᵀ) are kept, but raised at least to those of a steel
    ball of the same mass. A link without mass gets 1 g.
    """
    mass = inertia.mass if inertia.mass > 0.0 else LEAST_MASS
    radius = (3.0 * mass / (4.0 * np.pi * DENSITY)) ** (1.0 / 3.0)
    floor = 0.2 * mass * radius * radius
    symmetric = 0.5 * (inertia.tensor + inertia.tensor.T)
    moments, axes = np.linalg.eigh(0.5 * np.trace(symmetric) * np.eye(3) - symmetric)
    raised = np.maximum(moments, floor)
    second = (axes * raised) @ axes.T
    tensor = np.trace(second) * np.eye(3) - second
    return Inertia(mass, inertia.com, 0.5 * (tensor + tensor.T))


def notes_on_repairs(merged: Mapping[str, str], mended: Mapping[str, str]) -> list[str]:
    """Return a note for each kind of repair, with the reasons by body."""
    notes = []
    if merged:
        notes.append(f"bodies welded to their parents, by locking their joints: {_reasons(merged)}")
    if mended:
        notes.append(f"bodies given the least inertia that they can have: {_reasons(mended)}")
    return notes


def _reasons(bodies: Mapping[str, str]) -> str:
    return "; ".join(f"{name} {why}" for name, why in bodies.items())
