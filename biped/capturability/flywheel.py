"""A trunk that turns about the hips as a flywheel of bounded torque and angle, which adds to a pendulum's capture.

A torque τ between flywheel and leg does to the floor's force what a centre of pressure farther by τ/(m g) would:
ξ̇ = ω (ξ − p − τ/(m g)) (Pratt et al. 2006; Stephens 2007). The mean of that over ω e^{−ωt} is greatest where all torque
comes first: +τ until T, then the other side's −τ' until T + T', with T' = T τ/τ'. Then the flywheel stands, having
turned by the angle θ = τ T² (1 + τ/τ')/(2 I) that it may. It reaches beyond the support by

    (τ (1 − e^{−ωT}) − τ' (e^{−ωT} − e^{−ω(T + T')}))/(m g),

which is τ/(m g) (1 − e^{−ωT})² of equal torques (Koolen et al. 2012). That it turns back later, slowly,
costs as little as one likes.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from biped.capturability.pendulum import Pendulum
from contact.arrays import Floats


@dataclass(frozen=True)
class Flywheel:
    """One axis of it.

    Attributes:
        inertia: [kg·m²].
        torques: [N·m] greatest, towards the axis's positive and negative side.
        angles: [rad] from where it is to where it must stop, the same.
    """

    inertia: float
    torques: tuple[float, float]
    angles: tuple[float, float]

    def reach(self, pendulum: Pendulum, side: int) -> float:
        """[m] How much farther the mean of the centre of pressure gets, towards side 0 or 1."""
        push, brake, rate = self.torques[side], self.torques[1 - side], pendulum.rate
        switch = math.sqrt(2.0 * self.inertia * self.angles[side] / (push * (1.0 + push / brake)))
        turning = math.exp(-rate * switch)
        stopped = math.exp(-rate * switch * (1.0 + push / brake))
        return (push * (1.0 - turning) - brake * (turning - stopped)) / pendulum.weight


def widened(corners: Floats, flywheels: Sequence[Flywheel], pendulum: Pendulum) -> Floats:
    """(4 k, 2) [m] The support with what two flywheels add along its two axes, each on its own: Minkowski's sum."""
    ends = [(wheel.reach(pendulum, 0), -wheel.reach(pendulum, 1)) for wheel in flywheels]
    box = np.array([(x, y) for x in ends[0] for y in ends[1]])
    return np.asarray((corners[:, None, :] + box).reshape(-1, 2))
