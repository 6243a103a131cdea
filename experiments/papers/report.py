"""Report of published values and ours, with agreements, differences and reasons, as a page and on the terminal."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.cli.terminal import say
from experiments.papers.item import Finding, Item, Paper, Verdict
from experiments.papers.run import Cached, Failure, Session
from experiments.visualization.document import STYLES, print_block
from experiments.visualization.pages import Block, Bullets, Code, Image, Page, Prose, Section, Table
from experiments.visualization.pages.blocks import Mood, shown

NOT_COMPUTED = "not computed yet"


def report_page(
    paper: Paper, cached: Mapping[str, Cached], failures: Mapping[str, Failure], stamp: Mapping[str, Any], command: str
) -> Page:
    """Return the page of all available outcomes, of this and earlier runs, and of this run's failures."""
    return Page(
        title=f"{paper.name}: published and ours",
        subtitle=paper.citation,
        lead=_lead(paper, cached, failures, command),
        sections=tuple(_section(item, cached.get(item.name), failures.get(item.name)) for item in paper.items),
        made={name: value for name, value in stamp.items() if value is not None},
    )


def missing_items(
    paper: Paper, cached: Mapping[str, Cached], failures: Mapping[str, Failure]
) -> list[tuple[Item, str]]:
    return [
        (item, f"failed: {failures[item.name].message}" if item.name in failures else NOT_COMPUTED)
        for item in paper.items
        if item.name not in cached
    ]


class Tally(Counter[Verdict]):
    """Number of findings of each verdict."""

    @property
    def mood(self) -> Mood:
        """Bad if any statement differs or does not hold; good if there is evidence, and all of it agrees."""
        if self["differs"] or self["not so"]:
            return "bad"
        return "good" if self["agrees"] else ""

    def __str__(self) -> str:
        ours = self["ours"] + self["not so"]
        failing = f" ({self['not so']} not so)" if self["not so"] else ""
        return (
            f"agree: {self['agrees']}, better: {self['better']}, differ: {self['differs']}, ours: {ours}{failing}, "
            f"fitted: {self['fitted']}"
        )

    @property
    def short(self) -> str:
        """Number of agreements among statements that count; if none counts, the number of each verdict."""
        total = self["agrees"] + self["differs"]
        return f"{self['agrees']} of {total} agree" if total else ", ".join(f"{n} {word}" for word, n in self.items())


def tally(findings: Iterable[Finding]) -> Tally:
    return Tally(finding.verdict for finding in findings)


def all_findings(cached: Mapping[str, Cached]) -> list[Finding]:
    return [finding for outcome in cached.values() for finding in outcome.findings]


def halves(findings: Sequence[Finding]) -> str:
    """Return the shares that agree, and that are within two standard errors, in each half; empty without halves."""
    parts = []
    for half in ("training", "held-out"):
        within = [f for f in findings if f.half == half]
        near = [f.within_two_errors for f in within if f.within_two_errors is not None]
        if within:
            close = f", {sum(near)} of {len(near)} within 2 SE" if near else ""
            parts.append(f"{half} half: {sum(f.agrees for f in within)} of {len(within)} agree{close}")
    return "; ".join(parts).replace("training", "Training", 1)


def mood(finding: Finding) -> Mood:
    """Return the mood of a finding: bad, good for evidence, or muted for other kinds."""
    if not finding.agrees:
        return "bad"
    return "good" if finding.kind == "evidence" else "muted"


def _lead(
    paper: Paper, cached: Mapping[str, Cached], failures: Mapping[str, Failure], command: str
) -> tuple[Block, ...]:
    counted = tally(all_findings(cached))
    computed = f"{len(cached)} of {len(paper.items)} items computed"
    blocks: list[Block] = [Prose(f"{counted} ({computed}).", counted.mood)]
    if shares := halves(all_findings(cached)):
        blocks.append(Prose(f"{shares}."))
    differing = [
        (item.name, finding)
        for item in paper.items
        if item.name in cached
        for finding in cached[item.name].findings
        if not finding.agrees
    ]
    if differing:
        blocks.append(
            Table(
                "Statements that differ or do not hold",
                ("item", "statement", "published", "ours", "reason"),
                tuple((name, f.quantity, shown(f.published), shown(f.ours), f.note) for name, f in differing),
                tuple("bad" for _ in differing),
                fold=False,
            )
        )
    missing = missing_items(paper, cached, failures)
    if missing:
        blocks.append(Bullets("Missing items", tuple(f"{item.name}, {item.title}: {why}" for item, why in missing)))
    if any(outcome.quick for outcome in cached.values()):
        blocks.append(Prose("Some items are short versions (--quick): the same statements, by shorter computations."))
    blocks += [Prose("To reproduce this page:"), Code(command)]
    return tuple(blocks)


def _section(item: Item, cached: Cached | None, failure: Failure | None) -> Section:
    verdict, mood = _verdict(cached, failure)
    blocks: list[Block] = []
    if failure is not None:
        blocks += [Prose(f"The last attempt failed: {failure.message}", "bad"), Code(failure.trace)]
        if cached is not None:
            blocks.append(Prose("Below are the results of an earlier computation."))
    blocks += _outcome(item, cached) if cached is not None else [Prose(f"{NOT_COMPUTED}.".capitalize(), "muted")]
    return Section(item.name, f"{item.name}: {item.title}", item.source, verdict, mood, tuple(blocks))


def _verdict(cached: Cached | None, failure: Failure | None) -> tuple[str, Mood]:
    if failure is not None:
        return "failed", "bad"
    if cached is None:
        return "missing", "bad"
    if not cached.findings:
        return "no statements", ""
    counted = tally(cached.findings)
    return counted.short, counted.mood


def _outcome(item: Item, cached: Cached) -> list[Block]:
    blocks: list[Block] = []
    if cached.findings:
        blocks.append(findings_table(cached.findings))
        if shares := halves(cached.findings):
            blocks.append(Prose(f"{shares}."))
    if cached.assumptions:
        blocks.append(Bullets("Assumptions where the paper leaves something open", cached.assumptions))
    for name in cached.pictures:
        caption = item.title if len(cached.pictures) == 1 else name.removesuffix(".png").replace("-", " ")
        blocks.append(Image((cached.folder / name).read_bytes(), caption))
    blocks += [Table.of(title, cached.table(title)) for title in cached.tables]
    version = "short version, " if cached.quick else ""
    files = ", ".join(file.name for file in cached.files)
    where = (
        f"{version}{cached.seconds:.1f} s, {cached.stamp.get('date')}, commit {cached.stamp.get('commit') or 'unknown'}"
    )
    blocks.append(Prose(f"Computed: {where}.{f' Files in {Path(item.name)}/: {files}.' if files else ''}", "muted"))
    return blocks


def findings_table(findings: tuple[Finding, ...]) -> Table:
    """Return the table of findings; a column of optional values is left out if it is empty."""
    moods = tuple(mood(finding) for finding in findings)
    columns: dict[str, list[str]] = {
        "statement": [f.quantity for f in findings], "published": [shown(f.published) for f in findings],
        "ours": [shown(f.ours) for f in findings], "holds if": [f.criterion for f in findings],
        "verdict": [f.verdict for f in findings], "within 2 SE": [shown(f.within_two_errors) for f in findings],
        "half": [f.half for f in findings], "reason or assumption": [f.note for f in findings],
    }  # fmt: skip
    filled = {heading: cells for heading, cells in columns.items() if any(cells)}
    return Table("", tuple(filled), tuple(zip(*filled.values(), strict=True)), moods, fold=False)


def print_item(item: Item, session: Session) -> None:
    say(f"\n{item.name}: {item.title}", "bold")
    if item.name in session.failures:
        say(f"  failed: {session.failures[item.name].message}", "red")
    elif session.done[item.name].findings:
        print_block(findings_table(session.done[item.name].findings))
        if shares := halves(session.done[item.name].findings):
            say(f"  {shares}")
    else:
        say("  no statements to compare", "dim")


def print_summary(session: Session, cached: Mapping[str, Cached], page: Path) -> None:
    counted = tally(all_findings(cached))
    say(f"\n{session.paper.name}: {counted}", f"bold {STYLES[counted.mood]}")
    if shares := halves(all_findings(cached)):
        say(shares)
    missing = missing_items(session.paper, cached, session.failures)
    if missing:
        say(f"not on the page: {', '.join(item.name for item, _ in missing)}", "yellow")
    say(str(page), "cyan")
