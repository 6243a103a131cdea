"""A scene: all that a simulation is made of, in one immutable object, and how it is made ready to run."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from biped.control.controller import Controller, Impedance, SetPoint
from biped.disturbances import Disturbance, Disturbances, sorted_disturbances
from biped.errors import InputError, IntegrationError, RunInterrupted
from biped.integrators import INTEGRATORS, Integrator, Recursive, check_fits, integrator_named
from biped.kernels.loop.closed_loop import Passive
from biped.kernels.state.simulation_state import INTO_TICK, STEP_LENGTH
from biped.metrics import assemble
from biped.model import Model
from biped.model.geometry import quaternion_matrix
from biped.runs.row_layout import Columns, columns_of
from biped.runs.run import Run
from biped.runs.state import State, fingerprint
from biped.simulation.clock import DEFAULT_PERIOD, Clock, clock_of
from biped.simulation.session import Announce, Plan, Progress, Session
from biped.simulation.world import MOST_BYTES, Fall, Sizes, build_world
from contact import RUBBER, Floor


@dataclass(frozen=True)
class Scene:
    """What is simulated, from where, for how long and how; ``dataclasses.replace`` puts something else in a place.

    Attributes:
        model: what moves.
        controller: what drives its joints; without one they are free.
        floor: what its contact points stand on.
        state: where it starts or goes on; if not given, where the controller wants to begin
            (``Controller.initial_configuration``), or the home configuration at rest.
        duration: [s].
        step: [s] of the integrator; it must divide the controller's period.
        disturbances: what acts on it, of the kinds in ``biped.disturbances``; pushes, forces, patches and loads in any
            number, of the others one at most.
        integrator: how the steps are taken, or the name of one in ``biped.integrators.INTEGRATORS``; ``Recursive``
            if not given.
        fall: when the run ends as "fell"; never, if not given.
        record_every: [s] between recorded rows; the controller's period if not given.

    Raises:
        InputError: the controller is none.
    """

    model: Model
    controller: Controller | None = None
    floor: Floor = RUBBER
    state: State | None = None
    duration: float = 3.0
    step: float = 5e-4
    disturbances: Sequence[Disturbance] = ()
    integrator: Integrator | str | None = None
    fall: Fall | None = None
    record_every: float | None = None

    def __post_init__(self) -> None:
        controller: Any = self.controller
        if controller is not None and not isinstance(controller, Controller):
            what = f"the class {controller.__name__}" if isinstance(controller, type) else type(controller).__name__
            raise InputError(f"{what} is no controller: give an object of a class that derives from biped.Controller")

    @classmethod
    def of(cls, model: Model, controller: Controller | None, options: dict[str, Any]) -> "Scene":
        """A scene of options by name.

        Raises:
            InputError: there is no such option; the message names the nearest.
        """
        known = [field.name for field in fields(cls)][2:]
        for name in options:
            if name not in known:
                close = difflib.get_close_matches(name, known, n=1)
                hint = f"did you mean {close[0]!r}? " if close else ""
                raise InputError(f"unknown option {name!r}; {hint}options are {', '.join(known)}")
        return cls(model, controller, **options)

    @property
    def set_point(self) -> SetPoint | None:
        """Where the controller wants the root to be, if it says so."""
        return None if self.controller is None else self.controller.set_point(self.model)

    @property
    def initial_state(self) -> State:
        """Where it starts: ``state``, or what stands for it where that is not given."""
        if self.state is not None:
            return self.state
        q = None if self.controller is None else self.controller.initial_configuration(self.model, self.floor)
        return State.at(self.model, q)

    def prepare(self, *, in_one_go: bool = False, in_place: bool = False) -> Plan:
        """All that is done before the first step.

        Args:
            in_one_go: give the log room for the whole run, if that is not too much.
            in_place: let ``state`` itself move, not a copy of it.

        Raises:
            InputError: for members that do not fit together; the message says what would.
        """
        state = self.initial_state
        return _prepared(self, state if in_place else state.copy(), in_one_go)

    def run(self, progress: Progress | None = None, announce: Announce | None = None, *, in_place: bool = False) -> Run:
        """Simulate it.

        Args:
            progress: called now and then with the time simulated so far [s].
            announce: called with a sentence before kernels are compiled.
            in_place: let ``state`` itself move, not a copy of it.

        Raises:
            InputError: for members that do not fit together; the message says what would.
            IntegrationError: a step has no solution; ``error.run`` holds what was computed before.
            RunInterrupted: the user pressed Ctrl-C; ``error.run`` holds what was computed before.
        """
        session = Session(self.prepare(in_place=in_place))
        session.warm_up(announce)
        recording = session.run(progress)
        if recording.ending.outcome == "interrupted":
            raise RunInterrupted(assemble(recording))
        if recording.ending.error is not None:
            raise IntegrationError(recording.ending.error, assemble(recording))
        return assemble(recording)


def _prepared(scene: Scene, state: State, in_one_go: bool) -> Plan:
    """All that is done before the first step of a scene; ``Scene.prepare`` documents it."""
    model, controller, floor, step = scene.model, scene.controller, scene.floor, scene.step
    acting = sorted_disturbances(scene.disturbances)
    carrying = acting.with_payload(model)
    state = _state_for(model, carrying, state)
    integrator = _integrator_of(scene.integrator)
    check_fits(integrator, carrying, INTEGRATORS, moving_floor=acting.platform is not None)
    _check_controller(controller, model, acting)
    integrator.bind(carrying, floor, acting)
    clock = clock_of(controller, step, scene.duration, scene.record_every)
    _check_tick(state, clock)
    if controller is not None and not state.steps:
        controller.check_start(model, state.q)
    state.set_step(step)
    law = Passive() if controller is None else controller.law(model)
    recorded = () if controller is None or law is None else controller.recorded
    own = integrator.columns(carrying)
    columns = columns_of(carrying, recorded, own, acting.platform is not None, acting.throw is not None)
    span = DEFAULT_PERIOD if controller is None else controller.period
    in_one_go = in_one_go and fits_in_one_go(clock, columns)
    sizes = Sizes(clock.steps_per_tick, clock.stride, len(recorded), span, clock.steps if in_one_go else 0)
    world = build_world(carrying, model, floor, state, integrator, acting, scene.fall, columns, sizes)
    _set_impedance(model, state, controller)
    return Plan(
        model=carrying,
        nominal_model=model,
        controller=controller,
        law=law,
        stepping=integrator.take_steps if integrator.steps_from_python else None,
        world=world,
        state=state,
        columns=columns,
        clock=clock,
        set_point=_set_point(model, carrying, controller),
        disturbances=tuple(scene.disturbances),
        in_one_go=in_one_go,
    )


def fits_in_one_go(clock: Clock, columns: Columns) -> bool:
    """Whether the log may hold the whole run."""
    return clock.steps // clock.stride * len(columns.names) * 8 <= MOST_BYTES


def _state_for(model: Model, carrying: Model, state: State) -> State:
    """The state of the model with its loads."""
    if carrying is model or fingerprint(state.model) != fingerprint(carrying):
        state.check_model(model)
        if carrying is not model:
            state = state.carried_over(carrying)
    return state


def _set_point(model: Model, carrying: Model, controller: Controller | None) -> SetPoint | None:
    """Where the controller wants the root's centre of mass to be: with its loads, which it does not know of."""
    point = None if controller is None else controller.set_point(model)
    if point is None or carrying is model:
        return point
    arm = quaternion_matrix(point.orientation) @ np.subtract(carrying.root.com, model.root.com)
    x, y, z = (float(c) for c in np.add(point.position, arm))
    return SetPoint((x, y, z), point.orientation, point.on_floor)


def _integrator_of(chosen: Integrator | str | None) -> Integrator:
    if chosen is None:
        return Recursive()
    if isinstance(chosen, str):
        return integrator_named(chosen)
    if not isinstance(chosen, Integrator):
        raise InputError(f"integrator = {chosen!r}: it must be an integrator, such as Recursive(), or the name of one")
    return chosen


def _check_controller(controller: Controller | None, model: Model, acting: Disturbances) -> None:
    asked = controller is not None and not isinstance(controller.law(model), Passive)
    for disturbance in (acting.sensors, acting.actuators):
        if disturbance is not None and not asked:
            what = (
                "without a controller" if controller is None else "with joint impedance, which acts within the steps,"
            )
            raise InputError(f"{what} {type(disturbance).__name__} would do nothing: leave them out")


def _check_tick(state: State, clock: Clock) -> None:
    """An unfinished control tick goes on as it began."""
    into = int(state.arrays.counts[INTO_TICK])
    if into and state.arrays.clock[STEP_LENGTH] != clock.step:
        raise InputError("the step can be changed at a control tick only: let the run before end at one")
    if into >= clock.steps_per_tick:
        raise InputError("the controller's period can be changed at a control tick only: let the run before end at one")


def _set_impedance(model: Model, state: State, controller: Controller | None) -> None:
    impedance = (None if controller is None else controller.impedance(model)) or Impedance()
    for values, array in (
        (impedance.stiffness, state.arrays.stiffness),
        (impedance.damping, state.arrays.damping),
        (impedance.rest, state.arrays.setpoint),
    ):
        array[:] = 0.0
        for joint, value in values.items():
            array[model.dof(joint)] = value
