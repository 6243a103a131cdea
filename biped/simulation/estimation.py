"""Internal simulation and filter of a run's state estimator."""

import math
from typing import Any

import numba
import numpy as np

from biped.control.controller import Controller
from biped.disturbances.sensors import AUTO, KALMAN, Sensors
from biped.dynamics import forward_kinematics
from biped.errors import InputError
from biped.kernels.loop import estimator as estimators
from biped.kernels.loop.closed_loop import World
from biped.kernels.loop.error_model import FLOOR_MOTIONS, new_error_model
from biped.kernels.loop.kalman import new_filter
from biped.kernels.loop.log import OBSERVED
from biped.kernels.loop.measurement import SensorModel
from biped.kernels.loop.part_indices import PARTS
from biped.kernels.state.arrays import arrays_of
from biped.kernels.step.step import prepare
from biped.kernels.tree.tree import DAMPING, SPRING
from biped.model import Model
from biped.runs.state import State, fingerprint, of_other_masses
from contact.arrays import Floats

#: [s] Shortest time between two updates of the filter.
SPAN = 0.008
#: Square root of the spectral density of unexpected forces, divided by the weight [√s], and of moments on the root,
#: divided by weight times height [√s], and of joint torques, divided by weight times height [√s].
FORCE, MOMENT, TORQUE = 0.024, 0.0024, 0.01
#: [m/s, rad/s] Standard deviation of an unexpected velocity of the floor over the time of an update.
FLOOR_VELOCITY, FLOOR_RATE = 0.002, 0.002
#: [m/s, rad/s, rad/s] Standard deviation of further noise of each rate over the time of an update, for what the model
#: leaves out, such as rolling soles: root's velocity, root's angular velocity, joints.
SLACK = 0.01, 0.02, 0.15
#: Share of the process noise while all contact points touch the floor.
CALM = 0.03
#: Variance that errors of the linear error model add to each number, about (3 mrad)² [rad² or m²; of rates: per s²].
#: Our choice: with less, estimates during steps overshoot.
LINEARITY = 1e-5


def internal_state(state: State, model: Model) -> State:
    """Return the state of the internal simulation that equals a state of the body, with its loads."""
    if fingerprint(state.model) == fingerprint(model):
        inside = state.copy()
    else:
        v: Floats = np.asarray(np.linalg.solve(state.mass(), state.momentum), dtype=np.float64)
        inside = State.at(model, *of_other_masses(state.q, v, state.model, model), state.time)
        inside.exert_as(state)
    inside.floor = inside.projectile = None
    return inside


def begin_estimation(world: World, internal: World, state: State, model: Model) -> None:
    """Begin the estimation of a run anew at a known state."""
    inside = internal_state(state, model).arrays
    for name in set(inside._fields) - {"past", "stiffness", "damping", "setpoint"}:
        for array, place in zip(
            arrays_of((getattr(inside, name),)), arrays_of((getattr(internal.state, name),)), strict=True
        ):
            place[...] = array
    prepare(internal.tree, internal.state, internal.scratch)
    internal.log.cursor[OBSERVED] = -1  # its rates are unknown
    world.estimator.counts[[estimators.TICK, estimators.LOST, estimators.POINTS]] = 0
    estimators.begin_filter(world.estimator.filter)


def is_estimated(sensors: Sensors | None, model: Model, controller: Controller | None) -> bool:
    """Return True if a controller receives an estimate in place of the measurements.

    Raises:
        InputError: an estimator is demanded for a model with ball joints or closed loops.
    """
    if sensors is None or controller is None or sensors.estimator not in (AUTO, KALMAN):
        return False
    simple = not model.closing_joints and all(body.joint.kind != "spherical" for body in model.bodies)
    if sensors.estimator == AUTO:
        return simple and sensors.is_imperfect and controller.takes_estimates
    if not simple:
        raise InputError(
            f"sensors.estimator = kalman: model {model.name!r} has ball joints or closed loops, whose state cannot be "
            "estimated; set sensors.estimator = none"
        )
    return True


def no_estimator(world: Any) -> estimators.Estimator:
    """Return the estimator of a run without estimation; it shares the arrays of the run's world."""
    model = new_error_model(1, 1, 1, 1.0, np.zeros(1), np.zeros(1), 0.0, np.zeros(FLOOR_MOTIONS))
    return _estimator(world, np.zeros(estimators.COUNTS, dtype=np.int64), model, (1, 1, 1, 1))


def estimator_of(
    world: World, model: Model, sensors: SensorModel, period: float, steps: int, q: Floats
) -> estimators.Estimator:
    """Return the estimator with the internal closed loop ``world``.

    Args:
        world: closed loop without disturbances and with perfect sensors, of the model that the controller knows.
        model: model that the controller knows.
        sensors: sensors of the simulated system.
        period: [s] control period.
        steps: time steps of a control period.
        q: (nq,) configuration at the start, whose height scales the process noise.
    """
    every = max(1, round(SPAN / period))
    motion = model.nq + model.nv
    lag = math.ceil(int(sensors.late[:motion].max(initial=0)) / every)
    counts = np.zeros(estimators.COUNTS, dtype=np.int64)
    counts[[estimators.EVERY, estimators.STEPS, estimators.LAG]] = every, steps, lag
    floor = np.array([FLOOR_VELOCITY, FLOOR_VELOCITY, FLOOR_RATE, FLOOR_RATE])
    errors = new_error_model(
        model.n, model.nv, model.nc, every * period, _strength(model, q), _slack(model), CALM, floor
    )
    errors.stiffness[:], errors.damping[:] = world.state.stiffness, world.state.damping
    for i in np.flatnonzero(world.tree.dofs == 1) if len(world.tree.passive) else ():
        errors.stiffness[world.tree.first_v[i]] += world.tree.passive[i, SPRING]
        errors.damping[world.tree.first_v[i]] += world.tree.passive[i, DAMPING]
    made = _estimator(world, counts, errors, (lag + 2, model.nq, model.nv, model.nc))
    made.filter.kept[:] = _kept(model, sensors, every)
    return made


def _estimator(world: Any, counts: Any, model: Any, sizes: tuple[int, int, int, int]) -> estimators.Estimator:
    rows, nq, nv, nc = sizes
    return estimators.Estimator(
        counts=counts, place=np.zeros(1 + PARTS, dtype=object if numba.config.DISABLE_JIT else np.int64),
        cursor=world.log.cursor, tree=world.tree, state=world.state, scratch=world.scratch, shown=world.measurement,
        torque=world.torque, q=np.zeros((rows, nq)), rates=np.zeros((rows, nv)),
        measured=np.full((rows, nq + nv), np.nan), transition=np.zeros((rows, nv, 2 * nv)),
        noise=np.zeros((rows, nv, 2 * nv + FLOOR_MOTIONS)), mended=np.zeros((rows, 2 * nv)), model=model,
        filter=new_filter(2 * nv, LINEARITY), error=np.zeros(2 * nv), buffer=np.zeros((nv, 1)),
        points=np.zeros((nc, 3)), weights=np.zeros(2 * nv), capture=np.zeros(4),
    )  # fmt: skip


def _strength(model: Model, q: Floats) -> Floats:
    """Return the square root of the spectral density of unexpected forces and torques, (nv,) [N √s, N·m √s]."""
    weight = model.total_mass * math.hypot(*model.gravity)
    height = float(np.ptp(forward_kinematics(model, q).position[:, 2])) or 1.0
    strength = np.full(model.nv, TORQUE * weight * height)
    if model.is_floating:
        strength[:3], strength[3:6] = FORCE * weight, MOMENT * weight * height
    return strength


def _slack(model: Model) -> Floats:
    """Return the standard deviation of independent noise of each rate, (nv,) [m/s, rad/s]."""
    slack = np.full(model.nv, SLACK[2])
    if model.is_floating:
        slack[:3], slack[3:6] = SLACK[0], SLACK[1]
    return slack


def _kept(model: Model, sensors: SensorModel, every: int) -> Floats:
    """Return the share (2 nv,) of each number's noise that is left after ``every`` ticks."""
    root = 6 if model.is_floating else 0
    places = np.arange(model.nq)
    angles = [0, 1, 2, 3, 3, 3, *places[7:]] if root else places
    kept = np.concatenate([sensors.kept[angles], sensors.kept[model.nq : model.nq + model.nv]])
    return np.asarray(kept**every)
