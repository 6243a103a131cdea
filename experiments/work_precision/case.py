"""A problem in one of the forms that integrators take: what can step it, and one motion or one timing of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biped.control.controller import Controller
from biped.errors import InputError
from biped.integrators import INTEGRATORS, integrator_named, settings_of
from biped.model import Model
from biped.runs.run import Run
from biped.runs.state import State
from biped.simulation.simulate import simulate
from contact import RUBBER, Floor
from contact.arrays import Floats
from experiments.benchmarks.step_sizes import halved
from experiments.benchmarks.work_precision.reference import Reference
from formulations.lagrangian import LAGRANGIAN_METHODS

if TYPE_CHECKING:
    from formulations.lagrangian import System


#: Integrators with this setting choose their steps themselves.
TOLERANCE = "relative_tolerance"
#: The tolerances of their grids, and the absolute one of each, in parts of the relative one.
TOLERANCES, ABSOLUTE = tuple(10.0**-k for k in range(3, 14)), 0.1

TREE = "trees of joints"
LAGRANGIAN = "Lagrangian systems"


@dataclass(frozen=True)
class Motion:
    """The motion by a method, at a problem's sample times."""

    places: Floats  # (samples, points, 3) [m]
    energy: Floats  # (samples,) [J]
    iterations: float  # of Newton's method, a step
    retried: float = 0.0  # part of the steps that were taken in parts


class Case(Protocol):
    """One form of a problem."""

    @property
    def systems(self) -> str:
        """The kind of system that its integrators take: ``TREE`` or ``LAGRANGIAN``."""

    @property
    def reference(self) -> Reference:
        """The motion of this form, exact but for the reference's own error."""

    def methods(self) -> Mapping[str, Any]:
        """All integrators of such systems that say that they take this problem, by name."""

    def grid(self, method: str, steps: Sequence[float], interval: float) -> "tuple[StepSize, ...]":
        """The grid of a method: these steps [s], or tolerances where it chooses its steps itself."""

    def move(self, method: str, size: "StepSize", duration: float, samples: int) -> Motion:
        """The motion by a method, at ``samples`` equal parts of ``duration`` [s].

        Raises InputError where the method does not take this problem after all.
        """

    def seconds(self, method: str, size: "StepSize", duration: float) -> float:
        """[s] of computation, without set-up and compilation, for ``duration`` [s] of motion."""


@dataclass(frozen=True)
class StepSize:
    """How finely a method is to compute."""

    step: float  # [s]
    settings: Mapping[str, Any] = field(default_factory=dict)  # of the integrator, that differ from its defaults

    @property
    def tolerance(self) -> float | None:
        return self.settings.get(TOLERANCE)


@dataclass(frozen=True)
class TreeCase:
    """A tree of joints."""

    model: Model  # the tree
    start: Callable[[], State]  # makes the state it starts from
    places: Callable[[Floats], Floats]  # (points, 3) [m] from a configuration
    reference: Reference  # as in ``Case``
    controller: Controller | None = None  # or None
    floor: Floor = RUBBER  # that its contact points stand on
    #: of integrators, that differ from their defaults, by name
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    systems: str = field(default=TREE, init=False)

    def methods(self) -> Mapping[str, Any]:
        """All integrators of trees, but for those without contact where there are contact points."""
        return {name: method for name, method in INTEGRATORS.items() if method.takes_contact or not self.model.nc}

    def grid(self, method: str, steps: Sequence[float], interval: float) -> tuple[StepSize, ...]:
        """See ``Case``; with contacts, the steps of all of them limit what they find out about the floor."""
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
        configurations = frame[list(self.model.coordinate_names)].to_numpy()
        energies = (frame["ledger_kinetic"] + frame["ledger_potential"]).to_numpy()
        places = np.array([self.places(q) for q in configurations])
        retried = run.summary["retried_steps"] / run.summary["steps"]
        return Motion(places, energies, float(run.summary["newton_mean"]), float(retried))

    def seconds(self, method: str, size: StepSize, duration: float) -> float:
        return float(self._run(method, size, duration, duration).summary["wall_time"])

    def _run(self, method: str, size: StepSize, duration: float, record_every: float) -> Run:
        return simulate(
            self.model, self.controller, floor=self.floor, state=self.start(), duration=duration, step=size.step,
            integrator=integrator_named(method, **size.settings), record_every=record_every,
        )  # fmt: skip


def _tolerances(relative: float) -> dict[str, float]:
    return {TOLERANCE: relative, "absolute_tolerance": ABSOLUTE * relative}


@dataclass(frozen=True)
class LagrangianCase:
    """A Lagrangian system on a linear space, with constraints."""

    system: "System"  # the system
    q0: Floats  # where it starts
    v0: Floats  # how fast
    places: Callable[[Floats], Floats]  # (samples, points, 3) [m] from the coordinates (samples, size)
    reference: Reference  # as in ``Case``
    systems: str = field(default=LAGRANGIAN, init=False)

    def methods(self) -> Mapping[str, Any]:
        """All methods for Lagrangian systems; ``move`` finds out which of them take this one."""
        return LAGRANGIAN_METHODS

    def grid(self, method: str, steps: Sequence[float], interval: float) -> tuple[StepSize, ...]:
        return tuple(StepSize(step) for step in steps)

    def move(self, method: str, size: StepSize, duration: float, samples: int) -> Motion:
        frame, iterations, _ = self._run(method, size.step, duration, round(duration / samples / size.step))
        names = [symbol.name for symbol in self.system.coordinates]
        return Motion(self.places(frame[names].to_numpy()), frame["energy"].to_numpy(), iterations)

    def seconds(self, method: str, size: StepSize, duration: float) -> float:
        return self._run(method, size.step, duration, round(duration / size.step))[2]

    def _run(self, method: str, step: float, duration: float, every: int) -> tuple[pd.DataFrame, float, float]:
        q0, v0 = self._start(method)
        run = self.system.integrate(method, q0, v0, step=step, duration=duration, every=every)
        return run.frame.iloc[1:], run.mean_iterations, run.seconds

    def _start(self, method: str) -> tuple[Floats, Floats]:
        if LAGRANGIAN_METHODS[method].coordinates != "generalized":
            return self.q0, self.v0
        if self.system.chart is None:
            raise InputError(f"{method} needs generalized coordinates, and this system has none")
        return chart_start(self.system, self.q0, self.v0)


def chart_start(system: "System", q: Floats, v: Floats) -> tuple[Floats, Floats]:
    """Generalized coordinates and rates of a configuration and a velocity; raises InputError outside of the chart."""
    import sympy
    from scipy.optimize import least_squares

    if system.chart is None:
        raise InputError("the system has no chart")
    s = list(system.chart.coordinates)
    psi = sympy.Matrix(list(system.chart_map)).subs(dict(system.parameters))
    place = sympy.lambdify([s], list(psi), "numpy")
    slope = sympy.lambdify([s], psi.jacobian(s), "numpy")

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
        """[s] from the longest on."""
        return halved(self.coarsest, most or self.count)

    @property
    def times(self) -> NDArray[np.float64]:
        """(samples,) [s] when errors are measured."""
        return self.duration * np.arange(1, self.samples + 1) / self.samples
