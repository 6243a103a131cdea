"""The derivative of a step of the standing human: exact here, by finite differences in MuJoCo (``mjd_transitionFD``).

Both engines hold the joints with the same springs and dampers, at h = 0.5 ms, on four points a foot. Either derivative
is held against differences of that engine's own step that have converged: Romberg's extrapolation of central ones,
and of its table the entry which the next differs from least. MuJoCo's own derivative of contact is these differences.
"""

from __future__ import annotations

import copy
import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import nan

import mujoco
import numpy as np

from biped.derivatives.linearization import Linearizer
from biped.derivatives.linearization.coordinates import displaced, displacement
from biped.integrators import Recursive
from biped.kernels.loop.closed_loop import Loop
from biped.model import human
from biped.runs.state import State
from biped.simulation.scene import Scene
from biped.simulation.session import Session
from biped.simulation.snapshot import put_state
from contact.arrays import Floats
from controllers.impedance import JointImpedance
from controllers.workspace import WorkspaceController
from experiments.benchmarks.mujoco_race import SETTLING, STATE, Stander
from experiments.benchmarks.section import Budget, Column, Section, microseconds, spread_columns
from experiments.engines.mujoco.mjcf import MujocoOptions
from experiments.timing import interleaved, seconds

#: Of MuJoCo's differences; 1e-6, centred, is what its documentation advises.
REACHES = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
#: With which the converged differences begin; each is half of the one before.
WIDEST, HALVINGS = 1e-3, 14
#: Calls that are timed at once: one alone mostly waits for memory.
CALLS = 3
OURS = "ours, exact"

#: Gives the end of a step in tangent coordinates, from a state displaced along a column by so much.
Displaced = Callable[[int, float], Floats]


@dataclass(frozen=True, eq=False)
class Converged:
    """Differences that have converged."""

    matrix: Floats  # (2 nv, 2 nv)
    doubt: float = (
        0.0  # by how much the best of each column may be wrong, the greatest, against its block as errors are
    )

    def error(self, other: Floats) -> float:
        """Return the greatest error of a block, as of velocities by displacements, against its greatest element."""
        truth, half = self.matrix, len(self.matrix) // 2
        blocks = itertools.product((slice(0, half), slice(half, None)), repeat=2)
        return max(float(np.abs((other - truth)[block]).max() / np.abs(truth[block]).max()) for block in blocks)


def converged(ends: Displaced, size: int) -> Converged:
    """Return the derivative of a step by Romberg's extrapolation, column by column."""
    matrix, doubts = (np.array(rows).T for rows in zip(*(_column(ends, k) for k in range(size)), strict=True))
    return Converged(matrix, Converged(matrix).error(matrix + doubts))


def _column(ends: Displaced, column: int) -> tuple[Floats, Floats]:
    """Return the best entry of Romberg's table, and how far its neighbour is."""
    rows: list[list[Floats]] = []
    best, doubt = np.zeros(0), np.array([np.inf])
    for k in range(HALVINGS):
        reach = WIDEST / 2.0**k
        row = [(ends(column, reach) - ends(column, -reach)) / (2.0 * reach)]
        for m, coarse in enumerate(rows[-1] if rows else ()):
            row.append(row[m] + (row[m] - coarse) / (4.0 ** (m + 1) - 1.0))
            change = np.maximum(np.abs(row[-1] - row[-2]), np.abs(row[-1] - coarse))  # as Ridders takes it
            if change.max() < doubt.max():
                best, doubt = row[-1], change
        rows.append(row)
    return best, doubt


def _truth(
    end: Callable[[Floats], tuple[Floats, Floats]], apart: Callable[[Floats, Floats], Floats], nv: int
) -> Converged:
    """Return the derivative of a step; ``end`` gives (q, v or momentum) of a step from a displaced state."""
    nominal_q, nominal_rate = end(np.zeros(2 * nv))

    def ends(column: int, reach: float) -> Floats:
        q, rate = end(reach * np.eye(2 * nv)[column])
        return np.concatenate([apart(nominal_q, q), rate - nominal_rate])

    return converged(ends, 2 * nv)


class MujocoStep(Stander):
    """A step of MuJoCo's standing human, to be differentiated."""

    def by_differences(self, reach: float, centred: bool) -> Floats:
        """Return A by ``mjd_transitionFD``."""
        size = 2 * self.engine.nv + self.engine.na
        A = np.zeros((size, size))
        mujoco.mj_setState(self.engine, self.data, self.settled, STATE)
        mujoco.mjd_transitionFD(self.engine, self.data, reach, centred, A, None, None, None)
        return A

    def truth(self) -> Converged:
        """Return the derivative of the step whose constraints are solved as far as rounding permits."""
        engine, nv = copy.copy(self.engine), self.engine.nv
        engine.opt.tolerance, engine.opt.iterations, engine.opt.ls_iterations = 0.0, 1000, 200
        data = mujoco.MjData(engine)

        def end(change: Floats) -> tuple[Floats, Floats]:
            mujoco.mj_setState(engine, data, self.settled, STATE)
            mujoco.mj_integratePos(engine, data.qpos, change[:nv], 1.0)
            data.qvel[:] += change[nv:]
            mujoco.mj_step(engine, data)
            return data.qpos.copy(), data.qvel.copy()

        def apart(first: Floats, second: Floats) -> Floats:
            moved = np.zeros(nv)
            mujoco.mj_differentiatePos(engine, moved, 1.0, first, second)
            return moved

        return _truth(end, apart, nv)


class OurStep:
    """A step of ours [s], of the same human on the same springs, to be differentiated."""

    def __init__(self, step: float) -> None:
        scene = Scene(human(), JointImpedance(), step=step, integrator=Recursive(tolerance=1e-12))
        self.state = settled(scene)
        self.linearizer = Linearizer(scene, span="step")
        self._plan = scene.prepare()

    def exact(self) -> Floats:
        """Return A by displacements and momenta."""
        nv = self._plan.model.nv
        return self.linearizer.at(self.state).A[: 2 * nv, : 2 * nv]

    def truth(self) -> Converged:
        """Return the derivative by differences of our step."""
        model, live, loop = self._plan.model, self._plan.state, Loop(self._plan.world, None)

        def end(change: Floats) -> tuple[Floats, Floats]:
            start = self.state.copy()
            start.arrays.q[:] = displaced(model, start.q, change[: model.nv])
            start.arrays.momentum[:] += change[model.nv :]
            put_state(start, live, self._plan.world)
            if loop.rollout(1) != 0:
                raise RuntimeError("a step beside a standing human has no solution")
            return live.q.copy(), live.momentum.copy()

        return _truth(end, partial(displacement, model), model.nv)


def settled(scene: Scene) -> State:
    """Return the state in which a scene stands."""
    session = Session(scene)
    session.advance(round(SETTLING / session.period))
    return session.state.copy()


def _seconds(way: Callable[[], object]) -> float:
    """Return the processor's time of one call [s]."""
    return seconds(lambda: [way() for _ in range(CALLS)], time.process_time) / CALLS


def beside_mujoco(repeats: int, step: float = 5e-4) -> dict[str, tuple[float, ...]]:
    """Time both engines' derivatives of a step of the standing human in turn.

    Returns:
        Rows of the least, median and greatest time [µs] of the processor, the error of the derivative, and how far that
        is in doubt; NaN where the derivative is not looked at here.
    """
    ours, theirs = OurStep(step), MujocoStep(MujocoOptions(step=step, solver="Newton", cone="pyramidal"))
    scene = Scene(human(), WorkspaceController(), step=step)
    period, standing = Linearizer(scene), settled(scene)
    judged: dict[str, tuple[Callable[[], Floats], Converged]] = {OURS: (ours.exact, ours.truth())}
    truth = theirs.truth()
    for centred, kind in ((True, "centred"), (False, "forward")):
        for reach in REACHES:
            judged[f"MuJoCo, {kind}, eps = {reach:g}"] = partial(theirs.by_differences, reach, centred), truth
    ways: dict[str, Callable[[], object]] = {
        OURS: ours.exact,
        "ours, the compiled part": lambda: ours.linearizer.carry(ours.state),
        "ours, and all second derivatives": lambda: ours.linearizer.at(ours.state, order=2).second(),
        "ours, a period and its law, compiled": lambda: period.carry(standing),
        **{name: way for name, (way, _) in judged.items()},
    }
    times = interleaved({name: partial(_seconds, way) for name, way in ways.items()}, repeats)
    errors = {name: (truth.error(way()), truth.doubt) for name, (way, truth) in judged.items()}
    return {name: (*microseconds(taken), *errors.get(name, (nan, nan))) for name, taken in times.items()}


def derivative_section(work: Budget) -> Section:
    return Section(
        "derivatives",
        "The derivative of a step of the standing human, h = 0.5 ms",
        (*spread_columns(), Column("error", "", ".1e"), Column("doubt", "", ".1e")),
        beside_mujoco(work.repeats),
        [
            "error: of a block such as velocities by displacements, against its greatest element; held against "
            "Romberg's extrapolation of that engine's own step, whose doubt stands beside it",
            "MuJoCo's are mjd_transitionFD, by displacements and velocities; ours by displacements, momenta, anchors "
            "and torques, the call from Python included; the second derivatives with the first",
            "a period has four steps, and the workspace law at its beginning; setting the state is counted",
            "times are the processor's, to which others on the machine do not add",
        ],
    )
