"""Page and table of a work-precision comparison."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from experiments.visualization.pages import Block, Bullets, Code, Image, Page, Prose, Section, Table
from experiments.work_precision.step_sizes import HEADINGS, Comparison, Curve, cheapest_lines

#: [m] errors whose costs are in the table of a problem.
SHOWN = (1e-2, 1e-4, 1e-6, 1e-8)

_HOW = (
    "Error: the distance of the problem's points from a reference motion, root mean square over points and times. The "
    "reference solves the continuous equations by Dormand and Prince's method of order 8; errors below a dashed line "
    "are within ten times the error of the reference. Dotted lines have the slopes of orders 1, 2 and 4.",
    "Cost: seconds of computation, on one core, for a second of motion, compiled and without set-up. All step sizes of "
    "all methods are timed in turn, and the least time counts: other load on the machine only adds to it.",
    "Each method runs with its default settings; a method with variable steps has a grid of tolerances.",
    "Solid lines: integrators of trees of joints. Dashed: integrators of Lagrangian systems. The two formulations "
    "model a problem differently, and each has a separate reference.",
)


def table_of(comparisons: Sequence[Comparison]) -> pd.DataFrame:
    """Return a row for each method and step size, failures included; column names have units."""
    rows: list[dict[str, Any]] = []
    for comparison in comparisons:
        for curve in comparison.curves:
            start = {"problem": comparison.problem.name, "method": curve.method, "systems": curve.systems}
            for m in curve.measurements:
                cost = m.cost
                rows.append(
                    start
                    | {
                        "step [s]": m.size.step,
                        "tolerance": m.size.tolerance,
                        "error [m]": m.error,
                        "energy error [J]": m.energy_error,
                        "cost, least [s/s]": None if cost is None else cost.least,
                        "cost, median [s/s]": None if cost is None else cost.median,
                        "iterations a step": m.iterations,
                        "retried part": m.retried,
                        "reference error [m]": curve.floor / 10.0,
                    }
                )
            rows += [
                start | {"step [s]": size.step, "tolerance": size.tolerance, "failure": why}
                for size, why in curve.failures
            ]
    return pd.DataFrame(rows)


def method_table(comparison: Comparison) -> Table:
    """Return a row for each method: its nominal and measured order, and the cost of each accuracy."""
    costs = tuple(f"{error:.0e} m [ms/s]" for error in SHOWN)
    headings = ("method", "order", "measured order", *costs, "smallest error [m]", "its energy error [J]")
    return Table("Methods", headings, tuple(_row(curve) for curve in comparison.curves), fold=False)


def _row(curve: Curve) -> tuple[str, ...]:
    costs = (curve.cost_at(error) for error in SHOWN)
    finest = min(curve.measurements, key=lambda m: m.error, default=None)
    return (
        curve.label,
        str(curve.traits.order),
        "" if curve.order is None else f"{curve.order:.2f}",
        *("" if cost is None else f"{1e3 * cost:.3g}" for cost in costs),
        "none" if finest is None else f"{finest.error:.1e}",
        "" if finest is None else f"{finest.energy_error:.1e}",
    )


def problem_section(comparison: Comparison, figure: bytes | None) -> Section:
    problem, curves = comparison.problem, comparison.curves
    blocks: list[Block] = [
        Table(
            "Cheapest method for each accuracy; several: a tie", HEADINGS, tuple(cheapest_lines(comparison)), fold=False
        ),
        Prose(f"{problem.duration:g} s; errors of {problem.points}, at {problem.samples} times."),
    ]
    if figure is not None:
        blocks.append(Image(figure, f"{problem.title}: error against cost, and against the step"))
    blocks.append(method_table(comparison))
    if comparison.forms.remarks:
        blocks.append(Bullets("Remarks", comparison.forms.remarks))
    if comparison.refusals:
        refusals = tuple(f"{name}: {why}" for name, why in comparison.refusals.items())
        blocks.append(Bullets("Methods that cannot solve this problem", refusals))
    failures = [(c.label, size, why) for c in curves for size, why in c.failures]
    if failures:
        rows = tuple((label, f"{size.step:.3g}", why) for label, size, why in failures)
        blocks.append(Table("Step sizes without a solution", ("method", "step [s]", "why"), rows, fold=True))
    table = table_of([comparison])
    if len(table):
        shown = table.drop(columns=[name for name in ("problem", "failure") if name in table])
        blocks.append(Table.of("All step sizes", shown, fold=True))
    return Section(problem.name, f"{problem.name}: {problem.title}", problem.source, blocks=tuple(blocks))


def work_precision_page(
    comparisons: Sequence[Comparison],
    figures: Mapping[str, bytes],
    missing: Sequence[str],
    stamp: Mapping[str, Any],
    command: str,
) -> Page:
    """Return the page of a comparison; ``missing`` are requested problems without results."""
    rows = tuple((c.problem.name, *line) for c in comparisons for line in cheapest_lines(c))
    lead: list[Block] = [Table("Cheapest method for each accuracy", ("problem", *HEADINGS), rows, fold=False)]
    if missing:
        lead.append(Prose(f"Not done: {', '.join(missing)}.", "bad"))
    lead += [Bullets("How to read this", _HOW), Prose("To reproduce this page:"), Code(command)]
    return Page(
        title="Work-precision comparison of all integrators",
        lead=tuple(lead),
        sections=tuple(problem_section(c, figures.get(c.problem.name)) for c in comparisons),
        made={name: value for name, value in stamp.items() if value is not None},
    )
