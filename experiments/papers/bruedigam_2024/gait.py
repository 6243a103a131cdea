"""A trot of five numbers, held by springs and dampers in the joints: the controller of figure 13's quadruped."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from biped import Controller, Model
from controllers.kernels.joint_pd import PdLaw
from experiments.papers.bruedigam_2024.kernels import TrotLaw
from experiments.papers.bruedigam_2024.quadruped import LEGS

#: Gains of hips, thighs and calves [N·m/rad, N·m·s/rad].
STIFFNESS, DAMPING = (100.0, 80.0, 60.0), (5.0, 4.0, 3.0)
#: [Hz] for each unit of the gait's first parameter.
PACE = 10.0


class Gait(NamedTuple):
    """The parameters that are learned, in the authors' program's order."""

    pace: float  # frequency over 10 Hz
    thigh_swing: float  # [rad] amplitude
    thigh: float  # [rad] about which it swings
    calf_swing: float  # [rad]
    calf: float  # [rad]


@dataclass(frozen=True)
class Trot(Controller):
    """Diagonal legs swing together, the two pairs half a period apart; calves are a quarter behind their thighs.

    Attributes:
        gait: the parameters.
        period: [s] between two ticks.
    """

    gait: Gait
    period: float = 1e-3

    def law(self, model: Model) -> TrotLaw:
        """Return the gait as the kernel takes it."""
        kp, kd, centre, swing, phase = np.zeros((5, model.nv))
        for leg, (front, left) in LEGS.items():
            half = 0.0 if front != left else math.pi
            parts = (
                ("hip", 0.0, 0.0, 0.0),
                ("thigh", self.gait.thigh, self.gait.thigh_swing, half),
                ("calf", self.gait.calf, self.gait.calf_swing, half - 0.5 * math.pi),
            )
            for (part, *target), *gains in zip(parts, STIFFNESS, DAMPING, strict=True):
                dof = model.dof(f"{leg}_{part}")
                kp[dof], kd[dof] = gains
                centre[dof], swing[dof], phase[dof] = target
        pd = PdLaw(kp, kd, target=np.zeros(model.nv), limit=np.full(model.nv, np.inf))
        return TrotLaw(pd, centre, swing, phase, 2.0 * math.pi * PACE * self.gait.pace)
