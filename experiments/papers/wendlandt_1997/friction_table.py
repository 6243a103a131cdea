"""Results of a search for the box's friction, on the terminal and as a table."""

import csv
import math
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from experiments.catalogue.box_drop import FRICTION
from experiments.cli.quantities import length
from experiments.papers.wendlandt_1997.friction_search import FACTS, Search, Trial

TABLE = "search.csv"
#: A coefficient is shown if at most so many facts do not hold.
NEAR = 2


def print_search(found: Search, console: Console) -> None:
    for number, fact in enumerate(FACTS, start=1):
        console.print(Text(f"{number:2d}  {fact.name}: {fact.statement}"))
    near = tuple(trial for trial in found.trials if sum(trial.holds.values()) >= len(FACTS) - NEAR)
    others = len(found.trials) - len(near)
    heading = f"\nAll of these facts hold but {NEAR} at most (the {others} other coefficients are in {TABLE}):"
    console.print(Text(heading, style="bold"))
    console.print(_trial_table(near))
    if not found.intervals:
        console.print(Text("\nNo coefficient that was looked at agrees with all facts.", style="bold yellow"))
        return
    console.print(Text("\nA closer look around those that agree with all:", style="bold"))
    console.print(_trial_table(found.closer))
    for begin, end in found.intervals:
        console.print(Text(f"\nAll published facts hold for μ from {begin:g} to {end:g}.", style="bold green"))
    console.print(Text(f"The box drop's floor has μ = {FRICTION:g}."))


def _trial_table(trials: tuple[Trial, ...]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1))
    table.add_column("μ", justify="right", header_style="bold")
    for number in range(1, len(FACTS) + 1):
        table.add_column(str(number), justify="center", header_style="bold")
    for heading in ("all", "at rest from", "y rises by", "and falls by", "Newton"):
        table.add_column(heading, justify="right", header_style="bold")
    for trial in trials:
        marks = (_mark(trial.holds[fact.name]) for fact in FACTS)
        table.add_row(
            f"{trial.friction:.4g}", *marks, _mark(trial.agrees),
            f"{trial.rest_at:.3f} s" if math.isfinite(trial.rest_at) else "never", length(trial.rise),
            length(trial.fall_of_y), str(trial.newton_max),
        )  # fmt: skip
    return table


def _mark(holds: bool) -> Text:
    return Text("✓", style="green") if holds else Text("·", style="dim")


def save_search(found: Search, path: Path) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["friction", *(f.name for f in FACTS), "all", "rest_at", "y_rise", "y_fall", "newton_max"])
        for trial in sorted((*found.trials, *found.closer), key=lambda trial: trial.friction):
            holds = [int(trial.holds[fact.name]) for fact in FACTS]
            measures = [trial.rest_at, trial.rise, trial.fall_of_y, trial.newton_max]
            writer.writerow([trial.friction, *holds, int(trial.agrees), *measures])
    return path
