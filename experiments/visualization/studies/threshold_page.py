"""What the page of a study of thresholds says: medians with intervals, and the proportion left at each value."""

import numpy as np

from experiments.studies.limits import LIMITS
from experiments.studies.run import plan_of
from experiments.studies.store.folder import Study
from experiments.studies.threshold.findings import Finding, Findings
from experiments.studies.threshold.so_far import findings_so_far
from experiments.visualization.figures.labels import at_the_start
from experiments.visualization.pages import Block, Prose, Section, Table
from experiments.visualization.report import theme
from experiments.visualization.report.drawing import Drawing, plain
from experiments.visualization.report.toml import file_and_command
from experiments.visualization.studies.threshold_figure import MOST_CURVES, limits_of, medians_of, thresholds_of
from experiments.visualization.studies.threshold_text import (
    estimate_texts,
    label_of,
    limit_texts,
    limits_text,
    name_of,
    reached_text,
    remarks,
    shares_of,
)


def page_sections(study: Study) -> list[Section]:
    findings = findings_so_far(plan_of(study), study)
    few = len(findings.conditions) <= MOST_CURVES
    drawing = _curves(findings) if few else _medians(findings)
    return [Section("thresholds", "Thresholds", blocks=(drawing.chart, table(findings)))]


def page_rerun(study: Study) -> list[Block]:
    plan = study.configuration["plan"]
    return file_and_command("The study", plan, "plan.toml", "biped threshold plan.toml", "plan.toml")


def page_lead(study: Study) -> list[Block]:
    """What was found, in a sentence, and what a reader has to know of it."""
    plan = plan_of(study)
    findings = findings_so_far(plan, study)
    found = sorted(findings.conditions, key=lambda finding: finding.estimate.median.value)
    confidence = f"{100.0 * found[0].estimate.median.confidence:.1f} % interval"
    if len(found) == 1:
        called = at_the_start(plan.experiment.who)
        text = f"{called} recovers up to {_said(found[0])}, the median of {plan.replicas} replicas ({confidence})."
    else:
        ends = [f"{_called(finding)}, up to {_said(finding)}" for finding in (found[0], found[-1])]
        text = (
            f"{plan.label.capitalize()} that {plan.experiment.who} recovers from, the median of {plan.replicas} "
            f"replicas ({confidence}): least for {ends[0]}; greatest for {ends[1]}."
        )
    ended = ", ".join(f"{word} {share:.0%}" for word, share in shares_of(found).items())
    limited = [Prose(f"What limits it, of all replicas at their thresholds: {ended}.")] if ended else []
    bounded = [finding for finding in found if finding.limit is not None]
    shares = [Prose(f"Medians, {reached_text(bounded)}.")] if bounded else []
    return [Prose(text, "good"), *shares, *limited, *(Prose(remark, "muted") for remark in remarks(findings))]


def _said(finding: Finding) -> str:
    median, interval, *_ = estimate_texts(finding)
    return f"{median} {finding.plan.unit} ({interval})"


def _called(finding: Finding) -> str:
    return " ".join(name_of(finding).split()) or "as it is"


def table(findings: Findings) -> Table:
    plan = findings.plan
    confidence = 100.0 * findings.conditions[0].estimate.median.confidence
    headings = (
        "condition", f"median [{plan.unit}]", f"{confidence:.1f} % interval", "10 %", "90 %", "limit", "share of it",
        "limited by, replicas", "replicas", "not monotone", "failed trials", "trials",
    )  # fmt: skip
    rows = []
    for finding in findings.conditions:
        counts = finding.estimate.replicas, finding.estimate.non_monotone, finding.failed, finding.trials
        texts = (*estimate_texts(finding), *limit_texts(finding), limits_text(finding), *map(str, counts))
        rows.append((_called(finding), *texts))
    return Table(f"Thresholds of {plan.label}", headings, tuple(rows), fold=False)


def _curves(findings: Findings) -> Drawing:
    plan = findings.plan
    figure = theme.new_figure(
        430,
        xaxis={"title": {"text": plain(label_of(plan))}},
        yaxis={
            "title": {"text": f"proportion of {plan.replicas} replicas"},
            "tickformat": ".0%",
            "range": [-0.02, 1.02],
        },
    )
    for finding, color in zip(findings.conditions, theme.LINES, strict=False):
        name = plain(_called(finding))
        values, above = thresholds_of(finding)
        ends = (plan.grid.start, float(max(values[-1], plan.grid.stop)))
        figure.add_scatter(
            x=[ends[0], *values, ends[1]], y=[1.0, *above, above[-1]], name=name, legendgroup=name,
            mode="lines", line={"color": color, "shape": "hv", "width": 2}, hovertemplate="%{x:.4g}: %{y:.0%}",
        )  # fmt: skip
        curve = finding.curve.values()
        proportion = np.array([p.value for p in curve])
        figure.add_scatter(
            x=list(finding.curve), y=proportion, mode="markers", marker={"color": color, "size": 7},
            error_y={
                "array": np.array([p.high for p in curve]) - proportion,
                "arrayminus": proportion - np.array([p.low for p in curve]), "thickness": 1.2, "width": 3,
            },
            name="recovers there", legendgroup=name, hovertemplate="%{x:.4g}: %{y:.1%}", showlegend=False,
        )  # fmt: skip
        median = finding.estimate.median
        low, high = np.clip((median.low, median.high), plan.grid.start, plan.grid.limit)
        figure.add_vrect(x0=low, x1=high, fillcolor=color, opacity=0.15, line_width=0, layer="below")
    for place, value, what in limits_of(findings):
        color = theme.MARKED if place is None else theme.LINES[place]
        figure.add_vline(x=value, line={"width": 1.4, "color": color, "dash": "dashdot"}, annotation_text=plain(what))
    text = (
        "Lines: the proportion of replicas that were not lost at less. Dots: that which recovers at a value of the "
        f"grid, with {100.0 * plan.confidence:g} % intervals (Clopper and Pearson 1934). Bands: the median's interval."
    )
    return Drawing("thresholds", text, figure)


def _medians(findings: Findings) -> Drawing:
    plan = findings.plan
    names = [plain(name_of(finding)) for finding in findings.conditions]
    median, low, high = medians_of(findings)
    figure = theme.new_figure(460, yaxis={"title": {"text": plain(label_of(plan))}})
    colors = [theme.VERDICTS.get(finding.limited_by, theme.NEUTRAL) for finding in findings.conditions]
    figure.add_scatter(
        x=names, y=median, mode="markers", marker={"size": 8, "color": colors}, name="median", showlegend=False,
        error_y={"array": high - median, "arrayminus": median - low, "thickness": 1.4, "width": 3},
        text=[plain(limits_text(finding)) for finding in findings.conditions],
        hovertemplate="%{x}: %{y:.4g}, limited by %{text}<extra></extra>",
    )  # fmt: skip
    limited = [(name, f.limit.pendulum) for name, f in zip(names, findings.conditions, strict=True) if f.limit]
    if limited:
        at, limit = zip(*limited, strict=True)
        marker = {"symbol": "line-ew-open", "size": 16, "color": theme.MARKED}
        figure.add_scatter(x=at, y=limit, mode="markers", marker=marker, name=LIMITS["limit"])
    for word in shares_of(findings.conditions):
        marker = {"size": 8, "color": theme.VERDICTS[word]}
        figure.add_scatter(x=[None], y=[None], mode="markers", marker=marker, name=f"limited by: {word}")
    figure.update_layout(xaxis={"automargin": True})
    text = f"Median over {plan.replicas} replicas, with its interval; what is out of range lies at the edge."
    return Drawing("thresholds", text, figure)
