"""``biped reproduce``: recompute a paper's tables and figures, and compare published results with ours."""

from argparse import Namespace
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

from biped.inputs.extras import need
from experiments.cli.machine import stamp
from experiments.cli.main import Parser, fail, interrupted
from experiments.cli.output import writable_folder
from experiments.papers import registry

if TYPE_CHECKING:
    from experiments.papers.item import Item, Paper
    from experiments.papers.run import Cached, Session

PAGE = "report.html"
#: Exit status if an item could not be computed.
FAILED = 1

_DESCRIPTION = """\
Recompute the tables and figures of a paper, and compare its statements with our results; write a page about them."""

_EXAMPLES = """\
examples:
  biped reproduce                                  list papers and items
  biped reproduce wendlandt-1997 --quick           the same statements from shorter runs
  biped reproduce wendlandt-1997 table-2.1 'figure-5.*' --out results/mine

Each finished item is stored. A difference is a result (exit status 0). Exit status 1: an item could not be computed.
"""


def parser() -> Parser:
    papers = fill(f"papers: {', '.join(registry.paper_names())}", 110, break_on_hyphens=False)
    command = Parser("biped reproduce", _DESCRIPTION, f"{papers}\n\n{_EXAMPLES}", page="reproduce")
    command.add_argument("paper", metavar="PAPER", nargs="?", help="name of a paper (default: list papers and items)")
    command.add_argument("items", metavar="ITEM", nargs="*", help="name or pattern of items (default: all)")
    command.switch("--quick", "run short versions that check the same statements")
    command.add_results("results/reproduce/PAPER", forms=False)
    return command


def listing() -> str:
    lines = []
    for name in registry.paper_names():
        paper = registry.load(name)
        lines.append(f"{paper.name}: {paper.citation}")
        width = max((len(item.name) for item in paper.items), default=0)
        lines += [f"  {item.name:{width}}  {item.title}" for item in paper.items]
        lines.append("")
    return "\n".join(lines)


def main(options: Namespace) -> int:
    if options.paper is None:
        print(listing(), end="")
        return 0
    return run(registry.paper_named(options.paper), options)


def run(paper: "Paper", options: Namespace) -> int:
    from experiments.papers.report import print_item, print_summary
    from experiments.papers.run import Session

    items = registry.items_named(paper, options.items)
    need("jinja2", *{package for item in items for package in item.packages})
    folder = writable_folder(options.out or Path("results") / "reproduce" / paper.name)
    session = Session(paper, items, folder, options.quick, not options.no_figures, stamp())

    def after(item: "Item") -> None:
        _write(session, options.typed)
        print_item(item, session)

    try:
        session.run(after)
    finally:
        page, cached = _write(session, options.typed)
    print_summary(session, cached, page)
    if session.interrupted:
        return interrupted(f"; what was computed is in {page}")
    if session.failures:
        names = ", ".join(session.failures)
        return fail(f"could not be computed: {names}; the reasons are in {page}", FAILED)
    return 0


def _write(session: "Session", command: str) -> "tuple[Path, dict[str, Cached]]":
    from experiments.papers.report import report_page
    from experiments.papers.run import load
    from experiments.visualization.pages import write_page

    outcomes = {item.name: load(session.folder / item.name) for item in session.paper.items}
    cached = {name: outcome for name, outcome in outcomes.items() if outcome is not None}
    page = report_page(session.paper, cached, session.failures, session.stamp, command)
    return write_page(page, session.folder / PAGE), cached
