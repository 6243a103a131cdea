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
from biped.simulation.world import MOST_BYTES, Sizes, build_world
from contact.arrays import Floats

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
    law: Any  #: the compiled law of the controller, or of a system without one; None for a Python controller
    take_steps: Callable[[World, int], int] | None  #: ``take_steps`` of an integrator that steps from Python
    stepping: Stepping  #: properties of the integrator that the checks of a run need
    can_go_back: bool  #: True if the integrator can return to an earlier state
    world: World  #: the arrays of the compiled loops
    state: State  #: the state that the loops change
    columns: Columns  #: the columns of a row
    clock: Clock  #: the steps and ticks
    set_point: SetPoint | None  #: the controller's target pose of the root, or None
    singular_angles: Mapping[str, float]  #: [rad] by joint, where the controller's torques grow without bounds
    disturbances: tuple[Disturbance, ...]  #: the disturbances of the scene
    log_holds_run: bool = False  #: True if the log holds the whole run; no progress is shown then

    @property
    def delays_impedance(self) -> bool:
        """True if a lag or a limited rate of the actuators delays the torques of the controller's impedance."""
        given = self.world.actuators
        return bool(given.bounds.any() and (given.kept[0] > 0.0 or np.isfinite(given.rise).any()))

    def unheeded_limits(self) -> dict[str, float]:
        """Return, by joint with an impedance, the actuator limit [N·m] that bounds the controller's torques only."""
        return effort.unheeded(self.model, self.world.tree, self.world.actuators, _held(self.state))


def plan_of(scene: "Scene", state: State, log_holds_run: bool) -> Plan:
    """Check a scene and prepare it for the first step; ``Scene.prepare`` documents the errors."""
    model, controller, floor, step = scene.model, scene.controller, scene.floor, scene.step
    acting = sorted_disturbances(scene.disturbances, model)
    integrator = _integrator_of(scene.integrator)
    carrying = integrator.moving(acting.with_payload(model))
    state = _state_for(model, carrying, state)
    check_fits(integrator, carrying, INTEGRATORS, moving_floor=acting.floor_moves)
    impedance = (None if controller is None else controller.impedance(model)) or Impedance()
    bounds = effort.given_by_muscles(carrying, impedance)
    apart = acting.actuators is not None and effort.can_bound(integrator) and bool(bounds.any() or impedance.passive)
    has_tendons = apart and bool(impedance.passive)
    _check_controller(controller, model, acting, bool(bounds.any()))
    _check_loops(carrying, state, acting)
    integrator.bind(carrying, floor, acting)
    integrator.begin(carrying, state.arrays, state.floor)
    clock = clock_of(controller, step, scene.duration, scene.record_every)
    _check_tick(state, clock)
    nominal_q = state.q if carrying is model else of_other_masses(state.q, np.zeros(model.nv), carrying, model)[0]
    if not state.steps:
        _check_limits(model, state)
        if controller is not None:
            controller.check_start(model, nominal_q)
    state.set_step(step)
    law = _law_of(controller, model, acting)
    recorded = () if controller is None else controller.recorded
    own = integrator.columns(carrying)
    columns = columns_of(carrying, recorded, own, acting.floor_moves, acting.throw is not None, has_tendons)
    span = DEFAULT_PERIOD if controller is None else controller.period
    log_holds_run = log_holds_run and log_can_hold_run(clock, columns)
    sizes = Sizes(clock.steps_per_tick, clock.stride, len(recorded), span, clock.steps if log_holds_run else 0)
    world = build_world(carrying, model, floor, state, integrator, acting, scene.fall, columns, sizes)
    effort.set_impedance(carrying, state.arrays, impedance)
    if apart:
        world = world._replace(tree=effort.with_bounds(carrying, impedance))
        effort.let_actuators_give(world, bounds)
    else:
        effort.forget_efforts(state.arrays)
    return Plan(
        model=carrying,
        nominal_model=model,
        controller=controller,
        law=law,
        take_steps=integrator.take_steps if integrator.steps_from_python else None,
        stepping=_stepping_of(integrator, carrying, state, scene),
        can_go_back=integrator.can_go_back,
        world=world,
        state=state,
        columns=columns,
        clock=clock,
        set_point=_set_point(model, carrying, controller, nominal_q),
        singular_angles={} if controller is None else controller.singular_angles(model),
        disturbances=tuple(scene.disturbances),
        log_holds_run=log_holds_run,
    )


def _law_of(controller: Controller | None, model: Model, acting: Disturbances) -> Any:
    """Return the compiled law, or a passive one without a controller; ``AtRest`` has ticks, which actuators need."""
    law = Passive() if controller is None else controller.law(model)
    return AtRest() if isinstance(law, Passive) and acting.actuators is not None else law


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
    """Return the state as one of the model with its loads."""
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


def _check_controller(controller: Controller | None, model: Model, acting: Disturbances, held: bool) -> None:
    """Refuse sensors and actuators without effect; ``held`` is True if the actuators exert an impedance."""
    if controller is not None and not isinstance(controller.law(model), Passive):
        return
    what = "without a controller" if controller is None else "with joint impedance, which acts within the steps,"
    actuators = acting.actuators
    for disturbance in (acting.sensors, actuators if not (held and actuators and actuators.acts) else None):
        if disturbance is not None:
            raise InputError(f"{what} {type(disturbance).__name__} would do nothing: leave them out")


def _check_loops(model: Model, state: State, acting: Disturbances) -> None:
    """Check that loops are closed at the start, and refuse thrown boxes: impacts do not propagate through loops."""
    if model.closing_joints:
        check_closed(model, state.q, state.momentum)
        if acting.throw is not None:
            raise InputError(
                f"model {model.name!r} has joints that close loops, and an impact knows those of the tree alone: "
                "push it instead, or throw at model.without_closing_joints()"
            )


def _check_tick(state: State, clock: Clock) -> None:
    """Check that an unfinished control tick continues with its step and period."""
    into = int(state.arrays.counts[INTO_TICK])
    if into and state.arrays.clock[STEP_LENGTH] != clock.step:
        raise InputError("the step can be changed at a control tick only: let the run before end at one")
    if into >= clock.steps_per_tick:
        raise InputError("the controller's period can be changed at a control tick only: let the run before end at one")


def _check_limits(model: Model, state: State) -> None:
    """Refuse a start beyond a joint limit where the stop would push harder than the joint's motor."""
    for body in model.bodies:
        joint = body.joint
        if joint.is_limited:
            at = float(state.q[model.coordinate(joint.name)])
            beyond = max(at - joint.upper, joint.lower - at)
            if beyond > STOP_YIELD[joint.kind]:
                raise InputError(
                    f"joint {joint.name!r} begins at {at:g}, {beyond:.3g} beyond its limits of {joint.lower:g} to "
                    f"{joint.upper:g}: begin within them (model.configuration(angles=...), or a robot's posture), "
                    "load the robot with limits = false, or make a limp model for where it begins: ragdoll(model, q)"
                )
