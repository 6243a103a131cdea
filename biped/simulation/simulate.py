"""``simulate``: a model, a floor, a controller and disturbances in, a recorded run out."""

from collections.abc import Sequence

import numpy as np

from biped.control.controller import CompiledLoop, Controller, Impedance, SetPoint
from biped.disturbances import Disturbance, Disturbances, sorted_disturbances
from biped.errors import InputError, IntegrationError, RunInterrupted
from biped.integrators import INTEGRATORS, Integrator, Recursive, check_fits, integrator_named
from biped.kernels.loop.closed_loop import coast
from biped.kernels.state.simulation_state import INTO_TICK
from biped.model import Model
from biped.model.geometry import quaternion_matrix
from biped.runs.row_layout import Columns, columns_of
from biped.runs.run import Run, assemble
from biped.runs.state import State, fingerprint
from biped.simulation.clock import DEFAULT_PERIOD, Clock, clock_of
from biped.simulation.session import Announce, Plan, Progress, Session
from biped.simulation.world import MOST_BYTES, Fall, Sizes, build_world
from contact import RUBBER, Floor

__all__ = ["Announce", "Progress", "prepare", "simulate"]


def simulate(
    model: Model,
    controller: Controller | None = None,
    *,
    floor: Floor = RUBBER,
    state: State | None = None,
    duration: float = 3.0,
    step: float = 5e-4,
    disturbances: Sequence[Disturbance] = (),
    integrator: Integrator | str | None = None,
    fall: Fall | None = None,
    record_every: float | None = None,
    progress: Progress | None = None,
    announce: Announce | None = None,
) -> Run:
    """Simulate a model from a state over a duration.

    Args:
        model: what moves.
        controller: what drives its joints; without one they are free.
        floor: what its contact points stand on.
        state: where it starts or goes on, changed in place; the home configuration at rest if not given.
        duration: [s].
        step: [s] of the integrator; it must divide the controller's period.
        disturbances: what acts on it, of the kinds in ``biped.disturbances``; pushes, forces, patches and loads in any
            number, of the others one at most.
        integrator: how the steps are taken, or the name of one in ``biped.integrators.INTEGRATORS``.
        fall: when the run ends as "fell"; never, if not given.
        record_every: [s] between recorded rows; the controller's period if not given.
        progress: called now and then with the time simulated so far [s].
        announce: called with a sentence before the kernels are compiled for the first time.

    Returns:
        The run; ``run.state`` continues it.

    Raises:
        InputError: for arguments that do not fit together; the message says what would.
        IntegrationError: a step has no solution; ``error.run`` holds what was computed before.
        RunInterrupted: the user pressed Ctrl-C; ``error.run`` holds what was computed before.
    """
    session = Session(
        prepare(
            model,
            controller,
            floor=floor,
            state=state,
            duration=duration,
            step=step,
            disturbances=disturbances,
            integrator=integrator,
            fall=fall,
            record_every=record_every,
        )
    )
    session.warm_up(announce)
    recording = session.run(progress)
    if recording.ending.outcome == "interrupted":
        raise RunInterrupted(assemble(recording))
    if recording.ending.error is not None:
        raise IntegrationError(recording.ending.error, assemble(recording))
    return assemble(recording)


def prepare(
    model: Model,
    controller: Controller | None = None,
    *,
    floor: Floor = RUBBER,
    state: State | None = None,
    duration: float = 3.0,
    step: float = 5e-4,
    disturbances: Sequence[Disturbance] = (),
    integrator: Integrator | str | None = None,
    fall: Fall | None = None,
    record_every: float | None = None,
    in_one_go: bool = False,
) -> Plan:
    """All that ``simulate`` does before the first step; arguments and errors are the same.

    With ``in_one_go`` the log gets room for the whole run, if that is not too much.
    """
    acting = sorted_disturbances(disturbances)
    carrying = acting.carried_by(model)
    state = _state_for(model, carrying, state)
    integrator = _integrator_of(integrator)
    check_fits(integrator, carrying, INTEGRATORS, moving_floor=acting.platform is not None)
    _check_controller(controller, acting)
    if hasattr(integrator, "take_on"):
        integrator.take_on(carrying, floor, acting)
    clock = clock_of(controller, step, duration, record_every)
    _check_tick(state, clock)
    state.set_step(step)
    loop = _loop_of(model, controller)
    recorded = tuple(getattr(controller, "recorded", ())) if hasattr(controller, "compiled") else ()
    own = integrator.columns(carrying) if hasattr(integrator, "columns") else {}
    columns = columns_of(carrying, recorded, own, acting.platform is not None, acting.throw is not None)
    span = DEFAULT_PERIOD if controller is None else controller.period
    in_one_go = in_one_go and fits_in_one_go(clock, columns)
    sizes = Sizes(clock.period, clock.stride, len(recorded), span, clock.steps if in_one_go else 0)
    world = build_world(carrying, model, floor, state, integrator, acting, fall, columns, sizes)
    _set_impedance(model, state, controller)
    return Plan(
        model=carrying,
        believed=model,
        controller=controller,
        loop=loop,
        stepping=getattr(integrator, "hold", None),
        world=world,
        state=state,
        columns=columns,
        clock=clock,
        set_point=_set_point(model, carrying, controller),
        disturbances=tuple(disturbances),
        in_one_go=in_one_go,
    )


def fits_in_one_go(clock: Clock, columns: Columns) -> bool:
    """Whether the log may hold the whole run."""
    return clock.steps // clock.stride * len(columns.names) * 8 <= MOST_BYTES


def _state_for(model: Model, carrying: Model, state: State | None) -> State:
    """The state of the model with its loads."""
    state = State.at(model) if state is None else state
    if carrying is model or fingerprint(state.model) != fingerprint(carrying):
        state.check_model(model)
        if carrying is not model:
            state = state.carried_over(carrying)
    return state


def _set_point(model: Model, carrying: Model, controller: Controller | None) -> SetPoint | None:
    """Where the controller wants the root's centre of mass to be: with its loads, which it does not know of."""
    if controller is None or not hasattr(controller, "set_point"):
        return None
    point: SetPoint = controller.set_point(model)
    if carrying is model:
        return point
    arm = quaternion_matrix(point.orientation) @ np.subtract(carrying.root.com, model.root.com)
    x, y, z = (float(c) for c in np.add(point.position, arm))
    return SetPoint((x, y, z), point.orientation, point.on_floor)


def _integrator_of(chosen: Integrator | str | None) -> Integrator:
    if chosen is None:
        return Recursive()
    if isinstance(chosen, str):
        return integrator_named(chosen)
    if isinstance(chosen, type) or not hasattr(chosen, "method"):
        raise InputError(f"integrator = {chosen!r}: it must be an integrator, such as Recursive(), or the name of one")
    return chosen


def _check_controller(controller: Controller | None, acting: Disturbances) -> None:
    if controller is not None and not (hasattr(controller, "torques") and hasattr(controller, "period")):
        raise InputError(f"{type(controller).__name__} is no controller: it needs a period and a method torques")
    asked = controller is not None and not hasattr(controller, "impedance")
    for disturbance in (acting.senses, acting.actuators):
        if disturbance is not None and not asked:
            what = (
                "without a controller" if controller is None else "with joint impedance, which acts within the steps,"
            )
            raise InputError(f"{what} {type(disturbance).__name__} would do nothing: leave them out")


def _check_tick(state: State, clock: Clock) -> None:
    """An unfinished control tick goes on as it began."""
    into = int(state.plant.counts[INTO_TICK])
    if into and state.plant.clock[1] != clock.step:
        raise InputError("the step can be changed at a control tick only: let the run before end at one")
    if into >= clock.period:
        raise InputError("the controller's period can be changed at a control tick only: let the run before end at one")


def _set_impedance(model: Model, state: State, controller: Controller | None) -> None:
    impedance = Impedance()
    if controller is not None and hasattr(controller, "impedance"):
        impedance = controller.impedance(model)
    for values, array in (
        (impedance.stiffness, state.plant.stiffness),
        (impedance.damping, state.plant.damping),
        (impedance.rest, state.plant.setpoint),
    ):
        array[:] = 0.0
        for joint, value in values.items():
            array[model.dof(joint)] = value


def _loop_of(model: Model, controller: Controller | None) -> CompiledLoop | None:
    if controller is None:
        return CompiledLoop(coast, None)
    if hasattr(controller, "compiled"):
        compiled = controller.compiled(model)
        return compiled if isinstance(compiled, CompiledLoop) else CompiledLoop(*compiled)
    return None
