"""What was tried, kept for good: a line of JSON for each minute of a row, added up for a page of the documentation."""

import json
import subprocess
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from ..conftest import ROOT
from .row import KINDS, Row

LEDGER = ROOT / "results" / "campaign" / "ledger.jsonl"
PAGE = ROOT / "docs" / "campaign.md"
BEGIN, END = "<!-- begin: python -m tests.campaign --page -->", "<!-- end -->"


@dataclass
class Entry:
    """So many attempts of a row, from ``seed`` on, on one commit.

    Attributes:
        findings: {"seed", "kind", "what"} of each.
        skipped: why it could not be tried.
    """

    row: str
    commit: str
    date: str
    command: str
    seed: int
    attempts: int = 0
    tried: int = 0
    seconds: float = 0.0
    longest: float = 0.0
    counts: Counter[str] = field(default_factory=Counter)
    findings: list[dict[str, object]] = field(default_factory=list)
    skipped: str = ""

    def number(self, kind: str) -> int:
        return sum(finding["kind"] == kind for finding in self.findings)


def commit() -> str:
    """That which is tried, with ``-dirty`` where files differ from it."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip() or "unknown"


def append(entry: Entry, ledger: Path = LEDGER) -> None:
    ledger.parent.mkdir(parents=True, exist_ok=True)
    with ledger.open("a", encoding="utf-8") as file:
        file.write(json.dumps(vars(entry), ensure_ascii=False) + "\n")


def entries(ledger: Path = LEDGER) -> list[Entry]:
    if not ledger.exists():
        return []
    read = [json.loads(line) for line in ledger.read_text(encoding="utf-8").splitlines()]
    return [Entry(**one | {"counts": Counter(one["counts"])}) for one in read]


def next_seed(row: str, ledger: Path = LEDGER) -> int:
    """The first that no attempt of this row has had."""
    return max((entry.seed + entry.attempts for entry in entries(ledger) if entry.row == row), default=0)


def sums(row: str, ledger: Path = LEDGER) -> Entry | None:
    """All of a row on the commit that it was tried on last."""
    own = [entry for entry in entries(ledger) if entry.row == row]
    if not own:
        return None
    own = [entry for entry in own if entry.commit == own[-1].commit]
    total = Entry(row, own[-1].commit, own[-1].date, own[-1].command, own[0].seed, skipped=own[-1].skipped)
    for entry in own:
        total.attempts += entry.attempts
        total.tried += entry.tried
        total.seconds += entry.seconds
        total.longest = max(total.longest, entry.longest)
        total.counts += entry.counts
        total.findings += entry.findings
    return total


def table(rows: tuple[Row, ...], ledger: Path = LEDGER) -> str:
    """In Markdown: a line for each row, and what came of it below."""
    head = ["row", "what was tried", "how often", "wanted", "before", *KINDS,
            "time [min]", "longest [s]", "date", "commit"]  # fmt: skip
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    below = []
    for row in rows:
        total = sums(row.name, ledger)
        goal = f"{row.goal:,}" if row.goal else ""
        if total is None or total.skipped:
            why = "not tried yet" if total is None else f"not tried: {total.skipped}"
            lines.append(f"| `{row.name}` | {row.what} | {why} | {goal} |" + " |" * (len(head) - 4))
            continue
        found = [f"**{number}**" if (number := total.number(kind)) else "0" for kind in KINDS]
        earlier = sum(entry.tried for entry in entries(ledger) if entry.row == row.name) - total.tried
        before = f"{earlier:,}" if earlier else ""
        cells = [f"`{row.name}`", row.what, f"{total.tried:,} {row.unit}", goal, before, *found,
                 f"{total.seconds / 60.0:.0f}", f"{total.longest:.1f}", total.date, f"`{total.commit}`"]  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
        counts = ", ".join(f"{word} {number:,}" for word, number in total.counts.most_common(24))
        last = total.seed + total.attempts - 1
        below.append(f"- `{row.name}`, seeds {total.seed} to {last}{': ' if counts else ''}{counts}")
    return "\n".join([*lines, "", "What came of them:", "", *below])


def write_page(rows: tuple[Row, ...], ledger: Path = LEDGER, page: Path = PAGE) -> None:
    text = page.read_text(encoding="utf-8")
    head, rest = text.split(BEGIN)
    page.write_text(f"{head}{BEGIN}\n{table(rows, ledger)}\n{END}{rest.split(END)[1]}", encoding="utf-8")
