"""One run in the making."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from biped.control.controller import Controller, Observation, SetPoint
from biped.disturbances import Disturbance
from biped.errors import InputError
from biped.kernels.loop.closed_loop import Loop, World, is_ready, record
from biped.kernels.loop.log import EVENTS, ROWS
from biped.kernels.state.simulation_state import INTO_TICK, ITERATIONS, MOST_ITERATIONS, RETRIED, STEPS, TOTAL_STEPS
from biped.kernels.state.status import FELL, LOG_FULL, OK
from biped.model import Model
from biped.runs.recording import Recording
from biped.runs.row_layout import Columns
from biped.runs.state import State
from biped.runs.summary import Counters, Ending
from biped.simulation.clock import Clock
from biped.simulation.failures import describe_failure
from biped.simulation.world import NEVER, leave_floor
from contact.modes import NONE

T = TypeVar("T")
Progress = Callable[[float], None]
Announce = Callable[[str], None]

#: Control ticks, and steps, between two looks at the keyboard and the progress bar.
CHUNK = 250
CHUNK_STEPS = 20_000
#: The same for an integrator that steps from Python.
PYTHON_CHUNK = 10


@dataclass(frozen=True)
class Plan:
    """All that a session needs.

    Attributes:
        model: what moves, loads included.
        believed: what the controller takes it for.
        controller: or None.
        law: its compiled law, or that of a plant without one; None where it is asked from Python.
        stepping: the integrator's own ``rollout``, where it steps from Python.
        world: of the compiled loops.
        state: which they change.
        columns: of a row.
        clock: steps and ticks.
        set_point: where the controller wants the root to be, or None.
        disturbances: what acts.
        in_one_go: the log holds the whole run, so that nothing is copied on the way; no progress is shown.
    """

    model: Model
    nominal_model: Model
    controller: Controller | None
    law: Any
    stepping: Callable[[World, int], int] | None
    world: World
    state: State
    columns: Columns
    clock: Clock
    set_point: SetPoint | None
    disturbances: tuple[Disturbance, ...]
    in_one_go: bool = False


class Session:
    """Drives the compiled loop in chunks, and drains its log."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.world, self.state = plan, plan.world, plan.state
        self.clock, self.law, self.controller = plan.clock, plan.law, plan.controller
        self.loop: Loop | None = None
        self.steps_itself = plan.stepping is not None
        self.runs_compiled = plan.law is not None and plan.stepping is None
        self.in_one_go = plan.in_one_go
        self.began = plan.state.time
        self.standing = frozenset(
            name for name, mode in zip(plan.model.contact_names, self.state.arrays.mode, strict=True) if mode != NONE
        )
        self.rows: list[NDArray[np.float64]] = []
        self.events: list[NDArray[np.float64]] = []
        self.fell_at: float | None = None
        self.error: str | None = None
        self.wall_time = 0.0
        self.before = tuple(int(self.state.arrays.counts[k]) for k in (TOTAL_STEPS, ITERATIONS, RETRIED))
        self.state.arrays.counts[MOST_ITERATIONS] = 0

    def run(self, progress: Progress | None = None) -> Recording:
        """All steps, or those up to a fall, a step without a solution, or Ctrl-C: its ``ending`` says which."""
        try:
            self._take_steps(progress)
        except KeyboardInterrupt:
            return self._result("interrupted")
        if self.error is not None:
            return self._result("failed")
        if self.fell_at is not None:
            return self._result("fell")
        return self._result("completed" if self.world.fall is NEVER else "stood")

    def advance(self, ticks: int) -> int:
        """Take whole control ticks, for one who watches; how many were taken before a fall or an error, if any.

        ``fell_at`` and ``error`` say what ended it. What is recorded on the way is not kept. What happens is bit for
        bit what ``run`` does; a state that is within a tick is to be run to its end before.
        """
        left = ticks * self.clock.steps_per_tick
        while left > 0 and not self.has_ended:
            left -= self._chunk(left)
        self.rows.clear()
        self.events.clear()
        return ticks - left // self.clock.steps_per_tick

    def _take_steps(self, progress: Progress | None) -> None:
        left = self._finish_tick(self.clock.steps)
        if self.controller is None and not self.state.arrays.counts[INTO_TICK]:
            self.state.arrays.torque[:] = 0.0
        while left > 0 and not self.has_ended:
            left -= self._chunk(left)
            if progress is not None:
                progress(self.state.time)
        if self.error is None and (
            self.fell_at is not None or self.state.arrays.counts[STEPS] % self.clock.stride == 0
        ):
            self._record()

    @property
    def has_ended(self) -> bool:
        """Whether it fell, or a step had no solution."""
        return self.fell_at is not None or self.error is not None

    def warm_up(self, announce: Announce | None) -> None:
        """Load or compile the kernels, so that the wall time is that of the steps."""
        if announce is not None and not is_ready(self.world, self.law):
            announce("compiling the kernels for this integrator and controller, once: up to a minute")
        self.loop = Loop(self.world, self.law)
        if self.plan.stepping is not None:
            self.plan.stepping(self.world, 0)

    def _ready(self) -> Loop:
        if self.loop is None:
            self.warm_up(None)
        assert self.loop is not None
        return self.loop

    def _record(self) -> None:
        self._ready()
        record(self.world)

    def _finish_tick(self, left: int) -> int:
        """Hold the torques of an unfinished control tick to its end; the steps that are left then."""
        into = int(self.state.arrays.counts[INTO_TICK])
        if into:
            rest = min(self.clock.steps_per_tick - into, left)
            reason = self._timed(lambda: self._hold(into, rest))
            self._drain()
            self._check(reason)
            if self.has_ended:
                return 0
            left -= rest
            self.state.arrays.counts[INTO_TICK] = (into + rest) % self.clock.steps_per_tick
        return left

    def _chunk(self, left: int) -> int:
        """Some control ticks, or the part of one that is left; the number of steps taken."""
        period = self.clock.steps_per_tick
        ticks = left // period
        if not self.in_one_go:
            chunk = PYTHON_CHUNK if self.steps_itself else CHUNK
            ticks = min(chunk, max(1, CHUNK_STEPS // period), ticks)
        if ticks == 0:
            done, reason = self._ticks(1, left)
            steps = left
            self.state.arrays.counts[INTO_TICK] = left if reason == OK else 0
        else:
            done, reason = self._ticks(ticks, period)
            steps = done * period
        if reason == LOG_FULL:  # by events: it goes on in chunks
            self.in_one_go = False
        self._drain()
        if reason == FELL:
            self.fell_at = self.state.time
        self._check(reason)
        return steps if reason != LOG_FULL or ticks else 0

    def _ticks(self, ticks: int, period: int) -> tuple[int, int]:
        if self.runs_compiled:
            loop = self._ready()
            done, reason = self._timed(lambda: loop.run(ticks, period))
            return done, reason
        return self._timed(lambda: self._python_ticks(ticks, period))

    def _python_ticks(self, ticks: int, period: int) -> tuple[int, int]:
        """The closed loop of a controller, or of an integrator, that is not compiled."""
        for tick in range(ticks):
            reason = self._set_torques(period)
            if reason == OK:
                reason = self._hold(0, period)
            if reason != OK:
                return tick, reason
        return ticks, OK

    def _hold(self, into: int, steps: int) -> int:
        """Some steps of a control tick that is ``into`` steps old; an interrupted one can be finished."""
        count = self.state.arrays.counts
        begin = int(count[STEPS])
        try:
            if self.plan.stepping is not None:
                return int(self.plan.stepping(self.world, steps))
            return self._ready().rollout(steps)
        except KeyboardInterrupt:
            count[INTO_TICK] = (into + int(count[STEPS]) - begin) % self.clock.steps_per_tick
            raise

    def _set_torques(self, period: int) -> int:
        """Ask the controller; a compiled one by a tick of the loop without any steps; OK, FELL or LOG_FULL."""
        if self.law is None:
            reason = self._ready().measure(period, True)
            if reason == OK and self.controller is not None:
                self._ask(self.controller)
                self._ready().apply_torques()
            return reason
        reason = self._ready().measure(period, False)
        if reason == OK:
            self._ready().run(1, 0)
        return reason

    def _ask(self, controller: Controller) -> None:
        told = self.world.measurement
        observation = Observation(self.plan.nominal_model, self.state.time, told.q.copy(), told.motion.rates.copy())
        torques = np.asarray(controller.torques(observation), dtype=float)
        joints = self.plan.model.joint_names
        if torques.shape != (len(joints),):
            raise InputError(
                f"the controller returned torques of shape {torques.shape}; there are {len(joints)} joints"
            )
        if not np.all(np.isfinite(torques)):
            bad = joints[int(np.flatnonzero(~np.isfinite(torques))[0])]
            raise InputError(f"the controller's torque of {bad} is not finite at {self.state.time:g} s")
        self.world.torque[[self.plan.model.dof(joint) for joint in joints]] = torques

    def _timed(self, scratch: Callable[[], T]) -> T:
        begin = time.perf_counter()
        try:
            return scratch()
        finally:
            self.wall_time += time.perf_counter() - begin

    def _drain(self) -> None:
        if not self.in_one_go:
            self._empty_log()

    def _empty_log(self) -> None:
        log = self.world.log
        self.rows.append(log.rows[: log.cursor[ROWS]].copy())
        self.events.append(log.events[: log.cursor[EVENTS]].copy())
        log.cursor[ROWS] = log.cursor[EVENTS] = 0

    def _check(self, reason: int) -> None:
        """A step without a solution: a fall if the model was flailing, an error otherwise."""
        if reason in (OK, FELL, LOG_FULL):
            return
        arrays = self.state.arrays
        rates = np.concatenate([arrays.cache.rate[6:], self.world.scratch.motion.rates[6:]])
        rate = float(np.max(np.abs(rates[np.isfinite(rates)]), initial=0.0))
        if rate > self.world.fall.rate:
            self.fell_at = self.state.time
            return
        time, step = self.state.time, self.clock.step
        self.error = describe_failure(reason, self.plan.model, arrays, self.world.scratch, time, step)

    def _result(self, outcome: str) -> Recording:
        log = self.world.log
        leave_floor(self.world.ground, self.state)
        if self.in_one_go:
            rows, events = log.rows[: log.cursor[ROWS]], log.events[: log.cursor[EVENTS]]
        else:
            self._empty_log()
            rows, events = np.concatenate(self.rows), np.concatenate(self.events)
        count = self.state.arrays.counts
        counters = Counters(
            steps=int(count[TOTAL_STEPS]) - self.before[0],
            newton_iterations=int(count[ITERATIONS]) - self.before[1],
            newton_max=int(count[MOST_ITERATIONS]),
            retried_steps=int(count[RETRIED]) - self.before[2],
            wall_time=self.wall_time,
        )
        return Recording(
            model=self.plan.model,
            rows=rows,
            events=events,
            columns=self.plan.columns,
            standing=self.standing,
            counters=counters,
            ending=Ending(outcome, self.fell_at, self.error),
            set_point=self.plan.set_point,
            disturbances=self.plan.disturbances,
            began=self.began,
            state=self.state,
        )
