"""Simulation of a mechanism: checks of the start, time steps, and the columns of the motion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from biped.dynamics.numerics import check_on_constraints
from biped.errors import InputError
from biped.inputs.checks import is_finite
from biped.runs.march import Announce, Progress, StepSettings, chunk_of, energy_check, march, parts_of_run
from biped.runs.run import Run
from biped.runs.state import State
from biped.runs.world import World
from contact.arrays import Floats
from formulations.mechanism.errors import MechanismError
from formulations.mechanism.inputs import Input, checked_input, sampled, table_of_inputs
from formulations.mechanism.kernels import system as places
from formulations.mechanism.kernels.system import Rule
from formulations.mechanism.singularity import cause_of, singularity

if TYPE_CHECKING:
    from formulations.mechanism.mechanism import Mechanism, Vector

MAX_BACKTRACKS = 12
# Share of the impulse of forces that acts at the start of a time step (section IV-E).
FORCE_SHARE = 0.5


@dataclass(frozen=True, kw_only=True)
class Settings(StepSettings):
    """Settings of a simulation; see ``Mechanism.simulate``."""

    alpha: float
    start: float

    error: ClassVar[type[InputError]] = MechanismError

    def __post_init__(self) -> None:
        super().__post_init__()
        if not is_finite(self.start):
            raise MechanismError(f"start = {self.start!r}: it must be a finite number of seconds")
        if not (is_finite(self.alpha) and 0.0 <= self.alpha <= 1.0):
            raise MechanismError(f"alpha = {self.alpha!r}: it must be from 0 to 1; 0.5 gives order two")

    @property
    def rule(self) -> Rule:
        """Settings as the tuple that the kernels take."""
        return Rule(
            float(self.alpha), float(self.step), float(self.tolerance), int(self.max_iterations), MAX_BACKTRACKS,
            FORCE_SHARE,
        )  # fmt: skip


@dataclass(kw_only=True, eq=False, repr=False)
class Motion(Run):
    """Recorded motion of a mechanism: a table of its configuration variables over time.

    Tools for runs (figures, checks, saving) accept its attribute ``run``, a `Run` of the mechanism's `Model`.

    Attributes:
        mechanism: the simulated mechanism.
    """

    mechanism: Mechanism

    @property
    def q(self) -> Floats:
        """Configurations (rows, n)."""
        return self.frame[[name for name, _ in coordinate_columns(self.mechanism)]].to_numpy()

    @property
    def v(self) -> Floats:
        """Rates (rows, n)."""
        return self.frame[[f"rate_{name}" for name in self.mechanism.coordinates]].to_numpy()

    @property
    def momentum(self) -> Floats:
        """Momenta (rows, n)."""
        return self.frame[[f"momentum_{name}" for name in self.mechanism.coordinates]].to_numpy()

    @cached_property
    def constraint_errors(self) -> Floats:
        """Largest absolute entry of h(q) in each row (rows,) [m or rad]; zero without constraints."""
        return self.mechanism.largest_constraints(self.q)

    @cached_property
    def run(self) -> Run:
        """Motion as a `Run` of the mechanism's `Model`, whose loops are open, for all tools that take runs.

        Raises:
            MechanismError: the motion has no rows, or a momentum would have the name of another column.
            ModelError: a configuration variable moves no mass, and no constraint can hold it.
        """
        from formulations.mechanism.recording import run_of

        return run_of(self)

    @property
    def state(self) -> State:
        """State at the end of ``run``."""
        return self.run.state

    def save(self, folder: str | Path) -> Path:
        """Save ``run`` to a folder that ``biped view``, ``render``, ``report`` and `Run.load` open.

        Raises:
            MechanismError, ModelError: the motion cannot be converted to a run, see ``run``.
            OSError: the folder cannot be written.
        """
        return self.run.save(folder)


def coordinate_columns(mechanism: Mechanism) -> list[tuple[str, str]]:
    """Return name and unit of each configuration variable's column: ``angle_NAME`` or ``position_NAME``."""
    return [(f"{'angle' if c.is_rotation else 'position'}_{c.name}", c.unit) for c in mechanism.variables]


def columns_of(mechanism: Mechanism) -> dict[str, str]:
    """Return the units of a motion's columns by name, in their order, without the time."""
    variables = mechanism.variables
    units = dict(coordinate_columns(mechanism))
    units |= {f"rate_{c.name}": f"{c.unit}/s" for c in variables}
    units |= {f"momentum_{c.name}": f"{c.force_unit}*s" for c in variables}
    units |= dict.fromkeys(("kinetic_energy", "potential_energy", "energy", "work"), "J")
    units |= {"newton_iterations": "1"}
    units |= {f"multiplier_{label.name}": label.unit for label in mechanism.labels}
    units |= {f"driving_{c.name}": c.force_unit for c in variables if c.frame.is_kinematic}
    return units


def simulate(
    mechanism: Mechanism,
    settings: Settings,
    *,
    q: Vector | None,
    v: Vector | None,
    given: Mapping[str, Input] | None,
    progress: Progress | None,
    announce: Announce | None,
) -> Motion:
    """Simulate a mechanism; ``Mechanism.simulate`` describes the arguments."""
    motion = _Simulation(mechanism, settings, given or {})
    if announce is not None and not motion.engine.is_ready(places.TAKE_STEPS):
        announce("compiling the steps of mechanisms, once for this machine")
    motion.start(mechanism.configuration(q), None if v is None else mechanism.rates(v))
    return march(motion, settings.steps, progress)


def start_of(
    mechanism: Mechanism,
    settings: Settings,
    q: Vector | None,
    v: Vector | None,
    given: Mapping[str, Input],
    driven: Floats,
) -> tuple[Floats, Floats]:
    """Return configuration and rates at the start of a motion, after the checks of ``simulate``.

    ``driven`` (n,) are the rates of prescribed variables.
    """
    run = _Simulation(mechanism, settings, given)
    run.start(mechanism.configuration(q), None if v is None else mechanism.rates(v), driven)
    return run.motion.q, run.buffers.node_rates


class _Simulation:
    """State and buffers of one motion."""

    def __init__(self, mechanism: Mechanism, settings: Settings, given: Mapping[str, Input]) -> None:
        self.mechanism, self.settings, self.rule = mechanism, settings, settings.rule
        self.mechanics = mechanism.mechanics
        self.engine = mechanism.engine(self.rule)
        self.buffers, self.motion = self.engine.world.buffers, self.engine.world.motion
        self.given = checked_motions(mechanism, given)
        self.chunk = chunk_of(settings.record_every)
        self.rows = np.full((settings.steps // settings.record_every + 1, len(columns_of(mechanism))), np.nan)
        self.engine.take_in(rows=self.rows)

    # --- functions of time ---

    def inputs(self, first: int, count: int) -> Floats:
        """Return times and functions of time in the middle of time steps, from the step before ``first`` on."""
        steps = np.arange(first - 1, first + count + 1, dtype=np.float64)
        return table_of_inputs(self.mechanism.inputs, self.settings.start + self.rule.h * (steps + self.rule.alpha))

    def prescribed(self, first: int, count: int) -> Floats:
        """Return kinematic variables at the beginnings of time steps, from the step before ``first`` on."""
        times = self.settings.start + self.rule.h * np.arange(first - 1, first + count + 2, dtype=np.float64)
        table = np.zeros((len(times), self.mechanism.size))
        for name, value in self.given.items():
            table[:, self.mechanism.coordinates.index(name)] = sampled(value, times, f"motion of {name!r}")
        return table

    # --- the start ---

    def start(self, q: Floats, v: Floats | None, driven: Floats | None = None) -> None:
        """Set the state from a configuration and rates, p₀ = M(q₀) v₀; without rates, at rest except where prescribed.

        ``driven`` are the rates of prescribed variables; by default, their mean rates over two time steps.
        """
        motion, table = self.motion, self.prescribed(0, 0)
        prescribed = self.mechanics.prescribed != 0
        q[prescribed] = table[1, prescribed]
        if driven is None:
            driven = (table[2] - table[0]) / (2.0 * self.rule.h)
        driven = np.where(prescribed, driven, 0.0)
        self.check_constraints(q, "the start")
        at_rest = self.rates_at_rest(q, driven)
        v = at_rest if v is None else np.where(prescribed, driven, v)
        self.check_constraints(q, "the start", v)
        motion.q[:] = q
        self.buffers.node_q[:], self.buffers.node_rates[:] = q, v
        self.engine.enter(places.MOMENTUM)
        motion.momentum[:] = self.buffers.node_momentum
        motion.past[0] = self.rule.h * v
        motion.counts[places.FRESH] = 1
        self.engine.enter(places.BEGIN)

    def check_constraints(self, q: Floats, what: str, v: Floats | None = None) -> None:
        """Check that ``q`` is on the constraints, independent there, and that the rates satisfy Dh v = 0."""
        check_on_constraints(
            self.mechanism.constraint_values(q), self.mechanism.constraint_jacobian(q), v,
            [repr(name) for name in self.mechanism.constraint_names], what=what, error=MechanismError,
            free=self.mechanics.prescribed == 0,
            hint="; Mechanism.satisfy_constraints returns a configuration nearby that satisfies them",
        )  # fmt: skip

    def rates_at_rest(self, q: Floats, driven: Floats) -> Floats:
        """Return the rates of zero momentum, apart from prescribed variables; raise if they are not unique."""
        buffers = self.buffers
        buffers.node_q[:], buffers.given_rates[:], buffers.node_momentum[:] = q, driven, 0.0
        if self.engine.enter(places.RATES):
            clause = singularity(self.mechanism, buffers)
            raise MechanismError(
                "the mass matrix is singular at the start: a configuration variable moves no mass there; give a "
                "mass or an inertia to a frame that it moves, or leave singular orientations, such as three rotation "
                f"axes in one plane{f': {clause}' if clause else ''}"
            )
        return buffers.node_rates.copy()

    # --- time steps ---

    def look_ahead(self, first: int, count: int) -> None:
        """Evaluate the functions of time for the time steps from ``first`` on."""
        self.engine.take_in(inputs=self.inputs(first, count), given=self.prescribed(first, count))

    def advance(self, first: int, count: int) -> int:
        """Take ``count`` time steps, and record a row every ``record_every`` steps."""
        every = self.settings.record_every
        return self.engine.enter(places.TAKE_STEPS, count, every, first // every)

    def finish(self, steps: int) -> int:
        """Record the last row; its forces remain unknown if the next time step has no solution."""
        self.engine.enter(places.RECORD_END, len(self.rows) - 1)
        return 0

    def failure(self, cause: int) -> str:
        """Return the message for the cause that ended the motion."""
        taken = int(self.motion.counts[places.STEPS])
        reached = self.settings.start + self.rule.h * taken
        reason = cause_of(self.mechanism, self.buffers, cause, self.rule.h, self.rule.max_iterations)
        off, constraints, _ = self.motion.residual
        message = f"{self.mechanism.name} at t = {reached:.9g} s: {reason}; the residual is {off:.3g}"
        if self.mechanism.labels:
            message += f", the norm of the constraints {constraints:.3g}"
        return message + f" after a step of {self.rule.h:g} s; try a smaller step"

    def recorded(self, seconds: float, failure: str) -> Motion:
        """Return the motion of all recorded rows."""
        count = self.motion.counts
        steps = int(count[places.STEPS])
        metrics = {
            "step": self.rule.h,
            "alpha": self.rule.alpha,
            "steps": steps,
            "newton_mean": float(count[places.ITERATIONS]) / max(1, steps),
            "newton_max": int(count[places.MOST_ITERATIONS]),
        }
        rows = self.rows[~np.isnan(self.rows[:, 0])] if failure else self.rows
        times = self.settings.start + self.rule.h * (
            self.settings.record_every * np.arange(len(rows), dtype=np.float64)
        )
        return motion_of(self.mechanism, times, rows, metrics, seconds, failure)


def motion_of(
    mechanism: Mechanism, times: Floats, rows: Floats, metrics: Mapping[str, Any], seconds: float, failure: str,
    without: tuple[str, ...] = (),
) -> Motion:  # fmt: skip
    """Return a motion from rows (rows, columns) in the order of ``columns_of``, without the columns ``without``."""
    units = columns_of(mechanism)
    columns = {name: rows[:, k] for k, name in enumerate(units) if name not in without}
    columns["work"] = columns["work"] + driving_work(mechanism, times, columns)
    residual = columns["energy"] - columns["work"]
    world = World("a mechanism", mechanism.name, metrics["step"])
    return Motion(mechanism=mechanism, **parts_of_run(
        world, times, columns, units, seconds=seconds, failure=failure, metrics=metrics,
        checks=[energy_check(residual - residual[:1], columns["kinetic_energy"], columns["energy"])],
    ))  # fmt: skip


def driving_work(mechanism: Mechanism, times: Floats, columns: Mapping[str, Floats]) -> Floats:
    """Return the driving work (rows,) [J] of prescribed variables since the first row, by the trapezoidal rule."""
    power = np.zeros(len(times))
    for name in mechanism.kinematic_coordinates:
        power += np.nan_to_num(columns[f"driving_{name}"]) * columns[f"rate_{name}"]
    parts = 0.5 * np.diff(times) * (power[1:] + power[:-1])
    return np.concatenate([np.zeros(min(1, len(times))), np.cumsum(parts)])


def checked_motions(mechanism: Mechanism, given: Mapping[str, Input]) -> dict[str, Input]:
    """Return the motions of all kinematic variables, after checking that none is missing or unknown."""
    variables = mechanism.kinematic_coordinates
    for name in given:
        if name not in variables:
            raise MechanismError(
                f"kinematic: {name!r} is not a kinematic variable ({', '.join(variables) or 'none'}); to make it one, "
                f"use kinematic({name!r}) as the parameter of its frame"
            )
    missing = [name for name in variables if name not in given]
    if missing:
        raise MechanismError(
            f"kinematic: no motion for {', '.join(missing)}; give a number, a Signal or a function of an array of times"
        )
    return {name: checked_input(value, f"motion of {name!r}") for name, value in given.items()}
