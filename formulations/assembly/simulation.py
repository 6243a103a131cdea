"""Simulation of an assembly: checks of the start, arguments and results of steps, and columns of the motion."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from biped.dynamics.numerics import check_on_constraints
from biped.errors import InputError, IntegrationError
from biped.inputs.checks import above_zero
from biped.integrators.causes import why
from biped.kernels.solve.causes import NOT_CONVERGED, STUCK
from biped.kernels.tree.row_kinds import HELIX, TRANSLATION
from biped.model.errors import unknown
from biped.model.geometry import quaternion_matrix
from biped.runs.march import Progress, StepSettings, chunk_of, march, parts_of_run
from biped.runs.run import Run
from contact.arrays import Floats
from formulations.assembly import encounters, wrenches
from formulations.assembly.custom import CustomLink
from formulations.assembly.drawing import checks_of, world_of
from formulations.assembly.errors import AssemblyError
from formulations.assembly.kernels import loop, step, system
from formulations.assembly.kernels.bodies import rotations_at
from formulations.assembly.placement import Placement
from formulations.assembly.wrenches import Wrench
from formulations.mechanism.custom import CustomPotential
from formulations.mechanism.inputs import Input, checked_input, table_of_inputs

if TYPE_CHECKING:
    from formulations.assembly.assembly import Assembly

# Smallest velocity [m/s, rad/s] for relative tolerances: a body that loops hold still has rounding errors as velocity.
STILL = 1e-3
# Depth [m] below its plane at which a point may start, because of rounding.
BELOW_PLANE = 1e-9
MAX_BACKTRACKS = 30
# Smallest product of slack and multiplier [N·s·m] that double precision can reach.
LEAST_PRODUCT = 1e-17

# Remedy for a step without a solution, and a further one for a step that does not converge.
REMEDY = "a smaller step may help"
LARGER = ", or a larger tolerance and complementarity if contacts and joints hold the same motion"


class AssemblyStepError(IntegrationError):
    """Error: a time step of an assembly has no solution; ``run`` is the motion before that step."""


@dataclass(frozen=True, kw_only=True)
class Settings(StepSettings):
    """Settings of a simulation; see ``Assembly.simulate``."""

    order: int
    complementarity: float

    error: ClassVar[type[InputError]] = AssemblyError

    def __post_init__(self) -> None:
        super().__post_init__()
        above_zero(self.complementarity, "complementarity")
        if self.complementarity < LEAST_PRODUCT:
            raise AssemblyError(f"complementarity = {self.complementarity!r}: the least is {LEAST_PRODUCT:g} [N·s·m]")
        if self.order not in (1, 2):
            raise AssemblyError(f"order = {self.order!r}: it must be 1 or 2")

    @property
    def rule(self) -> system.Rule:
        """Settings as the kernels need them."""
        return system.Rule(
            float(self.step), 1.0 / self.order, float(self.tolerance), float(self.complementarity),
            int(self.max_iterations), MAX_BACKTRACKS,
        )  # fmt: skip


@dataclass(kw_only=True, eq=False, repr=False)
class Motion(Run):
    """Recorded motion of an assembly; its methods return positions and velocities by body name.

    Attributes:
        assembly: the simulated assembly.
    """

    assembly: Assembly

    @property
    def time(self) -> Floats:
        """Times (rows,) [s]."""
        return self.frame["time"].to_numpy()

    def position(self, body: str) -> Floats:
        """Return the positions (rows, 3) [m] of a body's centre of mass."""
        return self._of(body, ("x", "y", "z"))

    def orientation(self, body: str) -> Floats:
        """Return the orientations (rows, 4) of a body: unit quaternions, scalar first, body to world."""
        return self._of(body, ("qw", "qx", "qy", "qz"))

    def velocity(self, body: str) -> Floats:
        """Return velocity and angular velocity (rows, 6) [m/s, rad/s] of a body, world axes."""
        return self._of(body, ("vx", "vy", "vz", "wx", "wy", "wz"))

    def _of(self, body: str, parts: tuple[str, ...]) -> Floats:
        self.assembly.body_index(body)
        return self.frame[[f"{body}_{part}" for part in parts]].to_numpy()

    def placement(self, row: int = -1) -> Placement:
        """Return the placement in a row of the motion (default: the last one), from which a simulation can start."""
        names = self.assembly.body_names
        return Placement(
            np.array([self.position(name)[row] for name in names]),
            np.array([self.orientation(name)[row] for name in names]),
            np.array([self.velocity(name)[row] for name in names]),
        )


def units_of(assembly: Assembly) -> dict[str, str]:
    """Return the unit of each column of an assembly's motion except the time, by column name and in order."""
    units: dict[str, str] = {}
    for name in assembly.body_names:
        units |= {f"{name}_{axis}": "m" for axis in "xyz"} | {f"{name}_q{part}": "1" for part in "wxyz"}
        units |= {f"{name}_v{axis}": "m/s" for axis in "xyz"} | {f"{name}_w{axis}": "rad/s" for axis in "xyz"}
    for name, unit in assembly.coordinate_units.items():
        units[f"{'angle' if unit == 'rad' else 'position'}_{name}"] = unit
    units |= {"kinetic_energy": "J", "potential_energy": "J", "energy": "J"}
    units |= {"newton_iterations": "1", "equations": "1", "joint_openness": "m", "complementarity": "N*s*m"}
    for joint in assembly.links:
        for k, row in enumerate(joint.rigid_rows, 1):
            units[f"reaction_{joint.name}_{k}"] = "N" if row.kind in (TRANSLATION, HELIX) else "N*m"
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
    disturbances: Sequence[Wrench],
    *,
    progress: Progress | None,
) -> Motion:
    """Return the motion of an assembly; see ``Assembly.simulate``."""
    for name, value in forces.items():
        if name not in assembly.coordinates:
            raise AssemblyError(f"forces: {unknown('coordinate', name, assembly.coordinates)}")
        checked_input(value, f"force along {name!r}")
    check_start(assembly, start)
    motion = _Simulation(assembly, settings, start, forces, disturbances)
    return march(motion, settings.steps, progress, AssemblyStepError)


def freedoms_of(assembly: Assembly) -> Iterator[tuple[int, CustomLink]]:
    """Yield the rows of user-defined potentials and inequalities, with their links."""
    for link, rows in zip(assembly.links, assembly.structure.freedom_rows, strict=True):
        if isinstance(link, CustomLink):
            yield from ((row, link) for row in rows)


def check_start(assembly: Assembly, start: Placement) -> None:
    """Check that joints are closed and stay closed, and that no body penetrates a plane or another body.

    Raises:
        AssemblyError: a condition is violated; the message names the worst violation.
    """
    n = len(assembly.bodies)
    shapes = {"position": (n, 3), "orientation": (n, 4), "velocity": (n, 6)}
    for name, shape in shapes.items():
        array = np.asarray(getattr(start, name))
        if array.shape != shape or not np.all(np.isfinite(array)):
            raise AssemblyError(f"{name} at the start: it must be {shape} finite numbers; its shape is {array.shape}")
    if np.abs(np.linalg.norm(start.orientation, axis=1) - 1.0).max() > 1e-9:
        raise AssemblyError("orientation at the start: quaternions must have length one")
    dense, value = assembly.gradients(start)
    held = assembly.rigid_mask
    names = [f"joint {joint.name!r}" for joint in assembly.links for _ in joint.rigid_rows]
    check_on_constraints(
        value[held], dense[held], start.velocity.reshape(-1), names,
        error=AssemblyError, independent=False, still=STILL,
        off="{name} is open by {size:.3g} at the start: close all joints with Assembly.assemble",
        leaving="the velocities at the start open {name}, at {size:.3g}/s: set them by the rates of Assembly.place, or "
        "correct them with Assembly.assemble",
    )  # fmt: skip
    for row, link in freedoms_of(assembly):
        if link.is_inequality and value[row] < -BELOW_PLANE:
            raise AssemblyError(f"inequality {link.name} is {value[row]:.3g} at the start: it must be zero or above")
    _check_planes(assembly, start)
    _check_bodies(assembly, start)


def _check_planes(assembly: Assembly, start: Placement) -> None:
    for contact in assembly.contacts:
        i = assembly.body_index(contact.body)
        point = start.position[i] + quaternion_matrix(start.orientation[i]) @ contact.point
        gap = float(np.dot(contact.normal, point)) - contact.height - contact.radius
        if gap < -BELOW_PLANE:
            raise AssemblyError(f"contact {contact.name!r} is {-gap:.3g} m below its plane at the start; raise it")


def _check_bodies(assembly: Assembly, start: Placement) -> None:
    if not assembly.touching:
        return
    rotations = np.array([quaternion_matrix(q) for q in start.orientation])
    gaps = encounters.Encounters(assembly, 0.0).gaps(np.asarray(start.position), rotations)
    for pair, gap in zip(assembly.touching, gaps, strict=True):
        if gap < -BELOW_PLANE:
            raise AssemblyError(
                f"contact {pair.name!r}: {pair.first!r} and {pair.second!r} overlap by {-gap:.3g} m at the start; "
                "move them apart"
            )


class _Simulation:
    """State and buffers of one simulation."""

    def __init__(
        self,
        assembly: Assembly,
        settings: Settings,
        start: Placement,
        forces: Mapping[str, Input],
        disturbances: Sequence[Wrench],
    ) -> None:
        self.assembly, self.settings, self.rule = assembly, settings, settings.rule
        self.system, self.rooms = assembly.new_system()
        pairs = assembly.structure.pairs
        n, m, c = len(assembly.bodies), len(assembly.links), len(assembly.contacts)
        rows = int(self.system.joints.first[-1])
        self.width = 13 * n + rows + loop.NUMBERS + rows + 4 * c + len(encounters.COLUMNS) * len(assembly.touching)
        more = encounters.buffers_for_encounters(assembly)
        c, pairs = c + more[0], pairs + more[1]
        self.encounters = encounters.Encounters(assembly, self.rule.h) if assembly.touching else None
        self.motion = system.new_motion(n, rows, c, pairs)
        self.buffers = system.new_buffers(n, m, rows, c, pairs, len(self.system.graph.other))
        self.motion.force[
            [row for row, link in freedoms_of(assembly) if isinstance(link.component, CustomPotential)]
        ] = -1.0
        self.driven = np.array([assembly.coordinates[name] for name in forces], dtype=np.int64)
        self.forces, self.disturbances = dict(forces), tuple(disturbances)
        self.table = np.full((settings.steps // settings.record_every + 1, self.width), np.nan)
        self.wrenches = wrenches.compiled(assembly, self.disturbances, len(self.table))
        self.chunk = 1 if assembly.touching else chunk_of(settings.record_every)
        motion = self.motion
        motion.poses.com[:], motion.poses.quaternion[:] = start.position, start.orientation
        rotations_at(motion.poses)
        motion.coordinate[:], _ = assembly.rows_at(start)
        step.set_momenta(self.system, motion, np.ascontiguousarray(start.velocity))
        motion.counts[system.FRESH] = 1
        turn = np.hstack([np.ones((n, 1)), 0.5 * self.rule.h * start.velocity[:, 3:]])
        turn /= np.linalg.norm(turn, axis=1, keepdims=True)
        motion.last_displacement[:] = np.hstack([self.rule.h * start.velocity[:, :3], turn])
        kinetic = 0.5 * float(np.sum(motion.momentum * start.velocity))
        self.before = motion.coordinate[self.driven].copy()
        self.energy = np.array([kinetic, kinetic + loop.potential_energy(self.system, motion)])

    def look_ahead(self, first: int, count: int) -> None:
        """Set the actuator forces (count, driven) of the next steps, each in the middle of its step."""
        times = self.rule.h * (np.arange(first, first + count, dtype=np.float64) + 0.5)
        named = ((f"force along {name!r}", value) for name, value in self.forces.items())
        self.inputs = np.ascontiguousarray(table_of_inputs(named, times)[:, 1:])

    def begin(self, done: int) -> encounters.Parts:
        """Return the arguments of the steps after ``done`` steps; contacts between bodies are detected now."""
        if self.encounters is None:
            return encounters.Parts(self.system, self.motion, self.buffers)
        h, share = self.rule.h, self.rule.first_share
        hastening = self.encounters.hastening(self.disturbances, max(h * (done - 1 + share), 0.0), h * (done + share))
        parts = self.encounters.begin_step(
            self.motion, self.buffers, hastening, all_gaps=done % self.settings.record_every == 0
        )
        return parts._replace(system=parts.system._replace(links=self.system.links))

    def end(self, done: int, parts: encounters.Parts) -> None:
        """Write the forces of touching bodies into the recorded row of a step, if it has one."""
        if self.encounters is not None and done % self.settings.record_every == 0:
            share = self.rule.first_share if done == 0 else 1.0
            forces = self.encounters.row(parts, share * self.rule.h)
            self.table[done // self.settings.record_every, self.width - forces.size :] = forces.reshape(-1)

    def advance(self, first: int, count: int) -> int:
        """Take ``count`` steps, which is one if bodies may touch one another; return 0 or a cause of failure."""
        parts, every = self.begin(first), self.settings.record_every
        status = loop.take_steps(
            *parts, self.rule, self.driven, self.inputs, self.before, self.wrenches, self.energy, first, every,
            self.table,
        )  # fmt: skip
        if status == 0:
            self.end(first, parts)
        return int(status)

    def finish(self, steps: int) -> int:
        """Record the last row, for which a step is solved but not taken; return 0 or a cause of failure."""
        parts = self.begin(steps)
        status = loop.record_end(
            *parts, self.rule, self.driven, self.inputs, self.wrenches, self.table, len(self.table) - 1
        )
        if status == 0:
            self.end(steps, parts)
        return int(status)

    def failure(self, cause: int) -> str:
        """Return a message about the cause of failure that ended the motion."""
        reached = self.motion.counts[system.STEPS] * self.rule.h
        remedy = REMEDY + (LARGER if cause in (NOT_CONVERGED, STUCK) else "")
        reason = f"{why(cause, self.settings.max_iterations)}; {remedy}"
        return f"at {reached:.6g} s of {self.assembly.name!r}: {reason}"

    def recorded(self, seconds: float, failure: str) -> Motion:
        """Return the motion until the last solved step."""
        counts, every = self.motion.counts, self.settings.record_every
        steps = int(counts[system.STEPS])
        count = -(-steps // every) if failure else len(self.table)
        rows = self._columns(self.table[:count])
        units = units_of(self.assembly)
        columns = dict(zip(units, rows.T, strict=True))
        if self.disturbances:
            units |= wrenches.COLUMNS
            columns |= zip(wrenches.COLUMNS, self.wrenches.table[:count].T, strict=True)
        times = self.rule.h * every * np.arange(len(rows), dtype=np.float64)
        metrics = {
            "step": self.rule.h,
            "order": self.settings.order,
            "steps": steps,
            "newton_mean": float(counts[system.ITERATIONS]) / max(steps, 1),
            "newton_max": int(counts[system.MOST_ITERATIONS]),
        }
        return Motion(assembly=self.assembly, **parts_of_run(
            world_of(self.assembly, self.rule.h), times, columns, units,
            seconds=seconds, failure=failure, metrics=metrics,
            checks=checks_of(self.assembly, times, columns, self.forces), disturbances=self.disturbances,
        ))  # fmt: skip

    def _columns(self, table: Floats) -> Floats:
        """Return the columns of the kernels' table in the order of ``units_of``."""
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
        for j in range(len(assembly.links)):
            order += range(at + int(joints.first[j]), at + int(joints.first[j] + joints.rigid[j]))
        for c in range(len(assembly.contacts)):
            order += range(at + rows + 4 * c, at + rows + 4 * c + 4)
        order += range(at + rows + 4 * len(assembly.contacts), self.width)
        kinetic, potential = 13 * n + rows + loop.KINETIC, 13 * n + rows + loop.POTENTIAL
        energy = table[:, kinetic] + table[:, potential]
        return np.column_stack([energy if place < 0 else table[:, place] for place in order])
