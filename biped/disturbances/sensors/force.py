"""Force channel."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from biped.disturbances.sensors.channel import Channel, Entry
from biped.disturbances.sensors.row import Row
from biped.inputs.fields import quantity


@dataclass(frozen=True)
class ForceChannel(Channel):
    """Forces of the floor on contact points that touch it, along each axis, and contacts; distances count from zero."""

    shares_delay: ClassVar[bool] = False

    delay: float = quantity("s", "Delay of the channel; sensors.delay is not added", 0.0)
    noise: float = quantity("N", "Noise of the floor's forces", 0.0)
    threshold: float = quantity("N", "Dead zone of the floor's forces", 0.0)

    def entries(self, row: Row) -> Iterator[Entry]:
        """Yield forces and contacts; only forces have noise."""
        yield row.contacts, self.noise, self.threshold
