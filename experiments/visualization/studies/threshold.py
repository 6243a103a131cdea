"""Findings of a threshold study for the terminal, tables and figures in its folder, and its page."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from biped.runs.verdict import FAILED
from experiments.catalogue.parameters.robots import HUMAN, floor_text, robot_named
from experiments.catalogue.parameters.robots import NAME as ROBOT
from experiments.cli.names import MAPS
from experiments.studies.run import plan_of
from experiments.studies.store.folder import Study
from experiments.studies.threshold.findings import Difference, Finding, Findings, changes_of_engines, compare
from experiments.studies.threshold.presets import PRESETS
from experiments.studies.threshold.threshold import Threshold, findings_so_far
from experiments.visualization.document import Document
from experiments.visualization.figures.labels import capitalized
from experiments.visualization.pages import Block, Chart, Prose, Section, Table
from experiments.visualization.pages.blocks import Mood
from experiments.visualization.studies import push_map_figure as push_map
from experiments.visualization.studies import threshold_text as words
from experiments.visualization.studies.push_map_figure import Ring, draw_maps, rings_of
from experiments.visualization.studies.threshold_figure import MOST_CURVES, draw_findings, findings_panel

#: Text if no condition has a median.
NO_MEDIAN = "There is no median, because most replicas did not recover from any value."


def so_far(study: Study) -> tuple[Threshold, Findings]:
    """Return the plan of a study and the findings from its finished trials."""
    plan = plan_of(study)
    return plan, findings_so_far(plan, study)


def document(plan: Threshold, findings: Findings, folder: Path, maps: Mapping[str, Findings] = {}) -> Document:
    """Return a document: thresholds, verdicts that limit them, and changes between engines or from other maps.

    ``maps`` are the findings of other maps by their names.
    """
    preset, engines = PRESETS.get(plan.kind), changes_of_engines(findings)
    is_map, drawings = plan.kind in MAPS, {}
    title = preset.figure.replace("the human", plan.experiment.who) if preset else plan.experiment.name
    blocks: list[Block] = [*(_map_charts(findings) if is_map else [_chart(findings)]), *_tables(findings)]
    if engines:
        first = next(iter(findings.by("engine")))
        blocks += [_changes(differences, engine, first) for engine, differences in engines.items()]
    if is_map:
        rings = rings_of(findings)
        shown, title = engines if len(rings) == 1 + len(engines) else {}, "; ".join(filter(None, (title, _floor(plan))))
        drawings[f"{plan.kind}.png"] = partial(draw_maps, rings, title=title, changes=shown)
        compared = {name: compare(other, findings) for name, other in maps.items()}
        blocks += [_changes(changes, folder.name, name) for name, changes in compared.items()]
        if compared and len(rings) == 1:
            both = [Ring(name, rings_of(other)[0].findings) for name, other in maps.items()]
            both.append(Ring(folder.name, rings[0].findings))
            changes = {folder.name: next(iter(compared.values()))}
            drawings[f"{plan.kind}-compared.png"] = partial(draw_maps, both, title="Push maps", changes=changes)
    else:
        marks = preset.marks if preset else None
        drawings[f"{plan.kind}.png"] = partial(draw_findings, findings, title=f"{title}: {folder.name}", marks=marks)
    section = Section(
        "map" if is_map else "thresholds",
        preset.title if preset else "Thresholds",
        f"{words.label_of(plan)}, {plan.replicas} replicas",
        blocks=tuple(blocks),
    )
    tables = {"": findings.frame(), "-curves": findings.curves(), "-replicas": findings.replicas()}
    files = {f"{plan.kind}{suffix}.csv": frame for suffix, frame in tables.items()}
    return Document([*_lead(findings), *_failures(folder)], [section], findings.frame(), files, drawings)


def _lead(findings: Findings) -> Iterator[Prose]:
    """Yield sentences: the result, the limiting verdicts, and necessary remarks."""
    plan, ranked = findings.plan, by_strength(findings)
    confidence = f"{100.0 * findings.conditions[0].estimate.median.confidence:.1f} % interval"
    text = NO_MEDIAN
    if len(ranked) == 1:
        called = capitalized(plan.experiment.who)
        text = f"{called} recovers up to {_estimate(ranked[0])}, the median of {plan.replicas} replicas ({confidence})."
    elif ranked:
        ends = [f"{_called(finding)}, up to {_estimate(finding)}" for finding in (ranked[0], ranked[-1])]
        text = (
            f"Largest {plan.label} from which {plan.experiment.who} recovers, median of {plan.replicas} replicas "
            f"({confidence}): smallest for {ends[0]}; largest for {ends[1]}."
        )
    yield Prose(text, "good")
    if reached := words.reached_text([finding for finding in ranked if finding.limit is not None]):
        yield Prose(f"Medians in percent {reached}.")
    ended = ", ".join(f"{word} {share:.0%}" for word, share in words.shares_of(ranked).items())
    if ended:
        yield Prose(f"Verdicts of the replicas at their thresholds: {ended}.")
    yield from (Prose(remark, "muted") for remark in filter(None, (_floor(plan), *words.remarks(findings))))


def _failures(folder: Path) -> list[Prose]:
    failed = [result for result in Study.read(folder).results().values() if result["verdict"] == FAILED]
    if not failed:
        return []
    kinds = ", ".join(f"{kind}: {count}" for kind, count in Counter(r["failure"] for r in failed).most_common())
    what = f"{len(failed)} trials failed and count as not recovered ({kinds})"
    return [Prose(f"{what}; the first: {failed[0]['message']}", "bad")]


def _floor(plan: Threshold) -> str:
    values = plan.experiment.values(plan.changes)
    return floor_text(values, robot_named(str(values.get(ROBOT, HUMAN))))


def _changes(changes: Sequence[Difference], ours: str, theirs: str) -> Table:
    """Return a table of the change of each condition's threshold between two studies or engines."""
    rows, moods = [], list[Mood]()
    for difference in changes:
        change = difference.change
        medians = (words.number_text(finding.estimate.median.value) for finding in (difference.theirs, difference.ours))
        interval = words.interval_text(change.low, change.high)
        rows.append((_called(difference.ours), *medians, f"{change.value:+.3g}".replace("+nan", "–"), interval))
        moods.append("good" if change.low > 0.0 else "bad" if change.high < 0.0 else "muted")
    caption = f"{ours} against {theirs}, replica by replica [{changes[0].ours.plan.unit}]"
    headings = ("condition", theirs, ours, "change", f"{100.0 * changes[0].change.confidence:.1f} % interval")
    return Table(caption, headings, tuple(rows), tuple(moods), fold=False)


def by_strength(findings: Findings) -> list[Finding]:
    """Return the conditions that have a median, sorted by their medians."""
    known = [finding for finding in findings.conditions if not math.isnan(finding.estimate.median.value)]
    return sorted(known, key=lambda finding: finding.estimate.median.value)


def _estimate(finding: Finding) -> str:
    median, interval, *_ = words.estimate_texts(finding)
    return f"{median} {finding.plan.unit} ({interval})"


def _called(finding: Finding) -> str:
    return " ".join(words.name_of(finding).split()) or "unchanged"


def _tables(findings: Findings) -> tuple[Table, Table]:
    """Return the thresholds, and their numbers of replicas and trials."""
    plan = findings.plan
    confidence = 100.0 * findings.conditions[0].estimate.median.confidence
    limited = any(finding.limit is not None for finding in findings.conditions)
    headings = (
        "condition", f"median [{plan.unit}]", f"{confidence:.1f} % interval", "10 %", "90 %",
        *(("limit", "median / limit") if limited else ()),
    )  # fmt: skip
    rows, counts = [], []
    for finding in findings.conditions:
        name, estimate = _called(finding), finding.estimate
        rows.append((name, *words.estimate_texts(finding), *(words.limit_texts(finding) if limited else ())))
        numbers = estimate.replicas, estimate.non_monotone, finding.failed, finding.trials
        counts.append((name, words.limits_text(finding), *map(str, numbers)))
    columns = ("condition", "limited by (replicas)", "replicas", "non-monotonic", "failed trials", "trials")
    return (
        Table(f"Thresholds of {plan.label}", headings, tuple(rows), fold=False),
        Table("Replicas and trials", columns, tuple(counts), fold=False),
    )


def _chart(findings: Findings) -> Chart:
    plan = findings.plan
    if len(findings.conditions) <= MOST_CURVES:
        text = (
            "Lines: share of replicas that withstand all values up to this one. Dots: share that recovers at a value "
            f"of the grid, with {100.0 * plan.confidence:g} % intervals (Clopper and Pearson 1934). Bands: interval of "
            "the median."
        )
    else:
        text = f"Median over {plan.replicas} replicas, with its interval; values out of range lie at its edge."
    return Chart(findings_panel(findings), text, "thresholds", pixels=460)


def _map_charts(findings: Findings) -> Iterator[Chart]:
    """Yield the map around the human, changes between engines, verdicts at thresholds, and remaining proportions."""
    plan, rings, changes = findings.plan, rings_of(findings), changes_of_engines(findings)
    text = (
        f"Largest {words.label_of(plan)} from which {plan.experiment.who} recovers, over the push direction: median of "
        f"{plan.replicas} replicas and its interval; dots in the colour of the limiting verdict, as below. Top view, "
        "front up; the soles are not to the scale of the axes."
    )
    yield Chart(push_map.map_panel(rings), text, "push-map", pixels=620)
    if len(rings) == 1 + len(changes) and changes:
        text = (
            f"{' and '.join(changes)} against {rings[0].name}, replica by replica: median change and its interval; "
            "hollow if the interval contains zero."
        )
        yield Chart(push_map.changes_panel(changes, rings), text, "changes", pixels=420)
    for number, ring in enumerate(rings):
        name, suffix = f" at {ring.name}" if ring.name else "", f"-{number}" if number else ""
        text = f"Verdicts at the smallest value at which each replica is lost{name}: the limit of each direction."
        yield Chart(push_map.endings_panel(ring), text, f"limits{suffix}", pixels=260)
        text = (
            f"Proportion of {plan.replicas} replicas that withstand all values up to this one{name}; "
            "dots: median, its interval."
        )
        yield Chart(push_map.proportions_panel(ring), text, f"proportions{suffix}", pixels=460)
