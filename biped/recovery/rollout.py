"""A scene under torques that are held from one tick to the next: its trajectories, and their exact derivatives.

The state of a tick is x = (q, p, a): configuration, generalized momenta, and the anchors of contact points on the
floor. Deviations from it are in tangent coordinates (``biped.derivatives.linearization.coordinates``), nx = 2 nv + 2 nc
of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from biped.control.observation import joint_places
from biped.derivatives.linearization.kernels.steps import Linearizer as StepLinearizer
from biped.errors import InputError
from biped.kernels.loop.closed_loop import Loop
from biped.kernels.loop.log import EVENTS, ROWS, STRIDE
from biped.kernels.state.status import OK
from biped.runs.state import State
from biped.simulation.scene import Scene
from biped.simulation.snapshot import put_state
from contact.arrays import Floats

#: Steps between two recorded rows: nothing is recorded here.
NEVER = 1 << 40


#: (N, inputs) least and greatest torques [N·m].
Limits = tuple[Floats, Floats]


class NotLinearizedError(InputError):
    """A trajectory has no derivative that could be had."""


@dataclass(frozen=True, eq=False)
class Path:
    """A trajectory of a scene under held torques, N ticks long.

    Attributes:
        q: (N + 1, nq) configurations.
        p: (N + 1, nv) generalized momenta.
        anchor: (N + 1, 2 nc) [m] where the floor holds the contact points.
        u: (N, joints) [N·m] torques.
    """

    q: Floats
    p: Floats
    anchor: Floats
    u: Floats


class HeldTorques:
    """A scene from one state on, its joints driven by torques that are held for a period.

    Args:
        scene: model, floor, step, pushes; its controller is left out.
        state: where it begins, between two control periods.
        period: [s] for which torques are held, a multiple of the scene's step.

    Raises:
        InputError: the period is no multiple of the step.
        ModelError: the model has loops.
    """

    def __init__(self, scene: Scene, state: State, period: float) -> None:
        scene.model.check_tree("the derivative of a step")
        self.steps = round(period / scene.step)
        if self.steps < 1 or abs(self.steps * scene.step - period) > 1e-9 * period:
            raise InputError(f"period = {period:g} s: it must be a multiple of the step, {scene.step:g} s")
        begin = state.copy()
        begin.arrays.torque[:] = 0.0
        self.scene = replace(scene, controller=None, state=begin, fall=None, settle=None)
        self.period = period
        self.plan = self.scene.prepare()
        self.model = self.plan.model
        self._begin = self.plan.state.copy()
        world = self.plan.world
        world.log.cursor[STRIDE] = NEVER
        self._loop = Loop(world, self.plan.law)
        nv, nc = self.model.nv, self.model.nc
        self.joints = joint_places(self.model)
        self.nx, self.nu = 2 * nv + 2 * nc, len(self.joints.dofs)
        self._linearizer = StepLinearizer(self._loop, np.array(self.joints.dofs, dtype=np.int64), 0)

    @property
    def start(self) -> State:
        """Where it begins."""
        return self._begin

    def _put_back(self) -> None:
        put_state(self._begin, self.plan.state, self.plan.world)

    def _go_on_as_simulated(self, before: State, u: Floats) -> None:
        """A step that is taken in parts is gone through part by part by the derivative, with other roundings."""
        put_state(before, self.plan.state, self.plan.world)
        self.plan.world.state.torque[self.joints.dofs] = u
        self.plan.world.log.cursor[[ROWS, EVENTS]] = 0
        self._loop.rollout(self.steps)

    def deviation(self, path: Path, k: int) -> Floats:
        """(nx,) of the present state from that of a path at tick k."""
        arrays = self.plan.world.state
        return deviation(arrays.q, arrays.momentum, arrays.anchor.ravel(), path, k)

    def follow(
        self, path: Path, gains: Floats | None = None, change: Floats | None = None, limits: Limits | None = None
    ) -> Path | None:
        """The trajectory under u = clip(ū + change − K δx); None if a step has no solution.

        Args:
            path: x̄, ū.
            gains: (N, joints, nx) K.
            change: (N, joints) of the torques.
            limits: (N, joints) or (joints,) least and greatest torques.
        """
        self._put_back()
        world = self.plan.world
        arrays, cursor = world.state, world.log.cursor
        count = len(path.u)
        found = Path(*(np.empty_like(rows) for rows in (path.q, path.p, path.anchor, path.u)))
        dofs, common, steps = self.joints.dofs, self._loop, self.steps
        for k in range(count + 1):
            found.q[k], found.p[k], found.anchor[k] = arrays.q, arrays.momentum, arrays.anchor.ravel()
            if k == count:
                break
            u = path.u[k].copy()
            if change is not None:
                u += change[k]
            if gains is not None:
                u -= gains[k] @ self.deviation(path, k)
            if limits is not None:
                u = np.clip(u, limits[0][k], limits[1][k])
            found.u[k] = arrays.torque[dofs] = u
            cursor[ROWS] = cursor[EVENTS] = 0
            if common.rollout(steps) != OK or not np.isfinite(arrays.momentum).all():
                return None
        return found

    def linearize(self, path: Path) -> tuple[Floats, Floats]:
        """A (N, nx, nx) and B (N, nx, joints) of each tick along a trajectory of this scene.

        Raises:
            NotLinearizedError: the path is no trajectory of this scene, or a step is too violent to be linearized.
        """
        self._put_back()
        arrays, tangent = self.plan.world.state, self._linearizer.room.tangent
        dofs = self.joints.dofs
        A, B = np.empty((len(path.u), self.nx, self.nx)), np.empty((len(path.u), self.nx, self.nu))
        for k, u in enumerate(path.u):
            before = self.plan.state.copy()
            arrays.torque[dofs] = u
            self._linearizer.set_off()
            reason = self._linearizer.take(self.steps)
            if reason != OK:
                raise NotLinearizedError(f"a step of tick {k} is too violent to be linearized (status {reason})")
            whole = np.vstack([tangent.q, tangent.momentum, tangent.anchor])
            A[k], B[k] = whole[:, : self.nx], whole[:, self.nx :]
            if not np.array_equal(arrays.q, path.q[k + 1]):
                self._go_on_as_simulated(before, u)
        if not np.array_equal(arrays.q, path.q[-1]):
            raise NotLinearizedError("the path is no trajectory of this scene")
        return A, B


def deviation(q: Floats, p: Floats, anchor: Floats, path: Path, k: int) -> Floats:
    """(nx,) from the path's state at tick k, of a floating root or a tree of joints of one degree of freedom."""
    there = path.q[k]
    if len(q) == len(p):
        return np.concatenate([q - there, p - path.p[k], anchor - path.anchor[k]])
    return np.concatenate([
        q[:3] - there[:3], turn_between(q[3:7], there[3:7]), q[7:] - there[7:],
        p - path.p[k], anchor - path.anchor[k],
    ])  # fmt: skip


def turn_between(to: Floats, start: Floats) -> Floats:
    """(3,) rotation vector in world axes from one unit quaternion to another."""
    w = to @ start
    v = start[0] * to[1:] - to[0] * start[1:] - np.cross(to[1:], start[1:])
    if w < 0.0:
        w, v = -w, -v
    size = float(np.sqrt(v @ v))
    if size < 1e-12:
        return 2.0 * v
    turned: Floats = (2.0 * np.arctan2(size, w) / size) * v
    return turned
