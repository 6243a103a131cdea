"""A problem in one of the forms that integrators take: what can step it, and one motion or one timing of it."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from biped.control.controller import Controller
from biped.errors import InputError
from biped.integrators import INTEGRATORS, integrator_named, settings_of
from biped.model import Model
from biped.runs.run import Run
from biped.runs.state import State
from biped.simulation.simulate import simulate
from contact import RUBBER, Floor
from contact.arrays import Floats
from experiments.timing import halved
from experiments.work_precision.reference import Reference
from formulations.lagrangian import LAGRANGIAN_METHODS

if TYPE_CHECKING:
    from formulations.lagrangian import System

#: Integrators with this setting choose their steps themselves.
TOLERANCE = "relative_tolerance"
#: The tolerances of their grids, and the absolute one of each, in parts of the relative one.
TOLERANCES, ABSOLUTE = tuple(10.0**-k for k in range(3, 14)), 0.1
#: Kinds of systems that integrators take.
TREE, LAGRANGIAN = "trees of joints", "Lagrangian systems"


@dataclass(frozen=True)
class Motion:
    """The motion by a method, at a problem's sample times."""

    places: Floats  # (samples, points, 3) [m]
    energy: Floats  # (samples,) [J]
    iterations: float  # of Newton's method, a step
    retried: float = 0.0  # part of the steps that were taken in parts


@dataclass(frozen=True)
class StepSize:
    """The fineness of a computation."""

    step: float  # [s]
    settings: Mapping[str, Any] = field(default_factory=dict)  # of the integrator, that differ from its defaults

    @property
    def tolerance(self) -> float | None:
        return self.settings.get(TOLERANCE)


class Case(ABC):
    """One form of a problem."""

    systems: str  # the kind of system that its integrators take: ``TREE`` or ``LAGRANGIAN``
    reference: Reference  # the motion of this form, exact but for the reference's own error

    @abstractmethod
    def methods(self) -> Mapping[str, Any]:
        """Return all integrators of such systems that say that they take this problem, by name."""

    def grid(self, method: str, steps: Sequence[float], interval: float) -> tuple[StepSize, ...]:
        """Return the grid of a method: these steps [s], or tolerances where it chooses its steps itself."""
        return tuple(StepSize(step) for step in steps)

    @abstractmethod
    def move(self, method: str, size: StepSize, duration: float, samples: int) -> Motion:
        """Return the motion by a method, at ``samples`` equal parts of ``duration`` [s].

        Raises:
            InputError: the method does not take this problem after all.
        """

    @abstractmethod
    def seconds(self, method: str, size: StepSize, duration: float) -> float:
        """Return the time of computation [s], without set-up and compilation, for ``duration`` [s] of motion."""


@dataclass(frozen=True)
class TreeCase(Case):
    """A tree of joints."""

    model: Model
    start: State  # the state it starts from
    places: Callable[[Floats], Floats]  # (points, 3) [m] from a configuration
    reference: Reference
    controller: Controller | None = None
    floor: Floor = RUBBER  # that its contact points stand on
    #: of integrators, that differ from their defaults, by name
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    systems = TREE

    def methods(self) -> Mapping[str, Any]:
        """Return all integrators of trees, but for those without contact where there are contact points."""
        return {name: method for name, method in INTEGRATORS.items() if method.takes_contact or not self.model.nc}

    def grid(self, method: str, steps: Sequence[float], interval: float) -> tuple[StepSize, ...]:
        """Return the grid of a method; with contacts, the steps of all limit what they find out about the floor."""
        own = self.settings.get(method, {})
        if TOLERANCE not in settings_of(INTEGRATORS[method]):
            return tuple(StepSize(step, own) for step in steps)
        if self.model.nc:
            return tuple(StepSize(step, {**own, **_tolerances(TOLERANCES[-3])}) for step in steps)
        chosen = TOLERANCES[:: max(1, len(TOLERANCES) // len(steps))]
        return tuple(StepSize(interval, {**own, **_tolerances(relative)}) for relative in chosen)

    def move(self, method: str, size: StepSize, duration: float, samples: int) -> Motion:
        run = self._run(method, size, duration, duration / samples)
        frame = run.frame.iloc[1:]
        if len(frame) != samples:
            raise InputError(f"step = {size.step:g} s does not divide the time between two samples")
        places = np.array([self.places(q) for q in frame[list(self.model.coordinate_names)].to_numpy()])
        energies = (frame["ledger_kinetic"] + frame["ledger_potential"]).to_numpy()
        retried = run.summary["retried_steps"] / run.summary["steps"]
        return Motion(places, energies, float(run.summary["newton_mean"]), float(retried))

    def seconds(self, method: str, size: StepSize, duration: float) -> float:
        return float(self._run(method, size, duration, duration).summary["wall_time"])

    def _run(self, method: str, size: StepSize, duration: float, record_every: float) -> Run:
        return simulate(
            self.model, self.controller, floor=self.floor, state=self.start.copy(), duration=duration, step=size.step,
            integrator=integrator_named(method, **size.settings), record_every=record_every,
        )  # fmt: skip


def _tolerances(relative: float) -> dict[str, float]:
    return {TOLERANCE: relative, "absolute_tolerance": ABSOLUTE * relative}


@dataclass(frozen=True)
class LagrangianCase(Case):
    """A Lagrangian system on a linear space, with constraints."""

    system: "System"
    q0: Floats  # where it starts
    v0: Floats  # how fast
    places: Callable[[Floats], Floats]  # (samples, points, 3) [m] from the coordinates (samples, size)
    reference: Reference
    systems = LAGRANGIAN

    def methods(self) -> Mapping[str, Any]:
        """Return all methods for Lagrangian systems; ``move`` finds out which of them take this one."""
        return LAGRANGIAN_METHODS

    def move(self, method: str, size: StepSize, duration: float, samples: int) -> Motion:
        run = self._run(method, size.step, duration, round(duration / samples / size.step))
        frame, names = run.frame.iloc[1:], [symbol.name for symbol in self.system.coordinates]
        return Motion(self.places(frame[names].to_numpy()), frame["energy"].to_numpy(), run.mean_iterations)

    def seconds(self, method: str, size: StepSize, duration: float) -> float:
        return float(self._run(method, size.step, duration, round(duration / size.step)).seconds)

    def _run(self, method: str, step: float, duration: float, every: int) -> Any:
        q0, v0 = self.q0, self.v0
        if LAGRANGIAN_METHODS[method].coordinates == "generalized":
            if self.system.chart is None:
                raise InputError(f"{method} needs generalized coordinates, and this system has none")
            q0, v0 = chart_start(self.system, q0, v0)
        return self.system.integrate(method, q0, v0, step=step, duration=duration, every=every)


def chart_start(system: "System", q: Floats, v: Floats) -> tuple[Floats, Floats]:
    """Return generalized coordinates and rates of a start; raises InputError outside of the chart."""
    import sympy
    from scipy.optimize import least_squares

    assert system.chart is not None
    s = list(system.chart.coordinates)
    psi = sympy.Matrix(list(system.chart_map)).subs(dict(system.parameters))
    place, slope = (sympy.lambdify([s], what, "numpy") for what in (list(psi), psi.jacobian(s)))

    def off(at: Floats) -> Floats:
        return np.asarray(place(at), dtype=float) - q

    def off_slope(at: Floats) -> Floats:
        return np.asarray(slope(at), dtype=float)

    with np.errstate(invalid="ignore"):  # a step out of the chart is taken back
        found = least_squares(off, np.full(len(s), 1e-2), off_slope, xtol=1e-15, ftol=1e-15, gtol=1e-15)
    if not np.linalg.norm(found.fun) < 1e-9 * max(1.0, float(np.linalg.norm(q))):
        raise InputError("the system does not start within its chart")
    rates = np.linalg.lstsq(off_slope(found.x), v, rcond=None)[0]
    return np.asarray(found.x), np.asarray(rates, dtype=np.float64)


@dataclass(frozen=True)
class Forms:
    """The forms of a problem, made when they are asked for."""

    cases: tuple[Case, ...]  # a tree of joints, a Lagrangian system, or both
    remarks: tuple[str, ...]  # what was chosen, and how far apart the forms are


@dataclass(frozen=True)
class Problem:
    """One problem."""

    name: str  # as on the command line
    title: str  # one line
    source: str  # where it is from
    points: str  # whose distance to the reference is the error
    duration: float  # [s]
    samples: int  # how many times in it errors are measured at
    coarsest: float  # [s] the longest step; the others are halves, quarters, …
    count: int  # how many steps
    forms: Callable[[], Forms]  # makes the forms, and their references
    packages: tuple[str, ...] = ()  # optional ones that it needs, by the names by which they are imported

    def steps(self, most: int | None = None) -> tuple[float, ...]:
        """Return the steps [s] from the longest on."""
        return halved(self.coarsest, most or self.count)

    @property
    def times(self) -> Floats:
        """The times [s] when errors are measured, (samples,)."""
        return self.duration * np.arange(1, self.samples + 1) / self.samples
