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
from functools import cached_property, partial

import mujoco
import numpy as np

from biped.derivatives.linearization import Linearizer
from biped.derivatives.linearization.coordinates import displaced, displacement
from biped.integrators import Recursive
from biped.kernels.loop.closed_loop import Loop
from biped.model import human
from biped.simulation.scene import Scene
from biped.simulation.session import Session
from biped.simulation.snapshot import put_state
from contact.arrays import Floats
from controllers.impedance import JointImpedance
from controllers.workspace import WorkspaceController
from experiments.benchmarks.mujoco_race import SETTLING, Stander
from experiments.benchmarks.section import Budget, Column, Section, microseconds, spread_columns
from experiments.engines.mujoco.mjcf import MujocoOptions
from experiments.timing import interleaved, seconds

#: Of MuJoCo's differences; 1e-6, centred, is what its documentation advises.
REACHES = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
#: With which the converged differences begin; each is half of the one before.
WIDEST, HALVINGS = 1e-3, 14

#: Gives the end of a step in tangent coordinates, from a state displaced along a column by so much.
Displaced = Callable[[int, float], Floats]


@dataclass(frozen=True, eq=False)
class Converged:
    """Differences that have converged."""

    matrix: Floats  # (2 nv, 2 nv)
    doubt: float  # by how much the best of each column may be wrong, the greatest, against its block as errors are

    def error(self, other: Floats) -> float:
        """Return the greatest error of a block, as of velocities by displacements, against its greatest element."""
        truth, half = self.matrix, len(self.matrix) // 2
        blocks = itertools.product((slice(0, half), slice(half, None)), repeat=2)
        return max(float(np.abs((other - truth)[block]).max() / np.abs(truth[block]).max()) for block in blocks)


def converged(ends: Displaced, size: int) -> Converged:
    """Return the derivative of a step by Romberg's extrapolation, column by column."""
    matrix, doubts = (np.array(rows).T for rows in zip(*(_column(ends, k) for k in range(size)), strict=True))
    return Converged(matrix, Converged(matrix, 0.0).error(matrix + doubts))


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


class MujocoStep:
    """A step of MuJoCo's standing human, to be differentiated."""

    def __init__(self, options: MujocoOptions) -> None:
        stander = Stander(options)
        self.engine, self.data, self._state = stander.engine, stander.data, stander.settled
        self.stands = stander.stands

    def by_differences(self, reach: float, centred: bool) -> Floats:
        """Return A by ``mjd_transitionFD``."""
        size = 2 * self.engine.nv + self.engine.na
        A = np.zeros((size, size))
        mujoco.mj_setState(self.engine, self.data, self._state, mujoco.mjtState.mjSTATE_INTEGRATION)
        mujoco.mjd_transitionFD(self.engine, self.data, reach, centred, A, None, None, None)
        return A

    @cached_property
    def truth(self) -> Converged:
        """The derivative of the step whose constraints are solved as far as rounding permits."""
        engine = copy.copy(self.engine)
        engine.opt.tolerance, engine.opt.iterations, engine.opt.ls_iterations = 0.0, 1000, 200
        data = mujoco.MjData(engine)
        nominal = self._end(engine, data, np.zeros(2 * engine.nv), None)

        def ends(column: int, reach: float) -> Floats:
            return self._end(engine, data, reach * np.eye(2 * engine.nv)[column], nominal)

        return converged(ends, 2 * engine.nv)

    def _end(self, engine: mujoco.MjModel, data: mujoco.MjData, change: Floats, nominal: Floats | None) -> Floats:
        """Return where the step ends, (qpos, qvel), or how far from ``nominal`` in tangent coordinates."""
        mujoco.mj_setState(engine, data, self._state, mujoco.mjtState.mjSTATE_INTEGRATION)
        mujoco.mj_integratePos(engine, data.qpos, change[: engine.nv], 1.0)
        data.qvel[:] += change[engine.nv :]
        mujoco.mj_step(engine, data)
        if nominal is None:
            return np.concatenate([data.qpos, data.qvel])
        moved = np.zeros(engine.nv)
        mujoco.mj_differentiatePos(engine, moved, 1.0, nominal[: engine.nq], data.qpos)
        return np.concatenate([moved, data.qvel - nominal[engine.nq :]])


class OurStep:
    """A step of ours [s], of the same human on the same springs, to be differentiated."""

    def __init__(self, step: float) -> None:
        scene = Scene(human(), JointImpedance(), step=step, integrator=Recursive(tolerance=1e-12))
        session = Session(scene)
        session.advance(round(SETTLING / session.period))
        self.state = session.state.copy()
        self.linearizer = Linearizer(scene, span="step")
        self._plan = scene.prepare()
        self._loop = Loop(self._plan.world, None)

    def exact(self) -> Floats:
        """Return A by displacements and momenta."""
        nv = self._plan.model.nv
        return self.linearizer.at(self.state).A[: 2 * nv, : 2 * nv]

    def compiled(self) -> None:
        """Compute A, without what is made of it in Python."""
        self.linearizer.carry(self.state)

    def second(self) -> Floats:
        """Return the second derivatives by states and torques."""
        return self.linearizer.at(self.state, order=2).second()

    @cached_property
    def truth(self) -> Converged:
        """The derivative by differences of our step."""
        model, nv = self._plan.model, self._plan.model.nv
        nominal_q, nominal_p = self._end(np.zeros(2 * nv))

        def ends(column: int, reach: float) -> Floats:
            q, momentum = self._end(reach * np.eye(2 * nv)[column])
            return np.concatenate([displacement(model, nominal_q, q), momentum - nominal_p])

        return converged(ends, 2 * nv)

    def _end(self, change: Floats) -> tuple[Floats, Floats]:
        model, live = self._plan.model, self._plan.state
        start = self.state.copy()
        start.arrays.q[:] = displaced(model, start.q, change[: model.nv])
        start.arrays.momentum[:] += change[model.nv :]
        put_state(start, live, self._plan.world)
        if self._loop.rollout(1) != 0:
            raise RuntimeError("a step beside a standing human has no solution")
        return live.q.copy(), live.momentum.copy()


@dataclass(frozen=True)
class Derived:
    """One way to a derivative."""

    times: list[float]  # [s] of the processor that it took, each time
    error: float = float("nan")  # of the derivative; NaN where it is not looked at here
    doubt: float = float("nan")  # what is not known of that


#: Calls that are timed at once: one alone mostly waits for memory.
CALLS = 3


def _seconds(way: Callable[[], object]) -> float:
    """Return the processor's time of one call [s]."""

    def calls() -> None:
        for _ in range(CALLS):
            way()

    return seconds(calls, time.process_time) / CALLS


OURS, COMPILED, SECOND = "ours, exact", "ours, the compiled part", "ours, and all second derivatives"
PERIOD = "ours, a period and its law, compiled"


def _period(step: float) -> Callable[[], object]:
    """Return a work that differentiates a control period of the human that stands by itself."""
    session = Session(Scene(human(), WorkspaceController(), step=step))
    session.advance(round(SETTLING / session.period))
    linearizer, state = Linearizer(session.scene), session.state.copy()
    return lambda: linearizer.carry(state)


def beside_mujoco(repeats: int, step: float = 5e-4) -> dict[str, Derived]:
    """Time and judge both engines' derivatives of a step of the standing human, in turn."""
    ours, theirs = OurStep(step), MujocoStep(MujocoOptions(step=step, solver="Newton", cone="pyramidal"))
    exact: dict[str, tuple[Callable[[], Floats], Converged]] = {OURS: (ours.exact, ours.truth)}
    for centred, kind in ((True, "centred"), (False, "forward")):
        for reach in REACHES:
            exact[f"MuJoCo, {kind}, eps = {reach:g}"] = partial(theirs.by_differences, reach, centred), theirs.truth
    ways: dict[str, Callable[[], object]] = {name: way for name, (way, _) in exact.items()}
    ways |= {COMPILED: ours.compiled, SECOND: ours.second, PERIOD: _period(step)}
    times = interleaved({name: partial(_seconds, way) for name, way in ways.items()}, repeats)
    judged = {name: (truth.error(way()), truth.doubt) for name, (way, truth) in exact.items()}
    return {
        name: Derived(times[name], *judged.get(name, ())) for name in (OURS, COMPILED, SECOND, PERIOD, *list(exact)[1:])
    }


def derivative_section(work: Budget) -> Section:
    section = Section(
        "derivatives",
        "The derivative of a step of the standing human, h = 0.5 ms",
        (*spread_columns(), Column("error", "", ".1e"), Column("doubt", "", ".1e")),
        notes=[
            "error: of a block such as velocities by displacements, against its greatest element; held against "
            "Romberg's extrapolation of that engine's own step, whose doubt stands beside it",
            "MuJoCo's are mjd_transitionFD, by displacements and velocities; ours by displacements, momenta, anchors "
            "and torques, the call from Python included; the second derivatives with the first",
            "a period has four steps, and the workspace law at its beginning; setting the state is counted",
            "times are the processor's, to which others on the machine do not add",
        ],
    )
    for name, derived in beside_mujoco(work.repeats).items():
        section.rows[name] = (*microseconds(derived.times), derived.error, derived.doubt)
    return section
