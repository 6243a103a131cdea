"""Figure 13: run time of a scissor lift over the number of its segments, at equal error."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy.integrate import cumulative_trapezoid

from biped.errors import IntegrationError
from contact.arrays import Floats
from experiments.engines.pybullet.linkage import LinkageSettings
from experiments.papers.criteria import stated, when
from experiments.papers.figures import plotted
from experiments.papers.item import Finding, Outcome, Progress
from experiments.papers.johnson_murphey_2009 import motions
from experiments.papers.johnson_murphey_2009.motions import Motion, OneDegreeLift
from experiments.papers.johnson_murphey_2009.scissor import ASSUMPTIONS, lift_linkage, lift_mechanism, lift_start
from experiments.visualization.look import style
from formulations.mechanism import Mechanism

SEGMENTS, QUICK_SEGMENTS = (2, 3, 4, 5, 6, 7, 8), (2,)
#: Printed error (47) [rad² s], time [s] at which it is exceeded, and relative tolerance of this time.
ERROR, DESIRED, MARGIN = 0.1, 15.0, 0.01
#: Simulated time [s].
DURATION = 1.1 * DESIRED
#: First time steps [s] of the search, by method; and the least, at which the search stops.
FIRST = {motions.OURS: 0.05, motions.BULLET: 4e-3, motions.BULLET_DIRECT: 4e-3}
LEAST, QUICK_LEAST = 1e-4, 2e-3
#: Interval [s] of PyBullet's samples.
EVERY = 0.05
TRIES = 40


@dataclass(frozen=True)
class Tuned:
    """Run with a time step that is tuned to an error."""

    step: float  # [s]
    reached: float  # [s] time at which the error is exceeded
    seconds: float  # [s] computing time up to the desired time

    @property
    def reached_end(self) -> bool:
        """True if the error is exceeded at the desired time; otherwise the time step would have to be smaller."""
        return abs(self.reached / DESIRED - 1.0) <= MARGIN


def errors(motion: Motion, exact: OneDegreeLift) -> Floats:
    """Return the error (47) over the times of the motion [rad² s]."""
    return np.asarray(cumulative_trapezoid((motion.angle - exact.angle(motion.time)) ** 2, motion.time, initial=0))


def reached(motion: Motion, exact: OneDegreeLift) -> float:
    """Return the time [s] at which the error is exceeded; infinity if it is not exceeded."""
    total = errors(motion, exact)
    k = int(np.searchsorted(total, ERROR))
    if k == len(total):
        return math.inf
    share = (ERROR - total[k - 1]) / (total[k] - total[k - 1])
    return float(motion.time[k - 1] + share * (motion.time[k] - motion.time[k - 1]))


def tuned(run: Callable[[float], Motion], exact: OneDegreeLift, first: float, least: float) -> Tuned:
    """Search for the time step with which the error is exceeded at the desired time.

    Steps change as for a method of second order, by a factor of two at most. Once a step that is too short and one that
    is too long are known, the search continues between them. A step without a solution is too long.
    """
    step = first
    best = Tuned(step, math.inf, math.inf)
    short, long = 0.0, math.inf
    for _ in range(TRIES):
        try:
            motion = run(step)
        except IntegrationError:
            long, change = step, 0.5
        else:
            best = Tuned(step, reached(motion, exact), motion.seconds * DESIRED / float(motion.time[-1]))
            if best.reached_end or (step <= least and best.reached < DESIRED):
                break
            short, long = (max(short, step), long) if best.reached > DESIRED else (short, min(long, step))
            at_end = float(np.interp(DESIRED, motion.time, errors(motion, exact)))
            change = (ERROR / at_end) ** 0.25
        step *= min(2.0, max(0.5, change))
        if not short < step < long:
            step = math.sqrt(short * long)
        step = max(least, step)
    return best


def _variational(mechanism: Mechanism, segments: int, step: float) -> Motion:
    return motions.ours(mechanism, lift_start(segments), "L1", duration=math.ceil(DURATION / step) * step, step=step)


def _bullet(settings: LinkageSettings, segments: int, step: float) -> Motion:
    return motions.bullet(lift_linkage(segments, step, settings), "L1", duration=DURATION, every=EVERY)


def produce(quick: bool, progress: Progress) -> Outcome:
    sizes, least = (QUICK_SEGMENTS, QUICK_LEAST) if quick else (SEGMENTS, LEAST)
    results: dict[tuple[str, int], Tuned] = {}
    for segments in sizes:
        exact = OneDegreeLift(segments)
        ours = partial(_variational, lift_mechanism(segments), segments)
        runs: dict[str, Callable[[float], Motion]] = {motions.OURS: ours}
        runs |= {name: partial(_bullet, settings, segments) for name, settings in motions.BULLETS.items()}
        for name, run in runs.items():
            results[name, segments] = tuned(run, exact, FIRST[name], least)
            progress(len(results) / (len(sizes) * len(runs)))
    assumed = (
        *ASSUMPTIONS,
        "(47) is computed from 0 s on, by the trapezoidal rule over the time steps",
        f"the search stops at a time step of {least:g} s: run times are then lower bounds, shown by open circles",
        motions.BASELINE,
    )
    tables = {"Steps and run times": _table(results)}
    return Outcome(_findings(results, sizes), assumed, tables, {"cost": _draw(results)})


def _findings(results: dict[tuple[str, int], Tuned], sizes: tuple[int, ...]) -> tuple[Finding, ...]:
    def ratios(other: str) -> list[float]:
        return [results[other, n].seconds / results[motions.OURS, n].seconds for n in sizes]

    def text(values: list[float]) -> str:
        return ", ".join(f"{value:.3g} at {n}" for n, value in zip(sizes, values, strict=True))

    times, direct = ratios(motions.BULLET), ratios(motions.BULLET_DIRECT)
    runs = [results[motions.OURS, n] for n in sizes]
    return (
        stated("time at which the error of the variational integrator reaches 0.1 rad² s [s]", DESIRED,
               ", ".join(f"{run.reached:.2f}" for run in runs), when("within 1%", all(run.reached_end for run in runs)),
               "the time step was tuned to it", kind="chosen"),
        stated("run time, force balance / variational integrator",
               "it does not perform as well as the variational integrator", text(times),
               when("above 1 at every size", min(times) > 1.0),
               "ODE in the paper, PyBullet here; a lower bound if the least time step is not small enough"),
        stated("run time, force balance, direct solver / variational integrator", "not in the paper", text(direct),
               when("above 1 at every size", min(direct) > 1.0), kind="ours"),
    )  # fmt: skip


def _table(results: dict[tuple[str, int], Tuned]) -> pd.DataFrame:
    return pd.DataFrame([{
        "method": name, "segments": segments, "h [s]": run.step, "error of 0.1 at [s]": run.reached,
        "run time of 15 s [s]": run.seconds, "tuned": "yes" if run.reached_end else "no: a lower bound",
    } for (name, segments), run in results.items()])  # fmt: skip


def _draw(results: dict[tuple[str, int], Tuned]) -> Figure:
    title = "A scissor lift for 15 s, with time steps for an error (47) of 0.1 rad² s"
    with plotted(title, "segments", "run time [s]", (7.0, 4.2)) as (figure, axes):
        for name, color in motions.COLORS.items():
            runs = {segments: run for (method, segments), run in results.items() if method == name}
            axes.semilogy(list(runs), [run.seconds for run in runs.values()], "-", color=color, label=name)
            for segments, run in runs.items():
                fill = color if run.reached_end else "white"
                axes.semilogy(segments, run.seconds, "o", ms=5, color=color, mfc=fill)
        if not all(run.reached_end for run in results.values()):
            axes.plot([], [], "o", ms=5, color=style.GREY, mfc="white", label="lower bound")
        axes.set_xticks(sorted({segments for _, segments in results}))
        axes.margins(x=0.03)
    return figure
