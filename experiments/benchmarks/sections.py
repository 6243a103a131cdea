"""The results as tables of labelled numbers: what the terminal shows is what the files hold."""

import csv
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table

from experiments.cli.terminal import terminal

JSON, CSV, FIGURE = "bench.json", "bench.csv", "chain-cost.png"


@dataclass(frozen=True)
class Column:
    """A column of numbers."""

    name: str  # unique in its section
    unit: str = ""  # SI, or empty
    form: str = ".2f"  # how the terminal shows a number; the files have all digits

    @property
    def heading(self) -> str:
        return f"{self.name}\n{self.unit}" if self.unit else self.name


@dataclass
class Section:
    """One table."""

    name: str  # in the files
    title: str  # on the terminal
    columns: tuple[Column, ...]  # of numbers; the rows' labels stand before them
    rows: dict[str, tuple[float, ...]] = field(default_factory=dict)  # by label
    notes: list[str] = field(default_factory=list)  # sentences below the table

    def as_json(self) -> dict[str, Any]:
        names = [column.name for column in self.columns]
        return {
            "title": self.title,
            "units": {column.name: column.unit for column in self.columns},
            "rows": {
                label: {name: number if number == number else None for name, number in zip(names, numbers, strict=True)}
                for label, numbers in self.rows.items()
            },
            "notes": self.notes,
        }


def write_json(path: Path, stamp: Mapping[str, Any], sections: list[Section]) -> None:
    content = {"stamp": dict(stamp), "sections": {section.name: section.as_json() for section in sections}}
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def write_csv(path: Path, stamp: Mapping[str, Any], sections: list[Section]) -> None:
    """Write a number a line; lines with ``#`` before them hold the stamp."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        for name, value in stamp.items():
            file.write(f"# {name}: {value}\n")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("section", "row", "quantity", "unit", "value"))
        for section in sections:
            for label, numbers in section.rows.items():
                for column, number in zip(section.columns, numbers, strict=True):
                    writer.writerow((section.name, label, column.name, column.unit, repr(number)))


#: Rows of a table that the terminal shows; the files have all.
SHOWN_ROWS = 12


def print_stamp(stamp: Mapping[str, Any]) -> None:
    known = [f"{name} {value}" for name, value in stamp.items() if value is not None]
    terminal().print(", ".join(known), style="dim", highlight=False)


def print_section(section: Section) -> None:
    console = terminal()
    if section.rows:
        table = Table(title=section.title, title_justify="left", title_style="bold", box=SIMPLE_HEAD)
        table.add_column("", no_wrap=True)
        for column in section.columns:
            table.add_column(column.heading, justify="right", min_width=len(column.name))
        for label, numbers in list(section.rows.items())[:SHOWN_ROWS]:
            texts = (format(number, column.form) for column, number in zip(section.columns, numbers, strict=True))
            table.add_row(label, *texts)
        console.print(table)
        if len(section.rows) > SHOWN_ROWS:
            console.print(f"  and {len(section.rows) - SHOWN_ROWS} more in {CSV}")
    for note in section.notes:
        console.print(f"  {note}", markup=False, highlight=False)
