"""A thrown box."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from biped.disturbances import disturbance as base
from biped.errors import InputError
from biped.inputs.checks import above_zero, numbers
from biped.inputs.fields import like, quantity
from biped.model.geometry import Vector3

#: Value of ``target`` for a box that may hit every body.
EVERYTHING = "all"


@dataclass(frozen=True)
class Throw(base.Disturbance):
    """A solid box that flies freely, collides with one body or with all bodies, and flies on.

    The collision impulse follows Mirtich (1996), with Coulomb friction, an energetic coefficient of restitution, the
    box's inertia, and the model's articulated inertia at the point of contact.

    Raises:
        InputError: the mass or an edge is not above zero, or a coefficient is out of range.
    """

    mass: float = quantity("kg", "Mass of the block")
    size: Vector3 = quantity("m", "Edges of the block; default: cube as large as 1.8 kg of water", repeats=True)
    position: Vector3 = quantity("m", "Centre of the block at the start, world axes")
    velocity: Vector3 = quantity("m/s", "Velocity of the block at the start, world axes")
    orientation: tuple[float, float, float, float] = quantity(
        "", "Orientation of the block at the start, quaternion, scalar first", (1.0, 0.0, 0.0, 0.0), parameter=False
    )
    angular_velocity: Vector3 = quantity(
        "rad/s", "Angular velocity of the block at the start, world axes", (0.0, 0.0, 0.0), parameter=False
    )
    restitution: float = quantity("", "Coefficient of restitution of the block, 0 to 1", 0.2)
    friction: float = quantity("", "Coefficient of friction of the block", 0.3)
    target: str = quantity("", "Body that the block can hit, at its first box or else capsules; all: any body", "trunk")

    def __post_init__(self) -> None:
        above_zero(self.mass, "throw.mass")
        for edge in numbers(self.size, 3, "throw.size"):
            above_zero(edge, "throw.size: each edge")
        for name in ("position", "velocity", "angular_velocity"):
            numbers(getattr(self, name), 3, f"throw.{name}")
        numbers(self.orientation, 4, "throw.orientation")
        if abs(float(np.linalg.norm(self.orientation)) - 1.0) > 1e-6:
            raise InputError(f"throw.orientation = {self.orientation!r}: it must be a unit quaternion, scalar first")
        if not 0.0 <= self.restitution <= 1.0:
            raise InputError(f"throw.restitution = {self.restitution!r}: it must be from 0 to 1")
        if not (np.isfinite(self.friction) and self.friction >= 0.0):
            raise InputError(f"throw.friction = {self.friction!r}: it must be zero or above")

    @classmethod
    def at(
        cls,
        point: Vector3,
        speed: float,
        direction: Vector3,
        *,
        mass: float,
        size: Vector3,
        flight: float = 0.1,
        gravity: float = 9.81,
        **options: Any,
    ) -> "Throw":
        """Return a box thrown so that its centre would reach ``point`` with ``speed`` along ``direction``.

        The box hits earlier, since its surface is half of its size in front of its centre.

        Args:
            point: (3,) [m] target point, world axes.
            speed: [m/s] speed on arrival.
            direction: (3,) direction of motion on arrival, world axes; its length does not matter.
            mass: [kg] mass of the box.
            size: (3,) [m] edge lengths.
            flight: [s] duration of the free flight, from the start of the run to the arrival.
            gravity: [m/s²] gravity, downwards.
            options: further fields of ``Throw``: orientation, restitution, friction, target.
        """
        above_zero(speed, "throw: speed")
        above_zero(flight, "throw: flight")
        way = np.asarray(numbers(direction, 3, "throw: direction"))
        if not way.any():
            raise InputError("throw: direction is zero: it must be the direction of flight on arrival")
        arriving = speed * way / np.linalg.norm(way)
        down = np.array([0.0, 0.0, -gravity])
        leaving = arriving - flight * down
        start = np.asarray(numbers(point, 3, "throw: point")) - flight * leaving - 0.5 * flight**2 * down
        (x, y, z), (vx, vy, vz) = start.tolist(), leaving.tolist()
        return cls(mass=mass, size=size, position=(x, y, z), velocity=(vx, vy, vz), **options)

    @classmethod
    def in_words(cls, record: base.Record, facing: Vector3) -> str:
        """Return a phrase with mass, direction and speed of the block."""
        where = base.direction_in_words((*record["velocity"][:2], 0.0), facing)
        return f"a block of {record['mass']:g} kg thrown {where} at {math.hypot(*record['velocity']):.3g} m/s"


#: [m] Edge of the thesis's block, whose size is not printed. Section 4.1 computes masses from volumes and the density
#: of water; a cube of this edge has 1.8 kg.
EDGE = 0.1216


@dataclass(frozen=True)
class BlockParameters(base.ParameterGroup):
    """Parameters of a block that is thrown at the root."""

    speed: float = quantity("m/s", "Speed of the block on arrival; 0: no block", 0.0)
    azimuth: float = base.azimuth_field()
    mass: float = like(Throw, "mass", 1.8)
    size: Vector3 = like(Throw, "size", (EDGE, EDGE, EDGE))
    point: Vector3 = quantity("m", "Target point from the {root}'s initial centre of mass, world axes", (0.0, 0.0, 0.0))
    target: str = like(Throw, "target", "{root}")
    flight: float = quantity("s", "Flight time t until arrival; the block starts g t²/2 below its target", 0.4)
    restitution: float = like(Throw, "restitution")
    friction: float = like(Throw, "friction")

    switches: ClassVar[tuple[str, ...]] = ("speed",)

    def disturbances(self, place: base.Place) -> tuple[Throw, ...]:
        """Return the block, or none if its speed is zero."""
        if self.speed == 0.0:
            return ()
        values = dict(vars(self))
        x, y, z = (float(c) for c in np.add(place.root, values.pop("point")))
        way = base.heading(values.pop("azimuth"), place.model.facing)
        return (Throw.at((x, y, z), values.pop("speed"), way, **values),)
