"""Figure 8: the energy of a device with two closed chains, and what 120 s of it cost."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from biped.mechanism import Mechanism
from biped.mechanism.examples import CLOSED_CHAIN_PINS, CLOSED_CHAIN_START, closed_chain_device, closed_chain_frames
from experiments.engines.pybullet.linkage import Linkage
from experiments.papers.criteria import above, below, no_longer, no_more, stated, within_factor
from experiments.papers.figures import plotted
from experiments.papers.item import Finding, Item, Outcome, Progress
from experiments.papers.johnson_murphey_2009.motion import (
    BASELINE,
    BULLET,
    BULLETS,
    COLORS,
    OURS,
    POINTS,
    Motion,
    bullet,
    in_turn,
    joined,
    ours,
)

DURATION, QUICK_DURATION, STEP = 120.0, 12.0, 0.01
#: [s] between two looks at PyBullet's energy.
EVERY = 0.1
#: The motion is chaotic: what is said of its energy is of so many that begin beside each other, by shifts [rad] of K.
NEIGHBOURS, SHIFT = 9, 1e-9
#: [s] printed, of 120 s.
TREP_SECONDS, ODE_SECONDS = 22.1, 1.86


def produce(quick: bool, progress: Progress) -> Outcome:
    duration = QUICK_DURATION if quick else DURATION
    mechanism = closed_chain_device()
    starts = [_start(mechanism, number * SHIFT) for number in range(NEIGHBOURS)]
    beside, finer = ([ours(mechanism, q, "J", duration=duration, step=h) for q in starts] for h in (STEP, STEP / 2.0))
    q, found = starts[0], {OURS: beside[0]}
    progress(1.0 / 3.0)
    for number, (label, settings) in enumerate(BULLETS.items(), start=1):
        linkage = Linkage(closed_chain_frames(), q, CLOSED_CHAIN_PINS, step=STEP, settings=settings)
        found[label] = bullet(linkage, "J", duration=duration, every=EVERY, progress=in_turn(progress, number, 3))
    assumed = (
        "start, which is not printed: the angles of the authors' program (examples/pccd.py), moved onto the "
        "constraints, at rest; its damping and its g of 9.8 are not the paper's",
        f"{duration:g} s; run times are shown for {DURATION:g} s; ours with all that is recorded at every "
        "step, PyBullet's of its steps alone",
        f"the motion is chaotic: of {NEIGHBOURS} that begin within {(NEIGHBOURS - 1) * SHIFT:g} rad the middle value "
        "is given; the figure shows the first",
        POINTS,
        BASELINE,
    )
    scale = DURATION / duration
    return Outcome(
        _findings(found, beside, finer, scale),
        assumed,
        {"Energy and run time": _table(found, scale)},
        {"energy": _draw(found)},
    )


def _start(mechanism: Mechanism, shift: float) -> dict[str, float]:
    """Return a start on the constraints, near that of the authors' program with K shifted [rad]."""
    near = {**CLOSED_CHAIN_START, "K": CLOSED_CHAIN_START["K"] + shift}
    return dict(zip(mechanism.coordinates, mechanism.satisfy_constraints(near).tolist(), strict=True))


def drift(motion: Motion) -> float:
    """Return the mean energy of the second half less that of the first [J]."""
    half = len(motion.energy) // 2
    return float(motion.energy[half:].mean() - motion.energy[:half].mean())


def lost(motion: Motion, span: float) -> float:
    """Return how much of its energy a motion has lost at the end, of what it has above the lowest reached by any."""
    return float((motion.energy[0] - motion.energy[-1]) / span)


def span_of(found: dict[str, Motion]) -> float:
    """Return the difference between the energy at the start and the lowest that any motion reaches [J]."""
    return float(found[OURS].energy[0] - min(motion.energy.min() for motion in found.values()))


def _findings(found: dict[str, Motion], beside: list[Motion], finer: list[Motion], scale: float) -> tuple[Finding, ...]:
    own, other = found[OURS], found[BULLET]
    span = span_of(found)
    spread = float(np.median([np.ptp(motion.energy) for motion in beside]) / span)
    shifts, finer_shifts = ([abs(drift(motion)) / span for motion in motions] for motions in (beside, finer))
    shift = float(np.median(shifts))
    gone = lost(other, span)
    ratio = own.seconds / other.seconds
    return (
        stated("range of the energy, variational integrator, of what PyBullet loses in all", "near constant energy",
               spread, below(0.05)),
        stated("mean energy of the second half less that of the first, likewise", "near constant energy", shift,
               below(1e-3), f"up to {max(shifts):.2g}: where the arms whip round, a few steps of {STEP:g} s are too "
               f"long to resolve it"),
        stated(f"the same with h = {STEP / 2.0:g} s, the worst", "not in the paper", max(finer_shifts), below(1e-3)),
        joined(own),
        stated("energy lost by force balance, likewise", "introduces significant damping", gone, above(0.5),
               "ODE in the paper, PyBullet here"),
        stated("run time of 120 s, variational integrator [s]", TREP_SECONDS, own.seconds * scale,
               no_longer(TREP_SECONDS), "on another machine"),
        stated("run time of 120 s, force balance [s]", ODE_SECONDS, other.seconds * scale,
               within_factor(ODE_SECONDS, 4),
               "ODE in the paper, PyBullet here, on another machine"),
        stated("run time, variational integrator over force balance", TREP_SECONDS / ODE_SECONDS, ratio,
               no_more(TREP_SECONDS / ODE_SECONDS),
               "the linear-time recursions turn the paper's one drawback round" if ratio < 1.0 else ""),
    )  # fmt: skip


def _table(found: dict[str, Motion], scale: float) -> pd.DataFrame:
    return pd.DataFrame([{
        "method": name, "energy at the start [J]": motion.energy[0], "at the end [J]": motion.energy[-1],
        "least [J]": motion.energy.min(), "most [J]": motion.energy.max(), "points apart at most [m]": motion.defect,
        "run time of 120 s [s]": motion.seconds * scale,
    } for name, motion in found.items()])  # fmt: skip


def _draw(found: dict[str, Motion]) -> Figure:
    with plotted("The closed-chain device, h = 0.01 s", "time [s]", "energy [J]") as (figure, axes):
        for name in reversed(found):
            axes.plot(found[name].time, found[name].energy, lw=1.2, color=COLORS[name], label=name)
        axes.margins(y=0.1)
    return figure


ITEM = Item(
    "figure-8", "energy of the closed-chain device over 120 s", "Johnson and Murphey 2009, figures 6 and 8, listing 1",
    produce, ("pybullet",),
)  # fmt: skip
