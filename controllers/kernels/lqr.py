"""The linear quadratic regulator of standing, compiled."""

from typing import NamedTuple

from biped.kernels.loop.closed_loop import control
from contact.analytic import bounded, sqrt
from contact.arrays import Floats, Integers
from contact.jit import kernel
from contact.vectors import add, load3, load4, mat_vec, quat_conj, quat_difference, quat_matrix, quat_mul, scale


class Frame(NamedTuple):
    """The frame in which the posture is meant: the world's, or one that goes with the feet."""

    follows: float  # 1 where it goes with the feet, 0 where it stands in the world
    foot: Integers  # (feet,) bodies
    place: tuple[float, float, float]  # [m] midway between the feet's centres of mass in the posture; z is zero
    turn: Floats  # (feet, 4) orientations of the feet in the posture


class LqrLaw(NamedTuple):
    """All of the controller."""

    gain: Floats  # (periods + 1, joints, 2 nv) K of each period of the horizon, and that of all later ones
    torque: Floats  # (joints,) [N·m] in the posture
    limit: Floats  # (joints,) [N·m]
    coordinate: Integers  # (joints,)
    dof: Integers  # (joints,)
    posture: Floats  # (nq,)
    frame: Frame
    period: float  # [s]
    error: Floats  # (2 nv,) room: displacements from the posture and rates


@control.register(LqrLaw)
def lqr_torques(law, measurement, torque, recorded):
    """u = u_0 − K (δq, v)."""
    read_root_error(law, measurement)
    read_joint_errors(law, measurement)
    gain = law.gain[place_in_table(law, measurement.time[0])]
    for k in range(law.dof.shape[0]):
        wanted = law.torque[k] - row_times(gain, k, law.error)
        torque[law.dof[k]] = bounded(wanted, -law.limit[k], law.limit[k])


@kernel
def place_in_table(law, time):
    """The period of the horizon, or the place after it."""
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
    """Displacement of the root, twice the vector part of its error quaternion, and its velocities, in the frame."""
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


@kernel
def in_frame(frame, poses, place, turn, velocity, omega):
    """Pose of the root as seen from the feet, from midway between them and about the vertical; its velocities turned.

    The frame's turn is that about the vertical in the mean of the feet's, of which each is q q̄_0 = (w, x, y, z): the
    part about the vertical is (w, 0, 0, z), made unit. Velocities are the world's: those of a foot in the air say
    nothing of the body, and much of the law's own torques in the tick before.
    """
    share, middle, w, z = 1.0 / frame.foot.shape[0], (0.0, 0.0, 0.0), 0.0, 0.0
    for k in range(frame.foot.shape[0]):
        i = frame.foot[k]
        middle = add(middle, scale(share, load3(poses.com, i)))
        turned = quat_difference(load4(poses.quaternion, i), load4(frame.turn, k))
        w, z = w + turned[0], z + turned[3]
    size = sqrt(w * w + z * z)
    back = quat_conj((w / size, 0.0, 0.0, z / size))
    R = quat_matrix(back)
    # Places of bodies are from the root's centre of mass.
    x, y, _ = add(mat_vec(R, (-middle[0], -middle[1], 0.0)), frame.place)
    return (x, y, place[2]), quat_mul(back, turn), mat_vec(R, velocity), mat_vec(R, omega)
