"""Figures of thresholds: the proportion that recovers against the value, and the medians of many conditions."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from contact.arrays import Floats
from experiments.studies.limits import LIMITS
from experiments.studies.threshold.findings import Finding, Findings
from experiments.visualization.figures import style
from experiments.visualization.figures.writing import styled, write_figure
from experiments.visualization.studies.threshold_text import label_of, limits_text, name_of, shares_of

#: More conditions than this are drawn as medians side by side.
MOST_CURVES = 6


def draw_findings(
    findings: Findings, path: str | Path, title: str, marks: Mapping[str, float] | None = None
) -> list[Path]:
    """The curve of each of a few conditions, or the medians of many; ``marks`` are values, by what they are."""
    few = len(findings.conditions) <= MOST_CURVES
    with styled():
        figure = Figure(figsize=(7.0, 4.8))
        axes = figure.subplots()
        (_draw_curves if few else _draw_medians)(axes, findings, dict(marks or {}))
        axes.set_title(title)
        return write_figure(figure, path)


def thresholds_of(finding: Finding) -> tuple[Floats, Floats]:
    """Sorted thresholds of the replicas, and the proportion above each: the curve of those that were not lost before.

    A threshold out of range lies at its edge.
    """
    grid = finding.plan.grid
    low = np.clip(sorted(bracket.low for bracket in finding.brackets), grid.start, grid.limit)
    return low, 1.0 - np.arange(1, len(low) + 1) / len(low)


def _draw_curves(axes: Axes, findings: Findings, marks: Mapping[str, float]) -> None:
    plan, single = findings.plan, len(findings.conditions) == 1
    for place, (finding, color) in enumerate(zip(findings.conditions, style.LINES, strict=False)):
        _draw_curve(axes, finding, color, shift=0.06 * plan.grid.by * place, single=single)
        axes.plot([], [], " ", label=f"limited by: {limits_text(finding)} of {plan.replicas}")
    for of_condition, value, what in limits_of(findings):
        color = style.BLACK if of_condition is None else style.LINES[of_condition]
        axes.axvline(value, color=color, linewidth=1.4, linestyle="-.", label=what)
    for (what, value), dashes in zip(marks.items(), ((4, 3), (1, 1.5), (6, 2)), strict=False):
        axes.axvline(value, color=style.BLACK, linewidth=1.0, linestyle=(0, dashes), label=what)
    highs = [min(1.05 * finding.estimate.high, plan.grid.limit) for finding in findings.conditions]
    axes.set_xlim(plan.grid.start, max(plan.grid.stop, *highs, *(1.05 * value for _, value, _ in limits_of(findings))))
    axes.set_ylim(-0.02, 1.02)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_xlabel(label_of(plan))
    axes.set_ylabel(f"proportion of {plan.replicas} replicas")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2)


def limits_of(findings: Findings) -> list[tuple[int | None, float, str]]:
    """Limits of the inverted pendulum, what they are called, and the places of their conditions; None of all."""
    label = LIMITS["limit"]
    found = [
        (place, one.limit.pendulum, f"{label}, {name_of(one)}")
        for place, one in enumerate(findings.conditions)
        if one.limit is not None
    ]
    are_one = len({f"{value:.6g}" for _, value, _ in found}) == 1
    return [(None, found[0][1], label)] if are_one else list(found)


def _draw_curve(axes: Axes, finding: Finding, color: str, *, shift: float, single: bool) -> None:
    found = finding.estimate
    name = name_of(finding)
    grid = finding.plan.grid
    thresholds, above = thresholds_of(finding)
    steps = np.concatenate([[grid.start], thresholds, [grid.limit]]), np.concatenate([[1.0], above, [0.0]])
    axes.step(*steps, where="post", color=color, label="threshold lies above" if single else name)
    found_at = finding.curve.values()
    proportion = np.array([p.value for p in found_at])
    errors = np.abs(np.array([[p.low for p in found_at], [p.high for p in found_at]]) - proportion)
    label = f"recovers, with {100.0 * finding.plan.confidence:g} % interval" if single else None
    values = [value + shift for value in finding.curve]
    looks: dict[str, Any] = {"fmt": "o", "color": color, "markersize": 3.5, "elinewidth": 0.9, "clip_on": False}
    axes.errorbar(values, proportion, errors, label=label, **looks)
    low, high = np.clip((found.median.low, found.median.high), grid.start, grid.limit)
    unit = finding.plan.unit
    text = f"median {found.median.value:.3g} {unit} ({found.median.low:.3g} … {found.median.high:.3g})"
    axes.axvspan(low, high, color=color, alpha=0.15, linewidth=0, label=text)
    if single and math.isfinite(finding.half.value):
        _draw_half(axes, finding)


def _draw_half(axes: Axes, finding: Finding) -> None:
    half, grid = finding.half, finding.plan.grid
    ends = np.clip((half.low, half.high), grid.start, grid.limit)
    text = f"half recover at {half.value:.3g} {finding.plan.unit} ({half.low:.3g} … {half.high:.3g}), islands counted"
    reach = np.abs(ends - half.value)[:, None]
    axes.errorbar([half.value], [0.5], xerr=reach, fmt="s", color=style.RED, markersize=4.5, zorder=5, label=text)


def medians_of(findings: Findings) -> Floats:
    """(3, conditions) the medians and the ends of their intervals; what is out of range lies at the edge."""
    grid, medians = findings.plan.grid, [finding.estimate.median for finding in findings.conditions]
    return np.clip([[getattr(m, name) for m in medians] for name in ("value", "low", "high")], grid.start, grid.limit)


def _draw_medians(axes: Axes, findings: Findings, marks: Mapping[str, float]) -> None:
    plan = findings.plan
    places = np.arange(len(findings.conditions))
    estimates = [finding.estimate for finding in findings.conditions]
    edges = plan.grid.start, plan.grid.limit
    median, low, high = medians_of(findings)
    spread = np.clip([e.low for e in estimates], *edges), np.clip([e.high for e in estimates], *edges)
    axes.vlines(places, *spread, color=style.SKY, linewidth=4.0, alpha=0.5, label="10 … 90 %")
    label = f"median, {100.0 * estimates[0].median.confidence:.0f} % interval"
    axes.errorbar(places, median, np.abs(np.array([low, high]) - median), fmt="o", color=style.BLUE, markersize=4.0,
                  label=label)  # fmt: skip
    words = np.array([finding.limited_by for finding in findings.conditions])
    for word, share in shares_of(findings.conditions).items():
        mine = words == word
        axes.plot(places[mine], median[mine], "o", color=style.VERDICTS[word], markersize=4.0, zorder=5,
                  label=f"limited by: {word} ({share:.0%} of all)")  # fmt: skip
    limited = [(place, f.limit.pendulum) for place, f in enumerate(findings.conditions) if f.limit is not None]
    if limited:
        axes.plot(*zip(*limited, strict=True), "_", color=style.BLACK, markersize=12.0, label=LIMITS["limit"])
    for what, value in marks.items():
        axes.axhline(value, color=style.BLACK, linewidth=1.0, linestyle=(0, (4, 3)), label=what)
    names = [name_of(finding) for finding in findings.conditions]
    axes.set_xticks(places, names, rotation=45, ha="right")
    axes.set_xmargin(0.03)
    axes.set_ylabel(label_of(plan))
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2)
