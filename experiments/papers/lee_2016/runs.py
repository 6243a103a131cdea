"""Figures 2 (b) and 4 (b): energy of a passive chain, and iterations of its time steps."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

from biped.integrators import Integrator, Lee, LeeNewton, LeeRiqn, SemiImplicitEuler
from biped.model import Body, Model, principal_inertia, revolute
from biped.runs.run import Run
from biped.runs.state import State
from biped.simulation.simulate import simulate
from contact.arrays import Floats
from experiments.papers.criteria import below, near, stated, when, within
from experiments.papers.figures import Curve, drawn
from experiments.papers.item import Finding, Kind, Outcome, Progress
from experiments.timing import part
from experiments.visualization.look import style

#: Links: distance between hinges [m], mass [kg], moment of inertia about every axis through the centre of mass [kg m²].
LENGTH, MASS, INERTIA = 1.5, 1.0, 1.0
#: Angles [rad] and rates [rad/s] of the joints are drawn from ± this range.
RANGE = np.pi / 2
#: Time step [s].
STEP = 1e-3

ASSUMPTIONS = (
    "the chain, which the paper does not describe, is that of the authors' published program: links of 1.5 m, 1 kg and "
    "1 kg m² about each axis, parallel hinges, joint angles and rates drawn from ±π/2 (their random numbers are not "
    "known, ours are NumPy's with a fixed seed)",
    "the potential P(T) of (6) is that of uniform gravity, if there is gravity",
)


def lee_chain(n: int) -> Model:
    """Return ``n`` links on hinges about x, standing upwards from the origin in the home configuration."""
    inertia = principal_inertia((INERTIA, INERTIA, INERTIA))
    bodies = [
        Body(
            name=f"link_{i}",
            mass=MASS,
            inertia=inertia,
            com=(0.0, 0.0, LENGTH / 2),
            joint=revolute(f"joint_{i}", (1.0, 0.0, 0.0), (0.0, 0.0, LENGTH if i > 1 else 0.0)),
            parent=f"link_{i - 1}" if i > 1 else None,
        )
        for i in range(1, n + 1)
    ]
    return Model(f"lee_chain_{n}", tuple(bodies))


def random_start(model: Model, seed: int = 2016) -> State:
    rng = np.random.default_rng(seed)
    return State.at(model, rng.uniform(-RANGE, RANGE, model.nq), rng.uniform(-RANGE, RANGE, model.nv))


#: Integrators and their colours, by label.
Methods = Mapping[str, tuple[Integrator, str]]


def runs_of(methods: Methods, bodies: int, duration: float, every: float, progress: Progress) -> dict[str, Run]:
    """Return the run of a chain from its random start by each method, with a row every ``every`` seconds."""
    model, runs = lee_chain(bodies), {}
    for number, (label, (integrator, _)) in enumerate(methods.items()):
        runs[label] = simulate(
            model, state=random_start(model), step=STEP, duration=duration, integrator=integrator, record_every=every,
            progress=part(progress, number, len(methods), duration),
        )  # fmt: skip
    return runs


PASSIVE = 10
#: Duration [s], and interval [s] of the energy samples.
DURATION, QUICK_DURATION = 1000.0, 40.0
EVERY = 0.02
ENERGY_METHODS: Methods = {
    "RIQN": (LeeRiqn(guess="dynamics"), style.BLUE),
    "exact Newton in O(n) (ours)": (Lee(), style.GREEN),
    "semi-implicit Euler": (SemiImplicitEuler(), style.RED),
}


def energy(quick: bool, progress: Progress) -> Outcome:
    duration = QUICK_DURATION if quick else DURATION
    frames = {label: run.frame for label, run in runs_of(ENERGY_METHODS, PASSIVE, duration, EVERY, progress).items()}
    curves = {label: (f["ledger_kinetic"] + f["ledger_potential"]).to_numpy() for label, f in frames.items()}
    time = frames["RIQN"]["time"].to_numpy()
    table = pd.DataFrame({
        "method": list(curves), "energy at the start [J]": [curve[0] for curve in curves.values()],
        "drift [J]": [drift(time, curve) for curve in curves.values()],
        "largest deviation [J]": [np.abs(curve - curve[0]).max() for curve in curves.values()],
    })  # fmt: skip
    assumed = (
        f"{duration:g} s; velocities of semi-implicit Euler are its joint rates; RIQN starts from the guess IG3 "
        "and has a tolerance of 1e-8 N·s"
    )
    titles = f"Energy of a passive chain of {PASSIVE} bodies, h = 1 ms", "time [s]", "total energy [J]"
    lines = [Curve(time, curves[label], label, color, width=1.0) for label, (_, color) in ENERGY_METHODS.items()]
    figures = {"energy": drawn(titles, lines[::-1])}
    return Outcome(_energies(time, curves), (*ASSUMPTIONS, assumed), {"Energy": table}, figures)


def drift(time: Floats, energy: Floats) -> float:
    """Return the drift of the energy [J]: the change, from start to end, of a line fitted to it over time [s]."""
    return float(np.polyfit(time, energy, 1)[0] * (time[-1] - time[0]))


def _energies(time: Floats, curves: dict[str, Floats]) -> tuple[Finding, ...]:
    *drifts, lost = (drift(time, curves[label]) for label in ENERGY_METHODS)
    little = near(0, 0.1 * abs(lost), "at most a tenth of that of semi-implicit Euler")
    claims: tuple[tuple[str, Kind], ...] = (
        ("does not artificially dissipate the energy", "evidence"), ("not in the paper", "ours"),
    )  # fmt: skip
    return (
        *(stated(f"drift of the energy, {label} [J]", published, value, little, kind=kind)
          for label, value, (published, kind) in zip(ENERGY_METHODS, drifts, claims, strict=False)),
        stated("drift of the energy, semi-implicit Euler [J]", "dissipates", lost, below(0, "negative"),
               why="the energy increases here: the sign depends on the motion, and the paper's motion is not known"),
    )  # fmt: skip


LONG = 50
#: Duration [s] of the run, also of the short version, as it takes only a second or two.
SECOND = 1.0
#: Relative difference from printed values that is allowed for a run whose start is not known.
PART = 0.2

Integers = NDArray[np.int64]
OURS = "exact Newton in O(n), extrapolated (ours)"
METHODS: Methods = {
    "Newton, IG1": (LeeNewton(guess="current"), style.RED),
    "RIQN, IG1": (LeeRiqn(guess="current"), style.BLUE),
    "Newton, IG3": (LeeNewton(guess="dynamics"), style.ORANGE),
    "RIQN, IG3": (LeeRiqn(guess="dynamics"), style.SKY),
    OURS: (Lee(), style.GREEN),
}
_ASSUMED = (
    "50 bodies, 1000 steps, gravity and a tolerance of 1e-8, as in the authors' program; in a chain of this length the "
    "rounding error of the residual is larger, and the tolerance is this rounding error",
    "evaluations of the residual are counted, as in that program: one more than the number of corrections",
    "IG1 is the first guess: with it Newton's method takes the printed 4 in nearly every step; the present program has "
    "IG3, which is tabulated too",
)
_WHY = "the state of the paper's chain is not known, and the authors' program computes the residual by SVI"


def iterations(_quick: bool, progress: Progress) -> Outcome:
    runs = runs_of(METHODS, LONG, SECOND, STEP, progress)
    counts = {label: run.frame["newton_iterations"].to_numpy()[1:].astype(np.int64) + 1 for label, run in runs.items()}
    table = pd.DataFrame([{
        "method": label, "mean": numbers.mean(), "standard deviation": numbers.std(), "least": numbers.min(),
        "most": numbers.max(),
    } for label, numbers in counts.items()])  # fmt: skip
    figures = {"iterations": _draw_counts(counts)}
    return Outcome(_evaluations(counts), (*ASSUMPTIONS, *_ASSUMED), {"Evaluations of a step": table}, figures)


def _evaluations(counts: dict[str, Integers]) -> tuple[Finding, ...]:
    newton, riqn, ours = counts["Newton, IG1"], counts["RIQN, IG1"], counts[OURS]
    least, most = float(ours.mean()), int(ours.max())
    fewest = min(riqn.mean(), counts["RIQN, IG3"].mean())
    not_four = float(np.mean(newton != 4))
    return (
        stated("mean evaluations, Newton", 4.0, float(newton.mean()), near(4.0, 0.5, "4, rounded"),
               "IG1 was chosen to match this value", kind="chosen"),
        stated("standard deviation, Newton", 0.0, float(newton.std()), below(0.05, "0.0, rounded"),
               why=f"{not_four:.1%} of the steps do not take four; {_WHY}"),
        _near("mean evaluations, RIQN", 5.69, riqn.mean()),
        _near("standard deviation, RIQN", 1.16, riqn.std()),
        stated("Newton needs fewer iterations than RIQN", "4 against 5.69",
               f"{newton.mean():.2f} against {riqn.mean():.2f}", when("in the mean", newton.mean() < riqn.mean())),
        stated("evaluations, exact Newton in O(n) (ours)", "not in the paper",
               f"{least:.2f} in the mean, {most} at most",
               when("fewer than RIQN; at most 3 corrections", least < fewest and most <= 4), kind="ours"),
    )  # fmt: skip


def _near(quantity: str, published: float, ours: float) -> Finding:
    return stated(quantity, published, float(ours), within(published, PART), why=_WHY)


def _draw_counts(counts: dict[str, Integers]) -> Figure:
    curves = []
    for label, numbers in counts.items():
        text = f"{label}: {numbers.mean():.2f} ± {numbers.std():.2f}"
        curves.append(Curve(np.arange(1, len(numbers) + 1), numbers, text, METHODS[label][1], ".", marker=2.5))
    titles = f"Evaluations per step, {LONG} bodies, h = 1 ms", "step", "evaluations of the residual"
    most = 1.45 * max(numbers.max() for numbers in counts.values())
    return drawn(titles, curves, legend={"loc": "upper right", "markerscale": 4}, ylim=(0.0, most))
