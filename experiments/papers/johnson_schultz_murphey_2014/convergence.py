"""Figure 3: convergence of an optimization with second derivatives, and with only first derivatives."""

import math
import time

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from biped.optimal import Iteration, Optimum, QuadraticCost, Trajectory, descent_direction, optimize, rollout
from biped.optimal.trajectory import Method
from contact.arrays import Floats
from experiments.papers.criteria import below, stated, when, within
from experiments.papers.figures import plotted
from experiments.papers.item import Finding, Outcome, Progress
from experiments.papers.johnson_schultz_murphey_2014.pendulum import pendulum
from experiments.timing import Spread, interleaved, one_core, seconds
from experiments.visualization.look import style
from formulations.mechanism import DiscreteMechanism

#: Number of time steps N of (35).
STEPS = 100
#: Costs of q and p, and cost of u.
STATE_COST, INPUT_COST = (1000.0, 1.0), 50.0
#: Number of quasi-Newton iterations before Newton's; tolerance of the cost's slope.
FIRST, TOLERANCE = 4, 1e-6
ASSUMPTIONS = (
    f"not printed, but as in the authors' program: costs Q = diag({STATE_COST[0]:g}, {STATE_COST[1]:g}), "
    f"R = {INPUT_COST:g}, final cost Q; {FIRST} quasi-Newton iterations first; the search starts at rest",
    f"converged: the cost's slope along the descent direction is below {TOLERANCE:g}",
)


def desired() -> Trajectory:
    """Return (35), an impossible motion: hanging for half of the time, then upright."""
    x = np.zeros((STEPS + 1, 2))
    x[STEPS // 2 :, 0] = math.pi
    return Trajectory(x, np.zeros((STEPS, 1)))


def cost() -> QuadraticCost:
    """Return the quadratic cost of the deviations of states and inputs from the desired trajectory, ``desired()``."""
    return QuadraticCost(desired(), np.diag(STATE_COST), np.diag([INPUT_COST]))


def search(
    system: DiscreteMechanism, method: Method, most: int = 1000, progress: Progress = lambda _: None, expected: int = 14
) -> Optimum:
    """Return the feasible trajectory nearest to ``desired``; ``progress`` is relative to ``expected`` iterations."""
    start = rollout(system, np.zeros(2), desired().u)
    done = 0

    def after(_: Iteration) -> None:
        nonlocal done
        done += 1
        progress(min(1.0, done / expected))

    return optimize(
        system, cost(), start, method=method, first_iterations=FIRST, tolerance=TOLERANCE, max_iterations=most,
        progress=after,
    )  # fmt: skip


#: Printed numbers of iterations, and allowed relative difference of ours for steepest descent.
NEWTON, STEEPEST, NEAR = 14, 653, 0.02
#: Printed times [ms] of a descent direction, and printed ratio of the times of both searches.
DIRECTIONS = {"steepest": 28.5, "newton": 55.8}
SHARE = 0.04
#: Number of iterations after which a short version stops steepest descent.
QUICK_MOST = 30
REPEATS, QUICK_REPEATS = 20, 2
SECOND_ORDER, FIRST_ORDER = "second order (Newton)", "first order (steepest descent)"


def produce(quick: bool, progress: Progress) -> Outcome:
    system = pendulum()
    most = QUICK_MOST if quick else 2 * STEEPEST
    begin = time.process_time()
    optima = {SECOND_ORDER: search(system, "newton", progress=lambda done: progress(0.05 * done), expected=NEWTON)}
    between = time.process_time()
    optima[FIRST_ORDER] = search(
        system, "steepest", most, lambda done: progress(0.05 + 0.9 * done), expected=min(most, STEEPEST)
    )
    share = (between - begin) / (time.process_time() - between)
    times = _directions(system, optima[SECOND_ORDER], QUICK_REPEATS if quick else REPEATS)
    progress(1.0)
    findings = (*_iterations(optima), *_times(times, None if quick else share))
    assumed = (*ASSUMPTIONS, "times are processor times on one core; descent directions are computed at the optimum")
    tables = {"Iterations": _table(optima), "Descent directions": _table_of(times)}
    return Outcome(findings, assumed, tables, {"convergence": _draw(optima)})


def slopes(optimum: Optimum) -> Floats:
    """Return the cost's slope along the descent direction before each iteration and at the end, (iterations + 1,)."""
    return np.abs([*(iteration.slope for iteration in optimum.history), optimum.slope])


def _directions(system: DiscreteMechanism, optimum: Optimum, repeats: int) -> dict[str, Spread]:
    """Return times of a descent direction by method [ms]."""

    def timed(method: str) -> float:
        return 1e3 * seconds(lambda: descent_direction(system, cost(), optimum.path, method), time.process_time)  # type: ignore[arg-type]

    with one_core():
        taken = interleaved({method: lambda method=method: timed(method) for method in DIRECTIONS}, repeats)  # type: ignore[misc]
    return {method: Spread.of(values) for method, values in taken.items()}


def _iterations(optima: dict[str, Optimum]) -> tuple[Finding, ...]:
    fast, slow = optima[SECOND_ORDER], optima[FIRST_ORDER]
    count = len(slow.history)
    first = stated("iterations of the second-order search", float(NEWTON), float(len(fast.history)),
                   when("the same", fast.converged and len(fast.history) == NEWTON))  # fmt: skip
    if not slow.converged:
        return first, stated("iterations of the first-order search", f"{STEEPEST}: vastly more", f"more than {count}",
                             when("more than twice those of the second-order search", count > 2 * NEWTON),
                             "stopped there, as a short version")  # fmt: skip
    apart = float(np.abs(slow.path.x - fast.path.x).max())
    return (
        first,
        stated("iterations of the first-order search", float(STEEPEST), float(count), within(STEEPEST, NEAR)),
        stated("largest difference of the two trajectories [rad or N·m·s]", "the same feasible trajectory", apart,
               below(1e-3)),
    )  # fmt: skip


def _times(times: dict[str, Spread], share: float | None) -> tuple[Finding, ...]:
    ours = {name: spread.median for name, spread in times.items()}
    printed, ratio = (some["newton"] / some["steepest"] for some in (DIRECTIONS, ours))
    findings = [
        stated("time of a descent direction, second order / first order", printed, ratio,
               below(printed, "below the printed value"), kind="better"),
    ]  # fmt: skip
    if share is not None:
        quantity = "time of the second-order search / time of the first-order search"
        findings.append(stated(quantity, SHARE, share, below(SHARE, "below the printed value"), kind="better"))
    return tuple(findings)


def _table(optima: dict[str, Optimum]) -> pd.DataFrame:
    return pd.DataFrame([{
        "search": name, "iteration": k, "slope": slope, "method": method,
    } for name, optimum in optima.items()
      for k, (slope, method) in enumerate(zip(slopes(optimum), [*(s.method for s in optimum.history), ""], strict=True))
    ])  # fmt: skip


def _table_of(times: dict[str, Spread]) -> pd.DataFrame:
    return pd.DataFrame([{
        "method": method, "published [ms]": DIRECTIONS[method], "ours [ms]": spread.median, "least [ms]": spread.least,
    } for method, spread in times.items()])  # fmt: skip


def _draw(optima: dict[str, Optimum]) -> Figure:
    with plotted("A pendulum's swing-up, N = 100", "iteration", "slope of the cost") as (figure, axes):
        for name, color in ((FIRST_ORDER, style.GREY), (SECOND_ORDER, style.BLUE)):
            axes.loglog(np.arange(1, len(slopes(optima[name])) + 1), slopes(optima[name]), color=color, label=name)
        axes.set_ylim(bottom=1e-4 * TOLERANCE)
        axes.axhline(TOLERANCE, lw=0.8, color=style.BLACK, ls=":")
    return figure
