"""The session: a scene that is advanced by single control periods or run to its end."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from biped.control.observation import Observation
from biped.disturbances import Actuators, Sensors, check_begins
from biped.errors import InputError
from biped.inputs.checks import integer
from biped.kernels.loop.estimator import memory_of
from biped.kernels.loop.log import EVENTS, ROWS
from biped.kernels.state.simulation_state import ITERATIONS, MOST_ITERATIONS, RETRIED, STEPS, TOTAL_STEPS
from biped.metrics.definitions.verdict import is_open
from biped.metrics.runs import measurement_of
from biped.model import Model
from biped.runs.recording import Recording
from biped.runs.state import State
from biped.runs.summary import Counters, Ending
from biped.runs.verdict import COMPLETED, INTERRUPTED, UNDECIDED
from biped.simulation import snapshot as snapshots
from biped.simulation.driver import Announce, Driver, Progress
from biped.simulation.estimation import begin_estimation
from biped.simulation.plan import check_rows
from biped.simulation.world import NEVER, leave_floor
from contact.arrays import Floats
from contact.modes import NONE

if TYPE_CHECKING:
    from biped.simulation.scene import Scene

#: [s] Length of each extension of a run while its end leaves open whether the body falls.
BLOCK = 0.5
#: A function that draws a start state by a random generator.
Start = Callable[[np.random.Generator], State]


class Session:
    """A scene in progress: advanced by ``step``, one control period at a time, or by ``run`` to its end.

    ``step`` and ``observe`` keep no rows and ignore ``duration``: a session continues until the model falls, if the
    scene has a ``Fall``. A session is for one thread at a time; several sessions run in parallel, without the GIL.

    Args:
        scene: the scene to simulate.
        start: function that returns a random start state for a ``reset`` with a seed; None: the scene's start.
        in_place: True to change the scene's ``state`` itself instead of a copy.
        log_holds_run: True to let the log hold the whole run, if it fits in memory.
        announce: function that is called with a message before the controller compiles kernels.

    Raises:
        InputError: members of the scene are incompatible; the message gives a remedy.
    """

    def __init__(
        self,
        scene: Scene,
        start: Start | None = None,
        *,
        in_place: bool = False,
        log_holds_run: bool = False,
        announce: Announce | None = None,
    ) -> None:
        if start is not None and scene.settle is not None:
            raise InputError("with random starts, a run-in is not possible: pass scene.settled(), or leave out start")
        rest = scene.rest(announce)
        if rest is not None:
            scene = replace(scene, state=rest.state, settle=None)
        self.scene = scene
        if announce is not None and scene.controller is not None:
            scene.controller.warm_up(scene.model, announce)
        self.plan = scene.prepare(log_holds_run=log_holds_run, in_place=in_place)
        self._start = start
        self._driver = Driver(self.plan)
        self.state = self.plan.state
        count = self.state.arrays.counts
        self._began = self.state.time
        self._before = tuple(int(count[k]) for k in (TOTAL_STEPS, ITERATIONS, RETRIED))
        count[MOST_ITERATIONS] = 0
        modes = zip(self.model.contact_names, self.state.arrays.mode, strict=True)
        self._standing = frozenset(name for name, mode in modes if mode != NONE)
        self._beginning: snapshots.Snapshot | None = None
        if rest is not None:
            self._remember(rest)

    @property
    def model(self) -> Model:
        """The simulated model, with its loads."""
        return self.plan.model

    @property
    def period(self) -> float:
        """Control period [s], the length of a ``step``."""
        return self.plan.clock.steps_per_tick * self.plan.clock.step

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self.state.time

    @property
    def has_ended(self) -> bool:
        """True after a fall, a loss of control or a failed time step; ``reset`` or ``restore`` to continue."""
        return self._driver.has_ended

    @property
    def ending(self) -> Ending | None:
        """Cause of the end: ``verdict`` is "fell" or "lost control" (with ``limit``, ``fell_at`` [s]), or "failed"."""
        return self._driver.ending

    def warm_up(self, announce: Announce | None = None, *, measures: bool = False) -> None:
        """Load or compile the kernels, so that the wall time does not include this.

        Args:
            announce: function that is called with a sentence if this takes a while.
            measures: True to compile the kernels of the metrics too.
        """
        self._driver.warm_up(announce, measures)
        by = self.plan.stepping
        if announce is not None and by.stable_step is not None and by.step > by.stable_step:
            longest = self.period / math.ceil(self.period / by.stable_step)
            announce(
                f"{by.name} is not expected to be stable on this floor with a time step of {by.step:g} s: set at most "
                f"{longest:.3g} s, or an integrator that is stable with longer time steps, such as recursive"
            )

    # --- stepping ---

    def reset(self, seed: int | None = None) -> Observation:
        """Return to the start and observe it.

        Args:
            seed: seed of the start state drawn by ``start``, and of the noise of sensors and actuators. Equal seeds
                give equal sessions, bit for bit. None: start and noise are those of the scene.

        Raises:
            InputError: the seed is negative or not an integer, ``start`` returns a state of another model, or the
                scene's engine cannot return to an earlier state.
        """
        first = self._first()
        if seed is None:
            return self.restore(first)
        random = np.random.default_rng(integer(seed, "seed"))
        seeds = int(random.integers(2**31)), int(random.integers(2**31))
        state = first.state if self._start is None else self._begun(self._start(random), first.state)
        estimator = first.estimator if self._start is None else ()
        return self.restore(replace(first, state=state, estimator=estimator, seeds=seeds))

    def observe(self) -> Observation:
        """Return the controller's observation of the present state, without changing the session."""
        return self._driver.look()

    def step(self, torques: ArrayLike | None = None) -> Observation:
        """Advance by one control period and return the observation at its end.

        Args:
            torques: (joints,) [N·m] or [N], in the order of ``model.joint_names``, held for the period; None: the
                scene's controller computes them.

        Raises:
            InputError: the session has ended, the state is within a control period, or the torques have a wrong length
                or are not finite.
        """
        self._check_goes_on()
        self._first()
        if torques is None:
            self._driver.free_joints()
            self._driver.take(self.plan.clock.steps_per_tick)
        else:
            self._driver.hold(torques)
        self._driver.forget()
        return self.observe()

    def advance(self, ticks: int, *, keep: bool = False) -> int:
        """Advance by ``ticks`` control periods under the controller; return the number completed before an end.

        The result equals that of ``run``, and of ``ticks`` calls of ``step``, bit for bit.

        Args:
            ticks: number of control periods.
            keep: True to keep the recorded rows for ``recorded``.

        Raises:
            InputError: the state is within a control period.
        """
        self._check_whole()
        self._first()
        self._driver.free_joints()
        left = ticks * self.plan.clock.steps_per_tick
        while left > 0 and not self.has_ended:
            left -= self._driver.take(left)
        if not keep:
            self._driver.forget()
        return ticks - left // self.plan.clock.steps_per_tick

    def recorded(self) -> Recording:
        """Return the rows and events that ``advance`` has kept since the last call."""
        recording = self._result(self._ending_now())
        self._driver.forget()
        return recording

    def changed(self, **members: Any) -> Session:
        """Return a session that continues this one (not to be used any more) with changed members of the scene.

        The state estimator continues, too, unless model, floor, integrator, sensors or actuators change.

        Args:
            members: members of ``Scene`` except ``state``, such as ``disturbances``; time step and control period
                cannot change.

        Raises:
            InputError: the members are incompatible.
        """
        leave_floor(self.plan.world.ground, self.state)
        scene = replace(self.scene, **(members | {"state": self.state}))
        session = Session(scene, self._start, in_place=True)
        if scene.controller is self.scene.controller:
            session._driver.was_reset = self._driver.was_reset
            if scene.controller is not None and scene.controller.acts:  # it does not act before the law has waited
                snapshots.put_arrays(self.plan.law, session.plan.law)
        if self.plan.internal is not None and _bases(scene) == _bases(self.scene):
            snapshots.put_arrays(
                memory_of(self.plan.world.estimator, self.plan.world.torque),
                memory_of(session.plan.world.estimator, session.plan.world.torque),
            )
        return session

    # --- going back ---

    def save(self) -> snapshots.Snapshot:
        """Return a snapshot of the session for ``restore``."""
        driver, world = self._driver, self.plan.world
        leave_floor(world.ground, self.state)
        controller = self.plan.controller
        return snapshots.Snapshot(
            state=self.state.copy(),
            law=snapshots.copies_of(self.plan.law),
            estimator=snapshots.copies_of(memory_of(world.estimator, world.torque)),
            memory=None if controller is None else controller.memory(),
            recorded=world.log.extra.copy(),
            seeds=snapshots.seeds_of(world),
            was_reset=driver.was_reset,
            ending=driver.ending,
        )

    def restore(self, snapshot: snapshots.Snapshot) -> Observation:
        """Return to a snapshot of this session, any number of times; the continuation is the same, bit for bit.

        A Python controller with memory must define ``Controller.memory``.

        Raises:
            InputError: the snapshot is from a session of another model, or the engine cannot return to other states.
        """
        snapshot.state.check_model(self.model)
        if not self.plan.can_go_back and snapshot.state.steps != self.state.steps:
            raise InputError(
                "this engine does not expose its state and cannot return to a snapshot: make a new Session"
            )
        driver, world = self._driver, self.plan.world
        snapshots.put_state(snapshot.state, self.state, world)
        self._remember(snapshot)
        world.log.extra[:] = snapshot.recorded
        snapshots.put_seeds(snapshot.seeds, world)
        driver.was_reset, driver.ending = snapshot.was_reset, snapshot.ending
        driver.forget()
        return self.observe()

    # --- copies ---

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle as a new session that continues from here: kernels hold addresses of this session's arrays.

        Raises:
            InputError: the scene's engine does not expose its state.
        """
        if not self.plan.can_go_back:
            raise InputError("this engine does not expose its state: its session cannot be copied; make a new Session")
        begun, driver, log = self._beginning, self._driver, self.plan.world.log
        scene, moves = self.scene, self.state is self.scene.state
        scene = replace(scene, state=begun.state) if moves and begun is not None else scene
        rows, events = log.rows[: log.cursor[ROWS]].copy(), log.events[: log.cursor[EVENTS]].copy()
        return _copied, (scene, self._start, self.save(), [*driver.rows, rows], [*driver.events, events])

    def __copy__(self) -> Session:
        """Return a deep copy: two sessions share no controller."""
        return copy.deepcopy(self)

    def go_on_from(self, snapshot: snapshots.Snapshot) -> None:
        """Restore a snapshot of another session with equal start and settings; keep this session's own controller."""
        self._first()
        self.restore(snapshot)
        self._driver.was_reset = snapshot.was_reset

    def _remember(self, snapshot: snapshots.Snapshot) -> None:
        """Restore the controller's memory from a snapshot; a Python controller without ``memory`` is reset instead."""
        snapshots.put_arrays(snapshot.law, self.plan.law)
        if snapshot.estimator or self.plan.internal is None:
            snapshots.put_arrays(snapshot.estimator, memory_of(self.plan.world.estimator, self.plan.world.torque))
        else:
            begin_estimation(self.plan.world, self.plan.internal, self.state, self.plan.nominal_model)
        self._driver.was_reset = snapshot.was_reset and snapshot.memory is not None
        if snapshot.memory is not None and self.plan.controller is not None:
            self.plan.controller.remember(snapshot.memory)

    def _first(self) -> snapshots.Snapshot:
        """Return the snapshot of the beginning, which the first call takes before the first step."""
        if self._beginning is None:
            self._beginning = self.save()
        return self._beginning

    def _begun(self, drawn: State, first: State) -> State:
        """Return a drawn start state with the step, impedance, floor and thrown box of this session."""
        drawn.check_model(self.plan.nominal_model)
        state = drawn.copy() if self.plan.nominal_model is self.model else drawn.carried_over(self.model)
        state.set_memory_shape(first.arrays.past.shape)
        state.set_step(self.plan.clock.step)
        for name in ("stiffness", "damping", "setpoint"):
            getattr(state.arrays, name)[:] = getattr(first.arrays, name)
        state.exert_as(first)
        state.floor, state.projectile = first.floor, first.projectile
        return state

    def _check_goes_on(self) -> None:
        self._check_whole()
        if self.has_ended:
            raise InputError("the session has ended (see `ending`): reset it, or restore a snapshot")

    def _check_whole(self) -> None:
        if self._driver.into_tick:
            raise InputError("the state is within a control period: let run() end at a control tick before you step")

    # --- in one go ---

    def check_run(self) -> None:
        """Check that ``run`` can start at the present time and run for the scene's ``duration``.

        Raises:
            InputError: a push, a force or a motion of the floor would begin after the end, or rows are too many.
        """
        check_begins(self.scene.disturbances, self.time + self.scene.duration)
        check_rows(self.plan.clock)

    def run(self, progress: Progress | None = None) -> Recording:
        """Run to the end of the scene, a fall, a failed time step, or Ctrl-C, as ``ending`` reports.

        If the end leaves open whether the body falls, the run is extended by at most the scene's ``extend``.

        Raises:
            InputError: the errors of ``check_run``.
        """
        self.check_run()
        clock = self.plan.clock
        left, block = round(self.scene.extend / clock.step), max(1, round(BLOCK / self.period)) * clock.steps_per_tick
        try:
            is_recorded = self._take_steps(clock.steps, progress)
            while left > 0 and not self.has_ended and is_open(measurement_of(self._result(self._ending_now()))):
                if is_recorded:
                    self._driver.unrecord()
                is_recorded = self._take_steps(min(left, block), progress)
                left -= block
        except KeyboardInterrupt:
            return self._result(Ending(INTERRUPTED))
        return self._result(self._ending_now())

    def _ending_now(self) -> Ending:
        """Return the ending of a run that would end here."""
        can_stand = bool(self.model.feet) or self.plan.world.fall is not NEVER
        return self.ending or Ending(UNDECIDED if can_stand else COMPLETED)

    def _take_steps(self, steps: int, progress: Progress | None) -> bool:
        """Take ``steps`` time steps unless the run ends before; return True if the last state was recorded."""
        driver = self._driver
        left = driver.finish_tick(steps)
        driver.free_joints()
        while left > 0 and not self.has_ended:
            left -= driver.take(left)
            if progress is not None:
                progress(self.state.time)
        is_row_due = self.state.arrays.counts[STEPS] % self.plan.clock.stride == 0
        is_recorded = is_row_due if driver.ending is None else driver.ending.limit is not None
        if is_recorded:
            driver.record()
        return is_recorded

    def _result(self, ending: Ending) -> Recording:
        driver, log = self._driver, self.plan.world.log
        leave_floor(self.plan.world.ground, self.state)
        if driver.log_holds_run:
            rows, events = log.rows[: log.cursor[ROWS]], log.events[: log.cursor[EVENTS]]
        else:
            driver.empty_log()
            rows, events = np.concatenate(driver.rows), np.concatenate(driver.events)
        if ending.error is not None:
            rows = _before_lost(rows)
        count = self.state.arrays.counts
        counters = Counters(
            steps=int(count[TOTAL_STEPS]) - self._before[0],
            newton_iterations=int(count[ITERATIONS]) - self._before[1],
            newton_max=int(count[MOST_ITERATIONS]),
            retried_steps=int(count[RETRIED]) - self._before[2],
            wall_time=driver.wall_time,
        )
        return Recording(
            model=self.model, rows=rows, events=events, columns=self.plan.columns, standing=self._standing,
            counters=counters, stepping=self.plan.stepping, ending=ending, set_point=self.plan.set_point,
            singular_angles=self.plan.singular_angles, unheeded_limits=self.plan.unheeded_limits(),
            disturbances=self.plan.disturbances, nominal_model=self.plan.nominal_model, began=self._began,
            state=self.state,
        )  # fmt: skip


def _bases(scene: Scene) -> tuple[Any, ...]:
    """Return the members of a scene on which its state estimator is based."""
    imperfect = [item for item in scene.disturbances if isinstance(item, (Sensors, Actuators))]
    return id(scene.model), scene.floor, scene.integrator, imperfect


def _copied(
    scene: Scene, start: Start | None, snapshot: snapshots.Snapshot, rows: list[Any], events: list[Any]
) -> Session:
    session = Session(scene, start)
    session.go_on_from(snapshot)
    session._driver.rows, session._driver.events = rows, events
    return session


def _before_lost(rows: Floats) -> Floats:
    """Return the rows before the first that contains a new infinity or NaN: a failing step has no valid result."""
    lost = (~np.isfinite(rows) & np.isfinite(rows[:1])).any(axis=1)
    return rows[: np.argmax(lost)] if lost.any() else rows
