"""Figures 8a and 9a: what a step costs, over the number of links."""

import math
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from biped.assembly import Assembly, Placement
from biped.assembly.examples import four_bar_chain, pendulum
from experiments.papers.criteria import at_most, below, stated
from experiments.papers.growth import Curve, draw_growth, medians, power, step_seconds
from experiments.papers.item import Outcome, Progress
from experiments.visualization.figures import style

STEP, STEPS, QUICK_STEPS = 0.01, 1000, 100
LINKS, QUICK_LINKS = (1, 2, 5, 10, 20, 50, 100), (10, 100)
SEGMENTS, QUICK_SEGMENTS = tuple(range(1, 11)), (2, 8)
REPEATS, QUICK_REPEATS = 9, 3
#: Powers are taken over the numbers from here on.
LONG_LINKS, LONG_SEGMENTS = 10, 2
#: The most that counts as linear.
LINEAR = 1.1
ASSUMED = (
    "the median of runs of the steps alone on one core, less that of a run of one step, sizes in turn; the "
    "paper takes the best of 100",
    "curves of the paper cannot be read off: what it says of them is compared",
)


def step_cost(
    assembly: Assembly, start: Placement, steps: int, *, complementarity: float = 1e-12, tolerance: float = 1e-10
) -> float:
    """Return the processor's time for a step [s]."""

    def run(count: int) -> object:
        return assembly.simulate(
            count * STEP, STEP, start, record_every=count, complementarity=complementarity, tolerance=tolerance
        )

    return step_seconds(run, steps)


def costs(cases: Mapping[str, Callable[[], float]], repeats: int, progress: Progress) -> dict[str, float]:
    """Return the median time of each case [s]."""
    next(iter(cases.values()))()  # compiled before the clock starts
    return medians(cases, repeats, progress)


def tree(quick: bool, progress: Progress) -> Outcome:
    sizes, steps, repeats = (QUICK_LINKS, QUICK_STEPS, QUICK_REPEATS) if quick else (LINKS, STEPS, REPEATS)
    cases = {}
    for kind in ("revolute", "spherical"):
        for links in sizes:
            assembly = pendulum(links, kind=kind)
            start = assembly.place({"joint_1": math.pi / 4.0 if kind == "revolute" else (0.7, 0.0, 0.0)})
            cases[f"{kind} {links}"] = partial(step_cost, assembly, start, steps)
    found = costs(cases, repeats, progress)
    table = pd.DataFrame([
        {"links": links, "revolute [µs]": 1e6 * found[f"revolute {links}"],
         "spherical [µs]": 1e6 * found[f"spherical {links}"]}
        for links in sizes
    ])  # fmt: skip
    powers = {kind: power(sizes, table[f"{kind} [µs]"], LONG_LINKS) for kind in ("revolute", "spherical")}
    last = table.iloc[-1]
    findings = (
        *(stated(f"power of the number of links, {kind} joints", "linear", value, at_most(LINEAR))
          for kind, value in powers.items()),
        stated(f"a step with spherical joints over one with revolute joints, {int(last['links'])} links",
               "spherical joints have fewer constraints", float(last["spherical [µs]"] / last["revolute [µs]"]),
               below(1)),
    )  # fmt: skip
    return Outcome(findings, ASSUMED, {"A step": table}, {"cost": _draw(table, "links", powers, "Pendulums")})


def loops(quick: bool, progress: Progress) -> Outcome:
    sizes, steps, repeats = (QUICK_SEGMENTS, QUICK_STEPS, QUICK_REPEATS) if quick else (SEGMENTS, STEPS, REPEATS)
    assemblies = {segments: four_bar_chain(segments) for segments in sizes}
    found = costs({str(n): partial(step_cost, *made, steps) for n, made in assemblies.items()}, repeats, progress)
    table = pd.DataFrame([
        {"segments": n, "four-bar [µs]": 1e6 * found[str(n)], "blocks filled in": assemblies[n][0].fill_in}
        for n in sizes
    ])  # fmt: skip
    grown = power(sizes, table["four-bar [µs]"], LONG_SEGMENTS)
    findings = (
        stated("power of the number of segments", "modest increase, no longer fully linear", grown, at_most(1.5)),
        stated("blocks filled in of each further segment, most less least", "cycles of fixed size: O(n)",
               _unevenness(table), at_most(0, "none")),
    )  # fmt: skip
    assumed = (*ASSUMED, "rhombi of four links of 1 m that stand open by π/4, each hung from the one before")
    figure = _draw(table, "segments", {"four-bar": grown}, "Loops")
    return Outcome(findings, assumed, {"A step": table}, {"cost": figure})


def _unevenness(table: pd.DataFrame) -> int:
    """Return the spread of the blocks that a further segment fills in: zero where each fills in as many."""
    rates = np.diff(table["blocks filled in"]) / np.diff(table["segments"])
    return round(float(np.ptp(rates)))


def _draw(table: pd.DataFrame, by: str, powers: dict[str, float], title: str) -> Figure:
    curves = [
        Curve(f"{kind}: $n^{{{grown:.2f}}}$", color, table[by].tolist(), table[f"{kind} [µs]"].tolist())
        for (kind, grown), color in zip(powers.items(), (style.BLUE, style.SKY), strict=False)
    ]
    return draw_growth(f"{title}, Δt = 0.01 s", by, "a step [µs]", curves)
