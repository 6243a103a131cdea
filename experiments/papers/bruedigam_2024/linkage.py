"""Figure 12: the double four-bar linkage, which passes through singular configurations.

The compared method is the variational integrator of Kinon, Betsch and Schneider 2023 ("The GGL variational principle
for constrained mechanical systems"), written out here. Multipliers γ enforce the velocity constraints, multipliers λ
the position constraints. Coordinates of a bar are its centre and a director d along it (planar), so all constraints are
linear except the lengths of the directors:

    q' = q + h v + h M⁻¹ G(q̄)ᵀ γ,     q̄ = q + h v,     M v = p' + h Γ M⁻¹ p',
    p' = p − h ∇V − h G(q)ᵀ λ − h Γ M⁻¹ p',     g(q') = 0,     G(q̄) M⁻¹ p' = 0,

where Γ is Σ γ_j times the second derivatives of g_j: diagonal, a director's multiplier at its two coordinates.
"""

import math
import time
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.integrate import solve_ivp

from contact.arrays import Floats
from experiments.papers.criteria import above, below, stated, when
from experiments.papers.figures import Curve, drawn
from experiments.papers.item import Finding, Outcome, Progress
from experiments.visualization.look import style
from formulations.assembly.examples import n_four_bar

MASS, LENGTH, G = 1.0, 1.0, 9.81
#: Coordinates of a bar: its centre and its director in the plane (y, z).
WIDTH = 4
TOLERANCE, CORRECTIONS = 1e-9, 41


class Linkage(NamedTuple):
    """N four-bar windows of thin bars: first those on the ground, then the couplers."""

    mass: Floats  # (n,) diagonal of the mass matrix
    director: Floats  # (bars, n) 1 for the coordinates of a bar's director: second derivatives of its length
    linear: Floats  # (rows, n) derivatives of the joints' constraints, constant
    offset: Floats  # (rows,) constants of the joints' constraints
    position: Floats  # (n,) coordinates at the start
    velocity: Floats  # (n,) rates at the start

    @property
    def weight(self) -> Floats:
        """Gradient ∇V (n,) of the potential energy of gravity."""
        return np.tile([0.0, MASS * G, 0.0, 0.0], len(self.director))

    def constraints(self, q: Floats) -> Floats:
        """Return g: the lengths of directors, then the joints."""
        return np.concatenate([0.5 * (self.director @ q**2 - 1.0), self.linear @ q - self.offset])

    def gradient(self, q: Floats) -> Floats:
        """Return the derivatives G of the constraints."""
        return np.concatenate([self.director * q, self.linear])

    def energy(self, q: Floats, p: Floats) -> tuple[float, float]:
        """Return the kinetic and the potential energy [J]."""
        return float(0.5 * p @ (p / self.mass)), float(self.weight @ q)


def ggl_linkage(windows: int, speed: float = 1.0) -> Linkage:
    """Return the linkage of ``formulations.assembly.examples.n_four_bar``: upright, its couplers moving along +y."""
    bars = 2 * windows + 1
    mass = np.tile([MASS, MASS, MASS * LENGTH**2 / 12.0, MASS * LENGTH**2 / 12.0], bars)
    rows: list[Floats] = []
    offset: list[float] = []

    def closed(*ends: tuple[int, float], at: tuple[float, float] = (0.0, 0.0)) -> None:
        """Add a joint of a bar's end, half a length along its director, to a fixed point or another bar's end."""
        for axis in range(2):
            row = np.zeros((bars, WIDTH))
            for sign, (bar, end) in zip((1.0, -1.0), ends, strict=False):
                row[bar, axis], row[bar, 2 + axis] = sign, sign * end * 0.5 * LENGTH
            rows.append(row.ravel())
            offset.append(at[axis])

    position, velocity = np.zeros((bars, WIDTH)), np.zeros((bars, WIDTH))
    for k in range(windows + 1):
        closed((k, -1.0), at=(k * LENGTH, 0.0))
        position[k], velocity[k] = (k * LENGTH, 0.5 * LENGTH, 0.0, 1.0), (0.5 * speed, 0.0, speed / LENGTH, 0.0)
    for k in range(windows):
        coupler = windows + 1 + k
        closed((k, 1.0), (coupler, -1.0))
        closed((k + 1, 1.0), (coupler, 1.0))
        position[coupler], velocity[coupler] = ((k + 0.5) * LENGTH, LENGTH, 1.0, 0.0), (speed, 0.0, 0.0, 0.0)
    director = np.tile([0.0, 0.0, 1.0, 1.0], bars) * np.repeat(np.eye(bars), WIDTH, axis=1)
    return Linkage(mass, director, np.array(rows), np.array(offset), position.ravel(), velocity.ravel())


def ggl_step(of: Linkage, q: Floats, p: Floats, h: float) -> tuple[Floats, Floats, bool]:
    """Return position and momentum after a step, and True if Newton's method converged."""
    n, bars, rows = len(q), len(of.director), len(of.director) + len(of.offset)
    inverse, before = 1.0 / of.mass, of.gradient(q)
    x = np.concatenate([q + h * inverse * p, p, np.zeros(2 * rows)])
    for _ in range(CORRECTIONS):
        after, momentum, lam, gamma = np.split(x, (n, 2 * n, 2 * n + rows))
        curved = of.director.T @ gamma[:bars]
        velocity = inverse * (momentum + h * curved * inverse * momentum)
        between = of.gradient(q + h * velocity)
        left = np.concatenate([
            after - q - h * velocity - h * inverse * (between.T @ gamma),
            momentum - p + h * of.weight + h * before.T @ lam + h * curved * inverse * momentum,
            of.constraints(after),
            between @ (inverse * momentum),
        ])  # fmt: skip
        if np.abs(left).max() <= TOLERANCE:
            return after, momentum, True
        x = x - np.linalg.solve(_tangent(of, after, momentum, before, between, curved, h), left)
    return x[:n], x[n : 2 * n], False


def _tangent(
    of: Linkage, after: Floats, momentum: Floats, before: Floats, between: Floats, curved: Floats, h: float
) -> Floats:
    """Return the derivatives of the residual by q', p', λ and γ."""
    n, rows, bars = len(after), len(before), len(of.director)
    inverse = 1.0 / of.mass
    rate = inverse * momentum
    bends = np.zeros((rows, n))
    bends[:bars] = of.director
    pushed = 1.0 + h * inverse * curved
    by_momentum, by_gamma = pushed * inverse, h * (inverse * rate)[:, None] * bends.T  # of v
    matrix = np.zeros((2 * n + 2 * rows, 2 * n + 2 * rows))
    here, there = slice(0, n), slice(n, 2 * n)
    first, second = slice(2 * n, 2 * n + rows), slice(2 * n + rows, 2 * n + 2 * rows)
    matrix[here, here] = np.eye(n)
    matrix[here, there] = np.diag(-h * pushed * by_momentum)
    matrix[here, second] = -h * (pushed[:, None] * by_gamma + inverse[:, None] * between.T)
    matrix[there, there] = np.diag(pushed)
    matrix[there, first] = h * before.T
    matrix[there, second] = h * rate[:, None] * bends.T
    matrix[first, here] = of.gradient(after)
    matrix[second, there] = between * inverse + h * bends * rate * by_momentum
    matrix[second, second] = h * (bends * rate) @ by_gamma
    return matrix


def ggl_motion(of: Linkage, h: float, steps: int, *, accept: bool = False) -> tuple[Floats, Floats, int]:
    """Return positions and momenta from the start, (rows, n), and the number of steps that did not converge.

    If ``accept``, the motion continues after a step that did not converge in 41 corrections, as the authors' program
    does (github.com/plkinon/metis), unless a number is not finite. Otherwise it ends before such a step.
    """
    q, p, unconverged = of.position, of.mass * of.velocity, 0
    positions, momenta = [q], [p]
    for _ in range(steps):
        q, p, converged = ggl_step(of, q, p, h)
        unconverged += not converged
        if not converged and not (accept and np.isfinite([*q, *p]).all()):
            break
        positions.append(q)
        momenta.append(p)
    return np.array(positions), np.array(momenta), unconverged


WINDOWS = 2
DURATION, STEP, SMALL_STEP = 10.0, 0.01, 0.001
#: Duration [s] over which the methods are compared at the small time step.
COMPARED, QUICK_COMPARED = 10.0, 2.0
#: Limits: energy error / largest kinetic energy, joint gap [m], difference of the methods' angles [rad].
BOUNDED, CLOSED, ALIKE = 1e-3, 1e-9, 1e-3
ASSUMED = (
    "the paper gives parameters by reference only: benchmark A02 of IFToMM's library (González et al. 2006), thin "
    "bars of 1 m and 1 kg, upright, couplers at 1 m/s, 10 s",
    "the compared method is the variational integrator of Kinon, Betsch and Schneider 2023 (GGL_VI_mod in their "
    "program), with the initial velocities that its authors corrected in September 2023, and one director for each bar",
    "as in its authors' program, the compared method continues after steps that have not converged in 41 corrections; "
    "near a singular configuration it depends on rounding and the first guess which steps these are: one sample",
    "exact: the equation of one degree of freedom, 3 θ'' = 3.5 g sin θ, with parallel bars; Exudyn's example of the "
    "same benchmark converges to its solution, the first bar's tip at (0.32846, 0.94452) m after 10 s",
    "our energies are computed from the mean of the momenta before and after each time",
)


class Run(NamedTuple):
    """Motion of the row of four-bar linkages, computed by one of the compared integrators."""

    time: Floats  # (rows,) [s]
    angle: Floats  # (rows,) [rad] angle of the first bar from upright, towards +y
    kinetic: Floats  # (rows,) [J]
    potential: Floats  # (rows,) [J] zero at the ground
    violation: Floats  # (rows,) [m] largest error of a constraint
    seconds: float  # [s] computing time of all steps
    unconverged: int = 0  # number of steps that did not converge

    @property
    def energy_error(self) -> Floats:
        """Energy error [J] since the start, (rows,)."""
        energy = self.kinetic + self.potential
        return energy - energy[0]


def ours(step: float, duration: float) -> Run:
    """Return the linkage's motion by our integrator."""
    assembly, start = n_four_bar(WINDOWS)
    assembly.simulate(step, step, start)  # compiled before the clock starts
    motion = assembly.simulate(duration, step, start)
    frame = {name: motion.frame[name].to_numpy() for name in
             ("angle_ground_0", "kinetic_energy", "potential_energy", "joint_openness")}  # fmt: skip
    angle = math.pi - frame["angle_ground_0"]
    return Run(
        motion.time, angle, frame["kinetic_energy"], frame["potential_energy"], frame["joint_openness"],
        motion.summary["wall_time"],
    )  # fmt: skip


def theirs(step: float, duration: float, *, accept: bool = True) -> Run:
    """Return the linkage's motion by the GGL method; unless ``accept``, only as long as its steps converge."""
    linkage = ggl_linkage(WINDOWS)
    begin = time.perf_counter()
    positions, momenta, unconverged = ggl_motion(linkage, step, round(duration / step), accept=accept)
    seconds = time.perf_counter() - begin
    energy = np.array([linkage.energy(q, p) for q, p in zip(positions, momenta, strict=True)])
    violation = np.array([np.abs(linkage.constraints(q)).max() for q in positions])
    angle = np.unwrap(np.arctan2(positions[:, 2], positions[:, 3]))
    times = step * np.arange(len(positions), dtype=np.float64)
    return Run(times, angle, energy[:, 0], energy[:, 1], violation, seconds, unconverged)


def exact(times: Floats) -> Floats:
    """Return the exact angle [rad] of the bars from upright."""
    pull = 3.5 * G / (3.0 * LENGTH)
    solution = solve_ivp(lambda _, y: (y[1], pull * math.sin(y[0])), (0.0, float(times[-1])), [0.0, 1.0 / LENGTH],
                         "DOP853", times, rtol=1e-12, atol=1e-12)  # fmt: skip
    return np.asarray(solution.y[0])


def passages(angle: Floats) -> int:
    """Return the number of passages through a singular configuration, all bars in one line."""
    return int(np.count_nonzero(np.diff(np.floor(angle / math.pi + 0.5))))


def produce(quick: bool, progress: Progress) -> Outcome:
    compared = QUICK_COMPARED if quick else COMPARED
    motion, other, strict = ours(STEP, DURATION), theirs(STEP, DURATION), theirs(STEP, DURATION, accept=False)
    progress(0.2)
    fine = ours(SMALL_STEP, compared), theirs(SMALL_STEP, compared)
    true = exact(motion.time)
    progress(1.0)
    table = pd.DataFrame([
        _row("ours", STEP, motion), _row("GGL", STEP, other), _row("GGL, until a step does not converge", STEP, strict),
        *(_row(name, SMALL_STEP, run) for name, run in zip(("ours", "GGL"), fine, strict=True)),
    ])  # fmt: skip
    title, both = "Double four-bar linkage, Δt = 0.01 s", ((other, "GGL", style.RED), (motion, "ours", style.BLUE))
    figures = {
        "trajectory": drawn((title, "time [s]", "first bar's tip, y [m]"), (
            Curve(motion.time, np.sin(true), "exact", style.BLACK, width=2.0),
            Curve(other.time, np.sin(other.angle), "GGL", style.RED),
            Curve(motion.time, np.sin(motion.angle), "ours", style.SKY, "--"),
        )),
        "energy-error": drawn((title, "time [s]", "energy − initial energy [J]"), [
            Curve(run.time, run.energy_error, name, color, width=1.0) for run, name, color in both
        ]),
        "violation": drawn((title, "time [s]", "constraint violation [m]"), [
            Curve(run.time, np.maximum(run.violation, 1e-17), name, color, width=1.0) for run, name, color in both
        ], yscale="log"),
        "energies": drawn(("Energies of the linkage, ours, Δt = 0.01 s", "time [s]", "energy [J]"), (
            Curve(motion.time, motion.kinetic, "kinetic", style.RED),
            Curve(motion.time, motion.potential, "potential", style.GREEN),
            Curve(motion.time, motion.kinetic + motion.potential, "total"),
        )),
    }  # fmt: skip
    return Outcome(_findings(motion, other, strict, fine, true), ASSUMED, {"Runs": table}, figures)


def _findings(motion: Run, other: Run, strict: Run, fine: tuple[Run, Run], true: Floats) -> tuple[Finding, ...]:
    error = np.abs(motion.energy_error)
    worst = float(error.max() / motion.kinetic.max())
    wrong = np.abs(other.energy_error)
    off = float(abs(motion.angle[-1] - true[-1]))
    astray = np.abs(other.angle - true[: len(other.angle)])
    apart = float(np.abs(fine[0].angle - fine[1].angle).max()) if len(fine[0].time) == len(fine[1].time) else math.inf
    slower = _step_time(fine[1]) / _step_time(fine[0])
    return (
        stated("passages through a configuration with all bars in one line", "encounters configuration singularities",
               passages(motion.angle), when("10, as exactly", passages(motion.angle) == passages(true) == 10)),
        stated("largest energy error / largest kinetic energy, ours", "bounded", worst, below(BOUNDED)),
        stated("largest energy error, second half / first half, ours", "bounded", _growth(error), below(1.2)),
        stated("error of our angle at 10 s; the exact angle is 31.75 rad [rad]", "not in the paper", off, below(0.01),
               kind="ours"),
        stated("mean energy error of the GGL method, second half / first half", "increasing", _mean_growth(wrong),
               above(1.2), f"{wrong.max():.2g} J at most"),
        stated("largest energy error, GGL method / ours", "not in the paper", float(wrong.max() / error.max()),
               above(10), kind="ours"),
        stated("angle of the GGL method: mean error, second half / first half",
               "an increasingly wrong trajectory", _mean_growth(astray), above(10),
               f"{astray[-1]:.2g} rad at {other.time[-1]:g} s; {other.unconverged} of its steps do not converge; if it "
               f"stops at the first of these, it ends at {strict.time[-1]:g} s"),
        stated("largest constraint violation, ours [m]", "very low", float(motion.violation.max()), below(CLOSED)),
        stated("largest constraint violation, GGL method [m]", "lower", float(other.violation.max()),
               below(motion.violation.max(), "below ours"),
               why=f"it occurs in a step that does not converge; before, it is at most {strict.violation.max():.2g} m"),
        stated("largest difference of the methods' angles at Δt = 0.001 s [rad]", "almost no difference", apart,
               below(ALIKE)),
        stated("time of a step, GGL method / ours, Δt = 0.001 s", "more than 100", slower, above(100),
               "NumPy with derivatives written out here, uncompiled Matlab in the paper"),
    )  # fmt: skip


def _growth(error: Floats) -> float:
    """Return the ratio of the largest error in the second half to that in the first half."""
    half = len(error) // 2
    return float(error[half:].max() / error[:half].max())


def _mean_growth(error: Floats) -> float:
    """Return the ratio of the mean error in the second half to that in the first half."""
    half = len(error) // 2
    return float(error[half:].mean() / error[:half].mean())


def _row(method: str, step: float, run: Run) -> dict[str, object]:
    return {
        "method": method, "Δt [s]": step, "until [s]": run.time[-1],
        "greatest energy error [J]": float(np.abs(run.energy_error).max()),
        "greatest violation [m]": float(run.violation.max()),
        "last angle [rad]": float(run.angle[-1]), "exact [rad]": float(exact(run.time)[-1]),
        "steps not converged": run.unconverged, "time of a step [µs]": 1e6 * _step_time(run),
    }  # fmt: skip


def _step_time(run: Run) -> float:
    """Return the computing time of a step [s]."""
    return run.seconds / (len(run.time) - 1)
