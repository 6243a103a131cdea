"""A load on a body."""

from dataclasses import dataclass

import numpy as np

from biped.checks import above_zero, numbers
from biped.model import Model, box_inertia
from biped.model.geometry import Vector3


@dataclass(frozen=True)
class Load:
    """A solid box that is fixed to a body from the start of the run, and of which the controller knows nothing.

    Attributes:
        body: name of the body.
        mass: [kg].
        position: (3,) [m] of its centre from the body's centre of mass, home axes.
        size: (3,) [m] edges; a cube as dense as water if not given.

    Raises:
        InputError: the mass or an edge is not above zero.
    """

    body: str
    mass: float
    position: Vector3 = (0.0, 0.0, 0.0)
    size: Vector3 | None = None

    def __post_init__(self) -> None:
        above_zero(self.mass, "load.mass")
        numbers(self.position, 3, "load.position")
        for edge in numbers(self.edges, 3, "load.size"):
            above_zero(edge, "load.size: each edge")

    @property
    def edges(self) -> Vector3:
        """(3,) [m]."""
        edge = (self.mass / 1000.0) ** (1.0 / 3.0)
        return (edge, edge, edge) if self.size is None else self.size

    def on(self, model: Model) -> Model:
        """The model that carries it.

        Raises:
            ModelError: it has no such body.
        """
        inertia = np.array(box_inertia(self.mass, self.edges))
        return model.with_load(self.body, self.mass, self.position, inertia)
