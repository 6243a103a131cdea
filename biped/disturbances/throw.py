"""A thrown box."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from biped.errors import InputError
from biped.inputs.checks import above_zero, numbers
from biped.model.geometry import Vector3

#: The target of a box that may hit every body.
EVERYTHING = "all"


@dataclass(frozen=True)
class Throw:
    """A solid box that flies freely, collides with what it meets of one body, or of all, and flies on.

    The collision impulse follows Mirtich (1996): Coulomb friction and an energetic coefficient of
    restitution, from the box's inertia and the model's articulated inertia at the point of contact.

    Attributes:
        mass: [kg].
        size: (3,) [m] edges.
        position: (3,) [m] of its centre at time zero.
        velocity: (3,) [m/s].
        orientation: unit quaternion, scalar first.
        angular_velocity: (3,) [rad/s], world axes.
        restitution: 0 … 1.
        friction: coefficient of friction in the collision.
        target: name of the body that it may hit, in its first box, or in its capsules if it has no box; or "all": every
            box and capsule of the model.

    Raises:
        InputError: for a mass or an edge not above zero, or coefficients out of range.
    """

    mass: float
    size: Vector3
    position: Vector3
    velocity: Vector3
    orientation: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)
    angular_velocity: Vector3 = (0.0, 0.0, 0.0)
    restitution: float = 0.2
    friction: float = 0.3
    target: str = "trunk"

    def __post_init__(self) -> None:
        above_zero(self.mass, "throw.mass")
        for edge in numbers(self.size, 3, "throw.size"):
            above_zero(edge, "throw.size: each edge")
        for name in ("position", "velocity", "angular_velocity"):
            numbers(getattr(self, name), 3, f"throw.{name}")
        numbers(self.orientation, 4, "throw.orientation")
        if abs(float(np.linalg.norm(self.orientation)) - 1.0) > 1e-6:
            raise InputError(f"throw.orientation = {self.orientation!r}: it must be a unit quaternion")
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
        **others: Any,
    ) -> "Throw":
        """A box that would be at ``point`` with ``speed`` along ``direction`` after a ``flight`` without obstacles.

        Its surface arrives earlier than its centre by half of its size.

        Args:
            point: (3,) [m] where it is aimed at, in the world.
            speed: [m/s] when it arrives.
            direction: (3,) of its motion when it arrives; its length does not matter.
            mass: [kg].
            size: (3,) [m] edges.
            flight: [s] from the start of the run.
            gravity: [m/s²].
            others: of ``Throw``: orientation, restitution, friction, target.
        """
        above_zero(speed, "throw: speed")
        above_zero(flight, "throw: flight")
        way = np.asarray(numbers(direction, 3, "throw: direction"))
        if not way.any():
            raise InputError("throw: direction is zero: give the direction in which it flies")
        arriving = speed * way / np.linalg.norm(way)
        down = np.array([0.0, 0.0, -gravity])
        leaving = arriving - flight * down
        start = np.asarray(numbers(point, 3, "throw: point")) - flight * leaving - 0.5 * flight**2 * down
        (x, y, z), (vx, vy, vz) = start.tolist(), leaving.tolist()
        return cls(mass=mass, size=size, position=(x, y, z), velocity=(vx, vy, vz), **others)
