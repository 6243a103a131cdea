"""A kick: a force on all bodies that changes their velocities equally."""

from dataclasses import dataclass
from typing import ClassVar

from biped.disturbances.disturbance import Disturbance, ParameterGroup, azimuth_field, heading
from biped.disturbances.push import Push
from biped.inputs.checks import above_zero, numbers
from biped.inputs.fields import quantity
from biped.model import Model


@dataclass(frozen=True)
class Kick(Disturbance, ParameterGroup):
    """A push on each body, except loads, in proportion to its mass, so that all velocities change equally.

    Raises:
        InputError: the duration is not above zero, or a number is not finite.
    """

    velocity: float = quantity("m/s", "Velocity change of all bodies; 0: no kick; negative: opposite direction", 0.0)
    azimuth: float = azimuth_field()
    start: float = quantity("s", "Start of the kick", 0.5)
    duration: float = quantity("s", "Duration of the kick", 0.02)

    acts_as: ClassVar[str] = "a kick"
    words: ClassVar[str] = "a kick of {velocity:g} m/s at {start:g} s"
    switches: ClassVar[tuple[str, ...]] = ("velocity",)

    def __post_init__(self) -> None:
        above_zero(self.duration, "kick.duration")
        numbers((self.velocity, self.azimuth, self.start), 3, "kick: (velocity, azimuth, start)")

    @property
    def begins(self) -> float:
        """Start time [s]."""
        return self.start

    def forces(self, model: Model) -> tuple[Push, ...]:
        """Return the pushes at the centres of mass of all bodies."""
        direction = heading(self.azimuth, model.facing)
        each = ((body.name, body.mass * self.velocity) for body in model.bodies if body.mass > 0.0)
        return tuple(Push(name, direction, impulse, self.start, self.duration) for name, impulse in each)
