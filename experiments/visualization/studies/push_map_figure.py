"""The push map as a picture: seen from above, the human's front at the top."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.projections.polar import PolarAxes

from contact.arrays import Floats
from experiments.studies.limits import LIMITS
from experiments.studies.threshold.directions import WORDS, soles
from experiments.studies.threshold.findings import Difference, Finding, Findings
from experiments.visualization.figures import style
from experiments.visualization.figures.writing import styled, write_figure
from experiments.visualization.studies.compass import face_front
from experiments.visualization.studies.threshold_text import ring_name, shares_of

#: How much of the map's radius the feet take.
FEET = 0.2
#: Levels of impulse that the proportion is shown at.
LEVELS = 160
ISLAND = "recovers again above a loss"
#: [pt] Width of a map's line; by how much those below it are wider, so that equal maps are all seen; of all together.
WIDTH, WIDER, WIDEST = 1.5, 2.0, 6.0
#: Of the limits, in the order of ``LIMITS``.
LIMIT_LINES = ("-", ":")
#: What optimal recovery found is called, and in so many directions it is drawn as a line.
OPTIMAL, LEAST_AROUND = "best recovery found, of the whole body", 8
#: [°] between the points of two maps in one direction.
SIDE = 8.0


@dataclass(frozen=True)
class Ring:
    """One curve around the human: the findings of all directions, by growing azimuth; its name is for the legend."""

    name: str
    findings: Sequence[Finding]

    @property
    def azimuths(self) -> Floats:
        return np.array([finding.condition.labels["direction"] for finding in self.findings], dtype=float)

    def numbers(self, name: str) -> Floats:
        """A column of the estimates by name; what is out of range lies at the edge of it."""
        found = [finding.estimate for finding in self.findings]
        values = {
            "median": [e.median.value for e in found],
            "ci_low": [e.median.low for e in found],
            "ci_high": [e.median.high for e in found],
            "low": [e.low for e in found],
            "high": [e.high for e in found],
        }[name]
        grid = self.findings[0].plan.grid
        return np.clip(values, grid.start, grid.limit)

    @property
    def unsure(self) -> Floats:
        """For each direction the proportion of replicas that recovered above a loss."""
        found = [finding.estimate for finding in self.findings]
        return np.array([e.non_monotone / e.replicas for e in found])

    def limits(self) -> dict[str, Floats]:
        """By what they are called, the limits that all directions have."""
        found = [finding.limit.columns if finding.limit else {} for finding in self.findings]
        return {
            LIMITS[name]: np.array([one[name] for one in found]) for name in LIMITS if all(name in one for one in found)
        }


def limits_of(rings: Sequence[Ring]) -> list[tuple[Ring, str, Floats]]:
    """Limits by ring and by what they are called; those of later maps only where they are others."""
    found: list[tuple[Ring, str, Floats]] = []
    for ring in rings:
        for name, values in ring.limits().items():
            drawn = [other for _, called, other in found if called == name]
            if not any(len(other) == len(values) and np.allclose(other, values, rtol=1e-3) for other in drawn):
                found.append((ring, name, values))
    return found


def rings_of(findings: Findings) -> list[Ring]:
    rings: dict[str, list[Finding]] = {}
    for finding in findings.conditions:
        rings.setdefault(ring_name(finding.condition.labels), []).append(finding)
    return [Ring(name, found) for name, found in rings.items()]


def draw_maps(
    rings: Sequence[Ring],
    path: str | Path,
    title: str,
    changes: Mapping[str, Sequence[Difference]] | None = None,
    best: pd.DataFrame | None = None,
) -> list[Path]:
    """Maps around the human, on top of one another.

    On the right of a single one is the proportion that recovers at each impulse of the grid, and how the replicas end
    where they first do not; on the right of several what changed from the first to those that ``changes`` names.
    ``best`` is the table of optimal recovery (``experiments.studies.recovery``).
    """
    alone = len(rings) == 1
    has_two = alone or bool(changes)
    with styled():
        figure = Figure(figsize=(10.4 if has_two else 6.0, 6.8 if alone else 5.8))
        parts: Any = figure.subfigures(1, 2, width_ratios=(1.0, 1.05)) if has_two else (figure,)
        polar: PolarAxes = parts[0].add_subplot(projection="polar")
        wider = min(WIDER, WIDEST / len(rings))
        for place, (ring, color) in enumerate(zip(rings, style.LINES, strict=False)):
            _draw_ring(polar, ring, color, WIDTH + wider * (len(rings) - 1 - place), spread=alone)
        _draw_bounds(polar, rings)
        if best is not None:
            _draw_best(polar, best)
        if alone:
            _draw_unsure(polar, rings[0])
            _draw_what_limits(polar, rings[0])
            upper, lower = parts[1].subplots(2, 1, sharex=True, height_ratios=(3.4, 1.0))
            _draw_proportions(upper, rings[0])
            _draw_limits(lower, rings[0])
        elif changes:
            _draw_changes(parts[1].subplots(), changes, rings)
        _finish_polar(polar, rings, 1 if changes else 2, 0.0 if best is None else float(best["impulse"].max()))
        figure.suptitle(title, x=0.01, ha="left", fontsize=11, fontweight="bold")
        return write_figure(figure, path)


def closed(values: Floats) -> Floats:
    return np.append(values, values[:1])


def _draw_ring(axes: PolarAxes, ring: Ring, color: str, width: float, *, spread: bool) -> None:
    angles = np.radians(closed(ring.azimuths))
    band = {name: closed(ring.numbers(name)) for name in ("median", "ci_low", "ci_high", "low", "high")}
    if spread:
        axes.fill_between(angles, band["low"], band["high"], color=color, alpha=0.13, linewidth=0, label="10 … 90 %")
    confidence = f"{100.0 * ring.findings[0].estimate.median.confidence:.0f} % interval"
    axes.fill_between(
        angles,
        band["ci_low"],
        band["ci_high"],
        color=color,
        alpha=0.35,
        linewidth=0,
        label=confidence if spread else None,
    )
    label = "median" if spread else ring.name
    axes.plot(angles, band["median"], ".-", color=color, linewidth=width, markersize=4.0, label=label)


def _draw_bounds(axes: PolarAxes, rings: Sequence[Ring]) -> None:
    """The limits of the inverted pendulum, which the map cannot pass where its assumptions hold."""
    for ring, name, values in limits_of(rings):
        dashes = LIMIT_LINES[list(LIMITS.values()).index(name)]
        axes.plot(
            np.radians(closed(ring.azimuths)), closed(values), dashes, color=style.BLACK, linewidth=1.1, label=name
        )


def _draw_best(axes: PolarAxes, best: pd.DataFrame) -> None:
    """What the whole body recovers from at best, as far as it was found; a line where it is known all around."""
    angles, values = np.radians(best["direction"].to_numpy()), best["impulse"].to_numpy()
    around = len(best) >= LEAST_AROUND
    axes.plot(
        closed(angles) if around else angles, closed(values) if around else values, ".--" if around else ".",
        color=style.BLACK, linewidth=1.1, markersize=5.0, label=OPTIMAL,
    )  # fmt: skip


def _draw_unsure(axes: PolarAxes, ring: Ring) -> None:
    """A ring for each direction with replicas that recovered above a loss, its area their proportion."""
    proportion = ring.unsure
    shown = proportion > 0.0
    if shown.any():
        axes.scatter(
            np.radians(ring.azimuths[shown]),
            ring.numbers("median")[shown],
            s=160.0 * proportion[shown] + 14.0,
            facecolors="none",
            edgecolors=style.RED,
            linewidths=1.0,
            zorder=4,
            label=f"not monotone ({100.0 * proportion.max():.0f} % at most)",
        )


def _draw_what_limits(axes: PolarAxes, ring: Ring) -> None:
    """The medians in the colour of the verdict that most replicas of the direction end in at their thresholds."""
    words = [finding.limited_by for finding in ring.findings]
    for word, share in shares_of(ring.findings).items():
        mine = np.array([word == found for found in words])
        if mine.any():
            label = f"limited by: {word} ({share:.0%} of all)"
            where = np.radians(ring.azimuths[mine]), ring.numbers("median")[mine]
            axes.plot(*where, "o", color=style.VERDICTS[word], markersize=5.0, zorder=5, label=label)


def _draw_limits(axes: Axes, ring: Ring) -> None:
    """For each direction the shares of the verdicts in which replicas end at the least value at which each is lost."""
    azimuths = ring.azimuths
    below = np.zeros(len(azimuths))
    width = 0.7 * float(np.diff(azimuths).min(initial=360.0))
    for word in shares_of(ring.findings):
        share = np.array([finding.limits.get(word, 0) / len(finding.brackets) for finding in ring.findings])
        axes.bar(azimuths, share, width, below, color=style.VERDICTS[word], label=word)
        below += share
    axes.set_ylim(0.0, 1.0)
    axes.yaxis.set_major_formatter(matplotlib.ticker.PercentFormatter(1.0))
    axes.set_ylabel("replicas")
    axes.set_title("How they end at the threshold")
    axes.set_xlabel(f"where the push drives {ring.findings[0].plan.experiment.who}")
    axes.grid(visible=False, axis="x")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.62), ncols=4, handlelength=1.2)


def _finish_polar(axes: PolarAxes, rings: Sequence[Ring], columns: int, least: float) -> None:
    plan = rings[0].findings[0].plan
    top = max(radius_of(rings), 1.08 * least)
    axes.set_ylim(0.0, top)
    face_front(axes)
    axes.set_title(f"Largest {plan.label} recovered from [{plan.unit}]")
    for azimuth, distance in scaled_soles(rings, top):
        axes.fill(azimuth, distance, facecolor="#D9D9D9", edgecolor=style.GREY, linewidth=0.8)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.1), ncols=columns)


def scaled_soles(rings: Sequence[Ring], top: float) -> list[tuple[Floats, Floats]]:
    """Azimuths and distances of the outlines of the robot's soles, in a map of this radius."""
    outlines = soles(rings[0].findings[0].plan.experiment.build().model)
    scale = FEET * top / max(float(outline.distance.max()) for outline in outlines)
    return [(outline.azimuth, scale * outline.distance) for outline in outlines]


def radius_of(rings: Sequence[Ring]) -> float:
    """Of a map with all that is in these."""
    found = [float(ring.numbers(name).max()) for ring in rings for name in ("ci_high", "high")]
    return 1.08 * max(*found, *(float(values.max()) for _, _, values in limits_of(rings)))


def _draw_proportions(axes: Axes, ring: Ring) -> None:
    """The proportion of replicas that is not lost yet over direction and impulse, and where some recovered again."""
    plan = ring.findings[0].plan
    azimuths, median = ring.azimuths, ring.numbers("median")
    islands = [
        (azimuth, *item) for azimuth, f in zip(azimuths, ring.findings, strict=True) for item in f.islands().items()
    ]
    top = 1.15 * max(float(ring.numbers("high").max()), *(value for _, value, _ in islands), plan.grid.by)
    edges = np.linspace(plan.grid.start, top, LEVELS + 1)
    proportions = np.array([finding.survivors((edges[1:] + edges[:-1]) / 2.0) for finding in ring.findings])
    half = (azimuths[1] - azimuths[0]) / 2.0
    sides = np.append(azimuths - half, azimuths[-1] + half)
    mesh = axes.pcolormesh(sides, edges, proportions.T, cmap=style.MAP, vmin=0.0, vmax=1.0, rasterized=True)
    errors = np.abs(np.array([ring.numbers("ci_low"), ring.numbers("ci_high")]) - median)
    axes.errorbar(azimuths, median, errors, fmt="o", color=style.RED, markersize=3.5, elinewidth=1.2, label="median")
    if islands:
        x, y, count = np.array(islands, dtype=float).T
        axes.scatter(x, y, s=80.0 * count / plan.replicas + 6.0, facecolors="none", edgecolors="white", label=ISLAND)
    axes.set_xticks(np.arange(0, 360, 90), [f"{WORDS[2 * k]}\n{90 * k}°" for k in range(4)])
    axes.set_ylabel(f"{plan.label} [{plan.unit}]")
    axes.set_title(f"Proportion of {plan.replicas} replicas that is not lost up to there")
    axes.grid(visible=False)
    axes.figure.colorbar(mesh, ax=axes, pad=0.02, format=matplotlib.ticker.PercentFormatter(1.0))
    axes.legend(loc="upper center", ncols=2, labelcolor="white")


def reach_of(changes: Mapping[str, Sequence[Difference]]) -> float:
    """On both sides of zero, what shows all intervals that end."""
    plan = next(iter(changes.values()))[0].ours.plan
    ends = [abs(v) for found in changes.values() for c in found for v in (c.change.low, c.change.high)]
    return 1.2 * max([v for v in ends if np.isfinite(v)], default=plan.grid.by)


def _draw_changes(axes: Axes, changes: Mapping[str, Sequence[Difference]], rings: Sequence[Ring]) -> None:
    """A point with its interval for each direction, in its map's colour; hollow where the interval has zero in it."""
    plan, names = rings[0].findings[0].plan, [ring.name for ring in rings]
    reach = reach_of(changes)
    for place, (name, found) in enumerate(changes.items()):
        color, side = style.LINES[names.index(name)], SIDE * (place - 0.5 * (len(changes) - 1))
        for sure, face, text in ((True, color, "interval without zero"), (False, "white", "interval with zero")):
            shown = [c for c in found if c.change.excludes_zero == sure]
            azimuth = np.array([c.ours.condition.labels["direction"] for c in shown], dtype=float) + side
            value, low, high = (
                np.clip([getattr(c.change, end) for c in shown], -reach, reach) for end in ("value", "low", "high")
            )
            if shown:
                axes.errorbar(azimuth, value, (value - low, high - value), fmt="o", color=color, markersize=4.0,
                              markerfacecolor=face, label=f"{name}, {text}")  # fmt: skip
    axes.axhline(0.0, color=style.BLACK, linewidth=0.8)
    axes.set_xmargin(0.03)
    axes.set_xticks(np.arange(0, 360, 90), [f"{WORDS[2 * k]}\n{90 * k}°" for k in range(4)])
    axes.set_xlabel(f"where the push drives {plan.experiment.who}")
    axes.set_ylabel(f"change of the threshold [{plan.unit}]")
    axes.set_title(f"{' and '.join(changes)} against {names[0]}, replica by replica")
    axes.legend(loc="best")
