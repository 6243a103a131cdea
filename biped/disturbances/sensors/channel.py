"""Sensory channels: each shows some of the numbers that a controller reads."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from biped.disturbances.sensors.row import Row
from biped.inputs.fields import quantity
from contact.arrays import Integers

#: Places in a row, standard deviation of their noise, threshold.
Entry = tuple[Integers, float, float]


@dataclass(frozen=True)
class Channel:
    """Base of sensory channels: a frozen dataclass, of numbers from zero on."""

    delay: float = quantity("s", "Delay of the channel, added to sensors.delay", 0.0)
    time_constant: float = quantity("s", "Time constant of the noise; 0: white noise", 0.0)
    relative_noise: float = quantity("", "Noise / distance from the start", 0.0)

    #: Whether ``Sensors.delay`` is added to the delay.
    shares_delay: ClassVar[bool] = True

    def entries(self, row: Row) -> Iterator[Entry]:
        """Yield places, noise and threshold of each quantity; numbers of channels that share a place add up."""
        raise NotImplementedError
