"""Visual channel."""

from collections.abc import Iterator
from dataclasses import dataclass

from biped.disturbances.sensors.channel import Channel, Entry
from biped.disturbances.sensors.row import Row
from biped.inputs.fields import quantity


@dataclass(frozen=True)
class VisualChannel(Channel):
    """Position and velocity of a floating root, along each axis."""

    position_noise: float = quantity("m", "Noise of the root's position", 0.0)
    velocity_noise: float = quantity("m/s", "Noise of the root's velocity", 0.0)
    position_threshold: float = quantity("m", "Dead zone of the root's displacement from the start", 0.0)
    velocity_threshold: float = quantity("m/s", "Dead zone of the root's velocity", 0.0)

    def entries(self, row: Row) -> Iterator[Entry]:
        """Yield position and velocity."""
        yield row.position, self.position_noise, self.position_threshold
        yield row.velocity, self.velocity_noise, self.velocity_threshold
