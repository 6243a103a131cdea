"""Problems in the forms that integrators take: a tree of joints or a Lagrangian system, with motions and timings."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from biped.control.controller import Controller, Impedance
from biped.errors import InputError, IntegrationError
from biped.integrators import INTEGRATORS, integrator_named, settings_of
from biped.kernels.tree.dynamics import forward_dynamics, new_tree_data, set_tree_data
from biped.kernels.variational.equations import reference_point
from biped.model import Model
from biped.runs.run import Run
from biped.runs.state import State
from biped.simulation.simulate import simulate
from contact import RUBBER, Floor
from contact.arrays import Floats
from contact.point_law import pressure
from experiments.timing import halved
from formulations.lagrangian import LAGRANGIAN_METHODS

Rate = Callable[[float, Floats], Floats]

#: Relative tolerances of the reference, and of a second motion, from which the reference's error is estimated.
TIGHT, LOOSE = 1e-13, 1e-11


@dataclass(frozen=True)
class Reference:
    """A reference motion, at the times at which errors are measured."""

    states: Floats  # (samples, numbers) states of the differential equation
    places: Floats  # (samples, points, 3) [m] positions of the problem's points
    energy: Floats  # (samples,) [J]
    error: float  # [m] root mean square distance to the same motion at a hundred times the tolerance


def rms(first: Floats, second: Floats) -> float:
    """Return the root mean square distance [m] between points (…, 3), over all points and times."""
    return float(np.sqrt(np.mean(np.sum((first - second) ** 2, axis=-1))))


def solve(rate: Rate, start: Floats, times: Floats, tolerance: float) -> Floats:
    """Return the states (samples, numbers) of the solution of an ordinary differential equation at these times [s]."""
    from scipy.integrate import solve_ivp

    scale = max(float(np.abs(start).max()), 1.0)
    span = (0.0, float(times[-1]))
    solution = solve_ivp(rate, span, start, "DOP853", times, rtol=tolerance, atol=0.1 * tolerance * scale)
    if not solution.success:
        raise IntegrationError(f"the reference motion cannot be computed: {solution.message}")
    states: Floats = solution.y.T
    return states


def reference(
    rate: Rate, start: Floats, times: Floats, places: Callable[[Floats], Floats], energies: Callable[[Floats], float]
) -> Reference:
    """Return the reference motion of an ODE; ``places`` returns (points, 3) [m] of a state, ``energies`` [J]."""
    tight, loose = (solve(rate, start, times, tolerance) for tolerance in (TIGHT, LOOSE))
    there, nearby = (np.array([places(state) for state in states]) for states in (tight, loose))
    return Reference(tight, there, np.array([energies(state) for state in tight]), rms(there, nearby))


class TreeEquations:
    """Equations of motion of a tree: the rate of the state (q, v), in reused arrays.

    In addition to gravity, a floor acts on the contact points, which all stick at ``anchors`` (nc, 2) [m], and springs
    and dampers act in joints.
    """

    def __init__(
        self,
        model: Model,
        floor: Floor | None = None,
        anchors: Floats | None = None,
        impedance: Impedance | None = None,
    ) -> None:
        self.model, self.floor, self.anchors = model, floor, anchors
        self.motion = new_tree_data(model.n, model.nv, model.nc)
        self.wrenches = np.zeros((model.n, 6))
        self.acceleration = np.zeros(model.nv)
        parents = [-1 if body.parent is None else model.body_index(body.parent) for body in model.bodies]
        self.joints = tuple(
            (model.coordinates(body.joint.name), model.dofs(body.joint.name), body.joint.has_axis, parent)
            for body, parent in zip(model.bodies, parents, strict=True)
        )
        held = impedance or Impedance()
        self.angles = np.zeros(model.nv, dtype=np.int64)
        self.stiffness, self.damping, self.rest = np.zeros((3, model.nv))
        for values, array in (
            (held.stiffness, self.stiffness), (held.damping, self.damping), (held.rest, self.rest),
        ):  # fmt: skip
            for joint, value in values.items():
                array[model.dof(joint)] = value
                self.angles[model.dof(joint)] = model.coordinate(joint)

    def __call__(self, _: float, state: Floats) -> Floats:
        """Return the rates (nq + nv,)."""
        model = self.model
        q, v = state[: model.nq], state[model.nq :]
        torque = -self.stiffness * (q[self.angles] - self.rest) - self.damping * v
        if self.floor is not None:
            force, arm = self.contact_forces(state)
            self.wrenches[:] = 0.0
            np.add.at(self.wrenches, model.tree.contact_body, np.hstack([force, np.cross(arm, force)]))
        forward_dynamics(model.tree, q, v, torque, self.wrenches, self.motion, self.acceleration)
        return np.concatenate([self.coordinate_rates(q, v), self.acceleration])

    def contact_forces(self, state: Floats) -> tuple[Floats, Floats]:
        """Return forces on the points [N], and their arms from the bodies' centres of mass [m], (nc, 3) each."""
        model, floor, anchors = self.model, self.floor, self.anchors
        assert floor is not None
        assert anchors is not None
        set_tree_data(model.tree, state[: model.nq], state[model.nq :], self.motion)
        bodies, arm_of_point = model.tree.contact_body, self.motion.poses.contact
        place = np.asarray(reference_point(model.tree, state[: model.nq])) + arm_of_point
        twist = self.motion.velocity[bodies]
        velocity = twist[:, :3] + np.cross(twist[:, 3:], arm_of_point)
        force = np.empty_like(place)
        force[:, :2] = -floor.k_t * (place[:, :2] - anchors) - floor.b_t * velocity[:, :2]
        force[:, 2] = [pressure(floor.normal, *at) for at in zip(place[:, 2], velocity[:, 2], strict=True)]
        return force, arm_of_point - self.motion.poses.com[bodies]

    def coordinate_rates(self, q: Floats, v: Floats) -> Floats:
        """Return dq/dt (nq,); for a quaternion ½ ω q, with ω in world axes (root) or in the parent's axes (joint)."""
        rates = np.zeros(self.model.nq)
        for place, dofs, has_axis, parent in self.joints:
            if has_axis:
                rates[place] = v[dofs]
                continue
            start = place.stop - 4
            rates[place.start : start] = v[dofs.start : dofs.stop - 3]
            omega = v[dofs.stop - 3 : dofs.stop]
            if parent >= 0:
                omega = self.motion.poses.rotation[parent].reshape(3, 3).T @ omega
            w, u = q[start], q[start + 1 : start + 4]
            rates[start] = -0.5 * omega @ u
            rates[start + 1 : start + 4] = 0.5 * (w * omega + _cross(omega, u))
        return rates

    def greatest_use_of_friction(self, states: Floats) -> float:
        """Return the greatest ratio of friction to its limit at a point; inf if the floor would have to pull."""
        most, floor = 0.0, self.floor
        assert floor is not None
        for state in states:
            force, _ = self.contact_forces(state)
            if np.any(force[:, 2] <= 0.0):
                return np.inf
            most = max(most, float(np.max(np.hypot(force[:, 0], force[:, 1]) / (floor.mu_s * force[:, 2]))))
        return most


def _cross(a: Floats, b: Floats) -> Floats:  # NumPy's function is slow for a single vector
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


if TYPE_CHECKING:
    from formulations.lagrangian import System

#: Setting of adaptive integrators.
TOLERANCE = "relative_tolerance"
#: Relative tolerances of their grids, and the ratio of absolute to relative tolerance.
TOLERANCES, ABSOLUTE = tuple(10.0**-k for k in range(3, 14)), 0.1
#: Kinds of systems of integrators.
TREE, LAGRANGIAN = "trees of joints", "Lagrangian systems"


@dataclass(frozen=True)
class Motion:
    """Motion of a problem's points, computed by an integrator, at the times at which errors are measured."""

    places: Floats  # (samples, points, 3) [m] positions of the problem's points
    energy: Floats  # (samples,) [J]
    iterations: float  # Newton iterations per step
    retried: float = 0.0  # fraction of the steps that were subdivided


@dataclass(frozen=True)
class StepSize:
    """Step size, or tolerance for adaptive steps."""

    step: float  # [s]
    settings: Mapping[str, Any] = field(default_factory=dict)  # changes of the integrator's defaults

    @property
    def tolerance(self) -> float | None:
        return self.settings.get(TOLERANCE)


class Case(ABC):
    """Base class of a problem's forms for different integrators: as a tree of joints, or as a Lagrangian system."""

    systems: str  # kind of system that the integrators take: ``TREE`` or ``LAGRANGIAN``
    reference: Reference  # reference motion of this form

    @abstractmethod
    def methods(self) -> Mapping[str, Any]:
        """Return all integrators that declare that they can solve this problem, by name."""

    def grid(self, method: str, steps: Sequence[float], interval: float) -> tuple[StepSize, ...]:
        """Return the step sizes of a method: ``steps`` [s], or tolerances for adaptive steps."""
        return tuple(StepSize(step) for step in steps)

    @abstractmethod
    def move(self, method: str, size: StepSize, duration: float, samples: int) -> Motion:
        """Return the motion at the ends of ``samples`` parts of ``duration`` [s]; InputError if it cannot be solved."""

    @abstractmethod
    def seconds(self, method: str, size: StepSize, duration: float) -> float:
        """Return the computing time [s] of ``duration`` [s] of motion, without set-up and compilation."""


@dataclass(frozen=True)
class TreeCase(Case):
    """A problem as a tree of joints."""

    model: Model
    start: State  # initial state
    places: Callable[[Floats], Floats]  # returns positions (points, 3) [m] for a configuration
    reference: Reference
    controller: Controller | None = None
    floor: Floor = RUBBER  # floor under its contact points
    #: changes of integrators' defaults, by the integrator's name
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    systems = TREE

    def methods(self) -> Mapping[str, Any]:
        """Return all integrators of trees; with contact points, only those with contact."""
        return {name: method for name, method in INTEGRATORS.items() if method.takes_contact or not self.model.nc}

    def grid(self, method: str, steps: Sequence[float], interval: float) -> tuple[StepSize, ...]:
        """Return the step sizes of a method; with contacts, adaptive methods also use ``steps``, to resolve contact."""
        settings = self.settings.get(method, {})
        if TOLERANCE not in settings_of(INTEGRATORS[method]):
            return tuple(StepSize(step, settings) for step in steps)
        if self.model.nc:
            return tuple(StepSize(step, {**settings, **_tolerances(TOLERANCES[-3])}) for step in steps)
        chosen = TOLERANCES[:: max(1, len(TOLERANCES) // len(steps))]
        return tuple(StepSize(interval, {**settings, **_tolerances(relative)}) for relative in chosen)

    def move(self, method: str, size: StepSize, duration: float, samples: int) -> Motion:
        run = self._run(method, size, duration, duration / samples)
        frame = run.frame.iloc[1:]
        if len(frame) != samples:
            raise InputError(f"step = {size.step:g} s: it must divide the sample interval, {duration / samples:g} s")
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
    """A problem as a Lagrangian system on a linear space, with constraints."""

    system: "System"
    q0: Floats  # initial coordinates
    v0: Floats  # initial rates
    places: Callable[[Floats], Floats]  # returns positions (samples, points, 3) [m] for coordinates (samples, size)
    reference: Reference
    systems = LAGRANGIAN

    def methods(self) -> Mapping[str, Any]:
        """Return all methods for Lagrangian systems; ``move`` raises InputError for those that do not apply."""
        return LAGRANGIAN_METHODS

    def move(self, method: str, size: StepSize, duration: float, samples: int) -> Motion:
        run = self._run(method, size.step, duration, round(duration / samples / size.step))
        frame, names = run.frame.iloc[1:], [symbol.name for symbol in self.system.coordinates]
        return Motion(
            self.places(frame[names].to_numpy()), frame["energy"].to_numpy(), float(run.metrics["newton_mean"])
        )

    def seconds(self, method: str, size: StepSize, duration: float) -> float:
        return float(self._run(method, size.step, duration, round(duration / size.step)).seconds)

    def _run(self, method: str, step: float, duration: float, every: int) -> Any:
        q0, v0 = self.q0, self.v0
        if LAGRANGIAN_METHODS[method].coordinates == "generalized":
            if self.system.chart is None:
                raise InputError(f"{method} needs generalized coordinates, which this system does not have")
            q0, v0 = chart_start(self.system, q0, v0)
        return self.system.integrate(method, q0, v0, step=step, duration=duration, every=every)


def chart_start(system: "System", q: Floats, v: Floats) -> tuple[Floats, Floats]:
    """Return generalized coordinates and rates of an initial state; raises InputError outside of the chart."""
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

    with np.errstate(invalid="ignore"):  # a step out of the chart is undone
        solution = least_squares(off, np.full(len(s), 1e-2), off_slope, xtol=1e-15, ftol=1e-15, gtol=1e-15)
    if not np.linalg.norm(solution.fun) < 1e-9 * max(1.0, float(np.linalg.norm(q))):
        raise InputError("the initial state cannot be expressed in the system's generalized coordinates")
    rates = np.linalg.lstsq(off_slope(solution.x), v, rcond=None)[0]
    return np.asarray(solution.x), np.asarray(rates, dtype=np.float64)


@dataclass(frozen=True)
class Forms:
    """Forms of a problem for different kinds of integrators."""

    cases: tuple[Case, ...]  # a tree of joints, a Lagrangian system, or both
    remarks: tuple[str, ...]  # sentences about the forms and their differences


@dataclass(frozen=True)
class Problem:
    """A problem of the work-precision comparison."""

    name: str  # name on the command line
    title: str  # title in one line
    source: str  # publication
    points: str  # points whose distance to the reference is the error
    duration: float  # [s]
    samples: int  # number of times at which errors are measured
    coarsest: float  # [s] longest step size; the others are a half of it, a quarter, …
    count: int  # number of step sizes
    forms: Callable[[], Forms]  # function that makes the forms, with their references
    packages: tuple[str, ...] = ()  # import names of optional packages that it needs

    def steps(self, most: int | None = None) -> tuple[float, ...]:
        """Return the step sizes [s], the longest first; at most ``most`` of them."""
        return halved(self.coarsest, most or self.count)

    @property
    def times(self) -> Floats:
        """Times [s] at which errors are measured, (samples,)."""
        return self.duration * np.arange(1, self.samples + 1) / self.samples
