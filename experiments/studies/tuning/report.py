"""A tuning on the terminal."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from experiments.studies.tuning.config import Tuning
from experiments.studies.tuning.confirm import Comparison
from experiments.studies.tuning.session import Outcome
from experiments.studies.tuning.tuner import Confirmation, Tried

#: Members of a front that are printed.
MOST = 12


def print_tuning(tuning: Tuning, outcome: Outcome, files: Sequence[Path], folder: Path, console: Console) -> None:
    """Print what a tuning came to, and where its files are."""
    tuned = outcome.tuned
    beyond = sum(not tried.score.keeps_limits for tried in tuned.tried)
    console.print(
        Text(
            f"{tuning.name}: {len(tuned.tried)} candidates by {tuning.optimizer}, {tuning.plan.size} trials each"
            + (f"; {beyond} beyond a limit" if beyond else ""),
            style="bold",
        )
    )
    if tuning.is_front:
        _print_front(tuning, outcome, console)
    if outcome.winner is None:
        _print_no_winner(tuning, outcome, console)
    else:
        console.print(_knobs(tuning, tuned.baseline, outcome.winner))
    if outcome.confirmation is not None:
        _print_confirmation(outcome.confirmation, console)
    names = ", ".join(str(file.relative_to(folder)) for file in files)
    console.print(Text(f"\n{folder}/  {names}", style="cyan"))


def _print_no_winner(tuning: Tuning, outcome: Outcome, console: Console) -> None:
    if tuning.is_front and outcome.tuned.front:
        console.print(Text("No winner was chosen: [choice] in the file says how, by a weight for each objective."))
    else:
        console.print(Text("No candidate keeps all limits: there is no winner.", style="bold yellow"))


def _print_front(tuning: Tuning, outcome: Outcome, console: Console) -> None:
    front = outcome.tuned.front
    table = _table(["member", "candidate", *(objective.name for objective in tuning.judge.objectives)])
    for place, tried in enumerate(front[:MOST], start=1):
        _add(table, str(place), str(tried.number), *(f"{value:.5g}" for value in tried.score.values.values()))
    console.print(table)
    if len(front) > MOST:
        console.print(f"… and {len(front) - MOST} more")


def _knobs(tuning: Tuning, baseline: Tried, winner: Tried) -> Table:
    table = _table(["", "baseline", f"candidate {winner.number}"])
    for knob in tuning.plan.knobs:
        before = baseline.candidate.point.get(knob.name)
        unit = tuning.plan.units[knob.name]
        name = f"{knob.name} [{unit}]" if unit else knob.name
        _add(table, name, "–" if before is None else f"{before:.5g}", f"{winner.candidate.point[knob.name]:.5g}")
    return table


def _print_confirmation(found: Confirmation, console: Console) -> None:
    replicas = found.objectives[0].replicas
    console.print(Text(f"\nOn {replicas} fresh replicas, the same for both:", style="bold"))
    table = _table(["", "baseline", "winner", "difference", "95 % interval", "p", ""])
    for comparison in found.objectives:
        mark = "better" if found.better[comparison.name] else "worse" if comparison.name in found.worse else "?"
        _add(table, *_cells(comparison), mark)
    for comparison in found.limits:
        kept = found.kept[comparison.name]
        _add(table, *_cells(comparison), f"{'within' if kept else 'BEYOND'} {found.bounds[comparison.name]:.5g}")
    console.print(table)
    if found.holds:
        console.print(Text("Confirmed: better than the baseline.", style="bold green"))
    else:
        console.print(Text(f"NOT confirmed: {'; '.join(found.reasons)}.", style="bold yellow"))


def _cells(comparison: Comparison) -> list[str]:
    return [
        comparison.name,
        f"{comparison.baseline:.5g} ± {comparison.baseline_spread:.2g}",
        f"{comparison.winner:.5g} ± {comparison.winner_spread:.2g}",
        f"{comparison.difference:+.4g}",
        f"{comparison.low:+.4g} … {comparison.high:+.4g}",
        f"{comparison.chance:.2g}",
    ]


def _table(headings: Sequence[str]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2))
    for place, heading in enumerate(headings):
        table.add_column(Text(heading), justify="right" if place else "left", header_style="bold")
    return table


def _add(table: Table, *cells: str) -> None:
    """A row of plain text, in which no bracket is markup."""
    table.add_row(*(Text(cell) for cell in cells))
