"""The trot of figure 13's quadruped, compiled."""

import math
from typing import NamedTuple

from contact.arrays import Floats
from controllers import control
from controllers.kernels.joint_pd import PdLaw, pd_torque


class TrotLaw(NamedTuple):
    """Targets are centre + swing cos(ω t + phase); one entry for each degree of freedom."""

    pd: PdLaw
    centre: Floats  # (nv,) [rad]
    swing: Floats  # (nv,) [rad]
    phase: Floats  # (nv,) [rad]
    frequency: float  # ω [rad/s]


@control.register(TrotLaw)
def trot(law, measurement, torque, recorded):
    """τ = −k_p (θ − θ_d(t)) − k_d θ̇; the target's own rate is left out, as in the program."""
    tree = measurement.tree
    for i in range(tree.parent.shape[0]):
        if tree.dofs[i] == 1:
            dof = tree.first_v[i]
            angle = law.frequency * measurement.time[0] + law.phase[dof]
            law.pd.target[dof] = law.centre[dof] + law.swing[dof] * math.cos(angle)
            torque[dof] = pd_torque(law.pd, measurement, tree.first_q[i], dof)
