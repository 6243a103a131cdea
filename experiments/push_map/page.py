"""What a push map has on its page."""

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from experiments.figures import style
from experiments.pages import Block, Code, Section
from experiments.push_map.directions import WORDS, soles
from experiments.push_map.figure import FEET, Ring, rings_of
from experiments.push_map.names import direction_of, heights_of
from experiments.reporting import theme
from experiments.reporting.drawing import Drawing
from experiments.study.folder import Study
from experiments.threshold.again import command_of
from experiments.threshold.findings import Findings, findings_of, plan_of
from experiments.threshold.output import interval_text, number_text
from experiments.threshold.page import summary, tables

Floats = NDArray[np.float64]


def page_lead(study: Study) -> list[Block]:
    """The weakest and the strongest direction."""
    from experiments.pages import Prose

    return [Prose(summary(findings_of(study), direction_of))]


def page_sections(study: Study) -> list[Section]:
    """The map and its table."""
    findings = findings_of(study)
    return [Section("push-map", "Push map", blocks=(map_drawing(findings).chart, *tables(findings, direction_of)))]


def page_again(study: Study) -> list[Block]:
    """The command."""
    plan = plan_of(study)
    heights = heights_of(plan)
    own = [f"--directions={len(plan.conditions) // max(1, len(heights))}"]
    own += ["--heights", *map(repr, heights)] if heights else []
    return [Code(command_of("push-map", plan, own))]


def map_drawing(findings: Findings) -> Drawing:
    """Seen from above: the median of each direction, its interval and the spread of replicas."""
    plan = findings.plan
    rings = rings_of(findings)
    top = 1.08 * max(float(ring.numbers(name).max()) for ring in rings for name in ("ci_high", "high"))
    figure = theme.new_figure(560, margin={"l": 60, "r": 150, "t": 50, "b": 50})
    for ring, color in zip(rings, theme.LINES, strict=False):
        if len(rings) == 1:
            _add_band(figure, ring, ("low", "high"), color, 0.15, "10 … 90 %")
        _add_band(figure, ring, ("ci_low", "ci_high"), color, 0.35, f"{ring.name} interval".strip())
        _add_median(figure, ring, color)
    _add_soles(figure, top)
    figure.update_polars(
        radialaxis={"range": [0.0, top], "title": {"text": f"[{plan.unit}]"}, "angle": 200, "tickangle": 0},
        angularaxis={
            "rotation": 90,
            "direction": "counterclockwise",
            "tickvals": [45 * k for k in range(8)],
            "ticktext": [f"{word}<br>{45 * k}°" for k, word in enumerate(WORDS)],
        },
    )
    caption = (
        f"Seen from above, the human's front at the top: the largest {plan.label} [{plan.unit}] that it recovers from, "
        "over the direction in which the push drives it. Soles are to the scale of one another."
    )
    return Drawing("push-map", caption, figure)


def _closed(values: Floats) -> Floats:
    return np.append(values, values[:1])


def _add_band(figure: go.Figure, ring: Ring, ends: tuple[str, str], color: str, opacity: float, name: str) -> None:
    low, high = (_closed(ring.numbers(end)) for end in ends)
    azimuths = _closed(ring.azimuths)
    red, green, blue = (int(color[k : k + 2], 16) for k in (1, 3, 5))
    figure.add_scatterpolar(
        r=np.concatenate([high, low[::-1]]), theta=np.concatenate([azimuths, azimuths[::-1]]), name=name,
        mode="lines", line={"width": 0}, fill="toself", fillcolor=f"rgba({red},{green},{blue},{opacity})",
        hoverinfo="skip",
    )  # fmt: skip


def _add_median(figure: go.Figure, ring: Ring, color: str) -> None:
    texts = [
        f"{' '.join(direction_of(finding).split())}<br>median {number_text(e.median.value)}"
        f"<br>interval {interval_text(e.median.low, e.median.high)}"
        f"<br>10 … 90 %: {interval_text(e.low, e.high)}"
        f"<br>not monotone: {e.non_monotone} of {e.replicas}"
        for finding in ring.findings
        for e in [finding.estimate]
    ]
    unsure = _closed(ring.numbers("unsure")) > 0.0
    figure.add_scatterpolar(
        r=_closed(ring.numbers("median")), theta=_closed(ring.azimuths), name=ring.name or "median",
        mode="lines+markers", line={"color": color}, text=[*texts, texts[0]], hovertemplate="%{text}<extra></extra>",
        marker={"color": np.where(unsure, style.RED, color), "size": np.where(unsure, 9, 5)},
    )  # fmt: skip


def _add_soles(figure: go.Figure, top: float) -> None:
    outlines = soles()
    scale = FEET * top / max(float(outline.distance.max()) for outline in outlines)
    for outline in outlines:
        figure.add_scatterpolar(
            r=scale * outline.distance, theta=np.degrees(outline.azimuth), mode="lines", fill="toself",
            line={"color": theme.MARKED, "width": 1}, fillcolor=theme.FAINT, hoverinfo="skip", showlegend=False,
        )  # fmt: skip
