"""Proprioceptive channel."""

from collections.abc import Iterator
from dataclasses import dataclass

from biped.disturbances.sensors.channel import Channel, Entry
from biped.disturbances.sensors.row import Row
from biped.inputs.fields import quantity


@dataclass(frozen=True)
class ProprioceptiveChannel(Channel):
    """Angles and rates of the joints; those of the ankles count against the floor that the feet stand on."""

    joint_noise: float = quantity("rad", "Noise of the joint angles", 0.0)
    joint_rate_noise: float = quantity("rad/s", "Noise of the joint rates", 0.0)
    joint_threshold: float = quantity("rad", "Dead zone of the joints' turn from the start", 0.0)
    joint_rate_threshold: float = quantity("rad/s", "Dead zone of the joint rates", 0.0)

    def entries(self, row: Row) -> Iterator[Entry]:
        """Yield angles and rates."""
        yield row.angles, self.joint_noise, self.joint_threshold
        yield row.rates, self.joint_rate_noise, self.joint_rate_threshold
