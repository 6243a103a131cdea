"""Section VII: time steps without a linearization, and the determinants that detect them."""

import math

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy.optimize import brentq

from contact.arrays import Floats
from experiments.papers.criteria import below, near, smaller, stated, when
from experiments.papers.item import Outcome, Progress
from experiments.visualization.look import style
from experiments.visualization.look.writing import styled
from formulations.mechanism import DiscreteMechanism, Distance, Mechanism, SingularStepError, ry, rz, tx, ty, tz

#: Mass [kg], length [m] and gravity [m/s²], which the paper leaves general.
MASS, LENGTH, G = 0.7, 1.3, 9.8
#: Time steps [s] of the spherical pendulum.
STEPS = (0.02, 0.1, 0.3)
#: Angles φ, θ [rad] and rates [rad/s] for the check of (34).
ANGLES, RATES = {"phi": 0.3, "theta": 0.9}, {"phi": 1.1, "theta": -0.4}
#: Angles [°] by which the constrained pendulum turns in a time step.
TURNS = (5.0, 20.0, 40.0, 60.0, 80.0, 89.0)
#: Time step [s] and initial angle [rad] of the constrained pendulum.
STEP, START = 0.05, 0.4
CLOSE = 1e-9
NO_INPUT = np.zeros(0)
ASSUMPTIONS = (
    f"{MASS:g} kg, {LENGTH:g} m, {G:g} m/s²; the paper leaves them general",
    "L_d has the factor Δt, as in (3a) and (34) but not in VII-A and VII-B: see misprints",
    "the constraint is h = (x² + y² − L²)/2L here, so its determinant is that of the paper divided by 4 L²",
)


def produce(quick: bool, progress: Progress) -> Outcome:  # noqa: ARG001 - they are single steps
    spherical, constrained = _spherical(), _constrained()
    progress(0.5)
    bound, shortest = math.sqrt(4.0 * LENGTH / G), bound_of_steps()
    findings = (
        stated("det M of a spherical pendulum / (34) − 1, largest", "(34)", _apart(spherical), below(CLOSE)),
        stated("linearization at θ + θ' = 0", "singular", _at_pole(), when("it is an error", _at_pole() == "refused")),
        stated("det M where θ + θ' = π / (34) with sin² = 1", "singular (θ_{k+1} + θ_k = nπ)", at_equator(),
               smaller(CLOSE, "0"), "misprinted: sin²((θ + θ')/2) of (34) vanishes only at even multiples of π"),
        stated("shortest singular step [s]", bound, shortest, near(bound, CLOSE, "√(4r/g), within 1e-9")),
        stated("det[Dh M⁻¹ Dhᵀ] of the constrained pendulum / −4 Δt/m (x x' + y y') − 1, largest",
               "−4 Δt²/m (x x' + y y'), without L_d's factor Δt", _apart(constrained), below(CLOSE)),
    )  # fmt: skip
    tables = {"Spherical pendulum": spherical, "Constrained pendulum": constrained}
    progress(1.0)
    return Outcome(findings, ASSUMPTIONS, tables, {"determinants": _draw(constrained)})


def equation_34(step: float, now: Floats, then: Floats) -> float:
    """Return det M by (34) from (φ, θ) at both ends of a time step."""
    both, turned = now[1] + then[1], now[0] - then[0]
    bracket = step**2 * G * math.cos(0.5 * both) + LENGTH * (2.0 + math.cos(both)) * turned**2 + 4.0 * LENGTH
    return MASS**2 * LENGTH**3 / (4.0 * step**2) * math.sin(0.5 * both) ** 2 * bracket


def _sphere(step: float) -> DiscreteMechanism:
    """Return a spherical pendulum: θ from the vertical downwards, φ about it."""
    arm = rz("phi", ry("theta", tz(-LENGTH, mass=MASS)))
    return DiscreteMechanism(Mechanism("spherical pendulum", [arm], gravity=(0.0, 0.0, -G)), step)


def _spherical() -> pd.DataFrame:
    rows = []
    for step in STEPS:
        system = _sphere(step)
        x = system.state(ANGLES, RATES)
        linear = system.linearize(x, NO_INPUT)
        printed = equation_34(step, system.configuration_of(x), system.configuration_of(linear.next_state))
        rows.append({"Δt [s]": step, "published": printed, "ours": linear.determinant})
    return pd.DataFrame(rows)


def _at_pole() -> str:
    """Linearize a step at rest at θ = 0, so that θ' = −θ; return "refused" if it is an error."""
    try:
        _sphere(STEPS[1]).linearize(np.zeros(4), NO_INPUT)
    except SingularStepError:
        return "refused"
    return "solved"


def at_equator() -> float:
    """Return det M of a step from θ = π/2 − d to π/2 + d, relative to (34) with sin² = 1, at equal φ."""
    system, d = _sphere(STEPS[1]), 0.02
    step = system.step
    p = MASS * LENGTH**2 * 2.0 * d / step + 0.5 * step * MASS * G * LENGTH  # (1a), in the plane
    x = system.state({"theta": 0.5 * math.pi - d}, momentum={"theta": p})
    linear = system.linearize(x, NO_INPUT)
    return linear.determinant / equation_34(step, system.configuration_of(x), np.array([0.0, 0.5 * math.pi + d]))


def bound_of_steps() -> float:
    """Return the shortest step [s] at rest in the upright position whose M is singular."""

    def determinant(step: float) -> float:
        plane = Mechanism("pendulum", [ry("theta", tz(-LENGTH, mass=MASS))], gravity=(0.0, 0.0, -G))
        try:
            return DiscreteMechanism(plane, step).linearize(np.array([math.pi, 0.0]), NO_INPUT).determinant
        except SingularStepError:
            return 0.0

    return float(brentq(determinant, 0.1, 1.0, xtol=1e-12))


def _constrained() -> pd.DataFrame:
    """Return a table of steps that turn the pendulum by an angle, whose sine is Δt times the rate."""
    point = tx("x", ty("y", name="bob", mass=MASS))
    mechanism = Mechanism("point on a rod", [point], None, constraints=[Distance("bob", "world", LENGTH)])
    system = DiscreteMechanism(mechanism, STEP)
    q, rows = LENGTH * np.array([math.cos(START), math.sin(START)]), []
    for turn in TURNS:
        rate = math.sin(math.radians(turn)) / STEP
        linear = system.linearize(system.state(q, [-rate * q[1], rate * q[0]]), NO_INPUT)
        printed = -4.0 * STEP / MASS * float(q @ system.configuration_of(linear.next_state))
        ours = linear.constraint_determinant * 4.0 * LENGTH**2
        rows.append({"turn in a step [°]": turn, "published": printed, "ours": ours})
    return pd.DataFrame(rows)


def _apart(table: pd.DataFrame) -> float:
    return float((table["ours"] / table["published"] - 1.0).abs().max())


def _draw(constrained: pd.DataFrame) -> Figure:
    with styled():
        figure = Figure(figsize=style.SIZE)
        axes = figure.subplots()
        turn = np.linspace(0.0, 90.0, 91)
        scale = -4.0 * STEP / MASS * LENGTH**2
        axes.plot(turn, scale * np.cos(np.radians(turn)), color=style.GREY, label="−4 Δt/m (x x' + y y')")
        axes.plot(constrained["turn in a step [°]"], constrained["ours"], "o", color=style.BLUE, label="ours")
        axes.axhline(0.0, lw=0.8, color=style.BLACK)
        axes.set(title="A pendulum on a rod: singular after a quarter turn", xlabel="turn in a step [°]",
                 ylabel="det[Dh M⁻¹ Dhᵀ]")  # fmt: skip
        axes.legend()
    return figure
