"""Human sensory channels: each measures some components of the state. The human's root is the trunk."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from biped.disturbances.sensors.row import Row
from biped.inputs.fields import quantity
from biped.model.legs import legs_of
from contact.arrays import Integers

#: Indices in a row (``Row``), standard deviation of the noise, and threshold of one quantity.
Entry = tuple[Integers, float, float]


@dataclass(frozen=True)
class Channel:
    """Base class of sensory channels, which are frozen dataclasses of non-negative numbers."""

    delay: float = quantity("s", "Delay of the channel, in addition to sensors.delay", 0.0)
    time_constant: float = quantity("s", "Time constant of the channel's noise; 0: white noise", 0.0)
    relative_noise: float = quantity(
        "", "Signal-dependent noise: standard deviation per change of the signal since the start", 0.0
    )

    #: True if ``Sensors.delay`` is added to the channel's delay.
    shares_delay: ClassVar[bool] = True

    def entries(self, row: Row) -> Iterator[Entry]:
        """Yield an entry for each quantity; noise and threshold of channels with common indices add up."""
        raise NotImplementedError


@dataclass(frozen=True)
class VestibularChannel(Channel):
    """Vestibular channel: orientation and angular velocity of a floating root, about each world axis."""

    orientation_noise: float = quantity("rad", "Noise of root (trunk) orientation, standard deviation", 0.0)
    angular_velocity_noise: float = quantity("rad/s", "Noise of root (trunk) angular velocity, standard deviation", 0.0)
    orientation_threshold: float = quantity("rad", "Dead zone of root (trunk) rotation from initial orientation", 0.0)
    angular_velocity_threshold: float = quantity("rad/s", "Dead zone of root (trunk) angular velocity", 0.0)

    def entries(self, row: Row) -> Iterator[Entry]:
        """Yield orientation and angular velocity."""
        yield row.orientation, self.orientation_noise, self.orientation_threshold
        yield row.angular_velocity, self.angular_velocity_noise, self.angular_velocity_threshold


@dataclass(frozen=True)
class VisualChannel(Channel):
    """Visual channel: position and velocity of a floating root, along each world axis."""

    position_noise: float = quantity("m", "Noise of root (trunk) position, standard deviation", 0.0)
    velocity_noise: float = quantity("m/s", "Noise of root (trunk) velocity, standard deviation", 0.0)
    position_threshold: float = quantity("m", "Dead zone of root (trunk) displacement from initial position", 0.0)
    velocity_threshold: float = quantity("m/s", "Dead zone of root (trunk) velocity", 0.0)

    def entries(self, row: Row) -> Iterator[Entry]:
        """Yield position and velocity."""
        yield row.position, self.position_noise, self.position_threshold
        yield row.velocity, self.velocity_noise, self.velocity_threshold


@dataclass(frozen=True)
class ProprioceptiveChannel(Channel):
    """Proprioceptive channel: joint angles and rates; ankle angles are relative to the feet."""

    joint_noise: float = quantity("rad", "Noise of the joint angles (standard deviation)", 0.0)
    joint_rate_noise: float = quantity("rad/s", "Noise of the joint rates (standard deviation)", 0.0)
    joint_threshold: float = quantity("rad", "Dead zone of joint displacements from the initial posture", 0.0)
    joint_rate_threshold: float = quantity("rad/s", "Dead zone of the joint rates", 0.0)

    def entries(self, row: Row) -> Iterator[Entry]:
        """Yield angles and rates."""
        angles, rates = self.places(row)
        yield angles, self.joint_noise, self.joint_threshold
        yield rates, self.joint_rate_noise, self.joint_rate_threshold

    def places(self, row: Row) -> tuple[Integers, Integers]:
        """Return the indices of joint angles and rates in a row."""
        return row.angles, row.rates


@dataclass(frozen=True)
class AnkleChannel(ProprioceptiveChannel):
    """Additional noise, dead zone and delay of the joints below the knees, as by neuropathy or tendon vibration."""

    shares_delay: ClassVar[bool] = False

    delay: float = quantity("s", "Delay of the ankle signals, in addition to the delay of all joints", 0.0)

    def places(self, row: Row) -> tuple[Integers, Integers]:
        """Return the indices of angles and rates of the joints below the knees in a row."""
        legs = (leg.joints[leg.joints.index(leg.knee) + 1 :] for leg in legs_of(row.model) if leg.knee is not None)
        return row.of_joints(joint for joints in legs for joint in joints)


@dataclass(frozen=True)
class ForceChannel(Channel):
    """Force channel: components of the ground reaction force on each contact point, and its contact state."""

    shares_delay: ClassVar[bool] = False

    delay: float = quantity("s", "Total delay of the force channel (sensors.delay does not apply)", 0.0)
    noise: float = quantity("N", "Noise of the ground reaction force on each contact point (standard deviation)", 0.0)
    threshold: float = quantity("N", "Dead zone of the ground reaction force on each contact point", 0.0)

    def entries(self, row: Row) -> Iterator[Entry]:
        """Yield one entry for forces and contact states, of which only forces are noisy."""
        yield row.contacts, self.noise, self.threshold
