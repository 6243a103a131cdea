"""Channel of the ankles."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from biped.disturbances.sensors.channel import Channel, Entry
from biped.disturbances.sensors.row import Row
from biped.inputs.fields import quantity
from biped.model.legs import legs_of


@dataclass(frozen=True)
class AnkleChannel(Channel):
    """Imperfections of the joints below the knees, in addition to those of all joints: neuropathy, tendon vibration."""

    shares_delay: ClassVar[bool] = False

    delay: float = quantity("s", "Delay of the ankles, added to that of all joints", 0.0)
    joint_noise: float = quantity("rad", "Noise of the ankle angles, added to that of all joints", 0.0)
    joint_rate_noise: float = quantity("rad/s", "Noise of the ankle rates, added to that of all joints", 0.0)
    joint_threshold: float = quantity("rad", "Dead zone of the ankles' turn, added to that of all joints", 0.0)
    joint_rate_threshold: float = quantity("rad/s", "Dead zone of the ankle rates, added to that of all joints", 0.0)

    def entries(self, row: Row) -> Iterator[Entry]:
        """Yield angles and rates of the joints below the knees."""
        legs = (leg.joints[leg.joints.index(leg.sagittal[-1]) :] for leg in legs_of(row.model) if leg.sagittal)
        angles, rates = row.of_joints(joint for joints in legs for joint in joints)
        yield angles, self.joint_noise, self.joint_threshold
        yield rates, self.joint_rate_noise, self.joint_rate_threshold
