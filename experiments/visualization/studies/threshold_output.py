"""What a study of thresholds leaves behind: tables and figures in its folder, and lines on the terminal."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pandas as pd
from rich.text import Text

from biped.runs.verdict import FAILED
from experiments.cli.file_names import PUSH_MAP
from experiments.cli.terminal import print_table, terminal
from experiments.studies.store.folder import Study
from experiments.studies.threshold.findings import Difference, Findings, changes_of_engines, compare
from experiments.studies.threshold.presets import PRESETS
from experiments.studies.threshold.threshold import Threshold
from experiments.visualization.studies.push_map_figure import Ring, draw_maps, rings_of
from experiments.visualization.studies.threshold_figure import draw_findings
from experiments.visualization.studies.threshold_text import (
    estimate_texts,
    interval_text,
    limit_texts,
    name_of,
    number_text,
    reached_text,
    remarks,
)


def show_thresholds(
    plan: Threshold, findings: Findings, folder: Path, draw: bool, best: pd.DataFrame | None = None
) -> list[Path]:
    """Print what was found, write tables and draw a figure into the study's folder; the files."""
    preset = PRESETS.get(plan.kind)
    name = plan.experiment.name
    print_findings(findings, preset.title if preset else name)
    if plan.kind == PUSH_MAP:
        terminal().print(Text(_weakest(findings), style="green"))
    changes = _print_changes_of_engines(findings)
    files = write_tables(findings, folder, plan.kind)
    if draw:
        drawn = preset.figure.replace("the human", plan.experiment.who) if preset else name
        title, figure = f"{drawn}: {folder.name}", folder / f"{plan.kind}.png"
        if plan.kind == PUSH_MAP:
            rings = rings_of(findings)
            files += draw_maps(rings, figure, drawn, changes if len(rings) == 1 + len(changes) else {}, best)
        else:
            files += draw_findings(findings, figure, title, preset.marks if preset else None)
    _print_failures(Study.read(folder))
    return files


def show_preset(
    others: Mapping[str, Findings], best: pd.DataFrame | None = None
) -> Callable[[Threshold, Findings, Path, bool], list[Path]]:
    """The same, and comparisons with other maps, by their names; ``best`` is of optimal recovery."""

    def show(plan: Threshold, findings: Findings, folder: Path, draw: bool) -> list[Path]:
        files = show_thresholds(plan, findings, folder, draw, best)
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

    return show


def _weakest(findings: Findings) -> str:
    ends = [choose(findings.conditions, key=lambda f: f.estimate.median.value) for choose in (min, max)]
    texts = [f"{' '.join(name_of(f).split())}: {f.estimate.median.value:.3g} {findings.plan.unit}" for f in ends]
    return f"weakest towards {texts[0]}; strongest towards {texts[1]}"


def write_tables(findings: Findings, folder: Path, name: str) -> list[Path]:
    tables = {"": findings.frame(), "-curves": findings.curves(), "-replicas": findings.replicas()}
    files = []
    for suffix, frame in tables.items():
        files.append(folder / f"{name}{suffix}.csv")
        frame.to_csv(files[-1], index=False)
    return files


def print_findings(findings: Findings, title: str) -> None:
    console = terminal()
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
        shares = limit_texts(finding) if limited else []
        rows.append([name_of(finding) or "threshold", *estimate_texts(finding), *shares, odd])
    console.print(Text(f"{title}: {plan.label} [{plan.unit}], {plan.replicas} replicas", style="bold"))
    print_table(console, headings, rows)
    if limited:
        console.print(Text(reached_text(limited), style="green"))
    for line in remarks(findings):
        console.print(Text(line, style="yellow"))


def _print_changes_of_engines(findings: Findings) -> dict[str, list[Difference]]:
    changes = changes_of_engines(findings)
    first = next(iter(findings.by("engine")), "")
    for name, found in changes.items():
        print_changes(found, name, first)
    return changes


def print_changes(changes: Sequence[Difference], ours: str, theirs: str) -> None:
    plan = changes[0].ours.plan
    reached = changes[0].change.confidence
    rows: list[list[str | Text]] = []
    for change in changes:
        interval = Text(interval_text(change.change.low, change.change.high))
        interval.stylize("green" if change.change.low > 0.0 else "red" if change.change.high < 0.0 else "dim")
        medians = (number_text(finding.estimate.median.value) for finding in (change.theirs, change.ours))
        rows.append([name_of(change.ours), *medians, f"{change.change.value:+.3g}", interval])
    console = terminal()
    console.print(Text(f"{ours} against {theirs}, replica by replica [{plan.unit}]", style="bold"))
    print_table(console, ["", theirs, ours, "change", f"{100.0 * reached:.1f} % interval"], rows)


def _print_failures(study: Study) -> None:
    failed = [result for result in study.results().values() if result["verdict"] == FAILED]
    if failed:
        kinds = ", ".join(f"{kind}: {count}" for kind, count in Counter(r["failure"] for r in failed).most_common())
        line = f"{len(failed)} trials failed and count as not recovered ({kinds}); the first: {failed[0]['message']}"
        terminal().print(Text(line, style="yellow"))
