"""A load on a body."""

from dataclasses import dataclass

import numpy as np

from biped.errors import InputError
from biped.inputs.checks import above_zero, is_finite, numbers
from biped.model import Model, box_inertia
from biped.model.geometry import Vector3


@dataclass(frozen=True)
class Load:
    """A solid box that is fixed to a body from the start of the run, and of which the controller knows nothing.

    Of a mass below zero it is missing from the body, which is lighter than the controller takes it to be.

    Attributes:
        body: name of the body.
        mass: [kg].
        position: (3,) [m] of its centre from the body's centre of mass, home axes.
        size: (3,) [m] edges; a cube as dense as water if not given.

    Raises:
        InputError: the mass is zero or not finite, or an edge is not above zero.
    """

    body: str
    mass: float
    position: Vector3 = (0.0, 0.0, 0.0)
    size: Vector3 | None = None

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
