"""Motions of mechanisms by our integrator and by PyBullet, in a common format."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from scipy.integrate import quad, solve_ivp

from contact.arrays import Floats
from experiments.engines.pybullet.linkage import Linkage, LinkageSettings
from experiments.papers.criteria import below, stated
from experiments.papers.item import Finding, Progress
from experiments.timing import seconds
from experiments.visualization.look import style
from formulations.mechanism import Mechanism

#: PyBullet with its default solver, which is iterative like ODE's, and with a direct solver, without residual.
ITERATIVE, DIRECT = LinkageSettings(), LinkageSettings(direct=True)
OURS, BULLET, BULLET_DIRECT = "variational integrator (ours)", "PyBullet", "PyBullet, direct solver"
BULLETS = {BULLET: ITERATIVE, BULLET_DIRECT: DIRECT}
#: Colours of the paper: black for the variational integrator, grey for ODE.
COLORS = {OURS: style.BLACK, BULLET: style.GREY, BULLET_DIRECT: style.SKY}

#: Distance [m] below which points count as coincident.
TOUCHING = 1e-9
#: Number of configurations of a long run at which the distances of coincident points are checked.
LOOKS = 3000

BASELINE = (
    "instead of ODE, which has no maintained Python package: PyBullet, with free bodies held by point constraints, "
    "which its solver of sequential impulses satisfies approximately (at most 50 iterations, error reduction 0.2: its "
    "defaults; all damping is zero), and also with its direct solver (Dantzig's)"
)
POINTS = f"point masses have {ITERATIVE.point_inertia:g} kg m² in PyBullet, whose bodies need a moment of inertia"


@dataclass(frozen=True)
class Motion:
    """Simulated motion of a mechanism: one of its coordinates, and its energy, over time."""

    time: Floats  # (k,) [s]
    angle: Floats  # (k,) [rad] of the requested coordinate
    energy: Floats  # (k,) [J]
    defect: float  # [m] largest distance of points that should coincide
    seconds: float  # [s] computing time of the steps, without tables


def joined(motion: Motion) -> Finding:
    """State the largest gap of points that should coincide."""
    return stated("largest gap of coincident points [m]", "trajectories that always satisfy the constraint",
                  motion.defect, below(TOUCHING))  # fmt: skip


def ours(
    mechanism: Mechanism,
    q: Mapping[str, float],
    name: str,
    *,
    duration: float,
    step: float,
    every: int = 1,
    progress: Progress = lambda _: None,
) -> Motion:
    """Simulate from rest at ``q`` by the midpoint rule (α = ½); record coordinate ``name`` every ``every`` steps."""
    mechanism.simulate(step, step, q=q)  # compiled before the clock starts
    run = mechanism.simulate(duration, step, q=q, record_every=every, progress=progress)
    defect = float(mechanism.largest_constraints(run.q[:: max(1, len(run.q) // LOOKS)]).max(initial=0.0))
    angle, energy = run.frame[f"angle_{name}"].to_numpy(), run.frame["energy"].to_numpy()
    return Motion(run.frame["time"].to_numpy(), angle, energy, defect, float(run.summary["wall_time"]))


def bullet(
    linkage: Linkage, name: str, *, duration: float, every: float, progress: Progress = lambda _: None
) -> Motion:
    """Simulate a linkage from rest in PyBullet; ``seconds`` is the time of the steps alone."""
    between = max(1, round(every / linkage.step))
    count = round(duration / (between * linkage.step))
    looks, taken = [(0.0, linkage.angle(name), linkage.energy(), linkage.defect())], 0.0
    for k in range(1, count + 1):
        taken += seconds(lambda: linkage.advance(between))
        looks.append((k * between * linkage.step, linkage.angle(name), linkage.energy(), linkage.defect()))
        progress(k / count)
    when, angle, energy, defect = np.array(looks).T
    return Motion(when, angle, energy, float(defect.max()), taken)


#: Values of the authors' program (``examples/scissor.py``), except g, which is 9.8 there and 9.81 in listing 1.
LENGTH, MASS, INERTIA, SLIDER, START, G = 5.0, 1.0, 1.0, 1.0, 0.05 * math.pi, 9.81
#: Relative and absolute tolerance of the solution of the differential equation.
EXACT = 1e-12


@dataclass(frozen=True)
class OneDegreeLift:
    """Scissor lift as one degree of freedom θ [rad], starting from rest."""

    segments: int
    start: float = START

    @cached_property
    def _cosine_part(self) -> float:
        """Factor of cos² θ in A [kg m²]."""
        return sum(2.0 * MASS * LENGTH**2 * (n - 0.5) ** 2 for n in range(1, self.segments + 1))

    @cached_property
    def _sine_part(self) -> float:
        """Factor of sin² θ in A [kg m²]."""
        return self.segments * MASS * LENGTH**2 / 2.0 + SLIDER * LENGTH**2

    @cached_property
    def weight(self) -> float:
        """Weight term B [N·m]."""
        return MASS * G * LENGTH * self.segments**2

    def inertia(self, angle: Any) -> Any:
        """Return the inertia A(θ) [kg m²]."""
        cosine, sine = np.cos(angle), np.sin(angle)
        return self._cosine_part * cosine**2 + self._sine_part * sine**2 + 2.0 * self.segments * INERTIA

    def acceleration(self, angle: float, rate: float) -> float:
        """Return the acceleration [rad/s²] by Lagrange's equation: A θ'' + ½ A' θ'² = B cos θ."""
        growth = (self._sine_part - self._cosine_part) * math.sin(2.0 * angle)
        return (self.weight * math.cos(angle) - 0.5 * growth * rate**2) / float(self.inertia(angle))

    def energy(self, angle: Any, rate: Any) -> Any:
        """Return the energy [J] ½ A θ'² − B sin θ: the potential is zero with all links level."""
        return 0.5 * self.inertia(angle) * rate**2 - self.weight * np.sin(angle)

    @cached_property
    def period(self) -> float:
        """Period [s] by quadrature of the energy's integral, with a relative error of about 1e-13.

        With θ = π/2 − a cos φ, a = π/2 − θ(0), the integrand of T = 2 ∫ √(A / (2 B (sin θ − sin θ(0)))) dθ is smooth,
        since sin θ − sin θ(0) = 2 sin(a cos² φ/2) sin(a sin² φ/2).
        """
        swing = math.pi / 2.0 - self.start

        def integrand(phi: float) -> float:
            half = math.sin(phi / 2.0) ** 2
            if half in (0.0, 1.0):  # sin φ over the root of the sines
                ratio = math.sqrt(2.0 / (swing * math.sin(swing)))
            else:
                ratio = math.sin(phi) / math.sqrt(2.0 * math.sin(swing * (1.0 - half)) * math.sin(swing * half))
            angle = math.pi / 2.0 - swing * math.cos(phi)
            return swing * ratio * math.sqrt(float(self.inertia(angle)) / (2.0 * self.weight))

        return 2.0 * float(quad(integrand, 0.0, math.pi, epsabs=1e-13, epsrel=1e-13, limit=200)[0])

    def solve(self, duration: float, method: Literal["DOP853", "Radau"] = "DOP853") -> Any:
        """Return SciPy's solution by one of its methods, with dense output."""

        def right_side(_: float, state: Floats) -> list[float]:
            return [state[1], self.acceleration(state[0], state[1])]

        return solve_ivp(
            right_side, (0.0, duration), [self.start, 0.0], method, rtol=EXACT, atol=EXACT, dense_output=True,
            max_step=self.period / 200.0,
        )  # fmt: skip

    @cached_property
    def _swing(self) -> Callable[[Floats], Floats]:
        """Motion from one turning point to the next."""
        dense: Callable[[Floats], Floats] = self.solve(0.505 * self.period).sol
        return dense

    def angle(self, time: Floats) -> Floats:
        """Return the angle [rad] at times [s], by repetition of one swing, so that errors do not accumulate."""
        phase = np.mod(np.asarray(time, dtype=float), self.period)
        back = np.minimum(phase, self.period - phase)  # the way back is the way there, reversed
        return np.asarray(self._swing(back)[0])


def printed_inertia(segments: int, angle: float) -> float:
    """Return A(θ) [kg m²] as printed, including misprints."""
    sine, cosine = math.sin(angle) ** 2, math.cos(angle) ** 2
    links = sum((0.5 - n) ** 2 * cosine + 0.5 * sine + INERTIA for n in range(1, segments + 1))
    return 2.0 * MASS * LENGTH**2 * links + SLIDER * LENGTH**2 * sine
