"""Figures 1 and 8: energies of a pendulum over 5000 s, and of a device with two closed chains over 120 s."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy.optimize import minimize

from biped.errors import IntegrationError
from contact.arrays import Floats
from experiments.engines.pybullet.linkage import Linkage
from experiments.papers.criteria import above, below, smaller, stated, when, within
from experiments.papers.figures import Curve, drawn
from experiments.papers.item import Finding, Outcome, Progress
from experiments.papers.johnson_murphey_2009 import motions
from experiments.papers.johnson_murphey_2009.motions import Motion
from experiments.timing import part
from formulations.mechanism import Mechanism, examples

#: Time step [s], and interval [s] of the energy samples.
STEP, EVERY = 0.01, 0.1
#: Duration [s] of the pendulum's motion; length [m], mass [kg], inertia [kg m²] and initial angle [rad].
SWINGING, QUICK_SWINGING = 5000.0, 200.0
LENGTH, MASS, INERTIA, START = 1.0, 1.0, 0.1, math.pi / 4.0
LOWEST = -MASS * 9.81 * LENGTH
#: Duration [s] of the device's motion, which is chaotic: its energy is stated for a number of neighbouring starts that
#: differ by a shift [rad] of the coordinate K.
DURATION, QUICK_DURATION, NEIGHBOURS, SHIFT = 120.0, 12.0, 9, 1e-9
#: Printed run times [s] of 120 s, by the method that replaces the paper's here.
PRINTED_SECONDS = {motions.OURS: 22.1, motions.BULLET: 1.86}


def pendulum_energy(quick: bool, progress: Progress) -> Outcome:
    duration, q = QUICK_SWINGING if quick else SWINGING, {"J1": START}
    mechanism = examples.n_link_pendulum(1, length=LENGTH, mass=MASS, inertia=INERTIA)
    variational = motions.ours(
        mechanism, q, "J1", duration=duration, step=STEP, every=round(EVERY / STEP), progress=part(progress, 0, 2)
    )
    linkage = Linkage([examples.pendulum_frames(1, LENGTH, (MASS, INERTIA, INERTIA, INERTIA))], q, step=STEP)
    other = motions.bullet(linkage, "J1", duration=duration, every=EVERY, progress=part(progress, 1, 2))
    runs = {motions.OURS: variational, motions.BULLET: other}
    assumed = (
        f"the pendulum, whose parameters are not printed: {MASS:g} kg and {INERTIA:g} kg m², {LENGTH:g} m below the "
        "hinge, released at 45°, like the pendulum of section VI-A",
        f"{duration:g} s; energies are relative to that of the pendulum at rest",
        motions.BASELINE,
    )
    figures = {"energy": _draw("A pendulum, h = 0.01 s", "energy above rest [J]", runs, height, 1.0)}
    figures["energy"].axes[0].set_ylim(bottom=0.0)
    return Outcome(_swinging(runs), assumed, {"Energy above rest": _pendulum_table(runs)}, figures)


def height(motion: Motion) -> Floats:
    """Return the energy above that of the pendulum at rest [J]."""
    return motion.energy - LOWEST


def tenths_drift(motion: Motion) -> float:
    """Return the mean energy of the last tenth of the run minus that of the first, divided by the initial energy."""
    energy = height(motion)
    tenth = len(energy) // 10
    return float((energy[-tenth:].mean() - energy[:tenth].mean()) / energy[0])


def _swinging(runs: dict[str, Motion]) -> tuple[Finding, ...]:
    variational, other = runs[motions.OURS], runs[motions.BULLET]
    energy = height(variational)
    tenth = len(energy) // 10
    widening = float(np.ptp(energy[-tenth:]) / np.ptp(energy[:tenth]))
    left = float(height(other)[-1] / height(other)[0])
    return (
        stated("range of the energy relative to the start, variational integrator",
               "does not perfectly conserve energy at each step", float(np.ptp(energy) / energy[0]),
               when("above 1e-9 and below 1e-3", 1e-9 < np.ptp(energy) / energy[0] < 1e-3)),
        stated("drift of the mean energy relative to the start, variational integrator",
               "maintains the correct average energy", tenths_drift(variational), smaller(1e-6)),
        stated("range of the energy, last tenth / first tenth, variational integrator",
               "maintains the correct average energy", widening, within(1.0, 0.01)),
        stated("energy at the end relative to the start, force balance", "slowly dissipates energy over time",
               left, below(0.9), "ODE in the paper, PyBullet here"),
    )  # fmt: skip


def _pendulum_table(runs: dict[str, Motion]) -> pd.DataFrame:
    return pd.DataFrame([{
        "method": name, "at the start [J]": height(motion)[0], "at the end [J]": height(motion)[-1],
        "least [J]": height(motion).min(), "most [J]": height(motion).max(),
        "drift of the mean, of the start": tenths_drift(motion), "run time [s]": motion.seconds,
    } for name, motion in runs.items()])  # fmt: skip


def _draw(title: str, label: str, runs: dict[str, Motion], of: Callable[[Motion], Floats], width: float) -> Figure:
    curves = [Curve(run.time, of(run), name, motions.COLORS[name], width=width) for name, run in runs.items()]
    return drawn((title, "time [s]", label), curves[::-1])


def closed_chain_energy(quick: bool, progress: Progress) -> Outcome:
    duration = QUICK_DURATION if quick else DURATION
    mechanism = examples.closed_chain_device()
    starts = [_start(mechanism, number * SHIFT) for number in range(NEIGHBOURS)]
    neighbours, finer = (
        [motions.ours(mechanism, q, "J", duration=duration, step=h) for q in starts] for h in (STEP, STEP / 2.0)
    )
    q, runs = starts[0], {motions.OURS: neighbours[0]}
    progress(1.0 / 3.0)
    for number, (label, settings) in enumerate(motions.BULLETS.items(), start=1):
        linkage = Linkage(examples.closed_chain_frames(), q, examples.CLOSED_CHAIN_PINS, step=STEP, settings=settings)
        runs[label] = motions.bullet(linkage, "J", duration=duration, every=EVERY, progress=part(progress, number, 3))
    assumed = (
        "the start, which is not printed: the angles of the authors' program (examples/pccd.py), moved onto the "
        "constraints, at rest; its damping and its g of 9.8 are not those of the paper",
        f"{duration:g} s; run times are shown for {DURATION:g} s; ours include recording every step, PyBullet's only "
        "its steps; printed times are those of trep and ODE on the authors' machine",
        f"the motion is chaotic: the median of {NEIGHBOURS} starts within {(NEIGHBOURS - 1) * SHIFT:g} rad is stated; "
        "the figure shows the first",
        motions.POINTS,
        motions.BASELINE,
    )
    scale = DURATION / duration
    figures = {"energy": _draw("The closed-chain device, h = 0.01 s", "energy [J]", runs, lambda run: run.energy, 1.2)}
    figures["energy"].axes[0].margins(y=0.1)
    tables = {"Energy and run time": _closed_chain_table(runs, scale)}
    return Outcome(_closed(runs, neighbours, finer, available(mechanism, q)), assumed, tables, figures)


def _start(mechanism: Mechanism, shift: float) -> dict[str, float]:
    """Return a start on the constraints, near the authors' start with the coordinate K shifted [rad]."""
    near = {**examples.CLOSED_CHAIN_START, "K": examples.CLOSED_CHAIN_START["K"] + shift}
    return dict(zip(mechanism.coordinates, mechanism.satisfy_constraints(near).tolist(), strict=True))


def halves_drift(motion: Motion) -> float:
    """Return the mean energy of the second half minus that of the first half [J]."""
    half = len(motion.energy) // 2
    return float(motion.energy[half:].mean() - motion.energy[:half].mean())


def available(mechanism: Mechanism, q: dict[str, float]) -> float:
    """Return the energy [J] that a mechanism at rest at q can lose: its potential energy minus the least one."""
    start = mechanism.configuration(q)
    held = {"type": "eq", "fun": mechanism.constraint_values, "jac": mechanism.constraint_jacobian}
    lowest: Any = minimize(mechanism.potential_energy, start, method="SLSQP", constraints=held, tol=1e-12)  # type: ignore[call-overload]
    if not lowest.success:
        raise IntegrationError(f"no minimum of the potential energy of {mechanism.name} was found: {lowest.message}")
    return float(mechanism.potential_energy(start) - lowest.fun)


def _closed(runs: dict[str, Motion], neighbours: list[Motion], finer: list[Motion], span: float) -> tuple[Finding, ...]:
    """State changes of the energy relative to ``span`` [J], the energy that the device can lose."""
    variational, other = runs[motions.OURS], runs[motions.BULLET]
    spread = float(np.median([np.ptp(motion.energy) for motion in neighbours]) / span)
    shifts, finer_shifts = ([abs(halves_drift(motion)) / span for motion in motions] for motions in (neighbours, finer))
    shift = float(np.median(shifts))
    gone = float(other.energy[0] - other.energy[-1]) / span
    return (
        stated("range of the energy / energy that can be lost, variational integrator", "near constant energy",
               spread, below(0.05)),
        stated("mean energy, (second half − first half) / energy that can be lost", "near constant energy", shift,
               below(1e-3), f"up to {max(shifts):.2g}: when the arms whip round, a few steps of {STEP:g} s are too "
               f"long to resolve the motion"),
        stated(f"largest change of the mean energy from half to half, h = {STEP / 2.0:g} s", "not in the paper",
               max(finer_shifts), below(1e-3), kind="ours"),
        motions.joined(variational),
        stated(f"energy lost by force balance / the {span:.2f} J that the device can lose",
               "introduces significant damping", gone, above(0.5), "ODE in the paper, PyBullet here"),
        stated("run time, variational integrator / force balance", "ODE outperforms trep by a factor of 10",
               variational.seconds / other.seconds, below(1, "below 1: faster than force balance"),
               "ODE in the paper, PyBullet here; of the same motion, one run after the other", kind="better"),
    )  # fmt: skip


def _closed_chain_table(runs: dict[str, Motion], scale: float) -> pd.DataFrame:
    return pd.DataFrame([{
        "method": name, "energy at the start [J]": motion.energy[0], "at the end [J]": motion.energy[-1],
        "least [J]": motion.energy.min(), "most [J]": motion.energy.max(), "points apart at most [m]": motion.defect,
        "run time of 120 s [s]": motion.seconds * scale, "printed [s]": PRINTED_SECONDS.get(name, math.nan),
    } for name, motion in runs.items()])  # fmt: skip
