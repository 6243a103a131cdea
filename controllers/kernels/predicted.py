"""Kernels of a linear prediction of the body over the sensory delay, around a controller."""

from typing import Any, NamedTuple

from biped.kernels.loop.closed_loop import control
from biped.kernels.loop.measurement import place_measured
from contact import vectors as v
from contact.arrays import Floats, Integers
from controllers.kernels.feet_frame import Frame, seen_from_feet
from kernelcache import kernel


class PredictedLaw(NamedTuple):
    """Controller, and x' = A x + B u of a control period for predicting d periods ahead."""

    inner: Any  # controller
    frame: Frame  # reference frame of the posture
    posture: Floats  # (nq,)
    torque: Floats  # (joints,) [N·m] torques of the posture
    coordinate: Integers  # (joints,)
    dof: Integers  # (joints,)
    ahead: Floats  # (2 nv, 2 nv) (A^d)ᵀ, of displacements and rates
    once: Floats  # (2 nv, 2 nv) Aᵀ
    by_torque: Floats  # (d + 1, joints, 2 nv) (A^i B)ᵀ, from the latest torque on
    given: Floats  # (d, joints) [N·m] torques relative to the posture's, ring buffer
    done: Floats  # (2 nv,) S, the effect of these torques on the state
    anew: int  # number of ticks after which S is computed again
    ticks: Integers  # (1,) number of ticks so far
    stiffness: Floats  # (joints,) [N·m/rad] of an impedance in the plant, at rest in the posture
    damping: Floats  # (joints,) [N·m·s/rad]
    error: Floats  # (2 nv,) buffer: sensed state
    predicted: Floats  # (2 nv,) buffer: predicted state


@control.register(PredictedLaw)
def predicted_torques(law, measurement, torque, recorded):
    """Write the controller's torques for the predicted state, minus the muscles' passive torques there."""
    remember(law, measurement.held)
    show_ahead(law, measurement)
    place_measured(measurement)
    control(law.inner, measurement, torque, recorded)
    make_up_for_muscles(law, law.posture, measurement, torque)


@kernel
def make_up_for_muscles(muscles, rest, measurement, torque):
    """Subtract the passive torques of muscles, with rest angles of a posture, at the predicted state."""
    for k in range(muscles.dof.shape[0]):
        dof, away = muscles.dof[k], measurement.q[muscles.coordinate[k]] - rest[muscles.coordinate[k]]
        torque[dof] += muscles.stiffness[k] * away + muscles.damping[k] * measurement.motion.rates[dof]


@kernel
def add_times(total, factor, row):
    for j in range(total.shape[0]):
        total[j] += factor * row[j]


@kernel
def add_product(total, rows, factors):
    """Add rowsᵀ factors, four rows at a time, so that ``total`` is read once for four."""
    fours = factors.shape[0] // 4 * 4
    for k in range(0, fours, 4):
        a, b, c, d = factors[k], factors[k + 1], factors[k + 2], factors[k + 3]
        first, second, third, fourth = rows[k], rows[k + 1], rows[k + 2], rows[k + 3]
        for j in range(total.shape[0]):
            total[j] = (((total[j] + a * first[j]) + b * second[j]) + c * third[j]) + d * fourth[j]
    for k in range(fours, factors.shape[0]):
        add_times(total, factors[k], rows[k])


@kernel
def remember(law, held):
    """Store the torques since the last tick, and update S, the effect of all torques within the delay.

    Before the first tick they were those of the posture. S' = A S + B u − A^d B u_d is fast, but A amplifies rounding
    errors, since the body is unstable, so that S is computed again before they grow.
    """
    depth, tick = law.given.shape[0], law.ticks[0]
    law.ticks[0] += 1
    if tick == 0:
        return
    row, anew = tick % depth, tick % law.anew == 0
    if not anew:
        law.predicted[:] = 0.0
        add_product(law.predicted, law.once, law.done)
        v.copy1(law.predicted, law.done)
        add_times_torques(law, depth, row, -1.0)
    for k in range(law.dof.shape[0]):
        law.given[row, k] = held[law.dof[k]] - law.torque[k]
    if anew:
        law.done[:] = 0.0
        for i in range(depth):
            add_times_torques(law, i, (tick - i) % depth, 1.0)
    else:
        add_times_torques(law, 0, row, 1.0)


@kernel
def add_times_torques(law, age, row, sign):
    """Add the effect of torques, which are ``age`` ticks old, to S with a sign."""
    for k in range(law.dof.shape[0]):
        add_times(law.done, sign * law.given[row, k], law.by_torque[age, k])


@kernel
def show_ahead(law, measurement):
    """Replace the sensed state by the predicted one."""
    q, rates, posture, error, predicted = measurement.q, measurement.motion.rates, law.posture, law.error, law.predicted
    nv, place, back = rates.shape[0], law.frame.place, (1.0, 0.0, 0.0, 0.0)
    if law.frame.follows != 0.0:
        back, middle = seen_from_feet(law.frame, measurement.motion.poses)
        place = (middle[0] + q[0], middle[1] + q[1], 0.0)
    R, held = v.quat_matrix(back), (posture[3], posture[4], posture[5], posture[6])
    away = v.add(v.mat_vec(R, v.sub((q[0], q[1], q[2]), place)), law.frame.place)
    turn = v.rotation_vector(v.quat_difference(v.quat_mul(back, (q[3], q[4], q[5], q[6])), held))
    velocity, omega = v.mat_vec(R, (rates[0], rates[1], rates[2])), v.mat_vec(R, (rates[3], rates[4], rates[5]))
    for axis in range(3):
        error[axis], error[3 + axis] = away[axis] - posture[axis], turn[axis]
        error[nv + axis], error[nv + 3 + axis] = velocity[axis], omega[axis]
    for k in range(law.dof.shape[0]):
        error[law.dof[k]] = q[law.coordinate[k]] - posture[law.coordinate[k]]
        error[nv + law.dof[k]] = rates[law.dof[k]]
    predicted[:] = 0.0
    add_product(predicted, law.ahead, error)
    add_times(predicted, 1.0, law.done)
    out = v.quat_conj(back)
    R = v.quat_matrix(out)
    away = (posture[0] + predicted[0], posture[1] + predicted[1], posture[2] + predicted[2])
    away = v.add(v.mat_vec(R, v.sub(away, law.frame.place)), place)
    turned = v.quat_mul(out, v.quat_mul(v.quat_exp((predicted[3], predicted[4], predicted[5])), held))
    velocity = v.mat_vec(R, (predicted[nv], predicted[nv + 1], predicted[nv + 2]))
    omega = v.mat_vec(R, (predicted[nv + 3], predicted[nv + 4], predicted[nv + 5]))
    for axis in range(3):
        q[axis], rates[axis], rates[3 + axis] = away[axis], velocity[axis], omega[axis]
    q[3], q[4], q[5], q[6] = turned
    for k in range(law.dof.shape[0]):
        q[law.coordinate[k]] = posture[law.coordinate[k]] + predicted[law.dof[k]]
        rates[law.dof[k]] = predicted[nv + law.dof[k]]
