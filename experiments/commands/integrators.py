"""``biped integrators``: what each integrator can do."""

import csv
import io
import sys
from argparse import Namespace
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from experiments.cli.terminal import terminal
from experiments.commands.integrator_table import COLUMNS, SYSTEMS, integrator_rows


def main(options: Namespace) -> int:
    """Print the integrators, or write them to a file; the exit status."""
    if options.csv is None:
        print_table(terminal())
    elif options.csv == "-":
        sys.stdout.write(as_csv())
    else:
        Path(options.csv).write_text(as_csv(), encoding="utf-8")
    return 0


def print_table(console: Console) -> None:
    """A table for each kind of systems."""
    rows = integrator_rows()
    for systems in dict.fromkeys(row[SYSTEMS] for row in rows):
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), title=f"\n{systems}", title_justify="left")
        for heading in COLUMNS:
            table.add_column(heading, header_style="bold", no_wrap=heading == "name")
        for row in rows:
            if row[SYSTEMS] == systems:
                table.add_row(*(_cell(row[heading]) for heading in COLUMNS))
        console.print(table)
    note = "\nmomentum, energy: conserved exactly; contact, loops: taken; cost: of a step, for n bodies or coordinates"
    console.print(Text(note, style="dim"))


def _cell(value: object) -> Text:
    if isinstance(value, bool):
        return Text("yes", style="green") if value else Text("no", style="dim")
    return Text(str(value))


def as_csv() -> str:
    """All of them in one table."""
    file = io.StringIO()
    writer = csv.DictWriter(file, [*COLUMNS, SYSTEMS], lineterminator="\n")
    writer.writeheader()
    for row in integrator_rows():
        writer.writerow(
            {name: ("yes" if value else "no") if isinstance(value, bool) else value for name, value in row.items()}
        )
    return file.getvalue()
