"""State estimator: an internal simulation with the given torques, corrected by delayed and noisy measurements.

The internal simulation is one more closed loop of the same kernels, without disturbances. At each control tick it
takes the steps of the last period with the torques given (efference copy). At every update, some ticks apart, the
filter estimates the error that it had a delay ago, from the measurements of that time. The error model brings this
estimate to the present, and the internal state is corrected by it. If nothing unexpected happens, the error is zero.
"""

import math
from typing import Any, NamedTuple

from biped.kernels.loop import error_model
from biped.kernels.loop.kalman import Filter, advance_covariance, advance_error, is_finite, update
from biped.kernels.loop.measurement import START, Measurement, beyond, place_measured
from biped.kernels.loop.part_indices import APPLY, MEASURE, TAKE_STEPS
from biped.kernels.state.arrays import arrays_of
from biped.kernels.state.simulation_state import SimulationState
from biped.kernels.state.status import OK
from biped.kernels.step.step import prepare
from biped.kernels.tree.dynamics import centre_of_mass, compose_mass_matrix
from biped.kernels.tree.tree import FLOATING, Tree
from biped.kernels.variational.equations import Scratch, reference_point
from contact import vectors as vec
from contact.arrays import Floats, Integers
from contact.modes import NONE, SLIDING
from kernelcache import call, kernel, routine

# Indices of ``Estimator.counts``.
EVERY = 0  # control ticks between two updates; 0: no estimator
STEPS = 1  # time steps of a control tick
LAG = 2  # updates by which the measurements are late
TICK = 3  # control ticks since the start of the estimation
LOST = 4  # number of restarts after internal simulation or filter had lost the body
POINTS = 5  # greatest number of contact points that have touched the floor so far
COUNTS = 6

#: ``shows`` of ``biped.kernels.loop.closed_loop.measure_part``: measure in any case.
ALWAYS = 2
#: [m] Error of the height of a contact point above which the point is not held on the floor.
LIFTED = 0.003
#: Variance of a measurement within its dead zone if the prediction is there too, over the threshold squared.
BLIND = 1e6
#: [rad or m] Measured distance from the start, due to rounding, of a number within its dead zone.
ROUNDING = 1e-12


class Estimator(NamedTuple):
    """Internal simulation, its recent past and the filter of its error."""

    counts: Integers  # (COUNTS,)
    # The internal closed loop:
    place: Any  # (1 + PARTS,) addresses of its packed world and of its parts
    cursor: Integers  # its log's
    tree: Tree
    state: SimulationState
    scratch: Scratch
    shown: Measurement  # its state, exactly measured
    torque: Floats  # (nv,)
    # Ring buffers with one row for each update:
    q: Floats  # (·, nq) internal state
    rates: Floats  # (·, nv)
    measured: Floats  # (·, nq + nv) measurements of that time; NaN before they arrive
    transition: Floats  # (·, nv, 2 nv) of ``error_model``, to the next update
    noise: Floats  # (·, nv, ·)
    mended: Floats  # (·, 2 nv) correction of the internal state
    # The filter:
    model: error_model.ErrorModel
    filter: Filter
    error: Floats  # (2 nv,) buffer
    buffer: Floats  # (nv, 1) buffer
    points: Floats  # (nc, 3) buffer: positions of the contact points
    weights: Floats  # (2 nv,) buffer: derivatives of a number by the error
    capture: Floats  # (4,) [m] estimated capture point, and the standard deviations of its error


@kernel
def estimates(estimator):
    return estimator.counts[EVERY] > 0


def memory_of(estimator: Estimator, torque: Floats) -> tuple[Floats, ...]:
    """Return the arrays on which the next estimate depends, without addresses; none without an estimator."""
    if not estimates(estimator):
        return ()
    return arrays_of((tuple(item for item in estimator if item is not estimator.place), torque))


@routine
def estimate(estimator, plant, sensors, torque, measurement):
    """Replace the measurement of a tick by the estimate of the present state.

    Args:
        estimator: ``Estimator``.
        plant: state of the simulated system, of which only the sensors' memory is read.
        sensors: ``SensorModel``.
        torque: (nv,) torques of the last tick.
        measurement: delayed and noisy ``Measurement``, overwritten.
    """
    counts = estimator.counts
    if counts[TICK] > 0:
        simulate_tick(estimator, torque, measurement)
    else:
        call(estimator.place[1 + MEASURE], estimator.place[0], 0, ALWAYS)
    store_measured(estimator, sensors, measurement)
    if counts[TICK] % counts[EVERY] == 0:
        correct(estimator, plant, sensors)
    counts[TICK] += 1
    show_estimate(estimator, measurement)
    locate_capture_point(estimator)


@kernel
def simulate_tick(estimator, torque, measurement):
    """Take the steps of a tick with the given torques; restart from the measurement if there is no solution."""
    vec.copy1(torque, estimator.torque)
    call(estimator.place[1 + APPLY], estimator.place[0])
    estimator.cursor[0] = estimator.cursor[1] = 0
    reason = call(estimator.place[1 + TAKE_STEPS], estimator.place[0], estimator.counts[STEPS])
    if reason == OK:
        call(estimator.place[1 + MEASURE], estimator.place[0], 0, ALWAYS)
    if reason != OK or not is_finite(estimator.shown.motion.rates):
        restart(estimator, measurement)


@kernel
def restart(estimator, measurement):
    """Begin again at the measured state, with the start's certainty; contacts form in the next steps."""
    state, counts = estimator.state, estimator.counts
    counts[LOST] += 1
    counts[TICK] = 0
    vec.copy1(measurement.q, state.q)
    vec.copy1(measurement.motion.rates, estimator.shown.motion.rates)
    vec.copy1(measurement.motion.rates, state.cache.rate)
    prepare(estimator.tree, state, estimator.scratch)
    set_momentum(estimator)
    origin = reference_point(estimator.tree, state.q)
    for c in range(state.mode.shape[0]):
        x, y, z = vec.add(origin, vec.load3(estimator.scratch.motion.poses.contact, c))
        state.anchor[c, 0], state.anchor[c, 1] = x, y
        state.mode[c] = SLIDING if z < 0.0 else NONE
        state.contact_state[c] = state.mode[c]
        state.force[c] = 0.0
    begin_filter(estimator.filter)


@kernel
def begin_filter(state):
    state.mean[:] = 0.0
    state.errors[:] = 0.0
    state.cross[:] = 0.0
    state.noises[:] = 0.0
    for i in range(state.noises.shape[0]):
        state.noises[i, i] = 1.0


@kernel
def set_momentum(estimator):
    """Set the momenta of the internal state to those of its rates; poses and inertias must be known."""
    motion, rates, momentum = estimator.scratch.motion, estimator.shown.motion.rates, estimator.state.momentum
    compose_mass_matrix(estimator.tree, motion, estimator.model.mass)
    for i in range(momentum.shape[0]):
        momentum[i] = 0.0
        for k in range(momentum.shape[0]):
            momentum[i] += estimator.model.mass[i, k] * rates[k]


@kernel
def store_measured(estimator, sensors, measurement):
    """Store each measured number in the row of the update at whose time it was measured."""
    counts, nq, size = estimator.counts, measurement.q.shape[0], estimator.q.shape[0]
    for k in range(estimator.measured.shape[1]):
        then = counts[TICK] - sensors.late[k]
        if then >= 0 and then % counts[EVERY] == 0:
            value = measurement.q[k] if k < nq else measurement.motion.rates[k - nq]
            estimator.measured[then // counts[EVERY] % size, k] = value


@kernel
def correct(estimator, plant, sensors):
    """Update the filter at the time of the measurements, and correct the internal state by the error found."""
    counts, state, size = estimator.counts, estimator.filter, estimator.q.shape[0]
    now, span = counts[TICK] // counts[EVERY], estimator.model.span
    then = now - counts[LAG]
    vec.copy1(estimator.state.q, estimator.q[now % size])
    vec.copy1(estimator.shown.motion.rates, estimator.rates[now % size])
    estimator.error[:] = 0.0
    if then > 0:
        before = (then - 1) % size
        advance_error(estimator.transition[before], span, state.mean[0], estimator.buffer[:, 0])
        if then < now:
            subtract(state.mean[0], estimator.mended[then % size])
        advance_covariance(state, estimator.transition[before], estimator.noise[before], span)
        compare(estimator, plant.past[sensors.depth[0] + START], sensors, then % size)
        update(state)
        if not (is_finite(state.mean[0]) and math.isfinite(state.surprise[0])):
            begin_filter(state)
            counts[LOST] += 1
        vec.copy1(state.mean[0], estimator.error)
        for k in range(then, now):
            advance_error(estimator.transition[k % size], span, estimator.error, estimator.buffer[:, 0])
            if k + 1 < now:
                subtract(estimator.error, estimator.mended[(k + 1) % size])
    error_model.set_error_model(
        estimator.tree, estimator.scratch.motion, estimator.state.mode, estimator.state.force, estimator.model
    )
    if then > 0:
        move_internal_state(estimator)
        if counts[LAG] == 0:
            subtract(state.mean[0], estimator.error)
    vec.copy1(estimator.error, estimator.mended[now % size])
    vec.copy1(estimator.state.q, estimator.q[now % size])
    vec.copy1(estimator.shown.motion.rates, estimator.rates[now % size])
    error_model.write_transition(
        estimator.tree, estimator.scratch.motion.poses, estimator.model, noise_share(estimator),
        estimator.transition[now % size],
        estimator.noise[now % size],
    )  # fmt: skip
    for axis in range(2):
        estimator.capture[2 + axis] = capture_deviation(estimator, axis, max(then, 0), now)


@kernel
def noise_share(estimator):
    """Return the share of the process noise: less than one while all contact points touch the floor."""
    touching = 0
    for mode in estimator.state.mode:
        touching += mode != NONE
    estimator.counts[POINTS] = max(estimator.counts[POINTS], touching)
    return estimator.model.calm if touching == estimator.counts[POINTS] else 1.0


@kernel
def subtract(error, other):
    for i in range(error.shape[0]):
        error[i] -= other[i]


@kernel
def compare(estimator, start, sensors, row):
    """Set innovations, noise and slopes of all numbers for the measurements in a row."""
    tree, q, nq = estimator.tree, estimator.q[row], estimator.q.shape[1]
    measured, nv = estimator.measured[row], estimator.rates.shape[1]
    for i in range(tree.parent.shape[0]):
        a, j = tree.first_q[i], tree.first_v[i]
        scalars = 3 if tree.kind[i] == FLOATING else 1
        for k in range(scalars):
            compare_number(estimator.filter, sensors, a + k, j + k, q[a + k], measured[a + k], start[a + k])
        if tree.kind[i] == FLOATING:
            compare_turn(estimator.filter, sensors, a + 3, j + 3, q, measured, start)
    for dof in range(nv):
        k = nq + dof
        compare_number(estimator.filter, sensors, k, nv + dof, estimator.rates[row, dof], measured[k], start[k])


@kernel
def compare_turn(state, sensors, a, j, q, measured, start):
    """Compare an orientation; with a dead zone, by rotation vectors from the start, component by component."""
    ours, theirs = (
        (q[a], q[a + 1], q[a + 2], q[a + 3]),
        (measured[a], measured[a + 1], measured[a + 2], measured[a + 3]),
    )
    begun = start[a], start[a + 1], start[a + 2], start[a + 3]
    away, shown = (
        vec.rotation_vector(vec.quat_difference(ours, begun)),
        vec.rotation_vector(vec.quat_difference(theirs, begun)),
    )
    turn = vec.rotation_vector(vec.quat_difference(theirs, ours))
    spread = sensors.noise[a] + sensors.share[a] * vec.norm(away)
    for axis in range(3):
        compare_by(state, j + axis, sensors.threshold[a], spread, turn[axis], away[axis], shown[axis])


@kernel
def compare_number(state, sensors, k, i, ours, theirs, start):
    """Compare number k of a row, the error's component i."""
    spread = sensors.noise[k] + sensors.share[k] * abs(ours - start)
    compare_by(state, i, sensors.threshold[k], spread, theirs - ours, ours - start, theirs - start)


@kernel
def compare_by(state, i, threshold, spread, difference, ours, theirs):
    """Set the innovation of component i by the measured difference, and both distances from the start.

    A number within its dead zone is only known to lie there. If the prediction does not, it counts as measured at the
    nearest end of the zone, with the variance of a uniform distribution. Otherwise it has almost no weight: as this
    uncertainty stays the same from tick to tick, repeated measurements do not add information.
    """
    expected = state.mean[0, i] + spread * state.mean[1, i]
    state.spread[i], state.dead[i] = spread, 0.0
    if threshold == 0.0:
        state.innovation[i] = difference - expected
    elif abs(theirs) < ROUNDING:
        state.innovation[i] = -beyond(ours + expected, threshold)
        state.dead[i] = threshold * threshold * (1.0 / 3.0 if state.innovation[i] != 0.0 else BLIND)
    else:
        state.innovation[i] = difference + (threshold if theirs > 0.0 else -threshold) - expected


@kernel
def move_internal_state(estimator):
    """Correct the internal state by the error, and write the correction made to ``error``.

    Points that touch stay on the floor and keep sticking, so that the contact forces do not jump; the anchors of their
    springs move with them.
    """
    error, state, motion = estimator.error, estimator.state, estimator.scratch.motion
    tree, nv = estimator.tree, estimator.rates.shape[1]
    hold_points(estimator, error[:nv])
    for first in (0, 2):
        error_model.factor_held(estimator.model, tree, first)
        error_model.allow(estimator.model, error[nv:] if first == 0 else error[:nv], estimator.buffer)
    origin = reference_point(tree, state.q)
    for c in range(state.mode.shape[0]):
        vec.store3(estimator.points, c, vec.add(origin, vec.load3(motion.poses.contact, c)))
    displace_configuration(tree, error, state.q)
    prepare(tree, state, estimator.scratch)
    origin = reference_point(tree, state.q)
    for c in range(state.mode.shape[0]):
        moved = vec.sub(vec.add(origin, vec.load3(motion.poses.contact, c)), vec.load3(estimator.points, c))
        state.anchor[c, 0] += moved[0]
        state.anchor[c, 1] += moved[1]
    for dof in range(nv):
        estimator.shown.motion.rates[dof] += error[nv + dof]
        state.cache.rate[dof] += error[nv + dof]
    vec.copy1(state.q, estimator.shown.q)
    set_momentum(estimator)


@kernel
def hold_points(estimator, displacement):
    """Set the rows of J of the points that a displacement leaves on the floor."""
    model, state, tree = estimator.model, estimator.state, estimator.tree
    contact, nv = estimator.scratch.motion.poses.contact, displacement.shape[0]
    for c in range(state.mode.shape[0]):
        rows = model.kept[c]
        for axis in range(3):
            vec.copy1(model.point[c, axis], rows[axis])
        if state.mode[c] == NONE:
            error_model.set_point_rows(tree, estimator.scratch.motion.poses, c, 2, rows)
        rise = 0.0
        for dof in range(nv):
            rise += rows[2, dof] * displacement[dof]
        height = reference_point(tree, state.q)[2] + contact[c, 2]
        if abs(rise) > LIFTED if state.mode[c] != NONE else height + rise > 0.0:
            rows[:] = 0.0


@kernel
def displace_configuration(tree, error, q):
    """Displace a configuration by an error: positions and angles by numbers, a floating root by a rotation vector."""
    for i in range(tree.parent.shape[0]):
        a, j = tree.first_q[i], tree.first_v[i]
        for k in range(3 if tree.kind[i] == FLOATING else 1):
            q[a + k] += error[j + k]
        if tree.kind[i] == FLOATING:
            turned = vec.quat_mul(
                vec.quat_exp((error[j + 3], error[j + 4], error[j + 5])), (q[a + 3], q[a + 4], q[a + 5], q[a + 6])
            )
            q[a + 3], q[a + 4], q[a + 5], q[a + 6] = vec.quat_normalized(turned)


@kernel
def show_estimate(estimator, measurement):
    """Copy the internal state, its contacts and its forces into the measurement."""
    state, shown = estimator.state, estimator.shown
    vec.copy1(state.q, measurement.q)
    vec.copy1(shown.motion.rates, measurement.motion.rates)
    for c in range(state.mode.shape[0]):
        measurement.contact_state[c] = state.contact_state[c]
        vec.copy1(state.force[c], measurement.force[c])
    place_measured(measurement)


@kernel
def pendulum_rate(estimator):
    """Return ω = √(g/z) [1/s], with the height z of the centre of mass over the lowest contact point."""
    tree, poses, lowest = estimator.tree, estimator.scratch.motion.poses, 0.0
    for c in range(poses.contact.shape[0]):
        lowest = min(lowest, poses.contact[c, 2])
    height = centre_of_mass(tree, poses)[2] - lowest
    return math.sqrt(abs(tree.gravity[2]) / height) if height > 0.0 else math.inf


@kernel
def locate_capture_point(estimator):
    """Write ξ = x + ẋ/ω of the internal state, for a floating root."""
    state, tree, motion = estimator.state, estimator.tree, estimator.scratch.motion
    if tree.kind[0] == FLOATING:
        com, mass, omega = centre_of_mass(tree, motion.poses), 0.0, pendulum_rate(estimator)
        for i in range(tree.mass.shape[0]):
            mass += tree.mass[i]
        for axis in range(2):
            estimator.capture[axis] = state.q[axis] + com[axis] + state.momentum[axis] / (mass * omega)


@kernel
def capture_deviation(estimator, axis, then, now):
    """Return the standard deviation [m] of the present error of ξ: its weights are brought back to the measurements."""
    model, weights, size = estimator.model, estimator.weights, estimator.q.shape[0]
    nv, span, omega, total = model.mass.shape[0], model.span, pendulum_rate(estimator), 0.0
    if estimator.tree.kind[0] != FLOATING:
        return 0.0
    for dof in range(nv):
        weights[dof] = model.mass[axis, dof] / model.mass[0, 0]
        weights[nv + dof] = weights[dof] / omega
    for k in range(now - 1, then - 1, -1):
        transition, noise = estimator.transition[k % size], estimator.noise[k % size]
        for i in range(nv):
            estimator.buffer[i, 0] = span * weights[i] + weights[nv + i]
            weights[nv + i] = 0.0
        for i in range(nv):
            rate = estimator.buffer[i, 0]
            for j in range(nv):
                weights[j] += rate * transition[i, j]
                weights[nv + j] += rate * transition[i, nv + j]
        for j in range(noise.shape[1]):
            part = 0.0
            for i in range(nv):
                part += estimator.buffer[i, 0] * noise[i, j]
            total += part * part
    for i in range(2 * nv):
        for j in range(2 * nv):
            total += weights[i] * estimator.filter.errors[i, j] * weights[j]
    return math.sqrt(max(total, 0.0))
