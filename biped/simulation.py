"""``simulate``: a model, a floor, a controller and disturbances in, a recorded run out."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from biped.checks import is_finite
from biped.columns import Columns, columns_of
from biped.controller import CompiledLoop, Controller, Impedance, Observation, SetPoint
from biped.disturbance import Disturbance, Push, Throw
from biped.errors import InputError, IntegrationError, RunInterrupted
from biped.integrators import INTEGRATORS, Integrator, Recursive, check_fits, integrator_named
from biped.kernels.hold import FELL, LOG_FULL, OK, World, begin_tick, coast, hold, record
from biped.kernels.log import EVENTS, ROWS
from biped.kernels.state import INTO_TICK, ITERATIONS, MOST_ITERATIONS, RETRIED, STEPS, TOTAL_STEPS
from biped.kernels.thrown import BROKEN
from biped.model import Model
from biped.run import Run, assemble
from biped.state import State
from biped.summary import Counters, Ending
from biped.world import NEVER, Fall, Sizes, build_world
from contact import RUBBER, Floor
from contact.jit import is_compiled
from contact.modes import NONE

T = TypeVar("T")
Progress = Callable[[float], None]
Announce = Callable[[str], None]

#: Without a controller the plant is held, observed and recorded at the thesis's 500 Hz.
DEFAULT_PERIOD = 2e-3
#: Control ticks, and steps, between two looks at the keyboard and the progress bar.
CHUNK = 250
CHUNK_STEPS = 20_000
#: The same for an integrator that steps from Python.
PYTHON_CHUNK = 10
#: Steps in a control period.
MOST_STEPS = 100_000


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
        disturbances: pushes, and at most one throw.
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
    state = State.at(model) if state is None else state
    state.check_model(model)
    integrator = _integrator_of(integrator)
    check_fits(integrator, model, INTEGRATORS)
    _check_parts(controller, disturbances)
    clock = _clock(controller, step, duration, record_every)
    _check_tick(state, clock)
    state.set_step(step)
    recorded = tuple(getattr(controller, "recorded", ())) if hasattr(controller, "compiled") else ()
    throws = [d for d in disturbances if isinstance(d, Throw)]
    if len(throws) > 1:
        raise InputError(f"{len(throws)} throws: a run takes one at most")
    throw = throws[0] if throws else None
    own = integrator.columns(model) if hasattr(integrator, "columns") else {}
    columns = columns_of(model, recorded, own, throw is not None)
    pushes = [d for d in disturbances if isinstance(d, Push)]
    sizes = Sizes(clock.period, clock.stride, len(recorded))
    world = build_world(model, floor, state, integrator, pushes, throw, fall, columns, sizes)
    impedance = Impedance()
    if controller is not None and hasattr(controller, "impedance"):
        impedance = controller.impedance(model)
    _set_impedance(model, state, impedance)
    loop = _loop_of(model, controller)
    stepping = getattr(integrator, "hold", None)
    session = _Session(model, controller, loop, stepping, state, world, columns, clock, pushes, progress)
    session.warm_up(announce)
    return session.run()


def _integrator_of(chosen: Integrator | str | None) -> Integrator:
    if chosen is None:
        return Recursive()
    if isinstance(chosen, str):
        return integrator_named(chosen)
    if isinstance(chosen, type) or not hasattr(chosen, "method"):
        raise InputError(f"integrator = {chosen!r}: it must be an integrator, such as Recursive(), or the name of one")
    return chosen


def _check_parts(controller: Controller | None, disturbances: Sequence[Disturbance]) -> None:
    for disturbance in disturbances:
        if not isinstance(disturbance, (Push, Throw)):
            raise InputError(f"disturbance {disturbance!r}: it must be a Push or a Throw")
    if controller is not None and not (hasattr(controller, "torques") and hasattr(controller, "period")):
        raise InputError(f"{type(controller).__name__} is no controller: it needs a period and a method torques")


def _check_tick(state: State, clock: "_Clock") -> None:
    """An unfinished control tick goes on as it began."""
    into = int(state.plant.counts[INTO_TICK])
    if into and state.plant.clock[1] != clock.step:
        raise InputError("the step can be changed at a control tick only: let the run before end at one")
    if into >= clock.period:
        raise InputError("the controller's period can be changed at a control tick only: let the run before end at one")


@dataclass(frozen=True)
class _Clock:
    """Steps and ticks of a run."""

    step: float
    period: int  # steps between two control ticks
    stride: int  # steps between two rows
    steps: int  # of the whole run


def _clock(controller: Controller | None, step: float, duration: float, record_every: float | None) -> _Clock:
    if not (is_finite(step) and step > 0.0):
        raise InputError(f"step = {step!r}: it must be a finite number of seconds above zero")
    if not (is_finite(duration) and duration >= 0.0):
        raise InputError(f"duration = {duration!r}: it must be a finite number of seconds, zero or above")
    span = DEFAULT_PERIOD if controller is None else controller.period
    if not (math.isfinite(span) and span > 0.0):
        raise InputError(f"controller.period = {span!r}: it must be a finite number of seconds above zero")
    if controller is None and not _divides(step, span):
        span = step
    if span / step > MOST_STEPS:
        raise InputError(f"step = {step:g} s: more than {MOST_STEPS} steps in the controller's period of {span:g} s")
    period = _whole(span, step, "the controller's period")
    stride = period if record_every is None else _whole(record_every, step, "record_every")
    return _Clock(step, period, stride, round(duration / step))


def _divides(step: float, span: float) -> bool:
    return round(span / step) >= 1 and math.isclose(round(span / step) * step, span, rel_tol=1e-9)


def _whole(span: float, step: float, what: str) -> int:
    if not (is_finite(span) and span > 0.0):
        raise InputError(f"{what} is {span!r}: it must be a finite number of seconds above zero")
    if _divides(step, span):
        return round(span / step)
    below = max(1, math.ceil(span / step))
    nearest = sorted({span / below, span / max(1, below - 1)})
    choices = " or ".join(f"{value:.6g}" for value in nearest)
    raise InputError(f"step = {step:g} s does not divide {what} of {span:g} s; the nearest steps that do: {choices} s")


def _set_impedance(model: Model, state: State, impedance: Impedance) -> None:
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


class _Session:
    """One run in the making: drives the compiled loop in chunks, and drains its log.

    ``stepping`` is the integrator's own ``hold``, where it steps from Python.
    """

    def __init__(
        self,
        model: Model,
        controller: Controller | None,
        loop: CompiledLoop | None,
        stepping: Callable[[World, int], int] | None,
        state: State,
        world: World,
        columns: Columns,
        clock: _Clock,
        pushes: list[Push],
        progress: Progress | None,
    ) -> None:
        self.model, self.controller, self.loop = model, controller, loop
        self.state, self.world, self.columns = state, world, columns
        self.clock, self.progress = clock, progress
        self.hold = hold if stepping is None else stepping
        self.runs_compiled = loop is not None and stepping is None
        self.pushes, self.began = pushes, state.time
        self.standing = frozenset(
            name for name, mode in zip(model.contact_names, state.plant.mode, strict=True) if mode != NONE
        )
        self.rows: list[NDArray[np.float64]] = []
        self.events: list[NDArray[np.float64]] = []
        self.fell_at: float | None = None
        self.wall_time = 0.0
        self.before = tuple(int(state.plant.counts[k]) for k in (TOTAL_STEPS, ITERATIONS, RETRIED))
        self.set_point: SetPoint | None = None
        if controller is not None and hasattr(controller, "set_point"):
            self.set_point = controller.set_point(model)
        state.plant.counts[MOST_ITERATIONS] = 0

    def run(self) -> Run:
        """All steps, or those up to a fall."""
        self.outcome = "interrupted"
        try:
            left = self._finish_tick(self.clock.steps)
            if self.controller is None and not self.state.plant.counts[INTO_TICK]:
                self.state.plant.torque[:] = 0.0
            while left > 0 and self.fell_at is None:
                left -= self._chunk(left)
                if self.progress is not None:
                    self.progress(self.state.time)
            if self.state.plant.counts[STEPS] % self.clock.stride == 0 or self.fell_at is not None:
                self._record()
        except KeyboardInterrupt:
            raise RunInterrupted(self._result()) from None
        self.outcome = "fell" if self.fell_at is not None else "completed" if self.world.fall is NEVER else "stood"
        return self._result()

    def warm_up(self, announce: Announce | None) -> None:
        """Load or compile the kernels, so that the wall time is that of the steps."""
        calls: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []
        if self.loop is not None:
            calls.append((self.loop.loop, (self.world, self.loop.law, 0, self.clock.period)))
        if not self.runs_compiled:
            calls.append((self.hold, (self.world, 0)))
        if announce is not None and not all(is_compiled(function, *arguments) for function, arguments in calls):
            announce("compiling the kernels for this integrator and controller, once: up to a minute")
        for function, arguments in calls:
            function(*arguments)

    def _record(self) -> None:
        world = self.world
        record(world.tree, world.floor, world.plant, world.work, world.thrown, world.log)

    def _finish_tick(self, left: int) -> int:
        """Hold the torques of an unfinished control tick to its end; the steps that are left then."""
        into = int(self.state.plant.counts[INTO_TICK])
        if into:
            rest = min(self.clock.period - into, left)
            self._check(self._timed(lambda: self._hold(into, rest)))
            self._drain()
            left -= rest
            self.state.plant.counts[INTO_TICK] = (into + rest) % self.clock.period
        return left

    def _chunk(self, left: int) -> int:
        """Some control ticks, or the part of one that is left; the number of steps taken."""
        period = self.clock.period
        chunk = CHUNK if self.hold is hold else PYTHON_CHUNK
        ticks = min(chunk, max(1, CHUNK_STEPS // period), left // period)
        if ticks == 0:
            done, reason = self._ticks(1, left)
            steps = left
            self.state.plant.counts[INTO_TICK] = left if reason == OK else 0
        else:
            done, reason = self._ticks(ticks, period)
            steps = done * period
        self._drain()
        if reason == FELL:
            self.fell_at = self.state.time
        self._check(reason)
        return steps if reason != LOG_FULL or ticks else 0

    def _ticks(self, ticks: int, period: int) -> tuple[int, int]:
        if self.loop is not None and self.runs_compiled:
            loop, law = self.loop
            done, reason = self._timed(lambda: loop(self.world, law, ticks, period))
            return int(done), int(reason)
        return self._timed(lambda: self._python_ticks(ticks, period))

    def _python_ticks(self, ticks: int, period: int) -> tuple[int, int]:
        """The closed loop of a controller, or of an integrator, that is not compiled."""
        for tick in range(ticks):
            reason = int(begin_tick(self.world, period))
            if reason == OK:
                self._set_torques()
                reason = self._hold(0, period)
            if reason != OK:
                return tick, reason
        return ticks, OK

    def _hold(self, into: int, steps: int) -> int:
        """Some steps of a control tick that is ``into`` steps old; an interrupted one can be finished."""
        count = self.state.plant.counts
        begin = int(count[STEPS])
        try:
            return int(self.hold(self.world, steps))
        except KeyboardInterrupt:
            count[INTO_TICK] = (into + int(count[STEPS]) - begin) % self.clock.period
            raise

    def _set_torques(self) -> None:
        """Ask the controller; a compiled one by a tick of its loop without any steps."""
        if self.loop is not None:
            self.loop.loop(self.world, self.loop.law, 1, 0)
        elif self.controller is not None:
            self._ask(self.controller)

    def _ask(self, controller: Controller) -> None:
        observation = Observation(self.model, self.state.time, self.state.q.copy(), self.world.work.motion.rates.copy())
        torques = np.asarray(controller.torques(observation), dtype=float)
        joints = self.model.joint_names
        if torques.shape != (len(joints),):
            raise InputError(
                f"the controller returned torques of shape {torques.shape}; there are {len(joints)} joints"
            )
        if not np.all(np.isfinite(torques)):
            bad = joints[int(np.flatnonzero(~np.isfinite(torques))[0])]
            raise InputError(f"the controller's torque of {bad} is not finite at {self.state.time:g} s")
        self.state.plant.torque[[self.model.dof(joint) for joint in joints]] = torques

    def _timed(self, work: Callable[[], T]) -> T:
        begin = time.perf_counter()
        try:
            return work()
        finally:
            self.wall_time += time.perf_counter() - begin

    def _drain(self) -> None:
        log = self.world.log
        self.rows.append(log.rows[: log.cursor[ROWS]].copy())
        self.events.append(log.events[: log.cursor[EVENTS]].copy())
        log.cursor[ROWS] = log.cursor[EVENTS] = 0

    def _check(self, reason: int) -> None:
        """A step without a solution: a fall if the model was flailing, an error otherwise."""
        if reason in (OK, FELL, LOG_FULL):
            return
        plant = self.state.plant
        rates = np.concatenate([plant.rate[6:], self.world.work.motion.rates[6:]])
        rate = float(np.max(np.abs(rates[np.isfinite(rates)]), initial=0.0))
        if rate > self.world.fall.rate:
            self.fell_at = self.state.time
            return
        self.outcome = "failed"
        if reason == BROKEN:
            raise IntegrationError(
                f"the thrown box's flight or collision at {self.state.time:.6g} s has no solution", self._result()
            )
        residual = float(np.linalg.norm(self.world.work.residual))
        left = f"residual {residual:.3g} N·s, " if math.isfinite(residual) else ""
        modes = ", ".join(f"{n}={m}" for n, m in zip(self.model.contact_names, plant.mode, strict=True))
        raise IntegrationError(
            f"no solution of the step at {self.state.time:.6g} s: {left}"
            f"contact modes {modes or 'none'}; a smaller step may help (now {self.clock.step:g} s)",
            self._result(),
        )

    def _push_events(self) -> list[dict[str, Any]]:
        """What each push delivered in this run."""
        delivered = [push.delivered(self.began, self.state.time) for push in self.pushes]
        return [
            {"time": max(push.start, self.began), "subject": push.body, "impulse": impulse}
            for push, impulse in zip(self.pushes, delivered, strict=True)
            if any(impulse)
        ]

    def _result(self) -> Run:
        self._drain()
        count = self.state.plant.counts
        counters = Counters(
            steps=int(count[TOTAL_STEPS]) - self.before[0],
            newton_iterations=int(count[ITERATIONS]) - self.before[1],
            newton_max=int(count[MOST_ITERATIONS]),
            retried_steps=int(count[RETRIED]) - self.before[2],
            wall_time=self.wall_time,
        )
        return assemble(
            self.model,
            np.concatenate(self.rows),
            np.concatenate(self.events),
            self._push_events(),
            self.standing,
            self.columns,
            counters,
            Ending(self.outcome, self.fell_at),
            self.set_point,
            self.state,
        )
