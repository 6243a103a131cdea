"""Figure 3: how a search with second derivatives and one with first derivatives alone converge."""

import time

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from biped.optimal import Optimum, descent_direction
from contact.arrays import Floats
from experiments.papers.criteria import below, stated, when, within
from experiments.papers.figures import plotted
from experiments.papers.item import Finding, Outcome, Progress
from experiments.papers.johnson_schultz_murphey_2014.pendulum import pendulum
from experiments.papers.johnson_schultz_murphey_2014.swing_up import ASSUMPTIONS, TOLERANCE, cost, search
from experiments.timing import Spread, interleaved, one_core, seconds
from experiments.visualization.figures import style
from formulations.mechanism import DiscreteMechanism

#: Iterations printed, and by how much ours of the slow search may differ.
NEWTON, STEEPEST, NEAR = 14, 653, 0.02
#: [ms] printed of a descent direction, and of the whole searches' times one over the other.
DIRECTIONS = {"steepest": 28.5, "newton": 55.8}
SHARE = 0.04
#: After so many iterations a short version gives the slow search up.
QUICK_MOST = 30
REPEATS, QUICK_REPEATS = 20, 2
SECOND, FIRST = "second order (Newton)", "first order (steepest descent)"


def produce(quick: bool, progress: Progress) -> Outcome:
    system = pendulum()
    most = QUICK_MOST if quick else 2 * STEEPEST
    begin = time.process_time()
    found = {SECOND: search(system, "newton", progress=lambda done: progress(0.05 * done), expected=NEWTON)}
    between = time.process_time()
    found[FIRST] = search(
        system, "steepest", most, lambda done: progress(0.05 + 0.9 * done), expected=min(most, STEEPEST)
    )
    share = (between - begin) / (time.process_time() - between)
    times = _directions(system, found[SECOND], QUICK_REPEATS if quick else REPEATS)
    progress(1.0)
    findings = (*_iterations(found), *_times(times, None if quick else share))
    assumed = (*ASSUMPTIONS, "times are the processor's, of one core; of descent directions at the optimum")
    tables = {"Iterations": _table(found), "Descent directions": _table_of(times)}
    return Outcome(findings, assumed, tables, {"convergence": _draw(found)})


def slopes(found: Optimum) -> Floats:
    """Return the cost's slopes along the descent direction, before each iteration and at the end, (iterations + 1,)."""
    return np.abs([*(one.slope for one in found.history), found.slope])


def _directions(system: DiscreteMechanism, found: Optimum, repeats: int) -> dict[str, Spread]:
    """Return times of a descent direction by method [ms]."""

    def timed(method: str) -> float:
        return 1e3 * seconds(lambda: descent_direction(system, cost(), found.path, method), time.process_time)  # type: ignore[arg-type]

    with one_core():
        taken = interleaved({method: lambda method=method: timed(method) for method in DIRECTIONS}, repeats)  # type: ignore[misc]
    return {method: Spread.of(values) for method, values in taken.items()}


def _iterations(found: dict[str, Optimum]) -> tuple[Finding, ...]:
    fast, slow = found[SECOND], found[FIRST]
    count = len(slow.history)
    first = stated("iterations of the second-order search", float(NEWTON), float(len(fast.history)),
                   when("the same", fast.converged and len(fast.history) == NEWTON))  # fmt: skip
    if not slow.converged:
        return first, stated("iterations of the first-order search", f"{STEEPEST}: vastly more", f"more than {count}",
                             when("more than twice those of the second-order search", count > 2 * NEWTON),
                             "given up there: a short version")  # fmt: skip
    apart = float(np.abs(slow.path.x - fast.path.x).max())
    return (
        first,
        stated("iterations of the first-order search", float(STEEPEST), float(count), within(STEEPEST, NEAR)),
        stated("the trajectories that both find, apart at most [rad or N·m·s]", "the same feasible trajectory", apart,
               below(1e-3)),
    )  # fmt: skip


def _times(times: dict[str, Spread], share: float | None) -> tuple[Finding, ...]:
    printed, ratio = (
        some["newton"] / some["steepest"] for some in (DIRECTIONS, {name: one.median for name, one in times.items()})
    )
    found = [
        stated("time of a descent direction of second order over that of one of first order", printed, ratio,
               below(printed, "below the printed one"), kind="better"),
    ]  # fmt: skip
    if share is not None:
        quantity = "time of the second-order search, of the first-order one's"
        found.append(stated(quantity, SHARE, share, below(SHARE, "below the printed one"), kind="better"))
    return tuple(found)


def _table(found: dict[str, Optimum]) -> pd.DataFrame:
    return pd.DataFrame([{
        "search": name, "iteration": k, "slope": slope, "method": method,
    } for name, one in found.items()
      for k, (slope, method) in enumerate(zip(slopes(one), [*(s.method for s in one.history), ""], strict=True))
    ])  # fmt: skip


def _table_of(times: dict[str, Spread]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"method": method, "published [ms]": DIRECTIONS[method], "ours [ms]": one.median, "least [ms]": one.least}
            for method, one in times.items()
        ]
    )


def _draw(found: dict[str, Optimum]) -> Figure:
    with plotted("A pendulum's swing-up, N = 100", "iteration", "slope of the cost") as (figure, axes):
        for name, color in ((FIRST, style.GREY), (SECOND, style.BLUE)):
            axes.loglog(np.arange(1, len(slopes(found[name])) + 1), slopes(found[name]), color=color, label=name)
        axes.set_ylim(bottom=1e-4 * TOLERANCE)
        axes.axhline(TOLERANCE, lw=0.8, color=style.BLACK, ls=":")
    return figure
