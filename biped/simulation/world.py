"""The arrays of the compiled loops, built from a model, a floor and disturbances."""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from biped.disturbances import Actuators, Disturbances, Sensors, Throw, compile_ground, compile_pushes
from biped.disturbances.floor import JUMP
from biped.disturbances.throw import EVERYTHING
from biped.errors import InputError
from biped.inputs.fields import quantity
from biped.integrators import Integrator
from biped.kernels.loop import measurement as kernels
from biped.kernels.loop import projectile as projectiles
from biped.kernels.loop.closed_loop import FallLimits, World
from biped.kernels.loop.following import follows, stay
from biped.kernels.loop.log import Log, new_log
from biped.kernels.loop.measurement import SensorModel, ideal_actuators, new_measurement, perfect_sensors
from biped.kernels.loop.part_indices import PARTS
from biped.kernels.state.pushes import Pushes
from biped.kernels.state.simulation_state import STEP_LENGTH
from biped.kernels.step.step import prepare
from biped.kernels.tree.kinematics import Poses
from biped.kernels.variational.equations import new_scratch
from biped.model import Box, Capsule, Model, box_inertia
from biped.model.geometry import quaternion_matrix
from biped.runs.row_layout import Columns
from biped.runs.state import State
from biped.simulation.estimation import no_estimator
from contact import Floor
from contact.arrays import Floats
from contact.ground import END, Ground, is_moving, place_frame, resting_frames
from contact.modes import NONE

ROWS = 1024
EVENTS = 4096
#: [bytes] Greatest size of a log that holds a whole run.
MOST_BYTES = 64 << 20


@dataclass(frozen=True)
class Fall:
    """Limits of height, tilt and joint rates at which a run ends as a fall or a loss of control.

    The defaults suit the human that balances on two feet: the centre of mass of its trunk is 1.23 m high in the home
    configuration, and 1.035 m in the posture ``crouching``.

    Raises:
        InputError: a limit is out of range.
    """

    height: float = quantity("m", "Fall limit: smallest height of the root's centre of mass above the floor", 0.6)
    tilt: float = quantity("rad", "Fall limit: largest tilt of the root from upright", 1.2)
    joint_rate: float = quantity("rad/s", "Largest joint rate; above it the run ends as a loss of control", 100.0)

    def __post_init__(self) -> None:
        if not np.isfinite(self.height):
            raise InputError(f"fall.height = {self.height!r}: it must be a finite number of metres")
        if not 0.0 < self.tilt <= np.pi:
            raise InputError(f"fall.tilt = {self.tilt!r}: it must be above 0 and at most π rad")
        if not self.joint_rate > 0.0:
            raise InputError(f"fall.joint_rate = {self.joint_rate!r}: it must be above zero [rad/s]")

    @property
    def limits(self) -> FallLimits:
        """The limits as the kernels need them, with the cosine of the tilt."""
        return FallLimits(self.height, float(np.cos(self.tilt)), self.joint_rate)


NEVER = FallLimits(-np.inf, -2.0, np.inf)


class Sizes(NamedTuple):
    """Numbers that determine the size of a log."""

    period: int  # time steps between two control ticks
    stride: int  # time steps between two rows
    extra: int  # number of values that the controller records
    span: float  # [s] between two control ticks
    run_steps: int = 0  # time steps of the whole run, if the log holds all of it
    is_internal: bool = False  # True for an internal simulation, whose log is emptied in each tick


def build_world(
    model: Model,
    nominal_model: Model,
    floor: Floor,
    state: State,
    integrator: Integrator,
    disturbances: Disturbances,
    fall: Fall | None,
    columns: Columns,
    sizes: Sizes,
) -> World:
    """Return the world of the compiled loops; it shares the arrays of ``state``, which a run changes in place.

    ``model`` is the simulated one with its loads, ``nominal_model`` the controller's without them.
    """
    scratch = new_scratch(model.n, model.nq, model.nv, model.nc)
    method = integrator.method(model)
    sensors = _build_sensors(model, nominal_model, disturbances, sizes.span)
    state.set_memory_shape((int(sensors.depth[0]) + kernels.ROWS, sensors.late.size))
    prepare(model.tree, state.arrays, scratch)
    ground = compile_ground(floor, model, disturbances.platform, disturbances.patches)
    if disturbances.sway_referenced is not None:
        ground = disturbances.sway_referenced.under(ground, model, state.q)
    join_floor(ground, state)
    world = World(
        tree=model.tree,
        ground=ground,
        state=state.arrays,
        pushes=_build_pushes(nominal_model, model, disturbances),
        scratch=scratch,
        method=method,
        projectile=_build_projectile(model, state, disturbances.throw, scratch.motion.poses),
        fall=fall.limits if fall is not None and model.is_floating else NEVER,
        log=_build_log(model, state, columns, sizes, integrator.recorder(method)),
        sensors=sensors,
        measurement=new_measurement(nominal_model.tree, model.nq, model.nv, model.nc - nominal_model.nc),
        torque=np.zeros(model.nv),
        parts=np.zeros(PARTS, dtype=np.int64),
        actuators=_build_actuators(model, disturbances, sizes.span),
        estimator=None,  # type: ignore[arg-type]
    )
    return world._replace(estimator=no_estimator(world))


def _build_log(model: Model, state: State, columns: Columns, sizes: Sizes, more: Any) -> Log:
    rows = max(ROWS, max(sizes.period, sizes.run_steps) // sizes.stride + 4)
    events = max(EVENTS, sizes.period) * (model.nc + 2)
    if sizes.is_internal:
        rows, events = 4 + sizes.period // sizes.stride, (1 + sizes.period) * (model.nc + 2)
    width, layout = len(columns.names), columns.layout
    log = new_log(rows, width, layout, events, model.nc, sizes.extra, sizes.stride, more, poison=not sizes.run_steps)
    log.down[:] = state.arrays.mode != NONE
    return log


def _build_actuators(model: Model, disturbances: Disturbances, span: float) -> kernels.Actuators:
    """Return the actuators of the disturbances, else actuators with the model's torque limits, else ideal actuators."""
    actuators = disturbances.actuators
    if actuators is None and any(body.joint.max_effort < np.inf for body in model.bodies):
        actuators = Actuators()
    return ideal_actuators(model.nv, span) if actuators is None else actuators.compile(model, span)


def join_floor(ground: Ground, state: State) -> None:
    """Put a moving floor at its pose at the start; raise InputError if ``state.floor`` (None: at rest) differs."""
    if follows(ground.motion):
        tilt = 0.0 if state.floor is None else 2.0 * math.atan2(state.floor[14], state.floor[12])
        stay(ground.motion, state.time, tilt, is_new=not state.steps)
    if is_moving(ground):
        place_frame(ground, END, state.time)
    elif state.floor is None:
        return
    left = resting_frames()[END] if state.floor is None else state.floor
    if np.abs(ground.frame[END] - left).max() > JUMP:
        raise InputError(
            f"the floor would jump at {state.time:g} s: a Platform's motion must not begin before the run, "
            "and a continued run needs the Platform with which it began"
        )


def leave_floor(ground: Ground, state: State) -> None:
    """Write the present frame of a moving floor to the state."""
    state.floor = None
    if is_moving(ground):
        place_frame(ground, END, state.time)
        state.floor = ground.frame[END].copy()


def _build_pushes(nominal_model: Model, model: Model, disturbances: Disturbances) -> Pushes:
    """Compile pushes; their points are relative to the bodies' centres of mass without loads."""
    pushes = compile_pushes(model, disturbances.pushes)
    for j, i in enumerate(pushes.body):
        pushes.offset[j] -= np.subtract(model.bodies[i].com, nominal_model.bodies[i].com)
    return pushes


def _build_sensors(model: Model, nominal_model: Model, disturbances: Disturbances, span: float) -> SensorModel:
    """Return the kernels' sensor model; a load shifts the root's centre of mass, and sensors do not see that."""
    if disturbances.sensors is None and not disturbances.loads:
        return perfect_sensors()
    return (disturbances.sensors or Sensors()).compile(model, span, np.subtract(nominal_model.root.com, model.root.com))


def _build_projectile(model: Model, state: State, throw: Throw | None, poses: Poses) -> projectiles.Projectile:
    if throw is None:
        return projectiles.new_projectile(projectiles.new_projectile_state())
    goes_on = state.projectile is not None and state.throw == throw
    targets = _targets(model, throw)
    if not goes_on:
        state.projectile, state.throw = _state_of(throw, len(targets)), throw
    assert state.projectile is not None
    projectile = projectiles.new_projectile(state.projectile)
    _arm(model, throw, targets, projectile)
    _check_speed(throw, float(state.arrays.clock[STEP_LENGTH]))
    if not goes_on:
        _check_apart(model, throw, state, projectile, poses)
    return projectile


def _check_speed(throw: Throw, step: float) -> None:
    speed = float(np.linalg.norm(throw.velocity))
    if speed * step > projectiles.NEAR:
        raise InputError(
            f"the thrown box's {speed:g} m/s is too fast for a time step of {step:g} s: "
            f"set a time step of {projectiles.NEAR / speed:.3g} s at most"
        )


def _check_apart(model: Model, throw: Throw, state: State, projectile: projectiles.Projectile, poses: Poses) -> None:
    for k, i in enumerate(projectile.target_body):
        target = projectiles.target_box(model.tree, state.arrays, poses, projectile, k)
        if projectiles.gap_between(target, projectile.target_radius[k], projectiles.free_box(projectile)) < 0.0:
            raise InputError(
                f"the thrown box would start at {throw.position}, inside of the box of {model.body_names[i]!r}: start "
                "it outside"
            )


def _state_of(throw: Throw, targets: int) -> Floats:
    """Return the state of the thrown box at its release."""
    state = projectiles.new_projectile_state(targets)
    R = quaternion_matrix(throw.orientation)
    inertia = R @ box_inertia(throw.mass, throw.size) @ R.T
    state[0:3], state[3:7] = throw.position, throw.orientation
    state[7:10] = throw.mass * np.asarray(throw.velocity)
    state[10:13] = inertia @ np.asarray(throw.angular_velocity)
    return state


def _targets(model: Model, throw: Throw) -> tuple[Box | Capsule, ...]:
    """Return the boxes and capsules that a thrown box may hit."""
    solids: tuple[Box | Capsule, ...] = (*model.shapes, *model.capsules)
    if throw.target == EVERYTHING:
        targets = solids
    else:
        boxes = tuple(box for box in model.shapes if box.body == throw.target)
        targets = boxes[:1] or tuple(solid for solid in model.capsules if solid.body == throw.target)
    if not targets:
        known = ", ".join(dict.fromkeys(solid.body for solid in solids))
        remedy = f"bodies that have one: {known}" if known else "add a Box to the model's shapes, or a box to its file"
        raise InputError(f"throw.target = {throw.target!r} has no box or capsule to hit; {remedy}")
    for solid in targets:
        if isinstance(solid, Box) and not np.allclose(solid.rotation, np.eye(3)):
            raise InputError(f"throw.target = {solid.body!r}: its box is rotated in its body, which is not supported")
    return targets


def _arm(model: Model, throw: Throw, targets: tuple[Box | Capsule, ...], projectile: projectiles.Projectile) -> None:
    projectile.status[projectiles.ARMED] = 1
    projectile.mass[0] = throw.mass
    projectile.inertia[0] = np.asarray(box_inertia(throw.mass, throw.size)).ravel()
    projectile.half[:] = np.asarray(throw.size) / 2.0
    for k, solid in enumerate(targets):
        index = model.body_index(solid.body)
        projectile.target_body[k] = index
        projectile.target_half[k] = solid.half
        projectile.target_radius[k] = solid.radius if isinstance(solid, Capsule) else -1.0
        projectile.target_offset[k] = np.asarray(solid.center) - np.asarray(model.bodies[index].com)
    projectile.law[:] = (throw.restitution, throw.friction)
