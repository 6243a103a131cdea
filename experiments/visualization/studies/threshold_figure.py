"""Figures of thresholds: the proportion that recovers against the value, or the medians of many conditions."""

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from contact.arrays import Floats
from experiments.studies.threshold.findings import Finding, Findings
from experiments.visualization.look import style
from experiments.visualization.panels.panel import Area, Axis, Dash, Item, Panel, Points, Rule
from experiments.visualization.panels.with_matplotlib import write_panels
from experiments.visualization.studies.threshold_text import estimate_texts, label_of, limits_text, name_of, shares_of

#: Most conditions drawn as curves; if there are more, their medians are drawn side by side.
MOST_CURVES = 6
#: Ends of the axis of proportions.
_HEIGHT = -0.02, 1.02
#: Dashes of marked values.
_MARKS: tuple[Dash, ...] = ("dash", "dot", "dashdot")


def draw_findings(
    findings: Findings, path: str | Path, title: str, marks: Mapping[str, float] | None = None
) -> list[Path]:
    """Draw the panel of ``findings_panel``; return the files."""
    return write_panels(path, replace(findings_panel(findings, marks), title=title), (7.0, 4.8))


def findings_panel(findings: Findings, marks: Mapping[str, float] | None = None) -> Panel:
    """Return the curves of a few conditions, or the medians of many; ``marks`` are marked values by name."""
    few = len(findings.conditions) <= MOST_CURVES
    return (_curves if few else _medians)(findings, dict(marks or {}))


def _thresholds_of(finding: Finding) -> tuple[Floats, Floats]:
    """Return the sorted thresholds of the replicas, and the proportion above each.

    Thresholds outside the tried range are clipped to it.
    """
    grid = finding.plan.grid
    lows = sorted(bracket.low for bracket in finding.brackets if bracket.is_judged)
    return np.clip(lows, grid.start, grid.limit), 1.0 - np.arange(1, len(lows) + 1) / max(len(lows), 1)


def _curves(findings: Findings, marks: Mapping[str, float]) -> Panel:
    plan, items = findings.plan, list[Item]()
    for place, (finding, color) in enumerate(zip(findings.conditions, style.LINES, strict=False)):
        items += _curve(finding, color, 0.06 * plan.grid.by * place, single=len(findings.conditions) == 1)
    limits = _limits_of(findings)
    for of_condition, value, name in limits:
        color = style.BLACK if of_condition is None else style.LINES[of_condition]
        items.append(Rule(value, color, name, dash="dashdot", width=1.4))
    for (name, value), dash in zip(marks.items(), _MARKS, strict=False):
        items.append(Rule(value, label=name, dash=dash, width=1.0))
    highs = [min(1.05 * finding.estimate.high, finding.greatest) for finding in findings.conditions]
    high = np.nanmax([plan.grid.stop, *highs, *(1.05 * value for _, value, _ in limits)])
    y = Axis(f"proportion of {plan.replicas} replicas", *_HEIGHT, form=".0%")
    return Panel(tuple(items), Axis(label_of(plan), plan.grid.start, high), y, legend="below", columns=2)


def _limits_of(findings: Findings) -> list[tuple[int | None, float, str]]:
    """Return the limits of the pendulum with the controller's strategies: condition (None: all), value, name."""
    limits = [
        (place, finding.limit.applicable, finding.limit.applicable_name, name_of(finding))
        for place, finding in enumerate(findings.conditions)
        if finding.limit is not None
    ]
    if len({(f"{value:.6g}", label) for _, value, label, _ in limits}) == 1:
        return [(None, *limits[0][1:3])]
    return [(place, value, f"{label}, {name}") for place, value, label, name in limits]


def _curve(finding: Finding, color: str, shift: float, *, single: bool) -> list[Item]:
    """Return a condition's thresholds as steps, proportions as points displaced by ``shift``, and the median."""
    plan, grid, median = finding.plan, finding.plan.grid, finding.estimate.median
    name = "threshold lies above" if single else name_of(finding)
    thresholds, above = _thresholds_of(finding)
    steps = np.concatenate([[grid.start], thresholds, [grid.limit]]), np.concatenate([[1.0], above, [0.0]])
    low, high = np.clip((median.low, median.high), grid.start, grid.limit)
    interval = "median {} {unit} ({})".format(*estimate_texts(finding), unit=plan.unit)
    at, proportions = np.array(list(finding.curve)), finding.curve.values()
    label = f"recovers, with {100.0 * plan.confidence:g} % interval" if single else ""
    items: list[Item] = [
        Points(*steps, name, color, dash="solid", is_step=True),
        Points(
            at + shift, [p.value for p in proportions], label, color, "circle", 3.5,
            interval=([p.low for p in proportions], [p.high for p in proportions]), group=name,
            hover=[f"{value:.4g}: {p.value:.1%} recover" for value, p in zip(at, proportions, strict=True)],
        ),
        Area([low, high, high, low], np.repeat(_HEIGHT, 2), color, interval, alpha=0.15, group=name),
    ]  # fmt: skip
    if single and math.isfinite(finding.half.value):
        half = finding.half
        low, high = np.clip((half.low, half.high), grid.start, grid.limit)
        text = f"half recover at {half.value:.3g} {plan.unit} ({half.low:.3g} … {half.high:.3g}), on the whole grid"
        items.append(Points([half.value], [0.5], text, style.RED, "square", 4.5, x_interval=([low], [high])))
    return [*items, Points((), (), f"limited by: {limits_text(finding)} of {plan.replicas}", group=name)]


def _medians(findings: Findings, marks: Mapping[str, float]) -> Panel:
    """Return the median of each condition with its interval, in the colour of the verdict that limits it."""
    plan, conditions = findings.plan, findings.conditions
    places, grid, top = np.arange(len(conditions)), plan.grid, max(finding.greatest for finding in conditions)
    estimates = [finding.estimate for finding in conditions]
    median, low, high = (
        np.clip([getattr(e.median, name) for e in estimates], grid.start, top) for name in ("value", "low", "high")
    )
    spread = [np.clip([getattr(e, name) for e in estimates], grid.start, top) for name in ("low", "high")]
    label = f"median, {100.0 * estimates[0].median.confidence:.0f} % interval"
    items: list[Item] = [
        Points(places, spread[0], "10 … 90 %", style.SKY, interval=(spread[0], spread[1]), bar=4.0, alpha=0.5),
        Points(places, median, label, style.BLUE, "circle", interval=(low, high)),
    ]
    words = np.array([finding.limited_by for finding in conditions])
    for word, share in shares_of(conditions).items():
        mine = words == word
        texts = [f"{name_of(condition)}: {value:.4g}, limited by {limits_text(condition)}"
                 for condition, value, is_mine in zip(conditions, median, mine, strict=True) if is_mine]  # fmt: skip
        label = f"limited by: {word} ({share:.0%} of all)"
        items.append(Points(places[mine], median[mine], label, style.VERDICTS[word], "circle", hover=texts))
    limited = [(place, f.limit) for place, f in enumerate(conditions) if f.limit is not None]
    for called in dict.fromkeys(limit.applicable_name for _, limit in limited):
        at, limits = zip(
            *((place, limit.applicable) for place, limit in limited if limit.applicable_name == called), strict=True
        )
        items.append(Points(at, limits, called, style.BLACK, "line-ew", 12.0))
    items += [Rule(value, label=name, along="y", dash="dash", width=1.0) for name, value in marks.items()]
    x = Axis(words=tuple(name_of(finding) for finding in conditions), slanted=True, margin=0.03)
    return Panel(tuple(items), x, Axis(label_of(plan)), legend="above", columns=2)
