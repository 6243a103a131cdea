"""The controller of ``posture_law.py``, compiled: ``biped push-map --controller examples/compiled_posture_law.py``."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from posture_law import Posture

from biped import Model
from controllers import control


class PostureLaw(NamedTuple):
    """Numbers of the kernel, one entry for each degree of freedom; entries of the root are zero."""

    kp: np.ndarray  # (nv,) [N·m/rad]
    kd: np.ndarray  # (nv,) [N·m·s/rad]
    ankles: np.ndarray  # (nv,) [N·s]
    posture: np.ndarray  # (nv,) [rad]


@control.register(PostureLaw)
def posture_torques(law, measurement, torque, recorded):
    """Write τ = −k_p (θ − θ_d) − k_d θ̇ + k_a v_x."""
    tree, rates = measurement.tree, measurement.motion.rates
    for i in range(1, tree.parent.shape[0]):
        dof = tree.first_v[i]
        error = measurement.q[tree.first_q[i]] - law.posture[dof]
        torque[dof] = -law.kp[dof] * error - law.kd[dof] * rates[dof] + law.ankles[dof] * rates[0]


@dataclass(frozen=True)
class CompiledPosture(Posture):
    """The compiled version of ``Posture``; its ``torques`` are the readable version in Python."""

    def law(self, model: Model) -> PostureLaw:
        """Return the gains for the kernel."""
        joints = model.joint_names
        dofs = [model.dof(joint) for joint in joints]
        kp, kd, ankles, posture = np.zeros((4, model.nv))
        kp[dofs], kd[dofs], posture[dofs] = self.kp, self.kd, self.posture(joints)
        ankles[[model.dof(joint) for joint in joints if joint.endswith("ankle_pitch")]] = self.ankles
        return PostureLaw(kp, kd, ankles, posture)
