"""The findings of a study of thresholds: on the terminal, as tables and figures in its folder, and on its page."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd
from rich.text import Text

from biped.runs.verdict import FAILED
from experiments.catalogue.parameters.robots import HUMAN, floor_text, robot_named
from experiments.catalogue.parameters.robots import NAME as ROBOT
from experiments.cli.names import PUSH_MAP
from experiments.cli.terminal import print_table, say
from experiments.studies.run import plan_of
from experiments.studies.store.folder import Study
from experiments.studies.threshold.findings import Difference, Finding, Findings, changes_of_engines, compare
from experiments.studies.threshold.presets import PRESETS
from experiments.studies.threshold.threshold import Threshold, findings_so_far
from experiments.visualization.figures.labels import at_the_start
from experiments.visualization.pages import Block, Chart, Prose, Section, Table
from experiments.visualization.panels.with_plotly import figure_of
from experiments.visualization.report.toml import file_and_command
from experiments.visualization.studies import push_map_figure as push_map
from experiments.visualization.studies import threshold_text as words
from experiments.visualization.studies.push_map_figure import Ring, draw_maps, rings_of
from experiments.visualization.studies.threshold_figure import MOST_CURVES, draw_findings, findings_panel

#: What is said where no condition has a median.
NO_MEDIAN = "There is no median: most replicas recovered from nothing that was tried."


def show(plan: Threshold, findings: Findings, folder: Path, draw: bool, best: pd.DataFrame | None = None) -> list[Path]:
    """Print the thresholds, write tables and draw a figure into the study's folder; the files.

    ``best`` is the table of optimal recovery, which a push map shows beside its own.
    """
    preset = PRESETS.get(plan.kind)
    name = plan.experiment.name
    print_findings(findings, preset.title if preset else name)
    floor = _floor(plan)
    if floor:
        say(floor)
    if plan.kind == PUSH_MAP:
        say(_weakest(findings), "green")
    changes = changes_of_engines(findings)
    for engine, found in changes.items():
        print_changes(found, engine, next(iter(findings.by("engine"))))
    files = write_tables(findings, folder, plan.kind)
    if draw:
        drawn = preset.figure.replace("the human", plan.experiment.who) if preset else name
        title, figure = f"{drawn}: {folder.name}", folder / f"{plan.kind}.png"
        if plan.kind == PUSH_MAP:
            rings = rings_of(findings)
            title = "; ".join(filter(None, (drawn, floor)))
            files += draw_maps(rings, figure, title, changes if len(rings) == 1 + len(changes) else {}, best)
        else:
            files += draw_findings(findings, figure, title, preset.marks if preset else None)
    _print_failures(Study.read(folder))
    return files


def show_compared(
    others: Mapping[str, Findings], best: pd.DataFrame | None = None
) -> Callable[[Threshold, Findings, Path, bool], list[Path]]:
    """A ``show`` that also compares a map with others, by their names; ``best`` is the table of optimal recovery."""

    def show_and_compare(plan: Threshold, findings: Findings, folder: Path, draw: bool) -> list[Path]:
        files = show(plan, findings, folder, draw, best)
        rings = rings_of(findings) if others else []
        for place, (name, other) in enumerate(others.items()):
            changes = compare(other, findings)
            print_changes(changes, folder.name, name)
            if draw and place == 0 and len(rings) == 1:
                all_rings = [Ring(key, rings_of(found)[0].findings) for key, found in others.items()]
                path = folder / f"{PUSH_MAP}-compared.png"
                all_rings.append(Ring(folder.name, rings[0].findings))
                files += draw_maps(all_rings, path, "Push maps", {folder.name: changes}, best)
        return files

    return show_and_compare


def as_json(_: Threshold, findings: Findings) -> pd.DataFrame:
    return findings.frame()


def page_lead(study: Study) -> list[Block]:
    """The result in a sentence, what limits it, and remarks that a reader needs."""
    plan = plan_of(study)
    findings = findings_so_far(plan, study)
    found = by_strength(findings)
    confidence = f"{100.0 * findings.conditions[0].estimate.median.confidence:.1f} % interval"
    if not found:
        text = NO_MEDIAN
    elif len(found) == 1:
        called = at_the_start(plan.experiment.who)
        text = f"{called} recovers up to {_said(found[0])}, the median of {plan.replicas} replicas ({confidence})."
    else:
        ends = [f"{_called(finding)}, up to {_said(finding)}" for finding in (found[0], found[-1])]
        text = (
            f"{plan.label.capitalize()} that {plan.experiment.who} recovers from, the median of {plan.replicas} "
            f"replicas ({confidence}): least for {ends[0]}; greatest for {ends[1]}."
        )
    ended = ", ".join(f"{word} {share:.0%}" for word, share in words.shares_of(found).items())
    limited = [Prose(f"What limits it, of all replicas at their thresholds: {ended}.")] if ended else []
    bounded = [finding for finding in found if finding.limit is not None]
    notes = filter(None, (_floor(plan), *words.remarks(findings)))
    reached = words.reached_text(bounded)
    shares = [Prose(f"Medians, {reached}.")] if reached else []
    return [Prose(text, "good"), *shares, *limited, *(Prose(remark, "muted") for remark in notes)]


def _floor(plan: Threshold) -> str:
    values = plan.experiment.values(plan.changes)
    return floor_text(values, robot_named(str(values.get(ROBOT, HUMAN))))


def page_sections(study: Study) -> list[Section]:
    plan = plan_of(study)
    findings = findings_so_far(plan, study)
    if plan.kind == PUSH_MAP:
        return [Section("map", "Push map", blocks=(*_map_charts(findings), _table(findings)))]
    return [Section("thresholds", "Thresholds", blocks=(_chart(findings), _table(findings)))]


def page_rerun(study: Study) -> list[Block]:
    plan = study.configuration["plan"]
    return file_and_command("The study", plan, "plan.toml", "biped threshold plan.toml", "plan.toml")


def write_tables(findings: Findings, folder: Path, name: str) -> list[Path]:
    tables = {"": findings.frame(), "-curves": findings.curves(), "-replicas": findings.replicas()}
    for suffix, frame in tables.items():
        frame.to_csv(folder / f"{name}{suffix}.csv", index=False)
    return [folder / f"{name}{suffix}.csv" for suffix in tables]


def print_findings(findings: Findings, title: str) -> None:
    plan = findings.plan
    reached = findings.conditions[0].estimate.median.confidence
    limited = [finding for finding in findings.conditions if finding.limit is not None]
    first = "" if len(findings.conditions) > 1 else plan.label
    own = ("limit", "share") if limited else ()
    headings = [first, "median", f"{100.0 * reached:.1f} % interval", "10 %", "90 %", *own, "not monotone"]
    rows = []
    for finding in findings.conditions:
        found = finding.estimate
        odd = f"{100.0 * found.non_monotone / found.replicas:.0f} %" if found.non_monotone else "–"
        shares = words.limit_texts(finding) if limited else []
        rows.append([words.name_of(finding) or "threshold", *words.estimate_texts(finding), *shares, odd])
    say(f"{title}: {plan.label} [{plan.unit}], {plan.replicas} replicas", "bold")
    print_table(headings, rows)
    if reached_share := words.reached_text(limited):
        say(reached_share, "green")
    for line in words.remarks(findings):
        say(line, "yellow")


def print_changes(changes: Sequence[Difference], ours: str, theirs: str) -> None:
    """Print the change of each condition's threshold from one study, or engine, to another."""
    reached = changes[0].change.confidence
    rows: list[list[str | Text]] = []
    for change in changes:
        interval = Text(words.interval_text(change.change.low, change.change.high))
        interval.stylize("green" if change.change.low > 0.0 else "red" if change.change.high < 0.0 else "dim")
        medians = (words.number_text(finding.estimate.median.value) for finding in (change.theirs, change.ours))
        rows.append(
            [words.name_of(change.ours), *medians, f"{change.change.value:+.3g}".replace("+nan", "–"), interval]
        )
    say(f"{ours} against {theirs}, replica by replica [{changes[0].ours.plan.unit}]", "bold")
    print_table(["", theirs, ours, "change", f"{100.0 * reached:.1f} % interval"], rows)


def by_strength(findings: Findings) -> list[Finding]:
    """Return the conditions that have a median, sorted by it."""
    known = [finding for finding in findings.conditions if not math.isnan(finding.estimate.median.value)]
    return sorted(known, key=lambda finding: finding.estimate.median.value)


def _weakest(findings: Findings) -> str:
    if not (known := by_strength(findings)):
        return NO_MEDIAN
    ends = known[0], known[-1]
    texts = [f"{_called(f)}: {words.median_text(f)} {findings.plan.unit}" for f in ends]
    return f"weakest towards {texts[0]}; strongest towards {texts[1]}"


def _print_failures(study: Study) -> None:
    failed = [result for result in study.results().values() if result["verdict"] == FAILED]
    if failed:
        kinds = ", ".join(f"{kind}: {count}" for kind, count in Counter(r["failure"] for r in failed).most_common())
        what = f"{len(failed)} trials failed and count as not recovered ({kinds})"
        say(f"{what}; the first: {failed[0]['message']}", "yellow")


def _said(finding: Finding) -> str:
    median, interval, *_ = words.estimate_texts(finding)
    return f"{median} {finding.plan.unit} ({interval})"


def _called(finding: Finding) -> str:
    return " ".join(words.name_of(finding).split()) or "as it is"


def _table(findings: Findings) -> Table:
    plan = findings.plan
    confidence = 100.0 * findings.conditions[0].estimate.median.confidence
    headings = (
        "condition", f"median [{plan.unit}]", f"{confidence:.1f} % interval", "10 %", "90 %", "limit", "share of it",
        "limited by, replicas", "replicas", "not monotone", "failed trials", "trials",
    )  # fmt: skip
    rows = []
    for finding in findings.conditions:
        counts = finding.estimate.replicas, finding.estimate.non_monotone, finding.failed, finding.trials
        found = (*words.estimate_texts(finding), *words.limit_texts(finding), words.limits_text(finding))
        rows.append((_called(finding), *found, *map(str, counts)))
    return Table(f"Thresholds of {plan.label}", headings, tuple(rows), fold=False)


def _chart(findings: Findings) -> Chart:
    plan = findings.plan
    if len(findings.conditions) <= MOST_CURVES:
        text = (
            "Lines: the share of replicas that withstand every value up to it. Dots: that which recovers at a value of "
            f"the grid, with {100.0 * plan.confidence:g} % intervals (Clopper and Pearson 1934). Bands: the median's "
            "interval."
        )
    else:
        text = f"Median over {plan.replicas} replicas, with its interval; what is out of range lies at the edge."
    return Chart.of(figure_of(findings_panel(findings), height=460), text, "thresholds")


def _map_charts(findings: Findings) -> Iterator[Chart]:
    """The map around the human, what changes between engines, and how replicas end and what is left of them."""
    plan, rings, changes = findings.plan, rings_of(findings), changes_of_engines(findings)
    text = (
        f"Largest {words.label_of(plan)} that {plan.experiment.who} recovers from, over where it is driven: median of "
        f"{plan.replicas} replicas and its interval; dots in the colour of what limits it, as below. From above, front "
        "up; the soles are to the scale of one another."
    )
    yield Chart.of(figure_of(push_map.map_panel(rings), height=620), text, "push-map")
    if len(rings) == 1 + len(changes) and changes:
        text = (
            f"{' and '.join(changes)} against {rings[0].name}, replica by replica: median change and its interval; "
            "hollow where zero is within."
        )
        yield Chart.of(figure_of(push_map.changes_panel(changes, rings), height=420), text, "changes")
    for number, ring in enumerate(rings):
        name, suffix = f" at {ring.name}" if ring.name else "", f"-{number}" if number else ""
        text = f"How the replicas end at the least value at which each is lost{name}: what limits each direction."
        yield Chart.of(figure_of(push_map.endings_panel(ring), height=260), text, f"limits{suffix}")
        text = (
            f"Proportion of {plan.replicas} replicas that withstand every value up to it{name}; "
            "dots: median, its interval."
        )
        yield Chart.of(figure_of(push_map.proportions_panel(ring), height=460), text, f"proportions{suffix}")
