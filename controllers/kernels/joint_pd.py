"""Proportional and derivative action in the joints, compiled."""

from typing import NamedTuple

from contact.arrays import Floats
from contact.jit import kernel


class PdLaw(NamedTuple):
    """One entry for each degree of freedom; those of floating and spherical joints are zero."""

    kp: Floats  # (nv,) [N·m/rad]
    kd: Floats  # (nv,) [N·m·s/rad]
    target: Floats  # (nv,) [rad]
    limit: Floats  # (nv,) [N·m] greatest torque


@kernel
def pd_torques(law, seen):
    """τ = −k_p (θ − θ_d) − k_d θ̇ within ±limit, into ``seen.torque``."""
    tree = seen.tree
    for i in range(tree.parent.shape[0]):
        if tree.dofs[i] == 1:
            dof = tree.first_v[i]
            error = seen.q[tree.first_q[i]] - law.target[dof]
            torque = -law.kp[dof] * error - law.kd[dof] * seen.motion.rates[dof]
            seen.torque[dof] = min(max(torque, -law.limit[dof]), law.limit[dof])
