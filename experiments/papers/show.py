"""Published against ours on the terminal, one line a statement."""

from collections.abc import Mapping
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from experiments.cli.terminal import terminal
from experiments.papers.cached import Cached
from experiments.papers.item import Finding, Item
from experiments.papers.report import all_findings, missing_items, mood, tally
from experiments.papers.run import Session
from experiments.visualization.pages.blocks import Mood, shown

#: How a mood looks on the terminal.
_STYLES: dict[Mood, str] = {"": "", "good": "green", "bad": "yellow", "muted": "dim"}


def print_item(item: Item, session: Session, console: Console | None = None) -> None:
    console = console or terminal()
    console.print(Text(f"\n{item.name}: {item.title}", style="bold"))
    failure = session.failures.get(item.name)
    if failure is not None:
        console.print(Text(f"  failed: {failure.message}", style="red"))
        return
    cached = session.done[item.name]
    if cached.findings:
        console.print(_findings(cached.findings))
    else:
        console.print(Text("  no statements to compare", style="dim"))


def _findings(findings: tuple[Finding, ...]) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("statement", overflow="fold", ratio=3)
    for heading in ("published", "ours"):
        table.add_column(heading, overflow="fold", ratio=2)
    table.add_column("holds if", overflow="fold", ratio=2)
    table.add_column("", no_wrap=True)
    table.add_column("note", overflow="fold", ratio=3)
    for finding in findings:
        cells = (finding.quantity, shown(finding.published), shown(finding.ours), finding.criterion)
        verdict = Text(finding.verdict, style=_STYLES[mood(finding)])
        table.add_row(*map(Text, cells), verdict, Text(finding.note, style="dim"))
    return table


def print_summary(session: Session, cached: Mapping[str, Cached], page: Path, console: Console | None = None) -> None:
    console = console or terminal()
    counted = tally(all_findings(cached))
    text = f"\n{session.paper.name}: {counted}"
    console.print(Text(text, style=f"bold {_STYLES[counted.mood]}"))
    missing = missing_items(session.paper, cached, session.failures)
    if missing:
        console.print(Text(f"not on the page: {', '.join(item.name for item, _ in missing)}", style="yellow"))
    console.print(Text(str(page), style="cyan"))
