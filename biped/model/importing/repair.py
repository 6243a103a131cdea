"""Links that no rigid body is: without mass, or with an inertia that no distribution of mass has."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from biped.model.errors import ModelError
from biped.model.inertia import checked_inertia
from contact.arrays import Floats

#: [kg] of a link that has none.
LEAST_MASS = 1e-3
#: [kg/m³] Of steel: the smallest ball of a link's mass is made of it, and no inertia is less than the ball's.
DENSITY = 7850.0


class Inertia(NamedTuple):
    """Mass [kg], centre of mass [m] and (3, 3) inertia about it [kg m²], in home axes."""

    mass: float
    com: Floats
    tensor: Floats


def why_not(inertia: Inertia) -> str | None:
    """Why no solid body has it, as a clause, or None if one can."""
    if inertia.mass == 0.0:
        return "has no mass"
    try:
        checked_inertia(inertia.tensor, "inertia", solid=True)
    except ModelError as error:
        return f"cannot be a rigid body: its {error}"
    return None


def is_thin(inertia: Inertia) -> bool:
    """Whether a body may have it where what hangs on it, or its mass away from the joint, resists its joint."""
    if inertia.mass == 0.0:
        return not inertia.tensor.any()
    try:
        checked_inertia(inertia.tensor, "inertia")
    except ModelError:
        return False
    return True


#: What can be done for such bodies.
WAYS_OUT = (
    "load with repair='merge' to weld it to its parent, or with repair='inertia' to give it the least inertia that it "
    "can have"
)


def refuse(name: str, why: str) -> ModelError:
    """The error that names the ways out."""
    return ModelError(f"body {name!r} {why}; {WAYS_OUT}")


def least(inertia: Inertia) -> Inertia:
    """The inertia nearest to this one that a rigid body can have.

    The second moments of mass (those of the distribution, Σ m x xᵀ) are kept but for what is less than those of a
    ball of steel of the same mass, which they are raised to. A link without mass weighs 1 g.
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
    """A sentence for each way, if there are any; both by body, with why."""
    notes = []
    if merged:
        notes.append(f"bodies welded to their parents, with the joints that carry them: {_reasons(merged)}")
    if mended:
        notes.append(f"bodies given the least inertia that they can have: {_reasons(mended)}")
    return notes


def _reasons(bodies: Mapping[str, str]) -> str:
    return "; ".join(f"{name} {why}" for name, why in bodies.items())
