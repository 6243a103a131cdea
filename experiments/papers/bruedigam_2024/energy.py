"""Figures 7b and 7c: energies of a double pendulum without friction, and of a pendulum with damping.

Pendulums are cubes on massless arms: as rigid bodies, and by their equations of motion for Runge-Kutta methods.
"""

import math
from collections.abc import Callable

import numpy as np
import pandas as pd
from scipy.integrate import solve_ivp

from biped.model import box_inertia
from contact.arrays import Floats
from experiments.papers.criteria import above, below, smaller, stated
from experiments.papers.figures import Curve, drawn
from experiments.papers.item import Finding, Outcome, Progress
from experiments.visualization.look import style
from formulations.assembly import Assembly, Freedom, RigidBody, joint

LENGTH, MASS, EDGE, G = 1.0, 1.0, 0.1, 9.81
#: Moment of inertia [kg m²] of a cube about its centre.
MOMENT = box_inertia(MASS, (EDGE, EDGE, EDGE))[0][0]

State = tuple[float, ...]
Rates = Callable[[State], State]


def cubes(count: int, damping: float = 0.0) -> Assembly:
    """Return cubes, each hung below the one before; joints ``joint_1`` … turn about x."""
    above = (0.0, 0.0, LENGTH)
    names = [f"cube_{k}" for k in range(1, count + 1)]
    joints = tuple(
        joint("revolute", f"joint_{k}", names[k - 2] if k > 1 else None, names[k - 1], (1.0, 0.0, 0.0),
              outboard_point=above, freedoms=[Freedom(damping=damping)])
        for k in range(1, count + 1)
    )  # fmt: skip
    bodies = tuple(RigidBody(name, MASS, box_inertia(MASS, (EDGE, EDGE, EDGE))) for name in names)
    return Assembly(f"cubes_{count}", bodies, joints)


def double_rates(state: State) -> State:
    """Return the time derivative of a double pendulum's state: angles of both arms to the vertical, and their rates."""
    a, b, da, db = state
    c, s = math.cos(a - b), math.sin(a - b)
    moved = MASS * LENGTH * LENGTH
    first, second, mixed = 2.0 * moved + MOMENT, moved + MOMENT, moved * c
    f = -moved * s * db * db - 2.0 * MASS * G * LENGTH * math.sin(a)
    g = moved * s * da * da - MASS * G * LENGTH * math.sin(b)
    determinant = first * second - mixed * mixed
    return da, db, (second * f - mixed * g) / determinant, (first * g - mixed * f) / determinant


def double_energy(states: Floats) -> Floats:
    """Return the energy [J] of a double pendulum by rows of states; zero: both cubes at the first joint's height."""
    a, b, da, db = states.T
    moved = MASS * LENGTH * LENGTH
    kinetic = 0.5 * (2.0 * moved + MOMENT) * da**2 + 0.5 * (moved + MOMENT) * db**2 + moved * np.cos(a - b) * da * db
    return np.asarray(kinetic - MASS * G * LENGTH * (2.0 * np.cos(a) + np.cos(b)))


def single_rates(damping: float) -> Rates:
    """Return the function that gives the time derivative of a pendulum's state: angle to the vertical, and its rate."""

    def rates(state: State) -> State:
        angle, rate = state
        return rate, -(damping * rate + MASS * G * LENGTH * math.sin(angle)) / (MASS * LENGTH * LENGTH + MOMENT)

    return rates


def single_energy(states: Floats) -> Floats:
    """Return the energy [J] of a pendulum."""
    angle, rate = states.T
    return np.asarray(0.5 * (MASS * LENGTH**2 + MOMENT) * rate**2 - MASS * G * LENGTH * np.cos(angle))


def euler(rates: Rates, state: State, h: float) -> State:
    return tuple(x + h * dx for x, dx in zip(state, rates(state), strict=True))


def heun(rates: Rates, state: State, h: float) -> State:
    first = rates(state)
    second = rates(tuple(x + h * dx for x, dx in zip(state, first, strict=True)))
    return tuple(x + 0.5 * h * (dx + end) for x, dx, end in zip(state, first, second, strict=True))


def stepped(
    method: Callable[[Rates, State, float], State], rates: Rates, state: State, h: float, steps: int, every: int = 1
) -> Floats:
    """Return rows of states from the start on; they end early if the motion diverges."""
    rows = [state]
    for k in range(1, steps + 1):
        state = method(rates, state, h)
        if not all(abs(x) < 1e6 for x in state):
            break
        if k % every == 0:
            rows.append(state)
    return np.array(rows)


#: Duration [s] of the double pendulum's motion, time step [s], and number of steps between rows.
DOUBLE_DURATION, QUICK_DURATION, STEP, EVERY = 3600.0, 60.0, 0.01, 20
DOUBLE_ASSUMED = (
    "cubes of 0.1 m, each 1 m below its joint, the start at joint angles (π/2, π/2) and the duration are those of the "
    "authors' program; the second angle is taken as a joint angle",
    "energies of the variational integrator are computed from the mean of the momenta before and after each time",
)
#: Damping [N·m·s/rad] and duration [s] of the damped pendulum's motion.
DAMPING, DURATION = 0.5, 10.0
#: Time steps [s] of the paper and of the authors' program.
STEPS = (0.1, 0.05)
START = math.pi / 2.0
DAMPED_ASSUMED = (
    "a cube of 0.1 m, 1 m below its joint as in figure 7b, starts at π/2; the paper prints Δt = 0.1 s, the authors' "
    "program has 0.05 s, for 10 s: both time steps are shown, the printed one is judged; the printed unit of the "
    "damping, N·s/m, should be N·m·s/rad",
)


def double_pendulum(quick: bool, progress: Progress) -> Outcome:
    duration = QUICK_DURATION if quick else DOUBLE_DURATION
    assembly = cubes(2)
    start = assembly.place({"joint_1": math.pi / 2.0, "joint_2": math.pi / 2.0})
    motion = assembly.simulate(duration, STEP, start, record_every=EVERY, progress=lambda done: progress(0.7 * done))
    ours = motion.frame["energy"].to_numpy()
    steps = round(duration / STEP)
    states = stepped(heun, double_rates, (math.pi / 2.0, math.pi, 0.0, 0.0), STEP, steps, EVERY)
    other = double_energy(states)
    progress(1.0)
    span = float(motion.frame["kinetic_energy"].max())
    half = len(ours) // 2
    ranged, drift = float(np.ptp(ours)) / span, float(ours[half:].mean() - ours[:half].mean()) / span
    gained = float(other[-1] - other[0]) / span
    findings = (
        stated("range of the energy / largest kinetic energy, variational integrator",
               "the energy error stays bounded", ranged, below(0.05)),
        stated("mean energy, (second half − first half) / largest kinetic energy", "the energy error stays bounded",
               drift, smaller(1e-3)),
        stated("energy gain / largest kinetic energy, Heun's method", "injects energy into the system", gained,
               above(1e-3)),
    )  # fmt: skip
    times = EVERY * STEP * np.arange(len(other), dtype=np.float64)
    table = pd.DataFrame({
        "method": ["variational integrator", "Heun"], "energy at the start [J]": [ours[0], other[0]],
        "at the end [J]": [ours[-1], other[-1]], "least [J]": [ours.min(), other.min()],
        "most [J]": [ours.max(), other.max()],
    })  # fmt: skip
    titles = "Double pendulum without friction, Δt = 0.01 s", "time [s]", "energy − initial energy [J]"
    curves = (
        Curve(times, other - other[0], "Heun", style.RED),
        Curve(motion.time, ours - ours[0], "variational integrator (ours)", width=0.6),
    )
    return Outcome(findings, DOUBLE_ASSUMED, {"Energy": table}, {"energy": drawn(titles, curves)})


def damped_pendulum(quick: bool, progress: Progress) -> Outcome:  # noqa: ARG001 - it is short as it is
    rates = single_rates(DAMPING)
    curves: tuple[Curve, ...] = ()
    findings: tuple[Finding, ...] = ()
    rows = []
    for number, step in enumerate(STEPS):
        times = step * np.arange(round(DURATION / step) + 1, dtype=np.float64)
        exact = _exact(times)
        assembly = cubes(1, DAMPING)
        ours = assembly.simulate(DURATION, step, assembly.place({"joint_1": START})).frame["energy"].to_numpy()
        other = single_energy(stepped(euler, rates, (START, 0.0), step, len(times) - 1))
        span = float(np.ptp(exact))
        our_error, their_error = (float(np.abs(energy - exact).max()) / span for energy in (ours, other))
        findings = findings or (
            stated(f"largest energy error / energy lost, variational integrator, Δt = {step:g} s",
                   "good dissipation after a small initial error", our_error, below(0.1)),
            stated(f"largest energy error / energy lost, Euler's method, Δt = {step:g} s", "large error",
                   their_error, above(0.5)),
            stated(f"final energy error / energy lost, Euler's method, Δt = {step:g} s",
                   "drastically underdamps", float(other[-1] - exact[-1]) / span, above(0.05)),
        )  # fmt: skip
        rows.append({"Δt [s]": step, "exact, at the end [J]": exact[-1], "ours [J]": ours[-1], "Euler [J]": other[-1],
                     "greatest error of ours": our_error, "of Euler's": their_error})  # fmt: skip
        curves = curves or (
            Curve(times, exact, "exact", style.BLACK),
            Curve(times, ours, "variational integrator (ours)"),
            Curve(times, other, "Euler", style.RED),
        )
        progress((number + 1) / len(STEPS))
    figure = drawn(("Damped pendulum, Δt = 0.1 s", "time [s]", "energy [J]"), curves, ylim=(-10.5, 6.0))
    return Outcome(findings, DAMPED_ASSUMED, {"Energy": pd.DataFrame(rows)}, {"energy": figure})


def _exact(times: Floats) -> Floats:
    rates = single_rates(DAMPING)
    solution = solve_ivp(
        lambda _, y: rates(tuple(y)), (0.0, DURATION), [START, 0.0], "DOP853", times, rtol=1e-11, atol=1e-12
    )
    return single_energy(solution.y.T)
