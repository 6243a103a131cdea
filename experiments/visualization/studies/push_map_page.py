"""What the page of a push map says: the map around the human, and the proportions that are left."""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from experiments.studies.limits import LIMITS
from experiments.studies.run import plan_of
from experiments.studies.store.folder import Study
from experiments.studies.threshold.directions import WORDS
from experiments.studies.threshold.findings import Difference, Findings, changes_of_engines
from experiments.studies.threshold.so_far import findings_so_far
from experiments.visualization.figures import style
from experiments.visualization.pages import Section
from experiments.visualization.report import theme
from experiments.visualization.report.drawing import Drawing, plain
from experiments.visualization.studies.push_map_figure import (
    Ring,
    closed,
    limits_of,
    radius_of,
    reach_of,
    rings_of,
    scaled_soles,
)
from experiments.visualization.studies.threshold_page import page_lead, page_rerun, table
from experiments.visualization.studies.threshold_text import label_of, limits_text, name_of, shares_of

__all__ = ["page_lead", "page_rerun", "page_sections"]

#: Rows of the map of proportions.
LEVELS = 60
#: Of the limits' lines.
LIMIT_DASHES = dict(zip(LIMITS.values(), ("solid", "dot"), strict=True))
_BANDS = ("rgba(0,114,178,{})", "rgba(230,159,0,{})", "rgba(0,158,115,{})", "rgba(213,94,0,{})")


def page_sections(study: Study) -> list[Section]:
    findings = findings_so_far(plan_of(study), study)
    rings = rings_of(findings)
    changes = changes_of_engines(findings)
    drawings = [_map(findings, rings)]
    if len(rings) == 1 + len(changes) and changes:
        drawings.append(_changes(changes, rings))
    drawings += [drawn(ring, k) for k, ring in enumerate(rings) for drawn in (_limits, _proportions)]
    charts = [drawing.chart for drawing in drawings]
    return [Section("map", "Push map", blocks=(*charts, table(findings)))]


def _map(findings: Findings, rings: list[Ring]) -> Drawing:
    """Median, interval and spread over the direction, seen from above with the human's front at the top."""
    plan = findings.plan
    top = radius_of(rings)
    ticks = {
        "tickmode": "array",
        "tickvals": list(range(0, 360, 45)),
        "ticktext": [f"{w}<br>{45 * k}°" for k, w in enumerate(WORDS)],
    }
    figure = theme.new_figure(
        620,
        polar={
            "angularaxis": {"rotation": 90, "direction": "counterclockwise", **ticks},
            "radialaxis": {"range": [0, top], "angle": 157.5, "nticks": 6},
        },
        margin={"t": 60, "b": 60},
    )
    for azimuth, distance in scaled_soles(rings, top):
        figure.add_scatterpolar(
            theta=np.degrees(closed(azimuth)), r=closed(distance), fill="toself", fillcolor=theme.FAINT, mode="lines",
            line={"color": theme.MARKED, "width": 1}, showlegend=False, hoverinfo="skip",
        )  # fmt: skip
    for ring, color, band in zip(rings, theme.LINES, _BANDS, strict=False):
        name = plain(ring.name)
        if len(rings) == 1:
            _add_band(figure, ring, ("low", "high"), band.format(0.12), "10 … 90 %")
        confidence = f"{100.0 * ring.findings[0].estimate.median.confidence:.1f} % interval"
        _add_band(figure, ring, ("ci_low", "ci_high"), band.format(0.35), f"{name} {confidence}".strip())
        texts = [
            plain(f"{' '.join(name_of(finding).split())}, limited by {limits_text(finding)}")
            for finding in ring.findings
        ]
        limits = closed_words([theme.VERDICTS.get(finding.limited_by, color) for finding in ring.findings])
        figure.add_scatterpolar(
            theta=closed(ring.azimuths), r=closed(ring.numbers("median")), mode="lines+markers",
            line={"color": color}, marker={"size": 7, "color": limits}, name=f"{name} median".strip(),
            text=[*texts, texts[0]],
            hovertemplate=f"%{{text}}: %{{r:.4g}} {plain(plan.unit)}<extra></extra>",
        )  # fmt: skip
    for ring, name, values in limits_of(rings):
        figure.add_scatterpolar(
            theta=closed(ring.azimuths), r=closed(values), mode="lines", name=name, hoverinfo="name+r",
            line={"color": theme.MARKED, "width": 1.4, "dash": LIMIT_DASHES[name]},
        )  # fmt: skip
    text = (
        f"Largest {label_of(plan)} that {plan.experiment.who} recovers from, over where it is driven: median of "
        f"{plan.replicas} replicas and its interval; dots in the colour of what limits it, as below. From above, front "
        "up; the soles are to the scale of one another."
    )
    return Drawing("push-map", text, figure)


def closed_words(words: list[str]) -> list[str]:
    return [*words, *words[:1]]


def _limits(ring: Ring, number: int) -> Drawing:
    """How the replicas end at their thresholds, direction by direction."""
    plan = ring.findings[0].plan
    figure = theme.new_figure(
        260,
        barmode="stack",
        xaxis=_direction_axis(plan.experiment.who),
        yaxis={"title": {"text": "replicas"}, "tickformat": ".0%", "range": [0.0, 1.0]},
    )
    for word in shares_of(ring.findings):
        figure.add_bar(
            x=ring.azimuths, y=[found.limits.get(word, 0) / len(found.brackets) for found in ring.findings],
            name=word, marker={"color": theme.VERDICTS[word]},
            hovertemplate=f"%{{x:.4g}}°: {word} %{{y:.0%}}<extra></extra>",
        )  # fmt: skip
    name = f" at {ring.name}" if ring.name else ""
    text = f"How the replicas end at the least value at which each is lost{name}: what limits each direction."
    return Drawing(f"limits-{number}" if number else "limits", text, figure)


def _add_band(figure: go.Figure, ring: Ring, names: tuple[str, str], color: str, label: str) -> None:
    """The area between two columns: out along the one, back along the other."""
    inner, outer = (closed(ring.numbers(name)) for name in names)
    theta = closed(ring.azimuths)
    figure.add_scatterpolar(
        theta=np.concatenate([theta, theta[::-1]]), r=np.concatenate([outer, inner[::-1]]), fill="toself",
        fillcolor=color, mode="lines", line={"width": 0}, name=label, hoverinfo="skip",
    )  # fmt: skip


def _changes(changes: Mapping[str, Sequence[Difference]], rings: Sequence[Ring]) -> Drawing:
    """What changed from the first map to the others: the median over the replicas, and its interval."""
    plan, names, reach = rings[0].findings[0].plan, [ring.name for ring in rings], reach_of(changes)
    figure = theme.new_figure(
        420,
        xaxis=_direction_axis(plan.experiment.who),
        yaxis={"title": {"text": plain(f"change of the threshold [{plan.unit}]")}},
    )
    for name, found in changes.items():
        color = theme.LINES[names.index(name)]
        value, low, high = (
            np.clip([getattr(one.change, end) for one in found], -reach, reach) for end in ("value", "low", "high")
        )
        symbols = ["circle" if one.change.excludes_zero else "circle-open" for one in found]
        figure.add_scatter(
            x=[float(one.ours.condition.labels["direction"]) for one in found], y=value, name=plain(name),
            mode="markers", marker={"color": color, "size": 8, "symbol": symbols},
            error_y={"array": high - value, "arrayminus": value - low, "thickness": 1.2, "width": 3},
            hovertemplate="%{x:.4g}°: %{y:+.3g}<extra></extra>",
        )  # fmt: skip
    text = (
        f"{' and '.join(changes)} against {names[0]}, replica by replica: median change and its interval; hollow where "
        "zero is within."
    )
    return Drawing("changes", text, figure)


def _direction_axis(who: str) -> dict[str, object]:
    title = {"text": f"where the push drives {who} [°]"}
    return {"title": title, "tickvals": list(range(0, 360, 45)), "showgrid": False}


def _proportions(ring: Ring, number: int) -> Drawing:
    """The proportion of replicas that is not lost yet, over direction and value."""
    plan = ring.findings[0].plan
    top = 1.15 * max(float(ring.numbers("high").max()), plan.grid.by)
    edges = np.linspace(plan.grid.start, top, LEVELS + 1)
    middles = (edges[1:] + edges[:-1]) / 2.0
    proportions = np.array([finding.survivors(middles) for finding in ring.findings])
    median = ring.numbers("median")
    figure = theme.new_figure(
        460,
        xaxis=_direction_axis(plan.experiment.who),
        yaxis={"title": {"text": plain(label_of(plan))}, "range": [edges[0], edges[-1]]},
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom"},
    )
    figure.add_heatmap(
        x=ring.azimuths, y=middles, z=proportions.T, zmin=0.0, zmax=1.0, colorscale=theme.SCALE,
        colorbar={"title": {"text": "proportion"}, "tickformat": ".0%", "outlinewidth": 0},
        hovertemplate="%{x:.4g}°, %{y:.4g}: %{z:.0%}<extra></extra>",
    )  # fmt: skip
    figure.add_scatter(
        x=ring.azimuths, y=median, mode="markers", marker={"color": style.RED, "size": 6}, name="median",
        error_y={"array": ring.numbers("ci_high") - median, "arrayminus": median - ring.numbers("ci_low"),
                 "thickness": 1.4, "width": 2},
        hovertemplate="%{x:.4g}°: %{y:.4g}<extra></extra>",
    )  # fmt: skip
    name = f" at {ring.name}" if ring.name else ""
    text = f"Proportion of {plan.replicas} replicas that is not lost up to a value{name}; dots: median, its interval."
    return Drawing(f"proportions-{number}" if number else "proportions", text, figure)
