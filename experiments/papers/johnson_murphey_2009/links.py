"""Figure 7: run time of a pendulum over the number of its links, and evaluations that the paper's recursions take.

Evaluations of the recursions (2) to (10) for Newton's matrix are counted, not timed, with a cache and without, so that
no machine and no language has a say: a key stands for one value of one recursion, and ``needs`` tells which values its
equation asks for. Links are numbered from 0 at the top; a link is one frame here, its constant length merged into it.
"""

import math
from collections.abc import Iterator
from functools import cache, partial
from itertools import product

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from biped.mechanism.examples import n_link_pendulum
from experiments.papers.criteria import above, at_least, at_most, stated, when
from experiments.papers.growth import Curve, draw_growth, medians, power, step_seconds
from experiments.papers.item import Finding, Outcome, Progress
from experiments.visualization.figures import style

#: A recursion's name, the frame, and the configuration variables by which it is differentiated.
Key = tuple[str, int, tuple[int, ...]]


def needs(key: Key) -> tuple[Key, ...]:
    """Return the values that the equation of this one evaluates again, as often as they stand in it."""
    name, k, by = key
    above = k - 1
    if above < 0 or max(by, default=0) > k:
        return ()  # the world stands still, and nothing moves with what comes after it
    if name == "v_d":  # (8)
        return () if by[0] == k else (("v_d", above, by),)
    if name == "v_dq":  # (10), by = (rate, variable)
        rate, variable = by
        if rate == k:
            return ()
        return (("v_d", above, (rate,)),) * 2 if variable == k else (("v_dq", above, by),)
    kept = tuple(i for i in by if i != k)
    again = {"g": 1, "v": 1 + len(by) - len(kept)}[name[0]]  # (5)-(7): g⁻¹ v g, its derivative by one factor, by both
    return ((name[0] + "_" * bool(kept) + "q" * len(kept), above, kept),) * again


def requests(links: int) -> Iterator[Key]:
    """Yield what (23)-(27) and (30)-(32) ask for in the matrix of equation (22), of each body and pair of variables."""
    for k, i, j in product(range(links), repeat=3):
        if max(i, j) <= k:
            yield from (("v", k, ()), ("v_q", k, (i,)), ("v_q", k, (j,)), ("v_qq", k, (i, j)))  # (24)
            yield from (("v_d", k, (j,)), ("v_dq", k, (j, i)), ("v_d", k, (i,)))  # (26), (27)
            yield ("g_qq", k, (i, j))  # (32)


@cache
def _cost(key: Key) -> int:
    return 1 + sum(_cost(other) for other in needs(key))


def evaluations(links: int, *, cached: bool) -> int:
    """Count the evaluations for one matrix of a pendulum of so many links."""
    if not cached:
        return sum(_cost(key) for key in requests(links))
    known: set[Key] = set()
    pending = list(requests(links))
    while pending:
        key = pending.pop()
        if key not in known:
            known.add(key)
            pending.extend(needs(key))
    return len(known)


SIZES, QUICK_SIZES = (1, 2, 5, 10, 20, 50, 100, 200), (10, 50)
COUNTED, QUICK_COUNTED = (2, 5, 10, 20, 40), (2, 5, 10)
REPEATS, QUICK_REPEATS = 7, 2
STEP, DURATION = 0.01, 20.0
STEPS = round(DURATION / STEP)
#: [kg m²] of each link.
INERTIA = 0.1
#: [ms] a step of trep, by links, on a machine of the kind that ours were first measured on; it fails at 200.
TREP = {10: 0.31, 20: 2.3, 50: 57.0, 100: 1500.0}
#: By how much ours should be faster.
FACTORS = {10: 50.0, 50: 150.0, 100: 1000.0}
#: Slopes are taken over the sizes from here on.
LONG = 10


def produce(quick: bool, progress: Progress) -> Outcome:
    sizes, repeats = (QUICK_SIZES, QUICK_REPEATS) if quick else (SIZES, REPEATS)
    found = medians({links: partial(step_cost, links) for links in sizes}, repeats, progress)
    counted = {
        links: (evaluations(links, cached=False), evaluations(links, cached=True))
        for links in (QUICK_COUNTED if quick else COUNTED)
    }
    tables = {"Run time": _times(found), "Evaluations of the paper's recursions": _counts(counted)}
    assumed = (
        f"links of 1 m with 1 kg and {INERTIA:g} kg m² at the end, which the paper does not print",
        "the curves themselves cannot be read off, nor are there numbers in the text: what the paper says of them is "
        "compared; in place of its times with and without caching, the evaluations of its recursions are counted for "
        "one matrix (22), which no machine has a say in. Ours has no cache to switch off: what the paper's recursions "
        "find again and again is not asked for in the first place, each pass goes through the bodies once",
        "trep's times are those of its compiled program on a machine of the same kind, measured apart from this run; "
        "at 200 links it fails",
        f"the median of {repeats} runs of 20 s, without what is written down, sizes in turn",
    )
    figures = {"run-time": _draw(found), "evaluations": _draw_counts(counted)}
    return Outcome(_findings(found, counted), assumed, tables, figures)


def step_cost(links: int) -> float:
    """Return the processor's time for a step [s], of 20 s from rest at 45°."""
    mechanism, q = n_link_pendulum(links, inertia=INERTIA), {"J1": math.pi / 4.0}

    def run(count: int) -> object:
        return mechanism.simulate(count * STEP, STEP, q=q, record_every=count)

    run(1)  # compiled before the clock starts
    return step_seconds(run, STEPS)


def growth(values: dict[int, float]) -> float:
    """Return the power of the number of links that values grow with, over long pendulums."""
    return power(list(values), list(values.values()), LONG)


def _findings(found: dict[int, float], counted: dict[int, tuple[int, int]]) -> tuple[Finding, ...]:
    sizes = list(counted)
    ends = sizes[-2:]
    without, cached = (power(ends, [counted[n][which] for n in ends]) for which in (0, 1))
    saved = {links: plain / kept for links, (plain, kept) in counted.items()}
    grown = growth(found)
    return (
        stated(f"evaluations without caching over those with it, {sizes[-1]} links", "drastically faster with caching",
               saved[sizes[-1]], above(5)),
        stated("powers of the number of links, without caching and with it", "with caching they grow at a slower rate",
               f"{without:.2f} and {cached:.2f}", when("with less by 0.5", cached < without - 0.5)),
        stated("power of the number of links, our run time", "not O(n)", grown, at_most(1.3),
               "the paper's own method is not linear, as it says"),
        *(_against_trep(found, links, factor) for links, factor in FACTORS.items() if links in found),
    )  # fmt: skip


def _against_trep(found: dict[int, float], links: int, factor: float) -> Finding:
    times = TREP[links] * 1e-3 / found[links]
    return stated(f"a step of {links} links, times faster than trep", "not in the paper", times,
                  at_least(factor), "trep's time is of another run")  # fmt: skip


def _times(found: dict[int, float]) -> pd.DataFrame:
    return pd.DataFrame([{
        "links": links, "a step [µs]": 1e6 * taken, "20 s [s]": taken * STEPS,
        "a step of trep [µs]": 1e3 * TREP.get(links, np.nan), "times faster": TREP.get(links, np.nan) * 1e-3 / taken,
    } for links, taken in found.items()])  # fmt: skip


def _counts(counted: dict[int, tuple[int, int]]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"links": links, "without caching": plain, "with caching": kept, "ratio": plain / kept}
            for links, (plain, kept) in counted.items()
        ]
    )


def _draw(found: dict[int, float]) -> Figure:
    trep = {links: taken * 1e-3 for links, taken in TREP.items()}
    curves = [
        Curve(label, color, list(times), [taken * STEPS for taken in times.values()])
        for label, color, times in (
            (f"trep, measured elsewhere: $N^{{{growth(trep):.1f}}}$", style.GREY, trep),
            (f"ours, no cache: $N^{{{growth(found):.2f}}}$", style.BLACK, found),
        )
    ]
    return draw_growth("A pendulum for 20 s, h = 0.01 s", "links", "run time [s]", curves)


def _draw_counts(counted: dict[int, tuple[int, int]]) -> Figure:
    """Draw counts as the paper's figure draws times: dashed without caching, solid with it."""
    sizes, curves = list(counted), []
    for which, (name, line) in enumerate((("without caching", "o--"), ("with caching", "o-"))):
        counts = [counted[links][which] for links in sizes]
        label = f"{name}: $N^{{{power(sizes[-2:], counts[-2:]):.1f}}}$"
        curves.append(Curve(label, style.BLACK, sizes, counts, line))
    return draw_growth("The paper's recursions, for one matrix (22)", "links", "evaluations", curves)
