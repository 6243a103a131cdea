"""The figure of a problem: error against cost, and error against step."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.benchmarks.work_precision.case import TREE
from experiments.benchmarks.work_precision.step_sizes import Comparison, Curve
from experiments.visualization.figures import style
from experiments.visualization.figures.writing import styled

_MARKERS = "osD^vP*X<>"
#: Orders whose slopes are drawn beside the curves.
_SLOPES = (1, 2, 4)


def draw_comparison(comparison: Comparison) -> Figure:
    """Error against cost to the left, the same errors against the step to the right."""
    curves = [curve for curve in comparison.curves if curve.measurements]
    with styled():
        figure = Figure(figsize=(11.0, 4.8))
        cost, step = figure.subplots(1, 2, sharey=True)
        for k, curve in enumerate(curves):
            look = {
                "color": style.LINES[k % len(style.LINES)],
                "marker": _MARKERS[k % len(_MARKERS)],
                "markersize": 4.0,
                "linewidth": 1.2,
                "linestyle": "-" if curve.systems == TREE else (0, (4, 2)),  # dashed: Lagrangian systems
            }
            costs = [1e3 * m.seconds for m in curve.measurements]
            cost.loglog(costs, [m.error for m in curve.measurements], label=curve.label, **look)
            by_step = [m for m in curve.measurements if m.size.tolerance is None]
            step.loglog([1e3 * m.size.step for m in by_step], [m.error for m in by_step], **look)
        cost.set_xlabel("cost [ms of computation for a second of motion]")
        cost.set_ylabel("error [m]")
        step.set_xlabel("step [ms]")
        cost.set_title(f"{comparison.problem.name}: {comparison.problem.title}")
        floor = max((curve.floor for curve in curves), default=0.0)  # errors below it are those of the reference
        _draw_slopes(step, curves)
        errors = [m.error for curve in curves for m in curve.measurements]
        if errors:
            step.set_ylim(0.3 * min(errors), 3.0 * max(errors))
        for axes in (cost, step):
            axes.axhspan(1e-30, floor, color="#EEEEEE", zorder=0)
            axes.margins(0.06, 0.06)
        figure.legend(loc="outside right upper", handlelength=3.0)
    return figure


def _draw_slopes(axes: Axes, curves: Sequence[Curve]) -> None:
    """Thin lines of slopes 1, 2 and 4 from the coarsest errors of the curves on."""
    points = [(1e3 * m.size.step, m.error) for c in curves for m in c.measurements if m.size.tolerance is None]
    if not points:
        return
    steps, errors = (np.array(values) for values in zip(*points, strict=True))
    low, high = errors.min(), errors.max()
    for order in _SLOPES:
        line = np.array([steps.min(), steps.max()])
        fall = high * (line / line[-1]) ** order
        axes.loglog(line, fall, color=style.GREY, linewidth=0.7, linestyle=(0, (1, 1.5)), zorder=1)
        at = max(steps.min(), steps.max() * (low / high) ** (1.0 / order)) * 1.3
        axes.annotate(
            f"order {order}", (at, high * (at / line[-1]) ** order), fontsize=7, color="#555555",
            xytext=(3, -9), textcoords="offset points",
        )  # fmt: skip
