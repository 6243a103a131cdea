"""A model in violent motion whose next steps are varied: by the exact derivative, and by differences."""

import math
from dataclasses import replace

import numpy as np

from biped import Recursive, Scene, Session, State, forward_kinematics
from biped.derivatives.linearization.coordinates import displaced, displacement
from biped.derivatives.linearization.kernels.steps import SUBSTEPS, Linearizer
from biped.kernels.loop.closed_loop import Loop
from biped.simulation.snapshot import put_state
from tests.conftest import bent_configuration
from tests.differences import Derivative, columns_of, derivative

STEP = 1e-3
#: Of differences by displacements, momenta, anchors and torques.
REACHES = (2.5e-6, 2.5e-5, 2.5e-6, 2.5e-2)


def after(scene, state, change):
    model = scene.model
    start = state.copy()
    start.arrays.q[:] = displaced(model, state.q, change[: model.nv])
    start.arrays.momentum[:] += change[model.nv :]
    session = Session(replace(scene, state=start))
    assert session.advance(1) == 1
    return session.state


class Varied:
    def __init__(self, scene: Scene, state: State, modes=None, anchors=None, torque=None) -> None:
        self.plan = scene.prepare()
        self.model, world = self.plan.model, self.plan.world
        self.start = state.copy()
        first = self.plan.state.arrays
        self.start.set_memory_shape(first.past.shape)
        self.start.set_step(self.plan.clock.step)
        arrays = self.start.arrays
        for name in ("stiffness", "damping", "setpoint"):
            getattr(arrays, name)[:] = getattr(self.plan.state.arrays, name)
        for given, target in ((modes, arrays.mode), (anchors, arrays.anchor), (torque, arrays.torque)):
            if given is not None:
                target[:] = given
        nv, nc = self.model.nv, self.model.nc
        self.columns = 3 * nv + 2 * nc
        ends = np.cumsum([nv, nv, 2 * nc, nv])
        self.parts = [slice(end - size, end) for end, size in zip(ends, (nv, nv, 2 * nc, nv), strict=True)]
        self.lin = Linearizer(Loop(world, None), np.arange(nv), 600)

    def put(self, state: State) -> None:
        put_state(state, self.plan.state, self.plan.world)

    def exact(self, steps: int = 1) -> np.ndarray:
        tangent = self.lin.buffers.tangent
        self.put(self.start)
        self.lin.set_off()
        assert self.lin.take(steps) == 0
        self.end = self.plan.state.copy()
        self.regimes = self.lin.buffers.regime[: self.lin.buffers.taken[SUBSTEPS]].copy()
        return np.vstack([tangent.q, tangent.momentum, tangent.anchor]).copy()

    def kind(self, column: int) -> int:
        return next(k for k, part in enumerate(self.parts) if part.start <= column < part.stop)

    def after(self, column: int, reach: float, steps: int) -> np.ndarray:
        state, nv = self.start.copy(), self.model.nv
        kind = self.kind(column)
        j = column - self.parts[kind].start
        if kind == 0:
            state.arrays.q[:] = displaced(self.model, state.q, reach * np.eye(nv)[j])
        elif kind == 1:
            state.arrays.momentum[j] += reach
        elif kind == 2:
            state.arrays.anchor.ravel()[j] += reach
        else:
            state.arrays.torque[j] += reach
        self.put(state)
        assert self.lin.take(steps) == 0
        live = self.plan.state
        return np.concatenate([displacement(self.model, self.end.q, live.q), live.momentum, live.arrays.anchor.ravel()])

    def differenced(self, steps: int = 1, columns=None) -> Derivative:
        return columns_of([
            derivative(lambda e, column=column: self.after(column, e, steps), REACHES[self.kind(column)])
            for column in (range(self.columns) if columns is None else columns)
        ])  # fmt: skip

    def worst(self, exact: np.ndarray, difference: Derivative, rel: float) -> float:
        blocks = [(rows, columns) for rows in self.parts[:3] for columns in self.parts]
        return max(difference[block].departure(exact[block], rel, alike=True) for block in blocks)


def moving(model, rng, *, floor, depth=0.005, speed=0.3, bent=0.4, landing_depth=math.inf, **scene):
    q = bent_configuration(model, rng, bent)
    if model.is_floating and model.nc:
        q[2] -= np.median(forward_kinematics(model, q).contact[:, 2]) + depth
    integrator = Recursive(tolerance=1e-10, landing_depth=landing_depth)
    state = State.at(model, q, speed * rng.normal(size=model.nv))
    return Scene(model, floor=floor, state=state, step=STEP, integrator=integrator, **scene), state
