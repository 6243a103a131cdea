"""All integrators and what each can do, as their classes say."""

from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from biped.integrators import INTEGRATORS
from experiments.cli.terminal import explained, fits
from formulations.lagrangian import LAGRANGIAN_METHODS

TREES = "trees of joints"
LAGRANGIAN = "Lagrangian systems on a linear space"

#: By heading: the attribute of an integrator that the column shows.
COLUMNS = {
    "name": "name",
    "paper": "paper",
    "coordinates": "coordinates",
    "order": "order",
    "symmetric": "symmetric",
    "symplectic": "symplectic",
    "momentum": "conserves_momentum",
    "energy": "conserves_energy",
    "contact": "takes_contact",
    "moving floor": "takes_moving_floor",
    "joint limits": "takes_passive_joints",
    "screws": "takes_helical_joints",
    "loops": "takes_loops",
    "cost": "cost",
}
SYSTEMS = "systems"


def integrator_rows() -> list[dict[str, Any]]:
    """One row an integrator, by heading: those of trees first, then those of Lagrangian systems."""
    return [*_rows(INTEGRATORS.values(), TREES), *_rows(LAGRANGIAN_METHODS.values(), LAGRANGIAN)]


def _rows(integrators: Iterable[Any], systems: str) -> list[dict[str, Any]]:
    return [
        {heading: getattr(integrator, attribute) for heading, attribute in COLUMNS.items()} | {SYSTEMS: systems}
        for integrator in integrators
    ]


def print_table(console: Console) -> None:
    """Print the integrators as tables where they fit the terminal; else what each can do in words."""
    rows = integrator_rows()
    parts = {systems: [row for row in rows if row[SYSTEMS] == systems] for systems in (TREES, LAGRANGIAN)}
    tables = {systems: _table(of_systems) for systems, of_systems in parts.items()}
    as_tables = all(fits(table, console) for table in tables.values())
    for systems, table in tables.items():
        console.print(Text(f"\n{systems}", style="bold cyan"))
        lines = [(row["name"], in_words(row)) for row in parts[systems]]
        console.print(table if as_tables else explained(lines, console.width))
    if as_tables:
        note = (
            "momentum, energy: conserved exactly; contact, loops: taken; cost: of a step, for n bodies or coordinates"
        )
        console.print(Text(f"\n{note}", style="dim"))


def _table(rows: Iterable[dict[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in COLUMNS:
        table.add_column(heading, header_style="bold")
    for row in rows:
        table.add_row(*(_cell(row[heading]) for heading in COLUMNS))
    return table


def in_words(row: dict[str, Any]) -> str:
    """One sentence of what an integrator is and can do."""
    traits = [f"of order {row['order']}", *(name for name in ("symmetric", "symplectic") if row[name] is True)]
    conserves = " and ".join(name for name in ("momentum", "energy") if row[name] is True)
    able = ("contact", "moving floor", "joint limits", "screws", "loops")
    takes = ", ".join(name for name in able if row[name] is True)
    parts = [", ".join(traits), conserves and f"conserves {conserves}", takes and f"takes {takes}"]
    return "; ".join([*filter(None, parts), f"{row['cost']}; {row['coordinates']} coordinates ({row['paper']})"])


def _cell(value: object) -> Text:
    if isinstance(value, bool):
        return Text("yes", style="green") if value else Text("no", style="dim")
    return Text(str(value))


def as_csv() -> str:
    import pandas as pd

    table = pd.DataFrame(integrator_rows(), columns=[*COLUMNS, SYSTEMS], dtype=object)
    return str(table.map(lambda value: str(_cell(value))).to_csv(index=False))
