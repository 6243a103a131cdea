"""Sessions of similar scenes, stepped together on several threads without Python within a control period."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from biped.control.observation import joint_places
from biped.errors import InputError
from biped.inputs.checks import integer
from biped.kernels.loop.closed_loop import Loop, World, hold_each
from biped.kernels.state.status import LOG_FULL, OK
from biped.simulation.driver import Driver
from biped.simulation.session import Session, Start
from biped.simulation.snapshot import Snapshot
from contact.arrays import Floats, Integers
from kernelcache import places_of

if TYPE_CHECKING:
    from biped.simulation.scene import Scene


class _Hosted(Session):
    """A session in a batch: some of its arrays are rows of the batch's arrays."""

    def move_to(self, world: World) -> Loop:
        """Use the arrays of ``world`` from now on and return its compiled loop; only before the first step."""
        self.plan = replace(self.plan, world=world)
        self._driver = Driver(self.plan)
        return self._driver.ready()

    def begin(self) -> int:
        """Measure and log the start; return a reason to stop, or OK."""
        return self._driver.ready().begin(self.plan.clock.steps_per_tick)

    def end_by(self, reason: int) -> None:
        """End if the loop's return value says so."""
        self._driver.end_by(reason)

    def forget(self) -> None:
        """Discard what was logged."""
        self._driver.forget()


class SessionBatch:
    """Several sessions of one scene, driven by external torques; each equals a single ``Session``, bit for bit.

    The arrays below have one row for each session; ``step`` and ``reset`` update them with sensor values.

    Args:
        scene: the scene of all sessions, until ``exchange``.
        count: number of sessions.
        start: function that returns a random start state, as for ``Session``; None: the scene's start.
        workers: number of threads; None: one per core.

    Attributes:
        sessions: the single sessions, to reset or to inspect.
        time: (count,) [s] time of each session.
        q: (count, nq) configurations.
        v: (count, nv) velocities.
        contact_forces: (count, nc, 3) [N] GRF on each contact point in the last time step, world axes.
        has_ended: (count,) True for a session that fell, lost control or had no solution, until it is reset.

    Raises:
        InputError: members of the scene are incompatible, its integrator is not compiled, or ``count`` is zero.
    """

    def __init__(self, scene: Scene, count: int, start: Start | None = None, workers: int | None = None) -> None:
        count, workers = integer(count, "count"), None if workers is None else integer(workers, "workers")
        if count < 1 or (workers is not None and workers < 1):
            raise InputError(f"count = {count}, workers = {workers}: both must be one or more")
        self.sessions = [_Hosted(scene, start) for _ in range(count)]
        plan = self.sessions[0].plan
        model = plan.model
        self._dofs, self._period = joint_places(model).dofs, plan.clock.steps_per_tick
        self._time, self._torque = np.zeros((count, 1)), np.zeros((count, model.nv))
        self.q, self.v = np.zeros((count, model.nq)), np.zeros((count, model.nv))
        self.contact_forces = np.zeros((count, model.nc, 3))
        self._reasons: Integers = np.full(count, OK)
        self._parts = np.zeros((count, len(plan.world.parts)), dtype=plan.world.parts.dtype)
        self._worlds = np.zeros(count, dtype=places_of([]).dtype)
        for k, session in enumerate(self.sessions):
            self._put(k, session)
        self._made_of, self._scenes = (scene, count, start, workers), [scene] * count
        self._chunks = np.linspace(0, count, min(workers or os.cpu_count() or 1, count) + 1).astype(int)
        self._pool = ThreadPoolExecutor(len(self._chunks) - 1)

    def exchange(self, k: int, scene: Scene) -> None:
        """Replace session ``k`` by a new session of ``scene``; call ``reset`` for it before the next step.

        Raises:
            InputError: joints, contact points, time step or control period differ, or the scene is inconsistent.
        """
        session = _Hosted(scene, self._made_of[2])
        new, old = ((p.model.joint_names, p.model.contact_names, p.clock.step, p.clock.steps_per_tick)
                    for p in (session.plan, self.sessions[k].plan))  # fmt: skip
        if new != old:
            raise InputError("a session's scene can change, but not its joints, contact points, time step and period")
        self._put(k, session)
        self.sessions[k], self._scenes[k] = session, scene

    def _put(self, k: int, session: _Hosted) -> None:
        """Move a session to row ``k`` of the batch's arrays."""
        if session.plan.take_steps is not None:
            raise InputError("integrators and engines that step from Python cannot run in a batch: use single Sessions")
        loop = session.move_to(self._joined(session.plan.world, k))
        self._parts[k], self._worlds[k] = session.plan.world.parts, places_of([loop.packed])[0]

    def _joined(self, world: World, k: int) -> World:
        """Return ``world`` with its torques and its measurement stored in row ``k`` of the batch's arrays."""
        measurement = world.measurement
        motion = measurement.motion._replace(rates=self.v[k])
        measurement = measurement._replace(time=self._time[k], q=self.q[k], motion=motion, force=self.contact_forces[k])
        return world._replace(torque=self._torque[k], measurement=measurement)

    @property
    def time(self) -> Floats:
        """Time of each session, (count,) [s]."""
        return self._time[:, 0]

    @property
    def has_ended(self) -> Any:
        """Mask (count,), True for sessions that have ended."""
        return self._reasons != OK

    def reset(self, seeds: Iterable[int | None], which: Iterable[int] | None = None) -> None:
        """Reset sessions, each with its seed, as ``Session.reset`` does.

        Args:
            seeds: one seed for each session that is reset.
            which: indices of the sessions; None: all.
        """
        for k, seed in zip(range(len(self.sessions)) if which is None else which, seeds, strict=True):
            self.sessions[k].reset(seed)
            self._reasons[k] = self.sessions[k].begin()
            self._tell(int(k))

    def step(self, torques: ArrayLike) -> None:
        """Advance all sessions by one control period.

        Args:
            torques: (count, joints) [N·m] or [N], held for the period; rows of sessions that have ended are ignored.

        Raises:
            InputError: the shape is wrong, or a torque of a running session is not finite.
        """
        given, shape = np.asarray(torques, dtype=float), (len(self.sessions), len(self._dofs))
        if given.shape != shape:
            raise InputError(f"the given torques have shape {given.shape}; it must be {shape} (sessions, joints)")
        if not np.isfinite(given[~self.has_ended]).all():
            raise InputError("the given torques are not all finite")
        self._torque[:, self._dofs] = given
        going_on = ~self.has_ended
        list(self._pool.map(self._hold, self._chunks[:-1], self._chunks[1:]))
        for k in np.flatnonzero(self._reasons == LOG_FULL):
            self.sessions[k].forget()
            self._reasons[k] = OK
        for k in np.flatnonzero(going_on & self.has_ended):
            self._tell(int(k))

    def _tell(self, k: int) -> None:
        """Pass the reason to end, if any, to session k."""
        self.sessions[k].end_by(int(self._reasons[k]))

    def _hold(self, begin: int, end: int) -> None:
        hold_each(self._parts, self._worlds, self._period, self._reasons, begin, end)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle as a new batch whose sessions continue from the present states."""
        return _copied, (self._made_of, self._scenes, [session.save() for session in self.sessions], self._rows)

    def __copy__(self) -> SessionBatch:
        """Return a deep copy."""
        return copy.deepcopy(self)

    @property
    def _rows(self) -> tuple[Any, ...]:
        """The arrays that have a row for each session."""
        return self._time, self._torque, self.q, self.v, self.contact_forces, self._reasons

    def close(self) -> None:
        """Shut down the threads."""
        self._pool.shutdown()


def _copied(
    made_of: tuple[Any, ...], scenes: list[Scene], snapshots: list[Snapshot], rows: tuple[Any, ...]
) -> SessionBatch:
    batch = SessionBatch(*made_of)
    for k, (scene, snapshot) in enumerate(zip(scenes, snapshots, strict=True)):
        if scene is not made_of[0]:
            batch.exchange(k, scene)
        batch.sessions[k].go_on_from(snapshot)
    for target, there in zip(batch._rows, rows, strict=True):
        target[...] = there
    return batch
