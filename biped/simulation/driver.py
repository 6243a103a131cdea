"""The driver of a run: takes steps in chunks, calls a controller that is not compiled, and empties the log."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biped.control.controller import Controller
from biped.control.observation import Observation, Recorder, joint_places, torque_places
from biped.errors import InputError
from biped.integrators.explicit.interrupts import interrupts_afterwards
from biped.kernels.loop.closed_loop import SHOWN, Loop, is_ready
from biped.kernels.loop.log import EVENTS, ROWS
from biped.kernels.state.simulation_state import INTO_TICK, RECENT_ITERATIONS, STEPS
from biped.kernels.state.status import JOINT_TOO_FAST, LIMITS, LOG_FULL, OK
from biped.metrics.context import MeasurementContext
from biped.metrics.disturbance import start_time_of, stimulus_of
from biped.metrics.runs import rehearse
from biped.model import Model
from biped.runs.summary import Ending
from biped.runs.verdict import FAILED
from biped.simulation.failures import describe_failure, limit_of
from biped.simulation.plan import Plan

T = TypeVar("T")
Progress = Callable[[float], None]
Announce = Callable[[str], None]

#: Greatest numbers of control ticks and of steps between two checks for Ctrl-C and updates of the progress bar.
CHUNK = 250
CHUNK_STEPS = 20_000
#: Greatest number of control ticks of an integrator that steps from Python between two such checks.
PYTHON_CHUNK = 10


class Driver:
    """The driver that advances the world of a plan.

    Attributes:
        ending: the cause of the end; None while the run can continue.
        was_reset: True once ``reset`` of a controller that runs in Python has been called in this run.
        wall_time: [s] spent in the loops so far.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan, self.world, self.state = plan, plan.world, plan.state
        self.clock, self.law, self.controller = plan.clock, plan.law, plan.controller
        self.loop: Loop | None = None
        self.steps_itself = plan.take_steps is not None
        self.log_holds_run = plan.log_holds_run
        self.recorder = Recorder(plan.columns.sections["controller"], plan.world.log.extra)
        self.was_reset = False
        self.rows: list[NDArray[np.float64]] = []
        self.events: list[NDArray[np.float64]] = []
        self.ending: Ending | None = None
        self.wall_time = 0.0
        self._recent_iterations = 0

    @property
    def has_ended(self) -> bool:
        """True after a fall, a loss of control, or a step without a solution."""
        return self.ending is not None

    @property
    def into_tick(self) -> int:
        """Number of time steps since the last control tick; not 0 if a continued run ended between two ticks."""
        return int(self.state.arrays.counts[INTO_TICK])

    def warm_up(self, announce: Announce | None, measures: bool = False) -> None:
        """Load or compile the kernels (with ``measures`` also those of metrics), so that ``wall_time`` excludes it."""
        compiles = not is_ready(self.world, self.law)
        if announce is not None and compiles:
            announce("compiling the kernels for this integrator and controller, once: a minute or two")
        self.loop = Loop(self.world, self.law, self.plan.internal)
        if measures and compiles:
            self._rehearse_metrics()
        if self.plan.take_steps is not None:
            self.plan.take_steps(self.world, 0)

    def _rehearse_metrics(self) -> None:
        """Compile the metrics of the run."""
        plan = self.plan
        context = MeasurementContext(
            set_point=plan.set_point,
            start_time=start_time_of(plan.disturbances),
            stimulus=stimulus_of(plan.disturbances),
        )
        rehearse(plan.model, plan.columns.names, context)

    def ready(self) -> Loop:
        """Return the compiled loop; load or compile it if necessary."""
        if self.loop is None:
            self.warm_up(None)
        assert self.loop is not None
        return self.loop

    def record(self) -> None:
        """Append a row with the present state to the log."""
        self._recent_iterations = int(self.state.arrays.counts[RECENT_ITERATIONS])
        self.ready().record()

    def unrecord(self) -> None:
        """Remove the row that ``record`` has appended: the loops record it themselves if the run continues."""
        log = self.world.log
        self.state.arrays.counts[RECENT_ITERATIONS] = self._recent_iterations
        if log.cursor[ROWS]:
            log.cursor[ROWS] -= 1
        else:
            self.rows[-1] = self.rows[-1][:-1]

    def finish_tick(self, left: int) -> int:
        """Hold the torques of an unfinished control tick to its end; return the number of steps left of ``left``."""
        into = self.into_tick
        if into:
            rest = min(self.clock.steps_per_tick - into, left)
            reason = self._timed(lambda: self._hold(into, rest))
            self._drain()
            self.end_by(reason)
            if self.has_ended:
                return 0
            left -= rest
            self.state.arrays.counts[INTO_TICK] = (into + rest) % self.clock.steps_per_tick
        return left

    def take(self, left: int) -> int:
        """Advance by some control ticks, or by ``left`` steps if fewer than a tick are left; return the steps taken."""
        period = self.clock.steps_per_tick
        ticks = left // period
        if not self.log_holds_run:
            chunk = PYTHON_CHUNK if self.steps_itself else CHUNK
            ticks = min(chunk, max(1, CHUNK_STEPS // period), ticks)
        if self.controller is not None and self.controller.acts:
            ticks = min(ticks, self._timed(self._act))
            if self.has_ended:
                return 0
        if ticks:
            done, reason = self._ticks(ticks, period)
            taken = done * period
        else:  # the part of a tick at the end
            _, reason = self._ticks(1, left)
            taken = 0 if reason == LOG_FULL else left
            self.state.arrays.counts[INTO_TICK] = left if reason == OK else 0
        if reason == LOG_FULL:  # the log is full of events: continue in chunks
            self.log_holds_run = False
        self._drain()
        self.end_by(reason)
        return taken

    def free_joints(self) -> None:
        """Set the torques to zero at a control tick if there is no controller: a run before may have held some."""
        if self.controller is None and not self.into_tick:
            self.state.arrays.torque[:] = 0.0

    def hold(self, torques: ArrayLike) -> None:
        """Advance by one control period with joint torques ``torques``.

        Raises:
            InputError: the number of torques is wrong, or a torque is not finite.
        """
        reason = self.ready().measure(self.clock.steps_per_tick, SHOWN)
        if reason == OK:
            self._put(torques, "the given")
            self.ready().apply_torques()
            reason = self._timed(lambda: self._hold(0, self.clock.steps_per_tick))
        self.end_by(reason)

    def forget(self) -> None:
        """Discard the rows and events recorded so far."""
        self.rows.clear()
        self.events.clear()
        self.world.log.cursor[ROWS] = self.world.log.cursor[EVENTS] = 0

    def look(self, recorder: Recorder | None = None) -> Observation:
        """Return the controller's observation of the present state; a fall is detected here too."""
        reason = self.ready().look()
        if reason in LIMITS:
            self.end_by(reason)
        return Observation.of(self.plan.nominal_model, self.world.measurement, recorder)

    def _ticks(self, ticks: int, period: int) -> tuple[int, int]:
        loop = self.ready()
        if self.law is None or self.plan.take_steps is not None:
            return self._timed(lambda: self._python_ticks(ticks, period))
        return self._timed(lambda: loop.run(ticks, period, period))

    def _python_ticks(self, ticks: int, period: int) -> tuple[int, int]:
        """Run the closed loop of a controller or integrator that is not compiled; return ticks and reason to stop.

        Ctrl-C ends the loop after a tick, but stops a controller in Python at once.
        """
        count = self.state.arrays.counts
        begin, tick, reason = int(count[STEPS]), 0, OK
        block: AbstractContextManager[list[int]] = nullcontext([]) if self.law is None else interrupts_afterwards()
        try:
            with block as interrupted:
                while tick < ticks and not interrupted:
                    reason = self._set_torques(period)
                    if reason == OK:
                        reason = self._hold(0, period)
                    if reason != OK:
                        break
                    tick += 1
        except KeyboardInterrupt:
            count[INTO_TICK] = (int(count[STEPS]) - begin) % self.clock.steps_per_tick
            raise
        return tick, reason

    def _hold(self, into: int, steps: int) -> int:
        """Take steps of a control tick that is ``into`` steps old; after Ctrl-C the tick can be finished later."""
        count = self.state.arrays.counts
        begin = int(count[STEPS])
        try:
            if self.plan.take_steps is not None:
                return int(self.plan.take_steps(self.world, steps))
            return self.ready().rollout(steps)
        except KeyboardInterrupt:
            count[INTO_TICK] = (into + int(count[STEPS]) - begin) % self.clock.steps_per_tick
            raise

    def _set_torques(self, period: int) -> int:
        """Call the controller; return a reason to stop, or OK."""
        if self.law is not None:
            return self.ready().run(1, period, 0)[1]
        reason = self.ready().measure(period, SHOWN)
        if reason == OK and self.controller is not None:
            self._ask(self.controller)
            self.ready().apply_torques()
        return reason

    def _act(self) -> int:
        """Let the controller act if it is due; return the number of ticks until it is due again."""
        controller = self.controller
        assert controller is not None
        if self.law.wait[0] <= 0:
            observation = self.look(self.recorder)
            if not self.has_ended:
                self._reset(controller, observation)
                controller.act(observation, self.law)
                if self.law.wait[0] < 1:
                    raise InputError(f"{type(controller).__name__}.act must set law.wait[0] to one or more")
        return int(self.law.wait[0])

    def _reset(self, controller: Controller, observation: Observation) -> None:
        """Reset the controller before its first call in the run."""
        if not self.was_reset:
            controller.reset(observation)
            self.was_reset = True

    def _ask(self, controller: Controller) -> None:
        observation = Observation.of(self.plan.nominal_model, self.world.measurement, self.recorder)
        self._reset(controller, observation)
        self._put(controller.torques(observation), "the controller's")

    def _put(self, given: ArrayLike, whose: str) -> None:
        model = self.plan.model
        try:
            torques = np.asarray(given, dtype=float)
        except (TypeError, ValueError):
            raise InputError(
                f"{whose} torques are a {type(given).__name__}: they must be {len(model.joint_names)} numbers in the "
                "order of model.joint_names"
            ) from None
        places = torque_places(model, torques, whose)
        if not np.isfinite(torques).all():
            bad = int(places[np.flatnonzero(~np.isfinite(torques))[0]])
            raise InputError(f"{whose} torque of {_joint_at(model, bad)} is not finite at {self.state.time:g} s")
        self.world.torque[joint_places(model).driven] = 0.0
        self.world.torque[places] = torques

    def _timed(self, steps: Callable[[], T]) -> T:
        """Take steps, add their duration to the wall time, and return their result."""
        begin = time.perf_counter()
        try:
            return steps()
        finally:
            self.wall_time += time.perf_counter() - begin

    def _drain(self) -> None:
        if not self.log_holds_run:
            self.empty_log()

    def empty_log(self) -> None:
        """Move the rows and events from the log into ``rows`` and ``events``."""
        log = self.world.log
        self.rows.append(log.rows[: log.cursor[ROWS]].copy())
        self.events.append(log.events[: log.cursor[EVENTS]].copy())
        log.cursor[ROWS] = log.cursor[EVENTS] = 0

    def end_by(self, reason: int) -> None:
        """End the run if ``reason``, the return value of a loop, is a limit of a fall or a failed time step.

        A time step without a solution counts as a loss of control if a joint was faster than its limit.
        """
        if reason in (OK, LOG_FULL):
            return
        model, time = self.plan.model, self.state.time
        if reason in LIMITS:
            self.ending = Ending.by(limit_of(reason, model, self.world, time))
            return
        flailing = limit_of(JOINT_TOO_FAST, model, self.world, time)
        if flailing.value > flailing.limit:
            self.ending = Ending.by(flailing)
            return
        error = describe_failure(reason, model, self.state.arrays, self.world.scratch, time, self.clock.step)
        self.ending = Ending(FAILED, error=error)


def _joint_at(model: Model, dof: int) -> str:
    """Return the name of the joint of a degree of freedom."""
    return next(body.joint.name for body in model.bodies if dof < model.dofs(body.joint.name).stop)
