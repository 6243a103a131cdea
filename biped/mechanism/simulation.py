"""Motions of a mechanism: what is checked before the first step, steps in chunks, and a table of what came out."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from biped.causes import why
from biped.checks import is_finite
from biped.errors import IntegrationError
from biped.mechanism.errors import MechanismError
from biped.mechanism.inputs import Input, checked_input, sampled
from biped.mechanism.kernels import system as places
from biped.mechanism.kernels.system import Rule
from biped.mechanism.singularity import singularity
from biped.mechanism.steps import StepSettings
from contact.arrays import Floats

if TYPE_CHECKING:
    from biped.mechanism.mechanism import Mechanism, Vector
    from biped.presentation import View
    from biped.runs.run import Run

#: Called with the fraction that is done.
Progress = Callable[[float], None]
#: Called with a line.
Announce = Callable[[str], None]

# A start is on the constraints up to this [m or rad], and its rates on theirs, relative to what the terms amount to.
ON_CONSTRAINTS = 1e-9
# Singular values of Dh, its rows of length one, below this are zero.
RANK = 1e-10
# Steps between two looks at the progress bar, and rows of the tables of inputs.
CHUNK = 4096
MAX_BACKTRACKS = 12
# Forces act by halves at both ends of a step (section IV-E).
FORCE_SHARE = 0.5


@dataclass(frozen=True, kw_only=True)
class Settings(StepSettings):
    """How steps are taken; ``Mechanism.simulate`` documents each."""

    alpha: float
    start: float

    def __post_init__(self) -> None:
        super().__post_init__()
        if not is_finite(self.start):
            raise MechanismError(f"start = {self.start!r}: it must be a finite number of seconds")
        if not (is_finite(self.alpha) and 0.0 <= self.alpha <= 1.0):
            raise MechanismError(f"alpha = {self.alpha!r}: it must be from 0 to 1; ½ is of second order")

    @property
    def rule(self) -> Rule:
        """What the kernels take."""
        return Rule(
            float(self.alpha), float(self.step), float(self.tolerance), int(self.max_iterations), MAX_BACKTRACKS,
            FORCE_SHARE,
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Motion:
    """A recorded motion of a mechanism.

    Attributes:
        mechanism: that moved.
        frame: one row per recorded time; ``units`` has each column's unit.
        units: by column.
        summary: step and α, steps, iterations of Newton's method, wall time.
    """

    mechanism: Mechanism
    frame: pd.DataFrame
    units: dict[str, str]
    summary: dict[str, Any]

    @property
    def q(self) -> Floats:
        """(rows, n) configurations."""
        return self.frame[[name for name, _ in coordinate_columns(self.mechanism)]].to_numpy()

    @property
    def v(self) -> Floats:
        """(rows, n) rates."""
        return self.frame[[f"rate_{name}" for name in self.mechanism.coordinates]].to_numpy()

    @property
    def momentum(self) -> Floats:
        """(rows, n) momenta."""
        return self.frame[[f"momentum_{name}" for name in self.mechanism.coordinates]].to_numpy()

    @cached_property
    def constraint_errors(self) -> Floats:
        """(rows,) the largest entry of h(q) of each row, whatever its sign, [m or rad]; zero without constraints."""
        return self.mechanism.largest_constraints(self.q)

    @cached_property
    def run(self) -> Run:
        """The motion as an ordinary run, which every tool of runs takes; its model is the tree with its loops open.

        Raises:
            MechanismError: it has no rows, or the momentum of a variable would be called as another column.
            ModelError: nothing resists a configuration variable but constraints.
        """
        from biped.mechanism.recording import run_of

        return run_of(self)

    def save(self, folder: str | Path) -> Path:
        """Write it as ``Run.save`` does: ``biped view``, ``render`` and ``report`` open it, and `Run.load`.

        Raises:
            MechanismError: as ``run``.
            OSError: the folder cannot be written.
        """
        return self.run.save(folder)

    def view(self, speed: float = 1.0) -> View:
        """See it move in three dimensions, as ``Run.view``.

        Raises:
            MechanismError: as ``run``.
            MissingExtraError: the viewer is not installed; the message says how to install it.
        """
        return self.run.view(speed)


def coordinate_columns(mechanism: Mechanism) -> list[tuple[str, str]]:
    """The columns of the configuration variables, with their units: ``angle_…`` or ``position_…``."""
    return [(f"{'angle' if c.is_rotation else 'position'}_{c.name}", c.unit) for c in mechanism.variables]


def columns_of(mechanism: Mechanism) -> dict[str, str]:
    """The units of the columns of a motion, in order, after the time."""
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
    pair: tuple[Vector | None, Vector | None],
    given: Mapping[str, Input] | None,
    progress: Progress | None,
    announce: Announce | None,
) -> Motion:
    """See ``Mechanism.simulate``."""
    run = _Simulation(mechanism, settings, given or {})
    if announce is not None and not run.engine.is_ready(places.TAKE_STEPS):
        announce("compiling the steps of mechanisms, once for this machine")
    if any(part is not None for part in pair):
        if q is not None or v is not None or any(part is None for part in pair):
            raise MechanismError(
                "give either q (and v) or both q0 and q1: a configuration and rates, or two configurations"
            )
        run.start_from_two(mechanism.configuration(pair[0]), mechanism.configuration(pair[1]))
    else:
        run.start(mechanism.configuration(q), None if v is None else mechanism.rates(v))
    return run.advance(progress)


def start_of(
    mechanism: Mechanism,
    settings: Settings,
    q: Vector | None,
    v: Vector | None,
    given: Mapping[str, Input],
    driven: Floats,
) -> tuple[Floats, Floats]:
    """Configuration and rates at the start of a motion, checked as ``simulate`` checks them.

    ``driven`` (n,) has the rates of prescribed variables.
    """
    run = _Simulation(mechanism, settings, given)
    run.start(mechanism.configuration(q), None if v is None else mechanism.rates(v), driven)
    return run.motion.q, run.room.node_rates


class _Simulation:
    """State and room of one motion."""

    def __init__(self, mechanism: Mechanism, settings: Settings, given: Mapping[str, Input]) -> None:
        self.mechanism, self.settings, self.rule = mechanism, settings, settings.rule
        self.mechanics = mechanism.mechanics
        self.engine = mechanism.engine(self.rule)
        self.room, self.motion = self.engine.world.room, self.engine.world.motion
        self.given = checked_motions(mechanism, given)
        self.began = 0  # steps before the first row: one, where two configurations were given
        self.seconds = 0.0

    # --- functions of time ---

    def inputs(self, first: int, count: int) -> Floats:
        """Rows of times and functions of them in the middle of steps, from the step before ``first`` on."""
        steps = np.arange(first - 1, first + count + 1, dtype=np.float64)
        times = self.settings.start + self.rule.h * (steps + self.rule.alpha)
        table = np.zeros((len(times), 1 + len(self.mechanism.inputs)))
        table[:, 0] = times
        for column, (what, value) in enumerate(self.mechanism.inputs, 1):
            table[:, column] = sampled(value, times, what)
        return table

    def prescribed(self, first: int, count: int) -> Floats:
        """Rows of kinematic variables at the beginnings of steps, from the step before ``first`` on."""
        times = self.settings.start + self.rule.h * np.arange(first - 1, first + count + 2, dtype=np.float64)
        table = np.zeros((len(times), self.mechanism.size))
        for name, value in self.given.items():
            table[:, self.mechanism.coordinates.index(name)] = sampled(value, times, f"motion of {name!r}")
        return table

    # --- the start ---

    def start(self, q: Floats, v: Floats | None, driven: Floats | None = None) -> None:
        """From a configuration and rates: p₀ = M(q₀) v₀. Without rates, at rest but for what moves as it is given.

        ``driven`` has the rates of what is prescribed, by default over two steps.
        """
        motion, table = self.motion, self.prescribed(0, 0)
        prescribed = self.mechanics.prescribed != 0
        q[prescribed] = table[1, prescribed]
        if driven is None:
            driven = (table[2] - table[0]) / (2.0 * self.rule.h)
        driven = np.where(prescribed, driven, 0.0)
        rows = self.check_place(q, "the start")
        at_rest = self.rates_at_rest(q, driven)
        v = at_rest if v is None else np.where(prescribed, driven, v)
        self.check_rates(rows, v)
        motion.q[:] = q
        self.room.node_q[:], self.room.node_rates[:] = q, v
        self.engine.enter(places.MOMENTUM)
        motion.momentum[:] = self.room.node_momentum
        motion.past[0] = self.rule.h * v
        motion.counts[places.FRESH] = 1
        self.engine.enter(places.BEGIN)

    def start_from_two(self, q0: Floats, q1: Floats) -> None:
        """From two configurations one step apart: the initialization procedure of section V-A."""
        if self.settings.steps < 1:
            raise MechanismError(
                f"duration = {self.settings.duration:g} s: two configurations are one step of {self.rule.h:g} s apart, "
                "so that a motion from them lasts as long at least"
            )
        table = self.prescribed(0, 1)
        for name in self.given:
            row = self.mechanism.coordinates.index(name)
            q0[row], q1[row] = table[1, row], table[2, row]
        self.check_place(q0, "q0")
        self.check_place(q1, "q1")
        self.rates_at_rest(q1, np.zeros_like(q1))
        self.motion.q[:] = q0
        self.room.middle.moved[:] = q1 - q0
        self.engine.take_in(inputs=self.inputs(0, 1))
        self.engine.enter(places.BEGIN)
        self.engine.enter(places.EVALUATE, 1)
        self.room.middle.residual[:] = 0.0  # p₁ is what this step ends with, whatever p it would have to begin with
        self.engine.enter(places.COMMIT, 1, 0)
        self.motion.counts[places.STEPS], self.motion.work[0] = 0, 0.0
        self.began = 1

    def check_place(self, q: Floats, what: str) -> Floats:
        """Dh(q), of a configuration on the constraints, which are independent there."""
        names = self.mechanism.constraint_names
        values, rows = self.mechanism.constraint_values(q), self.mechanism.constraint_jacobian(q)
        if not names:
            return rows
        free = rows[:, self.mechanics.prescribed == 0]
        sizes = np.linalg.norm(free, axis=1)
        scale = np.where(sizes > 0.0, sizes, 1.0)
        left, singular, _ = np.linalg.svd(free / scale[:, None])
        if len(names) > free.shape[1] or singular[-1] < RANK:
            part = np.abs(left[:, -1])
            which = [name for name, share in zip(names, part, strict=True) if share > 1e-3]
            raise MechanismError(
                f"the constraints depend on each other at {what}: of {', '.join(map(repr, which))} one is too many, or "
                "acts on nothing that can move"
            )
        worst = int(np.argmax(np.abs(values)))
        if not abs(values[worst]) <= ON_CONSTRAINTS:
            raise MechanismError(
                f"{what} is off the constraints: {names[worst]!r} is {values[worst]:.3g} there, not zero; "
                "satisfy_constraints finds a configuration near by that is on them"
            )
        return rows

    def check_rates(self, rows: Floats, v: Floats) -> None:
        """Rates must be on the constraints, Dh v = 0."""
        off = np.abs(rows @ v)
        scale = np.abs(rows).sum(axis=1) * np.abs(v).max(initial=0.0)  # rates that should be zero are rounding
        wrong = off > ON_CONSTRAINTS * np.maximum(scale, 1e-300)
        if np.any(wrong):
            worst = int(np.argmax(np.where(wrong, off, 0.0)))
            raise MechanismError(
                f"the rates at the start leave the constraints: {self.mechanism.constraint_names[worst]!r} changes at "
                f"{(rows @ v)[worst]:.3g}/s, and must not"
            )

    def rates_at_rest(self, q: Floats, driven: Floats) -> Floats:
        """The rates of no momentum, but for what prescribed variables drive; the momentum must determine rates."""
        room = self.room
        room.node_q[:], room.given_rates[:], room.node_momentum[:] = q, driven, 0.0
        if self.engine.enter(places.RATES):
            told = singularity(self.mechanism, room)
            raise MechanismError(
                "the mass matrix is singular at the start: a configuration variable moves no mass there; give masses "
                "or rotational inertias to what it moves, or leave singular orientations such as three rotations whose "
                f"axes lie in a plane{f': {told}' if told else ''}"
            )
        return room.node_rates.copy()

    # --- steps ---

    def advance(self, progress: Progress | None) -> Motion:
        """All steps, in chunks, and a row at the end."""
        every, steps = self.settings.record_every, self.settings.steps - self.began
        if self.began and every > 1:
            raise MechanismError("record_every must be 1 where a motion starts from two configurations")
        rows = np.full((steps // every + 1, len(columns_of(self.mechanism))), np.nan)
        self.engine.take_in(rows=rows)
        chunk = every * math.ceil(CHUNK / every)
        done = 0
        while done < steps:
            count = min(chunk, steps - done)
            failed = self.timed(places.TAKE_STEPS, self.began + done, count, count, every, done // every)
            if failed:
                self.fail(failed, rows)
            done += count
            if progress is not None:
                progress(done / steps)
        self.timed(places.RECORD_END, self.began + steps, 1, len(rows) - 1)
        return self.recorded(rows)

    def timed(self, number: int, first: int, count: int, *arguments: int) -> int:
        """Enter a part of the loop, with the functions of time of the steps from ``first`` on."""
        self.engine.take_in(inputs=self.inputs(first, count), given=self.prescribed(first, count))
        began = time.perf_counter()
        failed = self.engine.enter(number, *arguments)
        self.seconds += time.perf_counter() - began
        return failed

    def fail(self, failed: int, rows: Floats) -> None:
        """Raise what ended the motion, with what was recorded before."""
        taken = int(self.motion.counts[places.STEPS])
        reached = self.settings.start + self.rule.h * (self.began + taken)
        cause = "; ".join(
            filter(None, (why(failed, self.rule.max_iterations), singularity(self.mechanism, self.room, self.rule.h)))
        )
        off, worst, _ = self.motion.residual
        message = f"{self.mechanism.name} at t = {reached:.9g} s: {cause}; the residual is {off:.3g}"
        if self.mechanism.labels:
            message += f", the largest constraint {worst:.3g}"
        message += f" after a step of {self.rule.h:g} s; try a smaller step"
        raise IntegrationError(message, self.recorded(rows[~np.isnan(rows[:, 0])]))

    def recorded(self, rows: Floats) -> Motion:
        """Tables with names."""
        units = columns_of(self.mechanism)
        frame = pd.DataFrame(rows, columns=list(units))
        every = self.settings.record_every
        frame.insert(0, "time", self.settings.start + self.rule.h * (self.began + every * np.arange(len(rows))))
        units = {"time": "s"} | units
        frame["work"] += driving_work(self.mechanism, frame)
        frame.attrs["units"] = units
        count = self.motion.counts
        summary = {
            "step": self.rule.h,
            "alpha": self.rule.alpha,
            "steps": int(count[places.STEPS]),
            "newton_mean": float(count[places.ITERATIONS]) / max(1, int(count[places.STEPS])),
            "newton_max": int(count[places.MOST_ITERATIONS]),
            "wall_time": self.seconds,
        }
        return Motion(self.mechanism, frame, units, summary)


def driving_work(mechanism: Mechanism, frame: pd.DataFrame) -> Floats:
    """(rows,) [J] what prescribed variables are driven with since the first row, by trapezoids from row to row."""
    times = frame["time"].to_numpy()
    power = np.zeros(len(frame))
    for name in mechanism.kinematic_coordinates:
        power += np.nan_to_num(frame[f"driving_{name}"].to_numpy()) * frame[f"rate_{name}"].to_numpy()
    parts = 0.5 * np.diff(times) * (power[1:] + power[:-1])
    return np.concatenate([np.zeros(min(1, len(frame))), np.cumsum(parts)])


def checked_motions(mechanism: Mechanism, given: Mapping[str, Input]) -> dict[str, Input]:
    """The motions of all kinematic variables, and of no others."""
    wanted = mechanism.kinematic_coordinates
    for name in given:
        if name not in wanted:
            raise MechanismError(
                f"kinematic: {name!r} is no kinematic variable; they are {', '.join(wanted) or 'none'}: make it one by "
                f"kinematic({name!r}) as its transform's parameter"
            )
    missing = [name for name in wanted if name not in given]
    if missing:
        raise MechanismError(
            f"kinematic: no motion for {', '.join(missing)}; give a number, a Signal or a function of times"
        )
    return {name: checked_input(value, f"motion of {name!r}") for name, value in given.items()}
