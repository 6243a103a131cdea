"""Vestibular channel."""

from collections.abc import Iterator
from dataclasses import dataclass

from biped.disturbances.sensors.channel import Channel, Entry
from biped.disturbances.sensors.row import Row
from biped.inputs.fields import quantity


@dataclass(frozen=True)
class VestibularChannel(Channel):
    """Orientation and angular velocity of a floating root, about each axis in space."""

    orientation_noise: float = quantity("rad", "Noise of the root's orientation", 0.0)
    angular_velocity_noise: float = quantity("rad/s", "Noise of the root's angular velocity", 0.0)
    orientation_threshold: float = quantity("rad", "Dead zone of the root's turn from the start", 0.0)
    angular_velocity_threshold: float = quantity("rad/s", "Dead zone of the root's angular velocity", 0.0)

    def entries(self, row: Row) -> Iterator[Entry]:
        """Yield orientation and angular velocity."""
        yield row.orientation, self.orientation_noise, self.orientation_threshold
        yield row.angular_velocity, self.angular_velocity_noise, self.angular_velocity_threshold
