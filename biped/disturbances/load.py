"""A load on a body."""

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from biped.disturbances.disturbance import BODY_AXES, Disturbance, ParameterGroup
from biped.inputs.checks import above_zero, numbers
from biped.inputs.fields import quantity
from biped.model import Model, box_inertia
from biped.model.geometry import Vector3


@dataclass(frozen=True)
class Load(Disturbance, ParameterGroup):
    """A solid box, fixed to a body and unknown to the controller; with negative mass it makes the body lighter.

    Raises:
        InputError: the mass or the position is not finite, or an edge is not above zero.
    """

    body: str = quantity("", "Body that carries the load")
    mass: float = quantity("kg", "Mass of a load unknown to the controller; 0: no load; negative: lighter body")
    position: Vector3 = quantity("m", f"Load centre, from the body's centre of mass, {BODY_AXES}", (0.0, 0.0, 0.0))
    size: Vector3 | None = quantity("m", "Edge lengths of the load; default: a cube with the density of water", None)

    words: ClassVar[str] = "a load of {mass:g} kg on the {body}"
    switches: ClassVar[tuple[str, ...]] = ("mass",)

    def __post_init__(self) -> None:
        numbers((self.mass,), 1, "load.mass")
        numbers(self.position, 3, "load.position")
        for edge in () if self.size is None else numbers(self.size, 3, "load.size"):
            above_zero(edge, "load.size: each edge")

    @classmethod
    def usual(cls, model: Model) -> Self:
        """Return the default load, without mass, behind the root."""
        return cls(model.root.name, 0.0, (0.2, 0.0, 0.1))

    @property
    def edges(self) -> Vector3:
        """Edge lengths (3,) [m] of the load."""
        edge = (abs(self.mass) / 1000.0) ** (1.0 / 3.0)
        return (edge, edge, edge) if self.size is None else self.size

    def on(self, model: Model) -> Model:
        """Return a model with the load attached.

        Raises:
            ModelError: the model has no such body, or a negative mass is more than that of the body.
        """
        inertia = np.copysign(1.0, self.mass) * np.array(box_inertia(abs(self.mass), self.edges))
        return model.with_load(self.body, self.mass, self.position, inertia)
