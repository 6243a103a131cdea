"""What a study of thresholds leaves behind: tables in its folder, and lines on the terminal."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from experiments.cli.terminal import terminal
from experiments.studies.store.folder import Study
from experiments.studies.threshold.findings import Difference, Finding, Findings
from experiments.studies.trial import FAILED
from experiments.visualization.studies.threshold_figure import name_of

#: What a condition is called on the terminal.
Name = Callable[[Finding], str]


def write_tables(findings: Findings, folder: Path, name: str) -> list[Path]:
    """The tables of conditions, curves and replicas.

    Raises:
        OSError: one cannot be written.
    """
    tables = {"": findings.frame(), "-curves": findings.curves(), "-replicas": findings.replicas()}
    files = []
    for suffix, frame in tables.items():
        files.append(folder / f"{name}{suffix}.csv")
        frame.to_csv(files[-1], index=False)
    return files


def print_findings(findings: Findings, title: str, name: Name = name_of) -> None:
    """The table of all conditions, and what it leaves out of account."""
    console = terminal()
    plan = findings.plan
    reached = findings.conditions[0].estimate.median.confidence
    table = _table(f"{title}: {plan.label} [{plan.unit}], {plan.replicas} replicas")
    table.add_column("" if len(findings.conditions) > 1 else plan.label)
    for heading in ("median", f"{100.0 * reached:.1f} % interval", "10 %", "90 %", "not monotone"):
        table.add_column(heading, justify="right")
    for finding in findings.conditions:
        table.add_row(name(finding) or "threshold", *_cells(finding))
    console.print(table)
    for line in remarks(findings):
        console.print(Text(line, style="yellow"))


def print_changes(changes: Sequence[Difference], ours: str, theirs: str, name: Name = name_of) -> None:
    """The table of paired differences."""
    plan = changes[0].ours.plan
    reached = changes[0].change.confidence
    table = _table(f"{ours} against {theirs}, replica by replica [{plan.unit}]")
    for heading in ("", theirs, ours, "change", f"{100.0 * reached:.1f} % interval"):
        table.add_column(heading, justify="right" if heading else "left")
    for change in changes:
        interval = Text(interval_text(change.change.low, change.change.high))
        interval.stylize("green" if change.change.low > 0.0 else "red" if change.change.high < 0.0 else "dim")
        medians = (number_text(finding.estimate.median.value) for finding in (change.theirs, change.ours))
        table.add_row(name(change.ours), *medians, f"{change.change.value:+.3g}", interval)
    terminal().print(table)


def print_failures(study: Study, console: Console | None = None) -> None:
    """How many trials ended in which error, if any did."""
    failed = [result for result in study.results().values() if result["verdict"] == FAILED]
    if not failed:
        return
    kinds = ", ".join(f"{kind}: {count}" for kind, count in Counter(r["failure"] for r in failed).most_common())
    line = f"{len(failed)} trials failed and count as not recovered ({kinds}); the first: {failed[0]['message']}"
    (console or terminal()).print(Text(line, style="yellow"))


def print_files(folder: Path, files: Sequence[Path]) -> None:
    """Where the results are."""
    terminal().print(Text(f"\n{folder}/  trials.parquet, {', '.join(file.name for file in files)}", style="cyan"))


def _table(title: str) -> Table:
    return Table(title=Text(title), title_justify="left", title_style="bold", box=SIMPLE_HEAD)


def _cells(finding: Finding) -> list[str]:
    found = finding.estimate
    odd = f"{100.0 * found.non_monotone / found.replicas:.0f} %" if found.non_monotone else "–"
    interval = interval_text(found.median.low, found.median.high)
    return [median_text(finding), interval, number_text(found.low), number_text(found.high), odd]


def median_text(finding: Finding) -> str:
    """A condition's median for a reader: that it is below the least value tried, or not below the greatest."""
    found = finding.estimate
    if found.median.value == -math.inf:
        return f"< {finding.plan.ladder.start:g}"
    beyond = 2 * found.above >= found.replicas
    return f"≥ {number_text(found.median.value)}" if beyond else number_text(found.median.value)


def number_text(value: float) -> str:
    """A threshold for a reader."""
    return f"{value:.4g}" if math.isfinite(value) else "−∞" if value < 0.0 else "∞"


def interval_text(low: float, high: float) -> str:
    """An interval for a reader."""
    return f"{number_text(low)} … {number_text(high)}"


def remarks(findings: Findings) -> list[str]:
    """What a reader of the table has to know."""
    plan = findings.plan
    estimates = [finding.estimate for finding in findings.conditions]
    reached = estimates[0].median.confidence
    lines = []
    if reached < plan.confidence:
        lines.append(
            f"{plan.replicas} replicas reach {100.0 * reached:.1f} % at most, not {100.0 * plan.confidence:g} %."
        )
    below = sum(e.below for e in estimates)
    if below:
        lines.append(
            f"{below} thresholds are below the least value, {plan.ladder.start:g} {plan.unit}: the human falls at it."
        )
    above = sum(e.above for e in estimates)
    if above:
        lines.append(f"{above} thresholds are above the greatest value tried, {plan.ladder.limit:g} {plan.unit}.")
    odd = sum(e.non_monotone for e in estimates)
    if odd:
        lines.append(
            f"{odd} of {sum(e.replicas for e in estimates)} searches found a recovery above a fall: "
            "a threshold is the first fall, and such islands do not count; a finer ladder (--by) would find more."
        )
    return lines
