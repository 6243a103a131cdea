"""Figures of push maps: map in top view, the human facing up; proportions; verdicts by direction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from contact.arrays import Floats
from experiments.studies.limits import STANDING_LIMITS, name_with_steps
from experiments.studies.threshold.directions import WORDS, soles
from experiments.studies.threshold.findings import Difference, Finding, Findings
from experiments.visualization.look import style
from experiments.visualization.look.writing import styled, write_figure
from experiments.visualization.panels.panel import Area, Axis, Bars, Dash, HeatMap, Item, Panel, Points, Rule, closed
from experiments.visualization.panels.with_matplotlib import draw
from experiments.visualization.studies.threshold_text import label_of, limits_text, name_of, ring_name, shares_of

#: Radius of the drawn feet / radius of the largest median.
FEET = 0.2
#: Largest shown limit / largest value of the maps.
BEYOND = 1.8
#: Impulse levels of the panel of proportions.
LEVELS = 160
ISLAND = "recovers again above a loss"
#: [pt] width of a map's line; increase for each map below, so that equal maps are all visible; largest width.
WIDTH, WIDER, WIDEST = 1.5, 2.0, 6.0
#: Dashes of the limits' lines.
LIMIT_DASHES: Mapping[str, Dash] = {
    **dict(zip(STANDING_LIMITS.values(), ("solid", "dot"), strict=True)), name_with_steps(1): "dashdot",
}  # fmt: skip
#: [°] between the points of two maps in one direction.
SIDE = 8.0


@dataclass(frozen=True)
class Ring:
    """Findings of one map in all directions, by increasing azimuth, with a name for the legend."""

    name: str
    findings: Sequence[Finding]

    @property
    def azimuths(self) -> Floats:
        return np.array([finding.condition.labels["direction"] for finding in self.findings], dtype=float)

    def numbers(self, name: str) -> Floats:
        """Return a column of the estimates; values outside the tried range are clipped to it."""
        estimates = [finding.estimate for finding in self.findings]
        values = {
            "median": [e.median.value for e in estimates],
            "ci_low": [e.median.low for e in estimates],
            "ci_high": [e.median.high for e in estimates],
            "low": [e.low for e in estimates],
            "high": [e.high for e in estimates],
        }[name]
        return np.clip(values, self.findings[0].plan.grid.start, max(f.greatest for f in self.findings))

    @property
    def unsure(self) -> Floats:
        """Proportion of replicas in each direction that recovered above a loss."""
        estimates = [finding.estimate for finding in self.findings]
        return np.array([e.non_monotone / e.replicas for e in estimates])

    def limits(self) -> dict[str, Floats]:
        """Return the limits that all directions have, by their names in the legend."""
        limits = [finding.limit for finding in self.findings if finding.limit]
        if len(limits) < len(self.findings):
            return {}
        return {
            called: np.array([limit.columns[name] for limit in limits])
            for name, called in limits[0].names.items()
            if all(name in limit.columns for limit in limits)
        }


def limits_of(rings: Sequence[Ring]) -> list[tuple[Ring, str, Floats]]:
    """Return limits with their rings and names; limits of later maps are left out if they do not differ."""
    kept: list[tuple[Ring, str, Floats]] = []
    for ring in rings:
        for name, values in ring.limits().items():
            drawn = [other for _, called, other in kept if called == name]
            if not any(len(other) == len(values) and np.allclose(other, values, rtol=1e-3) for other in drawn):
                kept.append((ring, name, values))
    return kept


def rings_of(findings: Findings) -> list[Ring]:
    rings: dict[str, list[Finding]] = {}
    for finding in findings.conditions:
        rings.setdefault(ring_name(finding.condition.labels), []).append(finding)
    return [Ring(name, members) for name, members in rings.items()]


def draw_maps(
    rings: Sequence[Ring], path: str | Path, title: str, changes: Mapping[str, Sequence[Difference]] | None = None
) -> list[Path]:
    """Draw maps over one another around the human; return the files.

    On the right of a single map are the proportion that recovers at each impulse of the grid, and the verdicts at the
    thresholds; on the right of several maps are the changes from the first map to the maps in ``changes``.
    """
    alone = len(rings) == 1
    has_two = alone or bool(changes)
    with styled():
        figure = Figure(figsize=(10.4 if has_two else 6.0, 6.8 if alone else 5.8))
        parts: Any = figure.subfigures(1, 2, width_ratios=(1.0, 1.05)) if has_two else (figure,)
        panel = map_panel(rings, verdicts=alone, columns=1 if changes else 2)
        draw(parts[0].add_subplot(projection="polar"), panel)
        if alone:
            upper, lower = parts[1].subplots(2, 1, sharex=True, height_ratios=(3.4, 1.0))
            proportions = proportions_panel(rings[0])
            draw(upper, replace(proportions, x=replace(proportions.x, label="")))
            draw(lower, endings_panel(rings[0]))
        elif changes:
            draw(parts[1].subplots(), changes_panel(changes, rings))
        figure.suptitle(fill(title, 110 if has_two else 58), x=0.01, ha="left", fontsize=11, fontweight="bold")
        return write_figure(figure, path)


def map_panel(rings: Sequence[Ring], *, verdicts: bool = True, columns: int = 2) -> Panel:
    """Return medians with intervals over the direction, and limits; for a single ring also the spread.

    ``verdicts``: colour the medians by the verdict that limits them.
    """
    plan, alone = rings[0].findings[0].plan, len(rings) == 1
    top = radius_of(rings)
    items: list[Item] = [Area(*sole, style.GREY, alpha=0.3, edge=style.GREY) for sole in _scaled_soles(rings)]
    wider = min(WIDER, WIDEST / len(rings))
    for place, (ring, color) in enumerate(zip(rings, style.LINES, strict=False)):
        items += _ring(ring, color, WIDTH + wider * (len(rings) - 1 - place), spread=alone)
    limits = limits_of(rings)
    for ring, name, values in limits:
        items.append(
            Points(
                closed(ring.azimuths), closed(values), name, style.BLACK, dash=LIMIT_DASHES.get(name, "dash"), width=1.1
            )
        )
    if alone:
        items += _unsure(rings[0])
    for place, ring in enumerate(rings if verdicts else ()):
        items += _limited(ring, named=place == 0)
    cut = "; limits clipped" if any(float(values.max()) > top for _, _, values in limits) else ""
    title = f"Threshold: largest {plan.label} with recovery [{plan.unit}]{cut}"
    return Panel(tuple(items), y=Axis(low=0.0, high=top), title=title, polar=True, legend="around", columns=columns)


def _ring(ring: Ring, color: str, width: float, *, spread: bool) -> list[Item]:
    angles = closed(ring.azimuths)
    median, low, high, least, most = (closed(ring.numbers(n)) for n in ("median", "ci_low", "ci_high", "low", "high"))
    confidence = f"{100.0 * ring.findings[0].estimate.median.confidence:.0f} % interval"
    name = "median" if spread else f"{ring.name}, with {confidence}"
    texts = [f"{' '.join(name_of(f).split())}: {value:.4g} {f.plan.unit}, limited by {limits_text(f)}"
             for f, value in zip(ring.findings, median, strict=False)]  # fmt: skip
    outer = [Area.between(angles, least, most, color, "10 … 90 %", alpha=0.13)] if spread else []
    return [
        *outer,
        Area.between(angles, low, high, color, confidence if spread else "", group="" if spread else name),
        Points(angles, median, name, color, "circle", 2.0, dash="solid", width=width, hover=[*texts, *texts[:1]]),
    ]


def _unsure(ring: Ring) -> list[Points]:
    """Return a circle for each direction with replicas that recovered above a loss; its area is their proportion."""
    proportion = ring.unsure
    shown = proportion > 0.0
    if not shown.any():
        return []
    sizes, label = (
        np.sqrt(160.0 * proportion[shown] + 14.0),
        f"non-monotonic ({100.0 * proportion.max():.0f} % at most)",
    )
    at = ring.azimuths[shown], ring.numbers("median")[shown]
    return [Points(*at, label, style.RED, "circle", sizes, face="none")]


def _limited(ring: Ring, *, named: bool) -> list[Points]:
    """Return the medians in the colour of the most frequent verdict at the thresholds of their direction."""
    words, items = np.array([finding.limited_by for finding in ring.findings]), list[Points]()
    for word, share in shares_of(ring.findings).items():
        mine = words == word
        if mine.any():
            label = f"limited by: {word} ({share:.0%} of all)" if named else ""
            where = ring.azimuths[mine], ring.numbers("median")[mine]
            items.append(Points(*where, label, style.VERDICTS[word], "circle", 5.0))
    return items


def endings_panel(ring: Ring) -> Panel:
    """Return, for each direction, the shares of the verdicts at the least value at which each replica is lost."""
    azimuths = ring.azimuths
    width = 0.7 * float(np.diff(azimuths).min(initial=360.0))
    shares = {word: [f.limits.get(word, 0) / len(f.brackets) for f in ring.findings]
              for word in shares_of(ring.findings)}  # fmt: skip
    bars = [Bars(azimuths, share, style.VERDICTS[word], word, width, stacked=True)
            for word, share in shares.items()]  # fmt: skip
    title, y = "Verdicts at the threshold", Axis("replicas", 0.0, 1.0, form=".0%")
    return Panel(tuple(bars), _directions(), y, title, legend="far below", columns=4)


def _directions() -> Axis:
    ticks = {90.0 * k: f"{WORDS[2 * k]}\n{90 * k}" for k in range(4)}
    return Axis("push direction, towards [°]", ticks=ticks, grid=False)


def _scaled_soles(rings: Sequence[Ring]) -> list[tuple[Floats, Floats]]:
    """Return azimuths [°] and distances of the outlines of the soles, scaled to fit the maps."""
    outlines = soles(rings[0].findings[0].plan.experiment.build().model)
    scale = FEET * _greatest(rings, "median") / max(float(outline.distance.max()) for outline in outlines)
    return [(np.degrees(outline.azimuth), scale * outline.distance) for outline in outlines]


def radius_of(rings: Sequence[Ring]) -> float:
    """Return the radius of a map of these rings and their limits; limits far above the rings are cut off."""
    reach = _greatest(rings, "ci_high", "high")
    limits = [float(values.max()) for _, _, values in limits_of(rings)]
    return min(1.08 * max([reach, *limits]), max(BEYOND * reach, rings[0].findings[0].plan.grid.by))


def _greatest(rings: Sequence[Ring], *names: str) -> float:
    return max(float(np.nan_to_num(ring.numbers(name)).max()) for ring in rings for name in names)


def proportions_panel(ring: Ring) -> Panel:
    """Return the proportion of replicas not yet lost over direction and impulse, and where some recovered again."""
    plan = ring.findings[0].plan
    azimuths, median = ring.azimuths, ring.numbers("median")
    islands = [
        (azimuth, *item) for azimuth, f in zip(azimuths, ring.findings, strict=True) for item in f.islands().items()
    ]
    top = 1.15 * max(_greatest([ring], "high"), *(value for _, value, _ in islands), plan.grid.by)
    edges = np.linspace(plan.grid.start, top, LEVELS + 1)
    middles = (edges[1:] + edges[:-1]) / 2.0
    proportions = np.array([finding.survivors(middles) for finding in ring.findings])
    items: list[Item] = [
        HeatMap(azimuths, middles, proportions.T, form=".0%", low=0.0, high=1.0),
        Points(azimuths, median, "median", style.RED, "circle", 3.5,
               interval=(ring.numbers("ci_low"), ring.numbers("ci_high"))),
    ]  # fmt: skip
    if islands:
        x, y, count = np.array(islands, dtype=float).T
        sizes = np.sqrt(80.0 * count / plan.replicas + 6.0)
        items.append(Points(x, y, ISLAND, "white", "circle", sizes, face="none"))
    title = f"Share of {plan.replicas} replicas not lost up to this value"
    y_axis = Axis(label_of(plan), float(edges[0]), float(edges[-1]))
    return Panel(tuple(items), _directions(), y_axis, title, legend="over", columns=2)


def changes_panel(changes: Mapping[str, Sequence[Difference]], rings: Sequence[Ring]) -> Panel:
    """Return the changes of the threshold by direction with intervals; hollow if an interval contains zero."""
    names, items = [ring.name for ring in rings], list[Item]()
    plan = rings[0].findings[0].plan
    ends = [abs(v) for differences in changes.values() for d in differences for v in (d.change.low, d.change.high)]
    reach = 1.2 * max([v for v in ends if np.isfinite(v)], default=plan.grid.by)  # shows all finite intervals
    for place, (name, differences) in enumerate(changes.items()):
        color, side = style.LINES[names.index(name)], SIDE * (place - 0.5 * (len(changes) - 1))
        for sure, face, text in ((True, "", "interval without zero"), (False, "white", "interval with zero")):
            shown = [d for d in differences if d.change.excludes_zero == sure]
            azimuth = np.array([d.ours.condition.labels["direction"] for d in shown], dtype=float)
            value, low, high = (
                np.clip([getattr(d.change, end) for d in shown], -reach, reach) for end in ("value", "low", "high")
            )
            if shown:
                texts = [f"{at:.4g}°: {change:+.3g}" for at, change in zip(azimuth, value, strict=True)]
                items.append(Points(azimuth + side, value, f"{name}, {text}", color, "circle", face=face,
                                    interval=(low, high), hover=texts))  # fmt: skip
    title = f"{' and '.join(changes)} against {names[0]}, replica by replica"
    x = replace(_directions(), margin=0.03, grid=True)
    return Panel(
        (*items, Rule(0.0, along="y")), x, Axis(f"change of the threshold [{plan.unit}]"), title, legend="best"
    )
