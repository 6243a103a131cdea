"""Channel of the ankles."""

from dataclasses import dataclass
from typing import ClassVar

from biped.disturbances.sensors.channel import ProprioceptiveChannel
from biped.disturbances.sensors.row import Row
from biped.inputs.fields import quantity
from biped.model.legs import legs_of
from contact.arrays import Integers


@dataclass(frozen=True)
class AnkleChannel(ProprioceptiveChannel):
    """Imperfections of the joints below the knees, added to those of all joints: neuropathy, vibration of tendons."""

    shares_delay: ClassVar[bool] = False

    delay: float = quantity("s", "Delay of the ankles, added to that of all joints", 0.0)

    def places(self, row: Row) -> tuple[Integers, Integers]:
        """Return the places of angles and rates of the joints below the knees."""
        legs = (leg.joints[leg.joints.index(leg.knee) + 1 :] for leg in legs_of(row.model) if leg.knee is not None)
        return row.of_joints(joint for joints in legs for joint in joints)
