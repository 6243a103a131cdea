"""What the page of a push map says: the map around the human, the shares that are left, and the weakest direction."""

import numpy as np
import plotly.graph_objects as go

from experiments.studies.store.folder import Study
from experiments.studies.threshold.directions import WORDS, soles
from experiments.studies.threshold.findings import Findings, findings_of
from experiments.studies.threshold.push_map_names import direction_of
from experiments.visualization.figures import style
from experiments.visualization.pages import Block, Section
from experiments.visualization.report import theme
from experiments.visualization.report.drawing import Drawing, plain
from experiments.visualization.studies.push_map_figure import FEET, Ring, rings_of
from experiments.visualization.studies.threshold_page import lead, page_again, table

__all__ = ["page_again", "page_lead", "page_sections"]

#: Rows of the map of shares.
LEVELS = 60
_BANDS = ("rgba(0,114,178,{})", "rgba(230,159,0,{})", "rgba(0,158,115,{})", "rgba(213,94,0,{})")


def page_lead(study: Study) -> list[Block]:
    """The weakest and the strongest direction."""
    return lead(findings_of(study), direction_of)


def page_sections(study: Study) -> list[Section]:
    """The map, the shares of each ring, and the table."""
    findings = findings_of(study)
    rings = rings_of(findings)
    charts = [_map(findings, rings).chart, *(_shares(ring, k).chart for k, ring in enumerate(rings))]
    return [Section("map", "Push map", blocks=(*charts, table(findings, direction_of)))]


def _map(findings: Findings, rings: list[Ring]) -> Drawing:
    """Median, interval and spread over the direction, seen from above with the human's front at the top."""
    plan = findings.plan
    top = 1.08 * max(float(ring.numbers(name).max()) for ring in rings for name in ("ci_high", "high"))
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
    _add_feet(figure, top)
    for ring, color, band in zip(rings, theme.LINES, _BANDS, strict=False):
        name = plain(ring.name)
        if len(rings) == 1:
            _add_band(figure, ring, ("low", "high"), band.format(0.12), "10 … 90 %")
        confidence = f"{100.0 * ring.findings[0].estimate.median.confidence:.1f} % interval"
        _add_band(figure, ring, ("ci_low", "ci_high"), band.format(0.35), f"{name} {confidence}".strip())
        texts = [plain(" ".join(direction_of(finding).split())) for finding in ring.findings]
        figure.add_scatterpolar(
            theta=_closed(ring.azimuths), r=_closed(ring.numbers("median")), mode="lines+markers",
            line={"color": color}, marker={"size": 5}, name=f"{name} median".strip(), text=[*texts, texts[0]],
            hovertemplate=f"%{{text}}: %{{r:.4g}} {plain(plan.unit)}<extra></extra>",
        )  # fmt: skip
    text = (
        f"Largest {plan.label} [{plan.unit}] that the human recovers from, over where it is driven: median of "
        f"{plan.replicas} replicas and its interval. From above, front up; the soles are to the scale of one another."
    )
    return Drawing("push-map", text, figure)


def _closed(values: np.ndarray) -> np.ndarray:
    return np.append(values, values[:1])


def _add_band(figure: go.Figure, ring: Ring, names: tuple[str, str], color: str, label: str) -> None:
    """The area between two columns: out along the one, back along the other."""
    inner, outer = (_closed(ring.numbers(name)) for name in names)
    theta = _closed(ring.azimuths)
    figure.add_scatterpolar(
        theta=np.concatenate([theta, theta[::-1]]), r=np.concatenate([outer, inner[::-1]]), fill="toself",
        fillcolor=color, mode="lines", line={"width": 0}, name=label, hoverinfo="skip",
    )  # fmt: skip


def _add_feet(figure: go.Figure, top: float) -> None:
    outlines = soles()
    scale = FEET * top / max(float(outline.distance.max()) for outline in outlines)
    for outline in outlines:
        figure.add_scatterpolar(
            theta=np.degrees(_closed(outline.azimuth)), r=scale * _closed(outline.distance), fill="toself",
            fillcolor=theme.FAINT, mode="lines", line={"color": theme.MARKED, "width": 1}, showlegend=False,
            hoverinfo="skip",
        )  # fmt: skip


def _shares(ring: Ring, number: int) -> Drawing:
    """The share of replicas that has not fallen yet, over direction and value."""
    plan = ring.findings[0].plan
    top = 1.15 * max(float(ring.numbers("high").max()), plan.ladder.by)
    edges = np.linspace(plan.ladder.start, top, LEVELS + 1)
    middles = (edges[1:] + edges[:-1]) / 2.0
    shares = np.array([finding.survivors(middles) for finding in ring.findings])
    median = ring.numbers("median")
    figure = theme.new_figure(
        460,
        xaxis={
            "title": {"text": "where the push drives the human [°]"},
            "tickvals": list(range(0, 360, 45)),
            "showgrid": False,
        },
        yaxis={"title": {"text": plain(f"{plan.label} [{plan.unit}]")}, "range": [edges[0], edges[-1]]},
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom"},
    )
    figure.add_heatmap(
        x=ring.azimuths, y=middles, z=shares.T, zmin=0.0, zmax=1.0, colorscale=theme.SCALE,
        colorbar={"title": {"text": "share"}, "tickformat": ".0%", "outlinewidth": 0},
        hovertemplate="%{x:.4g}°, %{y:.4g}: %{z:.0%}<extra></extra>",
    )  # fmt: skip
    figure.add_scatter(
        x=ring.azimuths, y=median, mode="markers", marker={"color": style.RED, "size": 6}, name="median",
        error_y={"array": ring.numbers("ci_high") - median, "arrayminus": median - ring.numbers("ci_low"),
                 "thickness": 1.4, "width": 2},
        hovertemplate="%{x:.4g}°: %{y:.4g}<extra></extra>",
    )  # fmt: skip
    name = f" at {ring.name}" if ring.name else ""
    text = f"Share of {plan.replicas} replicas that has not fallen up to a value{name}; dots: median and its interval."
    return Drawing(f"shares-{number}" if number else "shares", text, figure)
