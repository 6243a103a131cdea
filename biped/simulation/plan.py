"""The plan of a run: checks and preparations before the first step of a scene."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from biped.control.controller import Controller, Impedance, SetPoint
from biped.disturbances import Disturbance, Disturbances, sorted_disturbances
from biped.dynamics.closing import check_closed
from biped.errors import InputError
from biped.integrators import INTEGRATORS, Integrator, Recursive, check_fits, integrator_named
from biped.kernels.loop.closed_loop import AtRest, Passive, World
from biped.kernels.state.simulation_state import INTO_TICK, STEP_LENGTH
from biped.model import Model
from biped.model.compilation import STOP_YIELD
from biped.model.geometry import quaternion_matrix
from biped.runs.row_layout import Columns, columns_of
from biped.runs.state import State, fingerprint, of_other_masses
from biped.runs.summary import Stepping
from biped.simulation import effort
from biped.simulation.clock import DEFAULT_PERIOD, Clock, clock_of
from biped.simulation.estimation import estimator_of, internal_state, is_estimated
from biped.simulation.world import MOST_BYTES, Sizes, build_world
from contact.arrays import Floats, Integers

if TYPE_CHECKING:
    from biped.simulation.scene import Scene

#: Greatest number of rows of a run: some tens of gigabytes.
MOST_ROWS = 10_000_000


@dataclass(frozen=True)
class Plan:
    """A scene that is ready to run: all objects that a session needs."""

    model: Model  #: the simulated model, with its loads
    nominal_model: Model  #: the model that the controller knows, without loads
    controller: Controller | None  #: the controller, if any
    law: Any  #: the compiled control law, passive without a controller; None for a Python controller
    take_steps: Callable[[World, int], int] | None  #: ``take_steps`` of an integrator that steps from Python
    stepping: Stepping  #: properties of the integrator that the checks of a run need
    can_go_back: bool  #: True if the integrator can return to an earlier state
    world: World  #: the arrays of the compiled loops
    state: State  #: the state that the loops change
    columns: Columns  #: the columns of a row
    clock: Clock  #: the steps and ticks
    set_point: SetPoint | None  #: the controller's target pose of the root, or None
    singular_angles: Mapping[str, float]  #: [rad] angles, by joint, at which the controller's torques diverge
    disturbances: tuple[Disturbance, ...]  #: the disturbances of the scene
    internal: World | None = None  #: the closed loop of the estimator's internal simulation, if any
    log_holds_run: bool = False  #: True if the log holds the whole run; no progress is shown then

    @property
    def delays_impedance(self) -> bool:
        """True if a lag or a limited rate of the actuators delays the torques of the controller's impedance."""
        given = self.world.actuators
        return bool(given.bounds.any() and (given.kept[0] > 0.0 or np.isfinite(given.rise).any()))

    def unheeded_limits(self) -> dict[str, float]:
        """Return the actuator limits [N·m] that bound only the controller's torques, by joint with an impedance."""
        return effort.unheeded(self.model, self.world.tree, self.world.actuators, _held(self.state))


def plan_of(scene: "Scene", state: State, log_holds_run: bool) -> Plan:
    """Check a scene and prepare it for the first step; ``Scene.prepare`` documents the errors."""
    model, controller, floor, step = scene.model, scene.controller, scene.floor, scene.step
    active = sorted_disturbances(scene.disturbances, model)
    integrator = _integrator_of(scene.integrator)
    carrying = integrator.moving(active.with_payload(model))
    state = _state_for(model, carrying, state)
    check_fits(integrator, carrying, INTEGRATORS, moving_floor=active.floor_moves)
    if active.actuators is not None and active.actuators.has_tone:
        effort.check_tone(integrator, INTEGRATORS)
    impedance = (None if controller is None else controller.impedance(model)) or Impedance()
    bounds = effort.given_by_muscles(carrying, impedance)
    apart = _is_apart(active, integrator, bounds, impedance)
    has_tendons = apart and bool(impedance.passive)
    _check_controller(controller, model, active, bool(bounds.any()))
    _check_loops(carrying, state, active)
    integrator.bind(carrying, floor, active)
    integrator.begin(carrying, state.arrays, state.floor)
    clock = clock_of(controller, step, scene.duration, scene.record_every)
    _check_tick(state, clock)
    nominal_q = state.q if carrying is model else of_other_masses(state.q, np.zeros(model.nv), carrying, model)[0]
    if not state.steps:
        _check_limits(model, state)
        if controller is not None:
            controller.check_start(model, nominal_q)
    state.set_step(step)
    law = _law_of(controller, model, active)
    recorded = () if controller is None else controller.recorded
    more_columns = integrator.columns(carrying)
    estimates = is_estimated(active.sensors, model, controller)
    columns = columns_of(
        carrying, recorded, more_columns, active.floor_moves, active.throw is not None, has_tendons, estimates
    )
    span = DEFAULT_PERIOD if controller is None else controller.period
    log_holds_run = log_holds_run and log_can_hold_run(clock, columns)
    sizes = Sizes(clock.steps_per_tick, clock.stride, len(recorded), span, clock.steps if log_holds_run else 0)
    world = build_world(carrying, model, floor, state, integrator, active, scene.fall, columns, sizes)
    world = _with_impedance(world, carrying, state, integrator, active, impedance)
    internal = None
    if estimates:
        internal = _internal_world(scene, state, integrator, active, impedance, sizes)
        world = world._replace(
            estimator=estimator_of(internal, model, world.sensors, span, clock.steps_per_tick, nominal_q)
        )
    return Plan(
        model=carrying, nominal_model=model, controller=controller, law=law,
        take_steps=integrator.take_steps if integrator.steps_from_python else None,
        stepping=_stepping_of(integrator, carrying, state, scene), can_go_back=integrator.can_go_back, world=world,
        state=state, columns=columns, clock=clock, set_point=_set_point(model, carrying, controller, nominal_q),
        singular_angles={} if controller is None else controller.singular_angles(model),
        disturbances=tuple(scene.disturbances), internal=internal, log_holds_run=log_holds_run,
    )  # fmt: skip


def _is_apart(active: Disturbances, integrator: Integrator, bounds: Integers, impedance: Impedance) -> bool:
    """Return True if actuators and passive tissue exert separate parts of the controller's impedance."""
    if active.actuators is None or not effort.can_bound(integrator):
        return False
    return bool(bounds.any() or impedance.passive) or active.actuators.has_tone


def _with_impedance(
    world: World, model: Model, state: State, integrator: Integrator, active: Disturbances, impedance: Impedance
) -> World:
    """Return the world with the impedance of the controller."""
    bounds = effort.given_by_muscles(model, impedance)
    effort.set_impedance(model, state.arrays, impedance)
    if _is_apart(active, integrator, bounds, impedance):
        world = world._replace(tree=effort.with_bounds(model, impedance))
        effort.let_actuators_give(world, bounds)
        effort.add_tone(world)
    else:
        effort.forget_efforts(state.arrays)
    return world


def _internal_world(
    scene: "Scene", state: State, integrator: Integrator, active: Disturbances, impedance: Impedance,
    sizes: Sizes,
) -> World:  # fmt: skip
    """Return the closed loop of the estimator's internal simulation, from the present state.

    It has the body without loads that the controller knows, the floor at rest without patches, and actuators without
    noise.
    """
    model = scene.model
    if integrator.is_engine or integrator.steps_from_python:
        integrator = Recursive()
    actuators = active.actuators and replace(active.actuators, noise=0.0, relative_noise=0.0)
    alone = sorted_disturbances([] if actuators is None else [actuators], model)
    inside = internal_state(state, model)
    inside.set_step(scene.step)
    integrator.begin(model, inside.arrays, None)
    sizes = sizes._replace(stride=1 << 40, extra=0, run_steps=0, is_internal=True)
    world = build_world(model, model, scene.floor, inside, integrator, alone, None, columns_of(model), sizes)
    return _with_impedance(world, model, inside, integrator, alone, impedance)


def _law_of(controller: Controller | None, model: Model, disturbances: Disturbances) -> Any:
    """Return the compiled law, passive without a controller; ``AtRest`` has control ticks, which actuators need."""
    law = Passive() if controller is None else controller.law(model)
    return AtRest() if isinstance(law, Passive) and disturbances.actuators is not None else law


def _held(state: State) -> NDArray[np.bool_]:
    """Return (nv,) True where an impedance acts."""
    held: NDArray[np.bool_] = (state.arrays.stiffness > 0.0) | (state.arrays.damping > 0.0)
    return held


def _stepping_of(integrator: Integrator, carrying: Model, state: State, scene: "Scene") -> Stepping:
    return Stepping(
        name=integrator.name,
        step=scene.step,
        conserves_momentum=integrator.conserves_momentum,
        is_engine=integrator.is_engine,
        stable_step=integrator.stable_step(carrying, state.q, scene.floor) if carrying.nc else None,
    )


def log_can_hold_run(clock: Clock, columns: Columns) -> bool:
    """Return True if the log of the whole run needs at most ``MOST_BYTES``."""
    return clock.steps // clock.stride * len(columns.names) * 8 <= MOST_BYTES


def check_rows(clock: Clock) -> None:
    """Raise InputError if a run has more than ``MOST_ROWS`` rows."""
    rows = clock.steps // clock.stride
    if rows > MOST_ROWS:
        raise InputError(
            f"duration = {clock.steps * clock.step:g} s: {rows:.3g} rows are more than {MOST_ROWS:,}: continue from "
            "the end of a shorter run (simulate(state=run.state)), or record fewer rows (record_every)"
        )


def _state_for(model: Model, carrying: Model, state: State) -> State:
    """Return the state as a state of the model with its loads."""
    if carrying is model or fingerprint(state.model) != fingerprint(carrying):
        state.check_model(model)
        if carrying is not model:
            state = state.carried_over(carrying)
    return state


def _set_point(model: Model, carrying: Model, controller: Controller | None, nominal_q: Floats) -> SetPoint | None:
    """Return the target of the root's centre of mass, shifted by loads that the controller does not know."""
    point = None if controller is None else controller.set_point_from(model, nominal_q)
    if point is None or carrying is model:
        return point
    arm = quaternion_matrix(point.orientation) @ np.subtract(carrying.root.com, model.root.com)
    x, y, z = (float(c) for c in np.add(point.position, arm))
    return replace(point, position=(x, y, z))


def _integrator_of(chosen: Integrator | str | None) -> Integrator:
    if chosen is None:
        return Recursive()
    if isinstance(chosen, str):
        return integrator_named(chosen)
    if not isinstance(chosen, Integrator):
        raise InputError(f"integrator = {chosen!r}: it must be an integrator, such as Recursive(), or the name of one")
    return chosen


def _check_controller(controller: Controller | None, model: Model, disturbances: Disturbances, held: bool) -> None:
    """Raise InputError for sensors or actuators without effect; ``held``: the actuators exert an impedance."""
    law = Passive() if controller is None else controller.law(model)
    wait = getattr(law, "wait", None)
    if controller is not None and controller.acts and not (isinstance(wait, np.ndarray) and wait.dtype == np.int64):
        raise InputError(f"{type(controller).__name__}.acts: its law needs a field wait, np.zeros(1, dtype=np.int64)")
    if not isinstance(law, Passive):
        return
    what = "without a controller" if controller is None else "with joint impedance, which acts within the time steps"
    actuators = disturbances.actuators
    for disturbance in (disturbances.sensors, actuators if not (held and actuators and actuators.acts) else None):
        if disturbance is not None:
            raise InputError(f"{type(disturbance).__name__} have no effect {what}: leave them out")


def _check_loops(model: Model, state: State, disturbances: Disturbances) -> None:
    """Raise InputError if loops are open at the start, or for thrown boxes: impacts do not propagate through loops."""
    if model.closing_joints:
        check_closed(model, state.q, state.momentum)
        if disturbances.throw is not None:
            raise InputError(
                f"model {model.name!r} has joints that close loops, which impacts of thrown boxes ignore: "
                "push it instead, or throw at model.without_closing_joints()"
            )


def _check_tick(state: State, clock: Clock) -> None:
    """Raise InputError if an unfinished control tick would continue with another time step or period."""
    into = int(state.arrays.counts[INTO_TICK])
    if into and state.arrays.clock[STEP_LENGTH] != clock.step:
        raise InputError("step can be changed at a control tick only: let the previous run end at a control tick")
    if into >= clock.steps_per_tick:
        raise InputError("controller.period can be changed at a control tick only: let the previous run end at a tick")


def _check_limits(model: Model, state: State) -> None:
    """Raise InputError for a start so far outside a joint's limits that its stop would exceed its motor's torque."""
    for body in model.bodies:
        joint = body.joint
        if joint.is_limited:
            at = float(state.q[model.coordinate(joint.name)])
            beyond = max(at - joint.upper, joint.lower - at)
            if beyond > STOP_YIELD[joint.kind]:
                raise InputError(
                    f"joint {joint.name!r} begins at {at:g}, {beyond:.3g} outside of its limits, {joint.lower:g} to "
                    f"{joint.upper:g}: begin within them (model.configuration(angles=...), or a robot's posture), "
                    "load the robot with limits = false, or simulate the limp model ragdoll(model, q)"
                )
