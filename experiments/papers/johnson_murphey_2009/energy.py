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
from formulations.mechanism import Mechanism
from formulations.mechanism.examples import (
    CLOSED_CHAIN_PINS,
    CLOSED_CHAIN_START,
    closed_chain_device,
    closed_chain_frames,
    n_link_pendulum,
    pendulum_frames,
)

#: [s] duration, and interval of the energy samples.
STEP, EVERY = 0.01, 0.1
#: [s] of the pendulum's motion; [m], [kg], [kg m²] and [rad].
SWINGING, QUICK_SWINGING = 5000.0, 200.0
LENGTH, MASS, INERTIA, START = 1.0, 1.0, 0.1, math.pi / 4.0
LOWEST = -MASS * 9.81 * LENGTH
#: [s] of the device's motion. It is chaotic: what is said of its energy is of so many that begin beside each other, by
#: shifts [rad] of K.
DURATION, QUICK_DURATION, NEIGHBOURS, SHIFT = 120.0, 12.0, 9, 1e-9
#: [s] printed, of 120 s, by what stands for it here.
PRINTED_SECONDS = {motions.OURS: 22.1, motions.BULLET: 1.86}


def pendulum_energy(quick: bool, progress: Progress) -> Outcome:
    duration, q = QUICK_SWINGING if quick else SWINGING, {"J1": START}
    mechanism = n_link_pendulum(1, length=LENGTH, mass=MASS, inertia=INERTIA)
    own = motions.ours(
        mechanism, q, "J1", duration=duration, step=STEP, every=round(EVERY / STEP), progress=part(progress, 0, 2)
    )
    linkage = Linkage([pendulum_frames(1, LENGTH, (MASS, INERTIA, INERTIA, INERTIA))], q, step=STEP)
    other = motions.bullet(linkage, "J1", duration=duration, every=EVERY, progress=part(progress, 1, 2))
    found = {motions.OURS: own, motions.BULLET: other}
    assumed = (
        f"the pendulum, of which nothing is printed: {MASS:g} kg and {INERTIA:g} kg m² {LENGTH:g} m below the hinge, "
        "released at 45°, as the pendulum of section VI-A",
        f"{duration:g} s; energies are compared above that of the pendulum at rest",
        motions.BASELINE,
    )
    figures = {"energy": _draw("A pendulum, h = 0.01 s", "energy above rest [J]", found, height, 1.0)}
    figures["energy"].axes[0].set_ylim(bottom=0.0)
    return Outcome(_swinging(found), assumed, {"Energy above rest": _pendulum_table(found)}, figures)


def height(motion: Motion) -> Floats:
    """Return the energy above that of the pendulum at rest [J]."""
    return motion.energy - LOWEST


def tenths_drift(motion: Motion) -> float:
    """Return the mean energy of the last tenth of the run less that of the first, over the energy at the start."""
    energy = height(motion)
    tenth = len(energy) // 10
    return float((energy[-tenth:].mean() - energy[:tenth].mean()) / energy[0])


def _swinging(found: dict[str, Motion]) -> tuple[Finding, ...]:
    own, other = found[motions.OURS], found[motions.BULLET]
    energy = height(own)
    tenth = len(energy) // 10
    widening = float(np.ptp(energy[-tenth:]) / np.ptp(energy[:tenth]))
    left = float(height(other)[-1] / height(other)[0])
    return (
        stated("range of the energy relative to the start, variational integrator",
               "does not perfectly conserve energy at each step", float(np.ptp(energy) / energy[0]),
               when("above 1e-9 and below 1e-3", 1e-9 < np.ptp(energy) / energy[0] < 1e-3)),
        stated("drift of the mean energy relative to the start, variational integrator",
               "maintains the correct average energy", tenths_drift(own), smaller(1e-6)),
        stated("range of the energy, last tenth of the run over the first", "maintains the correct average energy",
               widening, within(1.0, 0.01)),
        stated("energy at the end relative to the start, force balance", "slowly dissipates energy over time",
               left, below(0.9), "ODE in the paper, PyBullet here"),
    )  # fmt: skip


def _pendulum_table(found: dict[str, Motion]) -> pd.DataFrame:
    return pd.DataFrame([{
        "method": name, "at the start [J]": height(motion)[0], "at the end [J]": height(motion)[-1],
        "least [J]": height(motion).min(), "most [J]": height(motion).max(),
        "drift of the mean, of the start": tenths_drift(motion), "run time [s]": motion.seconds,
    } for name, motion in found.items()])  # fmt: skip


def _draw(title: str, label: str, found: dict[str, Motion], of: Callable[[Motion], Floats], width: float) -> Figure:
    curves = [Curve(found[name].time, of(found[name]), name, motions.COLORS[name], width=width) for name in found]
    return drawn((title, "time [s]", label), curves[::-1])


def closed_chain_energy(quick: bool, progress: Progress) -> Outcome:
    duration = QUICK_DURATION if quick else DURATION
    mechanism = closed_chain_device()
    starts = [_start(mechanism, number * SHIFT) for number in range(NEIGHBOURS)]
    beside, finer = (
        [motions.ours(mechanism, q, "J", duration=duration, step=h) for q in starts] for h in (STEP, STEP / 2.0)
    )
    q, found = starts[0], {motions.OURS: beside[0]}
    progress(1.0 / 3.0)
    for number, (label, settings) in enumerate(motions.BULLETS.items(), start=1):
        linkage = Linkage(closed_chain_frames(), q, CLOSED_CHAIN_PINS, step=STEP, settings=settings)
        found[label] = motions.bullet(linkage, "J", duration=duration, every=EVERY, progress=part(progress, number, 3))
    assumed = (
        "start, which is not printed: the angles of the authors' program (examples/pccd.py), moved onto the "
        "constraints, at rest; its damping and its g of 9.8 are not the paper's",
        f"{duration:g} s; run times are shown for {DURATION:g} s; ours with all that is recorded at every "
        "step, PyBullet's of its steps alone; those printed are trep's and ODE's, on the authors' machine",
        f"the motion is chaotic: of {NEIGHBOURS} that begin within {(NEIGHBOURS - 1) * SHIFT:g} rad the middle value "
        "is given; the figure shows the first",
        motions.POINTS,
        motions.BASELINE,
    )
    scale = DURATION / duration
    figures = {"energy": _draw("The closed-chain device, h = 0.01 s", "energy [J]", found, lambda one: one.energy, 1.2)}
    figures["energy"].axes[0].margins(y=0.1)
    tables = {"Energy and run time": _closed_chain_table(found, scale)}
    return Outcome(_closed(found, beside, finer, available(mechanism, q)), assumed, tables, figures)


def _start(mechanism: Mechanism, shift: float) -> dict[str, float]:
    """Return a start on the constraints, near that of the authors' program with K shifted [rad]."""
    near = {**CLOSED_CHAIN_START, "K": CLOSED_CHAIN_START["K"] + shift}
    return dict(zip(mechanism.coordinates, mechanism.satisfy_constraints(near).tolist(), strict=True))


def halves_drift(motion: Motion) -> float:
    """Return the mean energy of the second half less that of the first [J]."""
    half = len(motion.energy) // 2
    return float(motion.energy[half:].mean() - motion.energy[:half].mean())


def available(mechanism: Mechanism, q: dict[str, float]) -> float:
    """Return the energy that a mechanism at rest at q can lose [J]: its potential energy less the minimum."""
    start = mechanism.configuration(q)
    held = {"type": "eq", "fun": mechanism.constraint_values, "jac": mechanism.constraint_jacobian}
    found: Any = minimize(mechanism.potential_energy, start, method="SLSQP", constraints=held, tol=1e-12)  # type: ignore[call-overload]
    if not found.success:
        raise IntegrationError(f"the least potential energy of {mechanism.name} is not found: {found.message}")
    return float(mechanism.potential_energy(start) - found.fun)


def _closed(found: dict[str, Motion], beside: list[Motion], finer: list[Motion], span: float) -> tuple[Finding, ...]:
    """State the energy lost and kept, relative to the energy that the device can lose, ``span`` [J]."""
    own, other = found[motions.OURS], found[motions.BULLET]
    spread = float(np.median([np.ptp(motion.energy) for motion in beside]) / span)
    shifts, finer_shifts = ([abs(halves_drift(motion)) / span for motion in motions] for motions in (beside, finer))
    shift = float(np.median(shifts))
    gone = float(other.energy[0] - other.energy[-1]) / span
    return (
        stated("range of the energy relative to the losable energy, variational integrator", "near constant energy",
               spread, below(0.05)),
        stated("mean energy of the second half less that of the first, likewise", "near constant energy", shift,
               below(1e-3), f"up to {max(shifts):.2g}: where the arms whip round, a few steps of {STEP:g} s are too "
               f"long to resolve it"),
        stated(f"the same with h = {STEP / 2.0:g} s, the worst", "not in the paper", max(finer_shifts), below(1e-3),
               kind="ours"),
        motions.joined(own),
        stated(f"energy lost by force balance, of the {span:.2f} J that the device can lose",
               "introduces significant damping", gone, above(0.5), "ODE in the paper, PyBullet here"),
        stated("run time, variational integrator over force balance", "ODE outperforms trep by a factor of 10",
               own.seconds / other.seconds, below(1, "below 1: faster than force balance"),
               "ODE in the paper, PyBullet here; of the same motion, one after the other", kind="better"),
    )  # fmt: skip


def _closed_chain_table(found: dict[str, Motion], scale: float) -> pd.DataFrame:
    return pd.DataFrame([{
        "method": name, "energy at the start [J]": motion.energy[0], "at the end [J]": motion.energy[-1],
        "least [J]": motion.energy.min(), "most [J]": motion.energy.max(), "points apart at most [m]": motion.defect,
        "run time of 120 s [s]": motion.seconds * scale, "printed [s]": PRINTED_SECONDS.get(name, math.nan),
    } for name, motion in found.items()])  # fmt: skip
