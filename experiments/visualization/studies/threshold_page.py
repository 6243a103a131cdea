"""The page of a study of thresholds: medians with intervals, and the proportion left at each value."""

from experiments.studies.run import plan_of
from experiments.studies.store.folder import Study
from experiments.studies.threshold.findings import Finding, Findings
from experiments.studies.threshold.threshold import findings_so_far
from experiments.visualization.figures.labels import at_the_start
from experiments.visualization.pages import Block, Prose, Section, Table
from experiments.visualization.panels.with_plotly import figure_of
from experiments.visualization.report.drawing import Drawing
from experiments.visualization.report.toml import file_and_command
from experiments.visualization.studies.threshold_figure import MOST_CURVES, findings_panel
from experiments.visualization.studies.threshold_text import (
    estimate_texts,
    limit_texts,
    limits_text,
    name_of,
    reached_text,
    remarks,
    shares_of,
)


def page_sections(study: Study) -> list[Section]:
    findings = findings_so_far(plan_of(study), study)
    return [Section("thresholds", "Thresholds", blocks=(_drawing(findings).chart, table(findings)))]


def page_rerun(study: Study) -> list[Block]:
    plan = study.configuration["plan"]
    return file_and_command("The study", plan, "plan.toml", "biped threshold plan.toml", "plan.toml")


def page_lead(study: Study) -> list[Block]:
    """The result in a sentence, what limits it, and remarks that a reader needs."""
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


def _drawing(findings: Findings) -> Drawing:
    plan = findings.plan
    if len(findings.conditions) <= MOST_CURVES:
        text = (
            "Lines: the proportion of replicas that were not lost at less. Dots: that which recovers at a value of the "
            f"grid, with {100.0 * plan.confidence:g} % intervals (Clopper and Pearson 1934). Bands: the median's "
            "interval."
        )
    else:
        text = f"Median over {plan.replicas} replicas, with its interval; what is out of range lies at the edge."
    return Drawing("thresholds", text, figure_of(findings_panel(findings), height=460))
