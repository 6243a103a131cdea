"""Mechanism: tree of frames with potentials, constraints and forces, in generalized coordinates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from biped.dynamics.numerics import project
from biped.errors import IntegrationError
from biped.inputs.checks import numbers
from biped.model.errors import unknown
from biped.presentation import shown_by
from biped.runs.march import Announce, Progress
from contact.arrays import Floats
from formulations.mechanism.as_model import loose_variables, to_model
from formulations.mechanism.compilation import Builder, Coordinate, Label, Structure, structure_of
from formulations.mechanism.component import Constraint, Force, Potential
from formulations.mechanism.custom_arrays import Custom
from formulations.mechanism.engine import Engine, no_parts
from formulations.mechanism.errors import MechanismError
from formulations.mechanism.frames import Frame
from formulations.mechanism.inputs import Input
from formulations.mechanism.kernels import system
from formulations.mechanism.kernels.loop import CALLS, FUNCTIONS
from formulations.mechanism.simulation import Motion, Settings, simulate
from formulations.mechanism.view import FrameView

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from biped.model import Model
    from biped.presentation import View

#: Configuration or rates: an array of all variables in their order, or a dict {name: value}; missing ones are zero.
Vector = ArrayLike | Mapping[str, float]

# Greatest number of iterations to satisfy the constraints.
ROUNDS = 60


@dataclass(frozen=True, eq=False)
class Mechanism:
    """Tree of coordinate frames with masses, potentials, constraints and forces (Johnson & Murphey 2009).

    Its generalized coordinates are the configuration variables of the frames' transforms. Loops are closed by
    constraints. A mechanism is immutable; ``simulate`` returns a motion.

    Attributes:
        name: name of the mechanism.
        frames: frames whose parent is the world, each with its children.
        gravity: [m/s²] gravitational acceleration of all masses, in world axes; None: zero.
        potentials, constraints, forces: lists of components, in any order.

    Raises:
        MechanismError: a name is used twice or unknown, a frame is below itself, or a component is in a wrong list.
    """

    name: str
    frames: Sequence[Frame]
    gravity: Sequence[float] | None = (0.0, 0.0, -9.81)
    potentials: Sequence[Potential] = ()
    constraints: Sequence[Constraint] = ()
    forces: Sequence[Force] = ()

    def __post_init__(self) -> None:
        if not str(self.name).strip():
            raise MechanismError(f"name = {self.name!r}: a mechanism needs a name, a text that is not empty")
        object.__setattr__(self, "frames", _all_of(Frame, self.frames, "frames"))
        object.__setattr__(self, "potentials", _all_of(Potential, self.potentials, "potentials"))
        object.__setattr__(self, "constraints", _all_of(Constraint, self.constraints, "constraints"))
        object.__setattr__(self, "forces", _all_of(Force, self.forces, "forces"))
        if self.gravity is not None:
            object.__setattr__(self, "gravity", numbers(self.gravity, 3, "gravity"))
        _ = self.mechanics  # raises errors now, not at the first use

    def __repr__(self) -> str:
        parts = [f"{len(self.coordinates)} configuration variables"]
        parts += [
            f"{len(members)} {what}"
            for what, members in (
                ("kinematic", self.kinematic_coordinates),
                ("constraints", self.constraint_names),
                ("potentials", self.potentials),
                ("forces", self.forces),
            )
            if members
        ]
        return f"Mechanism {self.name!r}: {', '.join(parts)}"

    # --- parts ---

    @cached_property
    def structure(self) -> Structure:
        """Structure of the frames, with the tree that the kernels take."""
        return structure_of(self.frames, self.gravity or (0.0, 0.0, 0.0))

    @cached_property
    def _built(self) -> tuple[Builder, system.Mechanics]:
        builder = Builder(self.structure)
        for component in (*self.potentials, *self.constraints, *self.forces):
            builder.add(component)
        loose = loose_variables(self.structure) if builder.labels else {}
        return builder, builder.finish([c.frame.is_kinematic for c in self.structure.coordinates], loose)

    @property
    def mechanics(self) -> system.Mechanics:
        """Compiled mechanism, for the kernels."""
        return self._built[1]

    @property
    def loose(self) -> Mapping[str, float]:
        """Variables that move no mass and are held by constraints, with the inertia added in the elimination."""
        ballast = self.mechanics.ballast
        return {self.coordinates[j]: float(b) for j, b in zip(ballast.coordinate, ballast.inertia, strict=True)}

    @property
    def inputs(self) -> Sequence[tuple[str, Input]]:
        """Functions of time with their names, in the order of the columns of inputs."""
        return self._built[0].inputs

    @property
    def labels(self) -> Sequence[Label]:
        """Names and units of the constraints' multipliers."""
        return self._built[0].labels

    @property
    def customs(self) -> Sequence[Custom]:
        """User-defined components."""
        return self._built[0].customs

    @property
    def size(self) -> int:
        """Number of configuration variables."""
        return len(self.structure.coordinates)

    @property
    def variables(self) -> tuple[Coordinate, ...]:
        """Configuration variables in the order of q, with their transforms."""
        return self.structure.coordinates

    @cached_property
    def coordinates(self) -> tuple[str, ...]:
        """Names of all configuration variables, in the order of q."""
        return tuple(c.name for c in self.structure.coordinates)

    @cached_property
    def kinematic_coordinates(self) -> tuple[str, ...]:
        """Names of the coordinates with a prescribed motion."""
        return tuple(c.name for c in self.structure.coordinates if c.frame.is_kinematic)

    @cached_property
    def dynamic_coordinates(self) -> tuple[str, ...]:
        """Names of the coordinates without a prescribed motion."""
        return tuple(c.name for c in self.structure.coordinates if not c.frame.is_kinematic)

    @cached_property
    def constraint_names(self) -> tuple[str, ...]:
        """Names of the constraints, one for each row of h(q)."""
        return tuple(label.name for label in self.labels)

    def frame(self, name: str) -> FrameView:
        """Return the kinematics of the frame called ``name``.

        Raises:
            ModelError: the frame is unknown; the message lists all frames.
        """
        if name not in self.structure.named:
            raise unknown("frame", name, self.structure.named)
        return FrameView(self, name, self.structure.named[name])

    # --- at one configuration ---

    def configuration(self, q: Vector | None = None) -> Floats:
        """Return q (n,) from an array of all variables, or from a dict {name: value}; missing variables are zero.

        Raises:
            MechanismError: an array has another length, a name is unknown, or a number is not finite.
        """
        return self._vector(q, "q")

    def rates(self, v: Vector | None = None) -> Floats:
        """Return q̇ (n,) from an array of all rates, or from a dict {name: value}; missing rates are zero."""
        return self._vector(v, "v")

    def _vector(self, given: Vector | None, what: str) -> Floats:
        result = np.zeros(self.size)
        if isinstance(given, Mapping):
            for name, value in given.items():
                if name not in self.coordinates:
                    raise unknown("configuration variable", name, self.coordinates)
                result[self.coordinates.index(name)] = value
        elif given is not None:
            try:
                result = np.array(given, dtype=float)
            except (TypeError, ValueError):
                raise MechanismError(f"{what} = {given!r}: it must be an array, or a dict {{name: number}}") from None
        if result.shape != (self.size,):
            raise MechanismError(
                f"{what} has shape {result.shape}; it must be ({self.size},), one number for each of "
                f"{', '.join(self.coordinates[:20])}{', …' if self.size > 20 else ''}"
            )
        if not np.all(np.isfinite(result)):
            raise MechanismError(f"{what} must contain only finite numbers")
        return result

    def engine(self, rule: system.Rule | None = None) -> Engine:
        """Return the compiled kernels of this mechanism, with new buffers."""
        mechanics, n, m = self.mechanics, self.size, len(self.labels)
        border = int(mechanics.border[0])
        customs, kept = self._built[0].new_customs(border)
        world = system.World(
            mechanics=mechanics,
            motion=system.new_motion(n, m),
            rule=rule or system.Rule(0.5, 0.01, 1e-10, 1, 1, 0.5),
            buffers=system.new_buffers(
                n, m, border, mechanics.points.body.shape[0], customs, mechanics.ballast.coordinate.size
            ),
            inputs=np.zeros((0, 1 + len(self.inputs))),
            given=np.zeros((0, n)),
            rows=np.zeros((0, 0)),
            parts=no_parts(system.PARTS),
        )
        return Engine(world, FUNCTIONS, CALLS, kept)

    def energies(self, q: Vector, v: Vector | None = None) -> tuple[float, float]:
        """Return the kinetic and the potential energy [J]."""
        engine = self.engine()
        buffers = engine.world.buffers
        buffers.node_q[:], buffers.node_rates[:] = self.configuration(q), self.rates(v)
        engine.enter(system.ENERGIES)
        return float(buffers.energy[0]), float(buffers.energy[1])

    def kinetic_energy(self, q: Vector, v: Vector) -> float:
        """Return the kinetic energy [J]."""
        return self.energies(q, v)[0]

    def potential_energy(self, q: Vector) -> float:
        """Return the potential energy [J] of gravity and all other potentials."""
        return self.energies(q)[1]

    def momentum(self, q: Vector, v: Vector) -> Floats:
        """Return the momenta ∂L/∂q̇ = M(q) v (n,)."""
        engine = self.engine()
        buffers = engine.world.buffers
        buffers.node_q[:], buffers.node_rates[:] = self.configuration(q), self.rates(v)
        engine.enter(system.MOMENTUM)
        return buffers.node_momentum

    def constraint_values(self, q: Vector) -> Floats:
        """Return h(q) (m,) [m or rad], in the order of ``constraint_names``."""
        return self._constraints_at(self.configuration(q), self.engine())[0]

    def largest_constraints(self, q: Floats) -> Floats:
        """Return the largest ``|h(q)|`` (rows,) [m or rad] for configurations (rows, n); zero without constraints."""
        engine = self.engine()
        largest = [np.abs(self._constraints_at(row, engine)[0]).max(initial=0.0) for row in q]
        return np.array(largest, dtype=np.float64)

    def constraint_jacobian(self, q: Vector) -> Floats:
        """Return Dh(q) (m, n)."""
        return self._constraints_at(self.configuration(q), self.engine())[1]

    def _constraints_at(self, q: Floats, engine: Engine) -> tuple[Floats, Floats]:
        """Return h(q) and Dh(q), in buffers that the next call overwrites."""
        buffers = engine.world.buffers
        buffers.node_q[:] = q
        engine.enter(system.CONSTRAINTS)
        return buffers.values, buffers.node_border.rows[: buffers.values.size]

    def satisfy_constraints(self, q: Vector, tolerance: float = 1e-12) -> Floats:
        """Return a configuration (n,) near q that satisfies the constraints; only dynamic variables are changed.

        Args:
            q: configuration from which the search starts.
            tolerance: [m or rad] largest error of a constraint.

        Raises:
            IntegrationError: there is no solution nearby; the message has the error of the worst constraint.
        """
        engine, free = self.engine(), self.mechanics.prescribed == 0

        def least(_: Floats, rows: Floats, change: Floats) -> Floats:
            displacement = np.zeros(self.size)
            displacement[free] = np.linalg.lstsq(rows[:, free], change, rcond=1e-12)[0]
            return displacement

        solution, is_closed = project(
            self.configuration(q), lambda place: self._constraints_at(place, engine), least, np.add,
            lambda _, values: bool(np.abs(values).max(initial=0.0) <= tolerance), longest=1.0, rounds=ROUNDS,
        )  # fmt: skip
        if is_closed:
            return solution
        values = self.constraint_values(solution)
        worst = int(np.argmax(np.abs(values)))
        raise IntegrationError(
            f"no configuration near q satisfies the constraints: {self.constraint_names[worst]!r} is off by "
            f"{values[worst]:.3g} [m or rad]; start nearer, or check that the constraints can be satisfied"
        )

    # --- simulation ---

    def simulate(
        self,
        duration: float,
        step: float = 0.01,
        *,
        q: Vector | None = None,
        v: Vector | None = None,
        kinematic: Mapping[str, Input] | None = None,
        alpha: float = 0.5,
        tolerance: float = 1e-10,
        max_iterations: int = 50,
        record_every: int = 1,
        start: float = 0.0,
        progress: Progress | None = None,
        announce: Announce | None = None,
    ) -> Motion:
        """Simulate the motion from a configuration and rates.

        Args:
            duration: [s] duration, a whole number of time steps.
            step: [s] time step h.
            q: configuration at the start: an array, or a dict {name: value}; missing variables are zero.
            v: rates at the start, an array or a dict; they must satisfy the constraints. None: the mechanism is at
                rest, except for rates that kinematic variables impose through constraints.
            kinematic: motions of all kinematic variables, by name: numbers, ``biped.signals.Signal``, or functions of
                an array of times [s]. They also set the start of these variables.
            alpha: parameter of the generalized midpoint rule, 0 to 1; with ½ it is of second order and symmetric.
            tolerance: largest error of a time step's equations [N·s or N·m·s] and constraints [m or rad].
            max_iterations: largest number of Newton iterations in a time step.
            record_every: number of time steps between rows of the motion.
            start: [s] time of the first row.
            progress: function that is called repeatedly with the completed fraction, 0 to 1.
            announce: function that is called with a line of text before a compilation.

        Raises:
            MechanismError: the start violates the constraints, or they are dependent there; the mass matrix is
                singular; or the motion of a kinematic variable is missing.
            IntegrationError: a time step has no solution; the message has the cause, ``error.run`` the motion so far.
        """
        settings = Settings(
            duration=duration, step=step, alpha=alpha, tolerance=tolerance, max_iterations=max_iterations,
            record_every=record_every, start=start,
        )  # fmt: skip
        return simulate(self, settings, q=q, v=v, given=kinematic, progress=progress, announce=announce)

    # --- views ---

    @cached_property
    def model(self) -> Model:
        """Mechanism as a `Model` with the same tree and open loops; see `to_model`.

        Raises:
            ModelError: a configuration variable moves no mass, and no constraint can hold it.
        """
        return to_model(self)

    def plot(self, q: Vector | None = None, *, names: bool = True) -> Figure:
        """Draw links, joints, masses, springs and constraints; return the figure.

        Args:
            q: configuration; None: all variables are zero.
            names: whether to show the frames' names.

        Raises:
            MechanismError: ``q`` is not a configuration.
        """
        figure: Figure = shown_by("plot_mechanism")(self, q, names=names)
        return figure

    def view(self, q: Vector | None = None) -> View:
        """Show the mechanism in three dimensions: inline in a notebook, otherwise in the browser.

        Raises:
            MechanismError: ``q`` is not a configuration.
            ModelError: the mechanism cannot be converted, see ``model``.
            MissingExtraError: the viewer is not installed; the message says how to install it.
        """
        return self.model.view(self.configuration(q))


def _all_of(kind: type, given: Sequence[Any], what: str) -> tuple[Any, ...]:
    """Return ``given`` as a tuple, after checking that all items are instances of ``kind``."""
    if isinstance(given, (kind, str)) or not isinstance(given, Sequence):
        raise MechanismError(f"{what} = {given!r}: it must be a list of {kind.__name__} objects")
    for item in given:
        if not isinstance(item, kind):
            raise MechanismError(f"{what}: {item!r} is not a {kind.__name__}")
    return tuple(given)
