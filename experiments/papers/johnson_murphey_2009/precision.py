"""Error against cost on the scissor lift: the variational integrator, explicit methods on equation (36), and PyBullet.

Not in the paper, whose figure 13 has one error alone.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from biped.errors import IntegrationError
from contact.arrays import Floats
from experiments.papers.criteria import above, near, stated, when
from experiments.papers.figures import plotted
from experiments.papers.item import Finding, Outcome, Progress
from experiments.papers.johnson_murphey_2009 import motions
from experiments.papers.johnson_murphey_2009.motions import OneDegreeLift
from experiments.papers.johnson_murphey_2009.scissor import (
    ASSUMPTIONS,
    SEGMENTS,
    lift_linkage,
    lift_mechanism,
    lift_start,
)
from experiments.timing import halved, slope
from experiments.visualization.figures import style
from formulations.mechanism import Mechanism, integrate
from formulations.mechanism import Motion as MechanismMotion

DURATION = 10.0
#: [s] between two looks.
EVERY = 0.2
RK4, DOP853 = "RK4 on (36)", "DOP853 on (36)"
#: [s] the steps; of DOP853, which chooses its own, the tolerances.
STEPS = {
    motions.OURS: halved(0.04, 6),
    RK4: halved(0.01, 5),
    DOP853: (1e-3, 1e-5, 1e-7, 1e-9, 1e-11),
    motions.BULLET: halved(0.01, 7),
    motions.BULLET_DIRECT: halved(0.01, 7),
}
QUICK_STEPS = {
    motions.OURS: halved(0.02, 3),
    RK4: halved(0.01, 3),
    DOP853: (1e-6,),
    motions.BULLET: (0.01,),
    motions.BULLET_DIRECT: (0.01, 0.005),
}
REPEATS, QUICK_REPEATS = 3, 3
METHOD_COLORS = motions.COLORS | {RK4: style.RED, DOP853: style.ORANGE}
#: [rad] at which costs are compared.
LEVEL = 1e-3
#: [rad] of an error by which a motion is another one.
ASTRAY = 0.5


@dataclass(frozen=True)
class Point:
    """A run that came to its end."""

    setting: float  # [s] the step, or the tolerance
    error: float  # [rad] the greatest of the angle
    defect: float  # [m] how far apart points were that are one, at most
    seconds: float  # [s] of the steps alone


def produce(quick: bool, progress: Progress) -> Outcome:
    settings, repeats = (QUICK_STEPS, QUICK_REPEATS) if quick else (STEPS, REPEATS)
    runs = methods(lift_mechanism(SEGMENTS))
    cases = [(name, value) for name, values in settings.items() for value in values]
    tried: dict[tuple[str, float], list[Point]] = {case: [] for case in cases}
    failed: dict[tuple[str, float], str] = {}
    for done, (name, value) in enumerate(cases * repeats, 1):  # in turn, so that all meet what else the machine does
        try:
            tried[name, value].append(runs[name](value))
        except IntegrationError as error:  # a result too
            failed[name, value] = str(error)
        progress(done / (len(cases) * repeats))
    found: dict[str, list[Point]] = {name: [] for name in settings}
    for (name, _), points in tried.items():
        found[name] += [min(points, key=lambda point: point.seconds)] if points else []
    assumed = (
        *ASSUMPTIONS,
        f"the greatest error of the angle in {DURATION:g} s, at every {EVERY:g} s; the steps alone are timed, the "
        f"least of {repeats} runs, all in turn",
        "explicit methods integrate the accelerations of (36), compiled like the variational integrator and by "
        "the same recursions in linear time; nothing brings them back to the constraints",
        "where the links hang straight down, the two of a segment lie on one another and the constraints depend on "
        "each other: (36) cannot be solved there. A method whose steps shrink on the way there ends, one of fixed "
        "steps loses digits or is thrown off if a step ends near; the variational integrator passes over the place",
        motions.BASELINE,
    )
    return Outcome(_findings(found, settings), assumed, {"Runs": _table(found, failed)}, {"error-cost": _draw(found)})


def methods(mechanism: Mechanism) -> dict[str, Callable[[float], Point]]:
    """Return the methods by name: each runs with a step or a tolerance."""
    q, exact = lift_start(SEGMENTS), OneDegreeLift(SEGMENTS)
    mechanism.simulate(EVERY, EVERY / 20.0, q=q)  # compiled before the clock starts, as is what follows
    integrate(mechanism, EVERY, EVERY / 20.0, method="rk4", q=q)

    def point(setting: float, motion: MechanismMotion) -> Point:
        time, angle = motion.frame["time"].to_numpy(), motion.frame["angle_L1"].to_numpy()
        defect = float(motion.constraint_errors.max())
        return Point(setting, _error(time, angle, exact), defect, float(motion.summary["wall_time"]))

    def variational(step: float) -> Point:
        return point(step, mechanism.simulate(DURATION, step, q=q, record_every=round(EVERY / step)))

    def rk4(step: float) -> Point:
        return point(step, integrate(mechanism, DURATION, step, method="rk4", q=q, record_every=round(EVERY / step)))

    def dop853(tolerance: float) -> Point:
        return point(tolerance, integrate(mechanism, DURATION, EVERY, method="dop853", q=q, tolerance=tolerance))

    def engine(name: str, step: float) -> Point:
        motion = motions.bullet(
            lift_linkage(SEGMENTS, step, motions.BULLETS[name]), "L1", duration=DURATION, every=EVERY
        )
        return Point(step, _error(motion.time, motion.angle, exact), motion.defect, motion.seconds)

    return {motions.OURS: variational, RK4: rk4, DOP853: dop853} | {
        name: partial(engine, name) for name in motions.BULLETS
    }


def _error(time: Floats, angle: Floats, exact: OneDegreeLift) -> float:
    return float(np.abs(angle - exact.angle(time)).max())


def order(points: Sequence[Point]) -> float:
    """Return the power of the step that the error falls with, over the three finest that rounding does not touch."""
    clean = [point for point in points if point.error > 1e-9][-3:]
    return slope([point.setting for point in clean], [point.error for point in clean])


def cost_at(points: Sequence[Point], level: float) -> float:
    """Return what an error of this size costs [s], by the logarithms of the nearest two runs."""
    ranked = sorted(points, key=lambda point: abs(np.log(point.error / level)))[:2]
    (x0, y0), (x1, y1) = ((np.log(point.error), np.log(point.seconds)) for point in ranked)
    return float(np.exp(y0 + (np.log(level) - x0) * (y1 - y0) / (x1 - x0)))


def _findings(found: dict[str, list[Point]], settings: Mapping[str, Sequence[float]]) -> tuple[Finding, ...]:
    own = order(found[motions.OURS])
    drift, kept = (max(point.defect for point in found[name]) for name in (RK4, motions.OURS))
    through = {name: sum(point.error < ASTRAY for point in points) for name, points in found.items()}
    ended = [f"{through[name]} of {len(settings[name])} by {name}" for name in (motions.OURS, RK4, DOP853)]
    complete = through[motions.OURS] == len(settings[motions.OURS])
    costs = {name: cost_at(found[name], LEVEL) for name in (motions.OURS, motions.BULLET_DIRECT, RK4)}
    engine, explicit = (costs[name] / costs[motions.OURS] for name in (motions.BULLET_DIRECT, RK4))
    return (
        stated("order, variational integrator", "second order accuracy", own, near(2, 0.05)),
        stated("runs that come through the place where the constraints depend on each other", "not in the paper",
               "; ".join(ended), when("all by the variational integrator", complete), kind="ours"),
        stated("points apart that should be one, at most, variational integrator and RK4 [m]",
               "simulations by (36) tend to violate the constraints", f"{kept:.2g} and {drift:.2g}",
               when("a thousandth with the variational integrator", kept < 1e-3 * drift)),
        stated(f"run time for an error of {LEVEL:g} rad, PyBullet with its direct solver over variational",
               "not in the paper", engine, above(1), kind="ours"),
        stated(f"run time for an error of {LEVEL:g} rad, RK4 over variational", "not in the paper", explicit, above(1),
               "a method of order 4 is cheaper the smaller the error that is wanted, where its run comes to an end",
               kind="ours"),
    )  # fmt: skip


def _table(found: dict[str, list[Point]], failed: dict[tuple[str, float], str]) -> pd.DataFrame:
    rows = [
        {
            "method": name,
            "h [s], or tolerance": point.setting,
            "greatest error [rad]": point.error,
            "points apart at most [m]": point.defect,
            "run time [s]": point.seconds,
            "ended early": "",
        }
        for name, points in found.items()
        for point in points
    ]
    rows += [
        {"method": name, "h [s], or tolerance": setting, "ended early": why} for (name, setting), why in failed.items()
    ]
    return pd.DataFrame(rows)


def _draw(found: dict[str, list[Point]]) -> Figure:
    title = f"A scissor lift of {SEGMENTS} segments for {DURATION:g} s"
    with plotted(title, "run time [s]", "greatest error of the angle [rad]", (7.0, 4.4)) as (figure, axes):
        for name, points in found.items():
            if not points:
                axes.plot([], [], "x", color=METHOD_COLORS[name], label=f"{name}: no run comes to its end")
                continue
            times, errors = ([getattr(point, what) for point in points] for what in ("seconds", "error"))
            axes.loglog(times, errors, "o-", ms=4, color=METHOD_COLORS[name], label=name)
        axes.margins(x=0.05)
    return figure
