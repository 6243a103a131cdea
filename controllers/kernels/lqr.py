"""Kernels of the linear quadratic regulator of standing."""

from typing import NamedTuple

from biped.kernels.loop.closed_loop import control
from contact.analytic import bounded
from contact.arrays import Floats, Integers
from contact.vectors import quat_difference
from controllers.kernels.feet_frame import Frame, in_frame
from kernelcache import kernel


class LqrLaw(NamedTuple):
    """Parameters and buffers of the controller."""

    gain: Floats  # (periods + 1, joints, 2 nv) K of each period of the horizon; the last is the steady-state gain
    torque: Floats  # (joints,) [N·m] in the posture
    limit: Floats  # (joints,) [N·m]
    coordinate: Integers  # (joints,)
    dof: Integers  # (joints,)
    posture: Floats  # (nq,)
    frame: Frame
    period: float  # [s]
    error: Floats  # (2 nv,) buffer: displacements from the posture and rates


@control.register(LqrLaw)
def lqr_torques(law, measurement, torque, recorded):
    """Write the torques u = u_0 − K (δq, v), within their limits."""
    read_root_error(law, measurement)
    read_joint_errors(law, measurement)
    gain = law.gain[place_in_table(law, measurement.time[0])]
    for k in range(law.dof.shape[0]):
        linear = law.torque[k] - row_times(gain, k, law.error)
        torque[law.dof[k]] = bounded(linear, -law.limit[k], law.limit[k])


@kernel
def place_in_table(law, time):
    """Return the index of the horizon's period at ``time``, or the last index after the horizon."""
    return max(0, min(int(time / law.period + 0.5), law.gain.shape[0] - 1))


@kernel
def row_times(matrix, row, x):
    total = 0.0 * x[0]
    for k in range(x.shape[0]):
        total += matrix[row, k] * x[k]
    return total


@kernel
def read_joint_errors(law, measurement):
    error, nv = law.error, measurement.motion.rates.shape[0]
    for k in range(law.dof.shape[0]):
        dof = law.dof[k]
        error[dof] = measurement.q[law.coordinate[k]] - law.posture[law.coordinate[k]]
        error[nv + dof] = measurement.motion.rates[dof]


@kernel
def read_root_error(law, measurement):
    """Write the root's displacement, twice the vector part of its error quaternion, and velocities, in the frame."""
    q, rates, posture, nv = measurement.q, measurement.motion.rates, law.posture, measurement.motion.rates.shape[0]
    place, turn = (q[0], q[1], q[2]), (q[3], q[4], q[5], q[6])
    velocity, omega = (rates[0], rates[1], rates[2]), (rates[3], rates[4], rates[5])
    if law.frame.follows != 0.0:
        place, turn, velocity, omega = in_frame(law.frame, measurement.motion.poses, place, turn, velocity, omega)
    _, x, y, z = quat_difference(turn, (posture[3], posture[4], posture[5], posture[6]))
    error = law.error
    for axis in range(3):
        error[axis] = place[axis] - posture[axis]
        error[nv + axis] = velocity[axis]
        error[nv + 3 + axis] = omega[axis]
    error[3], error[4], error[5] = 2.0 * x, 2.0 * y, 2.0 * z
