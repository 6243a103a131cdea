"""Published against ours on the terminal, one line a statement."""

from collections.abc import Mapping
from pathlib import Path

from experiments.cli.terminal import say
from experiments.papers.cached import Cached
from experiments.papers.item import Item
from experiments.papers.report import all_findings, findings_table, missing_items, tally
from experiments.papers.run import Session
from experiments.visualization.document import STYLES, print_block


def print_item(item: Item, session: Session) -> None:
    say(f"\n{item.name}: {item.title}", "bold")
    if failure := session.failures.get(item.name):
        say(f"  failed: {failure.message}", "red")
    elif findings := session.done[item.name].findings:
        print_block(findings_table(findings))
    else:
        say("  no statements to compare", "dim")


def print_summary(session: Session, cached: Mapping[str, Cached], page: Path) -> None:
    counted = tally(all_findings(cached))
    say(f"\n{session.paper.name}: {counted}", f"bold {STYLES[counted.mood]}")
    missing = missing_items(session.paper, cached, session.failures)
    if missing:
        say(f"not on the page: {', '.join(item.name for item, _ in missing)}", "yellow")
    say(str(page), "cyan")
