"""What the page of a study of thresholds says: medians with intervals, and the share that is left at each value."""

from collections.abc import Callable

import numpy as np

from experiments.studies.store.folder import Study
from experiments.studies.threshold.findings import Finding, Findings, findings_of
from experiments.visualization.pages import Block, Code, Prose, Section, Table
from experiments.visualization.report import theme
from experiments.visualization.report.drawing import Drawing, plain
from experiments.visualization.report.toml import as_toml
from experiments.visualization.studies.threshold_figure import MOST_CURVES, name_of, thresholds_of
from experiments.visualization.studies.threshold_output import interval_text, median_text, number_text, remarks

#: What a condition is called.
Name = Callable[[Finding], str]


def page_lead(study: Study) -> list[Block]:
    """The threshold, or the least and the greatest of all conditions."""
    return lead(findings_of(study))


def page_sections(study: Study) -> list[Section]:
    """Figure and table of the conditions."""
    findings = findings_of(study)
    few = len(findings.conditions) <= MOST_CURVES
    drawing = _curves(findings) if few else _medians(findings)
    return [Section("thresholds", "Thresholds", blocks=(drawing.chart, table(findings)))]


def page_again(study: Study) -> list[Block]:
    """The plan as a file, and the command."""
    return [
        Prose("The study, with this file as plan.toml:"),
        Code(as_toml(study.configuration["plan"]), "plan.toml"),
        Code("biped threshold plan.toml"),
    ]


def lead(findings: Findings, name: Name = name_of) -> list[Block]:
    """What was found, in a sentence, and what a reader has to know of it."""
    plan = findings.plan
    found = sorted(findings.conditions, key=lambda finding: finding.estimate.median.value)
    confidence = f"{100.0 * found[0].estimate.median.confidence:.1f} % interval"
    if len(found) == 1:
        text = f"The human recovers up to {_said(found[0])}, the median of {plan.replicas} replicas ({confidence})."
    else:
        ends = [f"{_called(finding, name)}, up to {_said(finding)}" for finding in (found[0], found[-1])]
        text = (
            f"{plan.label.capitalize()} that the human recovers from, the median of {plan.replicas} replicas "
            f"({confidence}): least for {ends[0]}; greatest for {ends[1]}."
        )
    return [Prose(text, "good"), *(Prose(remark, "muted") for remark in remarks(findings))]


def _said(finding: Finding) -> str:
    median = finding.estimate.median
    return f"{median_text(finding)} {finding.plan.unit} ({interval_text(median.low, median.high)})"


def _called(finding: Finding, name: Name) -> str:
    return " ".join(name(finding).split()) or "as it is"


def table(findings: Findings, name: Name = name_of) -> Table:
    """A row for each condition."""
    plan = findings.plan
    confidence = 100.0 * findings.conditions[0].estimate.median.confidence
    headings = (
        "condition", f"median [{plan.unit}]", f"{confidence:.1f} % interval", "10 %", "90 %", "replicas",
        "not monotone", "failed trials", "trials",
    )  # fmt: skip
    rows = tuple(_row(finding, name) for finding in findings.conditions)
    return Table(f"Thresholds of {plan.label}", headings, rows, fold=False)


def _row(finding: Finding, name: Name) -> tuple[str, ...]:
    found = finding.estimate
    return (
        _called(finding, name),
        median_text(finding),
        interval_text(found.median.low, found.median.high),
        number_text(found.low),
        number_text(found.high),
        str(found.replicas),
        str(found.non_monotone),
        str(finding.failed),
        str(finding.trials),
    )


def _curves(findings: Findings) -> Drawing:
    """For each condition the share that never fell up to a value, and the share that recovers at the first values."""
    plan = findings.plan
    figure = theme.new_figure(
        430,
        xaxis={"title": {"text": plain(f"{plan.label} [{plan.unit}]")}},
        yaxis={"title": {"text": f"share of {plan.replicas} replicas"}, "tickformat": ".0%", "range": [-0.02, 1.02]},
    )
    for finding, color in zip(findings.conditions, theme.LINES, strict=False):
        name = plain(_called(finding, name_of))
        values, above = thresholds_of(finding)
        ends = (plan.ladder.start, float(max(values[-1], finding.curve[-1].value)))
        figure.add_scatter(
            x=[ends[0], *values, ends[1]], y=[1.0, *above, above[-1]], name=name, legendgroup=name,
            mode="lines", line={"color": color, "shape": "hv", "width": 2}, hovertemplate="%{x:.4g}: %{y:.0%}",
        )  # fmt: skip
        share = np.array([s.recovered / s.tried for s in finding.curve])
        figure.add_scatter(
            x=[s.value for s in finding.curve], y=share, mode="markers", marker={"color": color, "size": 7},
            error_y={
                "array": np.array([s.high for s in finding.curve]) - share,
                "arrayminus": share - np.array([s.low for s in finding.curve]), "thickness": 1.2, "width": 3,
            },
            name="recovers there", legendgroup=name, hovertemplate="%{x:.4g}: %{y:.1%}", showlegend=False,
        )  # fmt: skip
        median = finding.estimate.median
        low, high = np.clip((median.low, median.high), plan.ladder.start, plan.ladder.limit)
        figure.add_vrect(x0=low, x1=high, fillcolor=color, opacity=0.15, line_width=0, layer="below")
    text = (
        "Lines: the share of replicas that never fell at less. Dots: the share that recovers at a value of the first "
        f"look, with {100.0 * plan.confidence:g} % intervals (Clopper and Pearson 1934). Bands: the median's interval."
    )
    return Drawing("thresholds", text, figure)


def _medians(findings: Findings) -> Drawing:
    """The medians of many conditions side by side."""
    plan = findings.plan
    edges = plan.ladder.start, plan.ladder.limit
    names = [plain(name_of(finding)) for finding in findings.conditions]
    columns = ("value", "low", "high")
    median, low, high = (
        np.clip([getattr(finding.estimate.median, column) for finding in findings.conditions], *edges)
        for column in columns
    )
    figure = theme.new_figure(460, yaxis={"title": {"text": plain(f"{plan.label} [{plan.unit}]")}})
    figure.add_scatter(
        x=names, y=median, mode="markers", marker={"size": 8}, name="median", showlegend=False,
        error_y={"array": high - median, "arrayminus": median - low, "thickness": 1.4, "width": 3},
        hovertemplate="%{x}: %{y:.4g}<extra></extra>",
    )  # fmt: skip
    figure.update_layout(xaxis={"automargin": True})
    text = f"Median over {plan.replicas} replicas, with its interval; what is out of range lies at the edge."
    return Drawing("thresholds", text, figure)
