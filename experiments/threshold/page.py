"""What a study of thresholds has on its page."""

import plotly.graph_objects as go

from biped.errors import InputError
from experiments.pages import Block, Code, Prose, Section, Table
from experiments.reporting import theme
from experiments.reporting.drawing import Drawing, plain
from experiments.study.folder import Study
from experiments.threshold.again import command_of, configuration_of
from experiments.threshold.figure import MOST_CURVES, name_of
from experiments.threshold.findings import Finding, Findings, findings_of, plan_of
from experiments.threshold.output import Name, interval_text, number_text, remarks

_MEANING = (
    "A replica's threshold is the largest value tried below which it recovers from all that were tried. The median is "
    "over replicas; its interval is that of order statistics, and one trajectory cannot move the median out of it. "
    "Intervals hold for each condition by itself."
)


def page_lead(study: Study) -> list[Block]:
    """The least and the greatest threshold."""
    return [Prose(summary(findings_of(study), name_of))]


def page_sections(study: Study) -> list[Section]:
    """The figure, and a table of all conditions."""
    findings = findings_of(study)
    drawing = curves_drawing(findings) if len(findings.conditions) <= MOST_CURVES else medians_drawing(findings)
    return [Section("thresholds", "Thresholds", blocks=(drawing.chart, *tables(findings, name_of)))]


def page_again(study: Study) -> list[Block]:
    """The command, or the file that it reads."""
    plan = plan_of(study)
    if study.header.kind == "block-speed":
        return [Code(command_of("block-speed", plan))]
    return [Prose("biped threshold FILE, with this file:"), Code(configuration_of(plan))]


def summary(findings: Findings, name: Name) -> str:
    """The least and the greatest median, with their intervals."""
    plan = findings.plan
    first, *others = sorted(findings.conditions, key=lambda finding: finding.estimate.median.value)
    ends = [first, *others[-1:]]
    texts = [f"{name(finding)}: {_median_text(finding)} {plan.unit}".removeprefix(": ") for finding in ends]
    words = ("least at ", "; greatest at ") if others else ("",)
    return f"{plan.label}: " + "".join(word + text for word, text in zip(words, texts, strict=True))


def _median_text(finding: Finding) -> str:
    median = finding.estimate.median
    return f"{number_text(median.value)} ({interval_text(median.low, median.high)})"


def tables(findings: Findings, name: Name) -> list[Block]:
    """All conditions in a table, what to know about it, and what the words mean."""
    plan = findings.plan
    unit = f" [{plan.unit}]" if plan.unit else ""
    reached = findings.conditions[0].estimate.median.confidence
    headings = (
        "condition", f"median{unit}", f"{100.0 * reached:.1f} % interval", "10 %", "90 %", "not monotone",
        "failed", "trials",
    )  # fmt: skip
    rows = tuple(
        (
            name(finding) or "all",
            number_text(finding.estimate.median.value),
            interval_text(finding.estimate.median.low, finding.estimate.median.high),
            number_text(finding.estimate.low),
            number_text(finding.estimate.high),
            f"{finding.estimate.non_monotone} of {finding.estimate.replicas}",
            str(finding.failed),
            str(finding.trials),
        )
        for finding in findings.conditions
    )
    found: list[Block] = [Table(f"{plan.label}{unit}, {plan.replicas} replicas", headings, rows, fold=False)]
    return [*found, *(Prose(line, "bad") for line in remarks(findings)), Prose(_MEANING, "muted")]


def curves_drawing(findings: Findings) -> Drawing:
    """The share that recovers against the value."""
    plan = findings.plan
    title = f"{plan.label} [{plan.unit}]"
    figure = theme.new_figure(
        420, xaxis={"title": {"text": plain(title)}}, yaxis={"title": {"text": "share"}, "tickformat": ".0%"}
    )
    for finding, color in zip(findings.conditions, theme.LINES, strict=False):
        shares = [share.recovered / share.tried for share in finding.curve]
        figure.add_scatter(
            x=[share.value for share in finding.curve], y=shares, name=plain(name_of(finding) or "recovers"),
            mode="lines+markers", line={"color": color},
            error_y={
                "array": [share.high - value for share, value in zip(finding.curve, shares, strict=True)],
                "arrayminus": [value - share.low for share, value in zip(finding.curve, shares, strict=True)],
                "width": 2, "thickness": 1,
            },
        )  # fmt: skip
        _mark_median(figure, finding, color)
    caption = (
        f"The share of {plan.replicas} replicas that recovers at each value of the first look, with its "
        f"{100.0 * plan.confidence:g} % interval (Clopper and Pearson 1934); the band is the interval of the median."
    )
    return Drawing("recovery", caption, figure)


def _mark_median(figure: go.Figure, finding: Finding, color: str) -> None:
    ladder, median = finding.plan.ladder, finding.estimate.median
    low, high = (min(max(end, ladder.start), ladder.limit) for end in (median.low, median.high))
    figure.add_vrect(x0=low, x1=high, fillcolor=color, opacity=0.2, line_width=0)


def medians_drawing(findings: Findings) -> Drawing:
    """The medians of many conditions side by side."""
    plan = findings.plan
    if not any(map(name_of, findings.conditions)):
        raise InputError("the conditions have no labels that would tell them apart")
    figure = theme.new_figure(460, yaxis={"title": {"text": plain(f"{plan.label} [{plan.unit}]")}})
    names = [plain(name_of(finding)) for finding in findings.conditions]
    median, low, high = (
        [min(max(getattr(f.estimate.median, end), plan.ladder.start), plan.ladder.limit) for f in findings.conditions]
        for end in ("value", "low", "high")
    )
    figure.add_scatter(
        x=names, y=median, mode="markers", name="median",
        error_y={
            "array": [b - a for a, b in zip(median, high, strict=True)],
            "arrayminus": [a - b for a, b in zip(median, low, strict=True)],
        },
    )  # fmt: skip
    return Drawing("medians", "The median of each condition, with its interval.", figure)
