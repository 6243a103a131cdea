"""A load on a body."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from biped.disturbances.disturbance import Disturbance, ParameterGroup, Place, Record
from biped.errors import InputError
from biped.inputs.checks import above_zero, is_finite, numbers
from biped.inputs.fields import like, quantity
from biped.model import Model, box_inertia
from biped.model.geometry import Vector3


@dataclass(frozen=True)
class Load(Disturbance):
    """A solid box that is fixed to a body from the start of the run, and of which the controller knows nothing.

    Of a mass below zero it is missing from the body, which is lighter than the controller takes it to be.

    Raises:
        InputError: the mass is zero or not finite, or an edge is not above zero.
    """

    body: str = quantity("", "Body that carries it")
    mass: float = quantity("kg", "Mass of a load of which the controller knows nothing; 0: none; below: lighter")
    position: Vector3 = quantity("m", "Centre, from the body's centre of mass, home axes", (0.0, 0.0, 0.0))
    size: Vector3 | None = quantity("m", "Edges; by default those of a cube as dense as water", None)

    def __post_init__(self) -> None:
        if not is_finite(self.mass) or self.mass == 0.0:
            raise InputError(
                f"load.mass = {self.mass!r}: it must be a finite mass [kg] above zero, or below: so much lighter"
            )
        numbers(self.position, 3, "load.position")
        for edge in numbers(self.edges, 3, "load.size"):
            above_zero(edge, "load.size: each edge")

    @property
    def edges(self) -> Vector3:
        """Edge lengths (3,) [m] of the load's box."""
        edge = (abs(self.mass) / 1000.0) ** (1.0 / 3.0)
        return (edge, edge, edge) if self.size is None else self.size

    def on(self, model: Model) -> Model:
        """The model that carries it.

        Raises:
            ModelError: it has no such body, or one too light to lose as much.
        """
        inertia = np.copysign(1.0, self.mass) * np.array(box_inertia(abs(self.mass), self.edges))
        return model.with_load(self.body, self.mass, self.position, inertia)

    @staticmethod
    def in_words(record: Record, facing: Vector3) -> str:
        """Return mass and body."""
        return f"a load of {record['mass']:g} kg on the {record['body'].replace('_', ' ')}"


@dataclass(frozen=True)
class LoadParameters(ParameterGroup):
    """Parameters of a load."""

    mass: float = like(Load, "mass", 0.0)
    body: str = like(Load, "body", "{root}")
    position: Vector3 = like(Load, "position", (0.2, 0.0, 0.1))

    switches: ClassVar[tuple[str, ...]] = ("mass",)

    def disturbances(self, place: Place) -> tuple[Load, ...]:
        """Return the load, if it has a mass."""
        return (Load(self.body, self.mass, self.position),) if self.mass else ()
