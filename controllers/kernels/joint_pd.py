"""Kernel of proportional-derivative control of the joints."""

from typing import NamedTuple

from biped.kernels.loop.closed_loop import control
from contact.analytic import bounded
from contact.arrays import Floats, Integers
from kernelcache import kernel


class PdLaw(NamedTuple):
    """Gains by degree of freedom, zero for floating and spherical joints."""

    kp: Floats  # (nv,) [N·m/rad]
    kd: Floats  # (nv,) [N·m·s/rad]
    target: Floats  # (nv,) [rad]
    limit: Floats  # (nv,) [N·m] greatest torque


@control.register(PdLaw)
def pd_torques(law, measurement, torque, recorded):
    """Write the torques τ = −k_p (θ − θ_d) − k_d θ̇, within ±limit."""
    tree = measurement.tree
    for i in range(tree.parent.shape[0]):
        if tree.dofs[i] == 1:
            torque[tree.first_v[i]] = pd_torque(law, measurement, tree.first_q[i], tree.first_v[i])


class ServoLaw(NamedTuple):
    """Servos whose targets a controller in Python changes now and then (``Controller.act``)."""

    servo: PdLaw
    wait: Integers  # (1,) ticks until the controller acts


@control.register(ServoLaw)
def servo_torques(law, measurement, torque, recorded):
    """Write the torques of the servos, and count the tick."""
    pd_torques(law.servo, measurement, torque, recorded)
    law.wait[0] -= 1


@kernel
def pd_torque(law, measurement, coordinate, dof):
    linear = -law.kp[dof] * (measurement.q[coordinate] - law.target[dof]) - law.kd[dof] * measurement.motion.rates[dof]
    return bounded(linear, -law.limit[dof], law.limit[dof])
