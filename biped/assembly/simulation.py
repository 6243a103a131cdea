"""Motions of an assembly: what is checked before the first step, steps in chunks, and a table of what came out."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from biped.assembly import encounters
from biped.assembly.errors import AssemblyError
from biped.assembly.kernels import loop, step
from biped.assembly.kernels.bodies import rotations_at
from biped.assembly.kernels.system import FRESH, ITERATIONS, MOST_ITERATIONS, STEPS, Rule, new_motion, new_room
from biped.assembly.placement import Placement
from biped.causes import why
from biped.checks import above_zero
from biped.errors import InputError, IntegrationError
from biped.kernels.solve.causes import NOT_CONVERGED, STUCK
from biped.mechanism.inputs import Input, checked_input, sampled
from biped.mechanism.steps import StepSettings
from biped.model.errors import unknown
from biped.model.geometry import quaternion_matrix
from contact.arrays import Floats
from contact.jit import is_compiled

if TYPE_CHECKING:
    from biped.assembly.assembly import Assembly

#: Called with the fraction that is done.
Progress = Callable[[float], None]
#: Called with a line.
Announce = Callable[[str], None]

__all__ = ["Announce", "AssemblyStepError", "Input", "Motion", "Progress", "Settings", "simulate"]

# A start is on the joints up to this [m or sine], and its rates on theirs, relative to what the terms amount to.
ON_JOINTS = 1e-9
# Velocities [m/s, rad/s] below which that counts as of these: what is left of a body that loops hold still is rounding.
STILL = 1e-3
# A point may begin this far [m] below its plane: rounding of what placed it.
BELOW_PLANE = 1e-9
# Steps between two looks at the progress.
CHUNK = 4096
MAX_BACKTRACKS = 30
# Least products of slacks and multipliers that doubles can be asked for [N·s·m].
LEAST_PRODUCT = 1e-17

# What helps where a step has no solution, and more of what its iterations do not solve.
REMEDY = "a smaller step may help"
LARGER = ", or a larger tolerance and complementarity where contacts and joints hold the same motion"


class AssemblyStepError(IntegrationError):
    """A step of an assembly that has no solution.

    Attributes:
        motion: what was before it.
    """

    def __init__(self, message: str, motion: Motion) -> None:
        super().__init__(message)
        self.motion = motion


@dataclass(frozen=True, kw_only=True)
class Settings(StepSettings):
    """How steps are taken; ``Assembly.simulate`` documents each."""

    order: int
    complementarity: float

    error: ClassVar[type[InputError]] = AssemblyError

    def __post_init__(self) -> None:
        super().__post_init__()
        above_zero(self.complementarity, "complementarity")
        if self.complementarity < LEAST_PRODUCT:
            raise AssemblyError(f"complementarity = {self.complementarity!r}: it must be {LEAST_PRODUCT:g} at least")
        if self.order not in (1, 2):
            raise AssemblyError(f"order = {self.order!r}: it must be 1 or 2")

    @property
    def rule(self) -> Rule:
        """What the kernels take."""
        return Rule(
            float(self.step), 1.0 / self.order, float(self.tolerance), float(self.complementarity),
            int(self.max_iterations), MAX_BACKTRACKS,
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Motion:
    """A recorded motion of an assembly.

    Attributes:
        assembly: that moved.
        frame: one row per recorded time; ``units`` has each column's unit.
        units: by column.
        summary: step, how many there were, iterations of Newton's method, wall time.
    """

    assembly: Assembly
    frame: pd.DataFrame
    units: dict[str, str]
    summary: dict[str, Any]

    @property
    def time(self) -> Floats:
        """(rows,) [s]."""
        return self.frame["time"].to_numpy()

    def position(self, body: str) -> Floats:
        """(rows, 3) [m] of a body's centre of mass."""
        return self._of(body, ("x", "y", "z"))

    def orientation(self, body: str) -> Floats:
        """(rows, 4) unit quaternions, body to world."""
        return self._of(body, ("qw", "qx", "qy", "qz"))

    def velocity(self, body: str) -> Floats:
        """(rows, 6) [m/s, rad/s] of the centre of mass and the turn, world axes."""
        return self._of(body, ("vx", "vy", "vz", "wx", "wy", "wz"))

    def _of(self, body: str, parts: tuple[str, ...]) -> Floats:
        self.assembly.body_index(body)
        return self.frame[[f"{body}_{part}" for part in parts]].to_numpy()

    def placement(self, row: int = -1) -> Placement:
        """Where the bodies are in a row, to go on from."""
        names = self.assembly.body_names
        return Placement(
            np.array([self.position(name)[row] for name in names]),
            np.array([self.orientation(name)[row] for name in names]),
            np.array([self.velocity(name)[row] for name in names]),
        )


def units_of(assembly: Assembly) -> dict[str, str]:
    """The units of the columns of a motion, in order, after the time."""
    units: dict[str, str] = {}
    for name in assembly.body_names:
        units |= {f"{name}_{axis}": "m" for axis in "xyz"} | {f"{name}_q{part}": "1" for part in "wxyz"}
        units |= {f"{name}_v{axis}": "m/s" for axis in "xyz"} | {f"{name}_w{axis}": "rad/s" for axis in "xyz"}
    for name, unit in assembly.coordinate_units.items():
        units[f"{'angle' if unit == 'rad' else 'position'}_{name}"] = unit
    units |= {"kinetic_energy": "J", "potential_energy": "J", "energy": "J"}
    units |= {"newton_iterations": "1", "equations": "1", "joint_openness": "m", "complementarity": "N*s*m"}
    for joint in assembly.joints:
        units |= {f"reaction_{joint.name}_{k}": "N" for k in range(1, len(joint.rigid_rows) + 1)}
    for contact in assembly.contacts:
        units |= {f"{contact.name}_{part}": "N" for part in ("normal", "tangent_1", "tangent_2")}
        units[f"{contact.name}_gap"] = "m"
    for pair in assembly.touching:
        units |= {f"{pair.name}_{part}": unit for part, unit in encounters.COLUMNS.items()}
    return units


def simulate(
    assembly: Assembly,
    settings: Settings,
    start: Placement,
    forces: Mapping[str, Input],
    *,
    progress: Progress | None,
    announce: Announce | None,
) -> Motion:
    """See ``Assembly.simulate``."""
    for name, value in forces.items():
        if name not in assembly.coordinates:
            raise AssemblyError(f"forces: {unknown('coordinate', name, assembly.coordinates)}")
        checked_input(value, f"force along {name!r}")
    check_start(assembly, start)
    run = _Simulation(assembly, settings, start, forces)
    if announce is not None and not is_compiled(loop.take_steps):
        announce("compiling the steps of assemblies, once for this machine")
    return run.advance(progress)


def check_start(assembly: Assembly, start: Placement) -> None:
    """All joints must be closed there, rates must keep them so, and nothing may be below its plane or in another body.

    Raises:
        AssemblyError: one is not; the message names the worst.
    """
    n = len(assembly.bodies)
    shapes = {"position": (n, 3), "orientation": (n, 4), "velocity": (n, 6)}
    for name, shape in shapes.items():
        found = np.asarray(getattr(start, name))
        if found.shape != shape or not np.all(np.isfinite(found)):
            raise AssemblyError(f"{name} at the start: it must be {shape} finite numbers, got shape {found.shape}")
    if np.abs(np.linalg.norm(start.orientation, axis=1) - 1.0).max() > 1e-9:
        raise AssemblyError("orientation at the start: quaternions must have length one")
    for name, gap in assembly.openness(start).items():
        if not gap <= ON_JOINTS:
            raise AssemblyError(
                f"joint {name!r} is open by {gap:.3g} at the start; Assembly.assemble moves bodies until all joints fit"
            )
    _check_rates(assembly, start)
    _check_planes(assembly, start)
    _check_bodies(assembly, start)


def _check_rates(assembly: Assembly, start: Placement) -> None:
    dense, _ = assembly.gradients(start)
    rates = dense @ start.velocity.reshape(-1)
    scale = np.abs(dense).sum(axis=1) * np.abs(start.velocity).max(initial=0.0)
    off = assembly.rigid_mask & (np.abs(rates) > ON_JOINTS * np.maximum(scale, STILL))
    if off.any():
        row = int(np.argmax(np.where(off, np.abs(rates), 0.0)))
        joint = assembly.joints[int(np.searchsorted(assembly.system.joints.first, row, side="right")) - 1]
        raise AssemblyError(
            f"the velocities at the start open joint {joint.name!r}, at {abs(rates[row]):.3g}/s; Assembly.place with "
            "rates gives some that do not, and Assembly.assemble the nearest"
        )


def _check_planes(assembly: Assembly, start: Placement) -> None:
    for contact in assembly.contacts:
        i = assembly.body_index(contact.body)
        point = start.position[i] + quaternion_matrix(start.orientation[i]) @ contact.point
        gap = float(np.dot(contact.normal, point)) - contact.height - contact.radius
        if gap < -BELOW_PLANE:
            raise AssemblyError(f"contact {contact.name!r} is {-gap:.3g} m below its plane at the start")


def _check_bodies(assembly: Assembly, start: Placement) -> None:
    if not assembly.touching:
        return
    rotations = np.array([quaternion_matrix(q) for q in start.orientation])
    gaps = encounters.Encounters(assembly, 0.0).gaps(np.asarray(start.position), rotations)
    for pair, gap in zip(assembly.touching, gaps, strict=True):
        if gap < -BELOW_PLANE:
            raise AssemblyError(
                f"contact {pair.name!r}: body {pair.second!r} is {-gap:.3g} m in body {pair.first!r} at the start; "
                "move them apart"
            )


class _Simulation:
    """State and room of one motion."""

    def __init__(self, assembly: Assembly, settings: Settings, start: Placement, forces: Mapping[str, Input]) -> None:
        self.assembly, self.settings, self.rule = assembly, settings, settings.rule
        self.system, pairs = assembly.system, assembly.structure.pairs
        n, m, c = len(assembly.bodies), len(assembly.joints), len(assembly.contacts)
        rows = int(self.system.joints.first[-1])
        self.width = 13 * n + rows + loop.NUMBERS + rows + 4 * c + len(encounters.COLUMNS) * len(assembly.touching)
        more = encounters.room_for_encounters(assembly)
        c, pairs = c + more[0], pairs + more[1]
        self.encounters = encounters.Encounters(assembly, self.rule.h) if assembly.touching else None
        self.motion = new_motion(n, rows, c, pairs)
        self.room = new_room(n, m, rows, c, pairs, len(self.system.graph.other))
        self.driven = np.array([assembly.coordinates[name] for name in forces], dtype=np.int64)
        self.forces = dict(forces)
        motion = self.motion
        motion.poses.com[:], motion.poses.quaternion[:] = start.position, start.orientation
        rotations_at(motion.poses)
        motion.coordinate[:], _ = assembly.rows_at(start)
        step.set_momenta(self.system, motion, np.ascontiguousarray(start.velocity))
        motion.counts[FRESH] = 1
        kinetic = 0.5 * float(np.sum(motion.momentum * start.velocity))
        self.before = motion.coordinate[self.driven].copy()
        self.energy = np.array([kinetic, kinetic + loop.potential_energy(self.system, motion)])

    def inputs(self, first: int, count: int) -> Floats:
        """(count, driven) forces in the middle of steps."""
        times = self.rule.h * (np.arange(first, first + count, dtype=np.float64) + 0.5)
        table = np.zeros((count, len(self.driven)))
        for column, (name, value) in enumerate(self.forces.items()):
            table[:, column] = sampled(value, times, f"force along {name!r}")
        return table

    def begin(self, done: int) -> encounters.Parts:
        """What the steps from one on take; bodies that touch are looked for where it begins."""
        if self.encounters is None:
            return encounters.Parts(self.system, self.motion, self.room)
        return self.encounters.begin_step(self.motion, self.room, all_gaps=done % self.settings.record_every == 0)

    def end(self, done: int, parts: encounters.Parts, table: Floats) -> None:
        """The forces of bodies that touch into the row of a step, if it has one."""
        if self.encounters is not None and done % self.settings.record_every == 0:
            share = self.rule.first_share if done == 0 else 1.0
            found = self.encounters.row(parts, share * self.rule.h)
            table[done // self.settings.record_every, self.width - found.size :] = found.reshape(-1)

    def advance(self, progress: Progress | None) -> Motion:
        """All steps, one by one where bodies may touch one another."""
        steps, every = self.settings.steps, self.settings.record_every
        table = np.full((steps // every + 1, self.width), np.nan)
        chunk = max(CHUNK // every, 1) * every if self.encounters is None else 1
        began, done, status = time.perf_counter(), 0, 0
        while done < steps and status == 0:
            count, parts = min(chunk, steps - done), self.begin(done)
            status = loop.take_steps(
                *parts, self.rule, self.driven, self.inputs(done, count), self.before, self.energy, done, every, table
            )
            if status == 0:
                self.end(done, parts, table)
            done += count
            if progress is not None and status == 0:
                progress(done / steps)
        if status == 0:
            parts = self.begin(steps)
            status = loop.record_end(*parts, self.rule, self.driven, self.inputs(steps, 1), table, len(table) - 1)
            if status == 0:
                self.end(steps, parts, table)
        seconds = time.perf_counter() - began
        if status == 0:
            return self.recorded(table, seconds)
        taken = int(self.motion.counts[STEPS])
        motion = self.recorded(table[: -(-taken // every)], seconds)
        remedy = REMEDY + (LARGER if status in (NOT_CONVERGED, STUCK) else "")
        cause = f"{why(int(status), self.settings.max_iterations)}; {remedy}"
        raise AssemblyStepError(f"at {taken * self.rule.h:.6g} s of {self.assembly.name!r}: {cause}", motion)

    def recorded(self, table: Floats, seconds: float) -> Motion:
        """The motion of these rows."""
        units = units_of(self.assembly)
        columns = self._columns(table)
        times = self.rule.h * self.settings.record_every * np.arange(len(table))
        frame = pd.DataFrame({"time": times} | dict(zip(units, columns.T, strict=True)))
        counts = self.motion.counts
        steps = int(counts[STEPS])
        summary = {
            "step": self.rule.h,
            "order": self.settings.order,
            "steps": steps,
            "newton_mean": float(counts[ITERATIONS]) / max(steps, 1),
            "newton_max": int(counts[MOST_ITERATIONS]),
            "wall_time": seconds,
        }
        return Motion(self.assembly, frame, {"time": "s"} | units, summary)

    def _columns(self, table: Floats) -> Floats:
        """The kernels' columns in the order of ``units_of``."""
        assembly, joints = self.assembly, self.system.joints
        n, rows = len(assembly.bodies), int(joints.first[-1])
        order: list[int] = []
        for i in range(n):
            order += [*range(7 * i, 7 * i + 7), *range(7 * n + 6 * i, 7 * n + 6 * i + 6)]
        order += [13 * n + row for row in assembly.coordinates.values()]
        at = 13 * n + rows
        order += [at + loop.KINETIC, at + loop.POTENTIAL, -1]
        order += [at + k for k in (loop.ITERATIONS, loop.EQUATION, loop.OPEN, loop.COMPLEMENTARITY)]
        at += loop.NUMBERS
        for j in range(len(assembly.joints)):
            order += range(at + int(joints.first[j]), at + int(joints.first[j] + joints.rigid[j]))
        for c in range(len(assembly.contacts)):
            order += range(at + rows + 4 * c, at + rows + 4 * c + 4)
        order += range(at + rows + 4 * len(assembly.contacts), self.width)
        kinetic, potential = 13 * n + rows + loop.KINETIC, 13 * n + rows + loop.POTENTIAL
        energy = table[:, kinetic] + table[:, potential]
        return np.column_stack([energy if place < 0 else table[:, place] for place in order])
