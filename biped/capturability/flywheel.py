"""The trunk as a flywheel about the hips, of bounded torque and angle, which extends the pendulum's capture region.

A torque τ between flywheel and leg acts like a shift of the centre of pressure by τ/(m g): ξ̇ = ω (ξ − p − τ/(m g))
(Pratt et al. 2006; Stephens 2007). Its mean with the weight ω e^{−ωt} is greatest if all torque comes first: +τ until
T, then −τ', the limit of the other side, until T + T', with T' = T τ/τ'. Then the flywheel is at rest after a turn by
the allowed angle θ = τ T² (1 + τ/τ')/(2 I). It reaches beyond the support by

    (τ (1 − e^{−ωT}) − τ' (e^{−ωT} − e^{−ω(T + T')}))/(m g),

which is τ/(m g) (1 − e^{−ωT})² for equal torques (Koolen et al. 2012). A slow return later costs arbitrarily little.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from biped.capturability.pendulum import Pendulum
from contact.arrays import Floats


@dataclass(frozen=True)
class Flywheel:
    """One axis of a flywheel.

    Attributes:
        inertia: [kg·m²] moment of inertia about the axis.
        torques: [N·m] limits in the positive and the negative direction.
        angles: [rad] ranges to the stops in the positive and the negative direction.
    """

    inertia: float
    torques: tuple[float, float]
    angles: tuple[float, float]

    def reach(self, pendulum: Pendulum, side: int) -> float:
        """Return the shift [m] of the mean centre of pressure in the positive (0) or negative (1) direction."""
        push, brake, rate = self.torques[side], self.torques[1 - side], pendulum.rate
        switch = math.sqrt(2.0 * self.inertia * self.angles[side] / (push * (1.0 + push / brake)))
        turning = math.exp(-rate * switch)
        stopped = math.exp(-rate * switch * (1.0 + push / brake))
        return (push * (1.0 - turning) - brake * (turning - stopped)) / pendulum.weight


def widened(corners: Floats, flywheels: Sequence[Flywheel], pendulum: Pendulum) -> Floats:
    """Return (4 k, 2) [m] the support widened by independent flywheels along its two axes: a Minkowski sum."""
    ends = [(wheel.reach(pendulum, 0), -wheel.reach(pendulum, 1)) for wheel in flywheels]
    box = np.array([(x, y) for x in ends[0] for y in ends[1]])
    return np.asarray((corners[:, None, :] + box).reshape(-1, 2))
