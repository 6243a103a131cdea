"""Figure 7: time saved by caching in the paper's recursions, and run time of a pendulum over its number of links."""

import math
import time
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from experiments.papers.criteria import LINEAR, above, stated, when
from experiments.papers.figures import Curve, draw_growth, medians, power, step_seconds
from experiments.papers.item import Finding, Outcome, Progress
from experiments.papers.johnson_murphey_2009.motions import G
from experiments.papers.johnson_murphey_2009.recursions import Tree, newton_matrix
from experiments.timing import part, seconds
from experiments.visualization.look import style
from formulations.mechanism.examples import n_link_pendulum, pendulum_frames

SIZES, QUICK_SIZES = (1, 2, 5, 10, 20, 50, 100, 200), (10, 50)
#: Numbers of links for which the paper's recursions are run, in Python.
CACHED, QUICK_CACHED = (2, 5, 10, 20), (2, 4, 8)
REPEATS, QUICK_REPEATS = 7, 2
#: Repeats of the paper's recursions, which take seconds without a cache.
CACHING_REPEATS = 2
STEP, DURATION = 0.01, 20.0
STEPS = round(DURATION / STEP)
#: Moment of inertia [kg m²] of each link.
INERTIA = 0.1
#: Least number of links for slopes.
LONG = 10


class Caching(NamedTuple):
    """Cost of one matrix (22) without and with caching."""

    evaluations: tuple[int, int]
    seconds: tuple[float, float]


def produce(quick: bool, progress: Progress) -> Outcome:
    sizes, repeats = (QUICK_SIZES, QUICK_REPEATS) if quick else (SIZES, REPEATS)
    costs = medians({links: partial(step_cost, links) for links in sizes}, repeats, part(progress, 0, 2))
    saved = caching(QUICK_CACHED if quick else CACHED, part(progress, 1, 2))
    times = pd.DataFrame([{"links": n, "a step [µs]": 1e6 * t, "20 s [s]": t * STEPS} for n, t in costs.items()])
    tables = {"Run time": times, "One matrix (22) by the paper's recursions": _table(saved)}
    assumed = (
        f"links of 1 m with 1 kg and {INERTIA:g} kg m² at the end; the paper prints no values",
        "the curves cannot be read off, and the text has no numbers: the statements of the text are compared",
        "caching: Newton's matrix (22) by the paper's recursions (2) to (10), with the cache and without, in NumPy, "
        f"{CACHING_REPEATS} times in turn; for a pendulum that is bent and moves. Our integrator has no cache to "
        "switch off: each of its passes visits the bodies once",
        "trep is not run here; its recursions, compiled, are timed and compared with ours in lee-2016, figure-3 (SVI)",
        f"ours: the median of {repeats} runs of 20 s, sizes in turn, without recording",
    )
    figures = {"run-time": _draw(times, growth(costs)), "caching": _draw_caching(saved)}
    return Outcome(_findings(costs, saved), assumed, tables, figures)


def moving_tree(links: int, *, cached: bool) -> Tree:
    """Return the paper's tree of a pendulum that is bent and moves, so that no term is zero by chance."""
    tree = Tree([pendulum_frames(links, 1.0, (1.0, INERTIA, INERTIA, INERTIA))], cached)
    rng = np.random.default_rng(links)
    tree.set(rng.uniform(-1.0, 1.0, links), rng.uniform(-1.0, 1.0, links))
    return tree


def caching(sizes: tuple[int, ...], progress: Progress) -> dict[int, Caching]:
    """Compute one matrix (22) by the paper's recursions, without and with caching; return evaluations and times."""
    trees = {(links, cached): moving_tree(links, cached=cached) for links in sizes for cached in (False, True)}

    def matrix(tree: Tree) -> None:
        tree.set(tree.q, tree.v)  # clears the cache
        newton_matrix(tree, (0.0, 0.0, -G), STEP)

    counts = {}
    for case, tree in trees.items():
        matrix(tree)
        counts[case] = tree.evaluations
    times = medians(
        {case: partial(seconds, partial(matrix, tree), time.process_time) for case, tree in trees.items()},
        CACHING_REPEATS,
        progress,
    )
    return {
        links: Caching((counts[links, False], counts[links, True]), (times[links, False], times[links, True]))
        for links in sizes
    }


def step_cost(links: int) -> float:
    """Return the processor time [s] of a step, from 20 s of motion from rest at 45°."""
    mechanism, q = n_link_pendulum(links, inertia=INERTIA), {"J1": math.pi / 4.0}

    def run(count: int) -> object:
        return mechanism.simulate(count * STEP, STEP, q=q, record_every=count)

    run(1)  # compiled before the clock starts
    return step_seconds(run, STEPS)


def growth(values: dict[int, float]) -> float:
    """Return the power of the number of links with which values grow, for long pendulums."""
    return power(list(values), list(values.values()), LONG)


def _findings(costs: dict[int, float], saved: dict[int, Caching]) -> tuple[Finding, ...]:
    most = max(saved)
    plain, kept = saved[most].seconds
    without, cached = caching_powers(saved)
    return (
        stated(f"time of the matrix (22) by the paper's recursions, {most} links, without / with caching",
               "drastically faster", plain / kept, above(5)),
        stated("power of the number of links with which this time grows, without and with caching",
               "they grow at a slower rate", f"{without:.2f} and {cached:.2f}",
               when("smaller with caching", cached < without)),
        stated("power of the number of links with which our run time grows", "does not yield O(n) dynamics",
               growth(costs), LINEAR, kind="better"),
    )  # fmt: skip


def caching_powers(saved: dict[int, Caching]) -> tuple[float, float]:
    """Return the powers with which times grow between the two longest pendulums, without and with caching."""
    ends = sorted(saved)[-2:]
    without, cached = (power(ends, [saved[n].seconds[which] for n in ends]) for which in (0, 1))
    return without, cached


def _table(saved: dict[int, Caching]) -> pd.DataFrame:
    return pd.DataFrame([{
        "links": links, "evaluations without caching": cost.evaluations[0], "with caching": cost.evaluations[1],
        "time without caching [ms]": 1e3 * cost.seconds[0], "with caching [ms]": 1e3 * cost.seconds[1],
    } for links, cost in saved.items()])  # fmt: skip


def _draw(times: pd.DataFrame, grown: float) -> Figure:
    curve = Curve(times["links"], times["20 s [s]"], f"ours: $N^{{{grown:.2f}}}$", style.BLACK)
    return draw_growth("A pendulum for 20 s, h = 0.01 s", "links", "run time [s]", [curve])


def _draw_caching(saved: dict[int, Caching]) -> Figure:
    """Draw times as in the paper's figure: dashed without caching, solid with caching."""
    looks = zip(("without caching", "with caching"), ("--", "-"), caching_powers(saved), strict=True)
    curves = [
        Curve(list(saved), [cost.seconds[k] for cost in saved.values()], f"{name}: $N^{{{by:.1f}}}$", style.BLACK, line)
        for k, (name, line, by) in enumerate(looks)
    ]
    return draw_growth("One matrix (22) by the paper's recursions, in NumPy", "links", "time [s]", curves)
