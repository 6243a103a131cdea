"""The results as tables of labelled numbers: what the terminal shows is what the files hold."""

import csv
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from experiments.cli.terminal import print_table, say

JSON, CSV, FIGURE = "bench.json", "bench.csv", "chain-cost.png"


@dataclass(frozen=True)
class Column:
    """A column of numbers."""

    name: str  # unique in its section
    unit: str = ""  # SI, or empty
    form: str = ".2f"  # how the terminal shows a number; the files have all digits

    @property
    def heading(self) -> str:
        return f"{self.name} [{self.unit}]" if self.unit else self.name


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
    say(", ".join(known), "dim")


def print_section(section: Section) -> None:
    if section.rows:
        rows = [
            (label, *(format(n, column.form) for column, n in zip(section.columns, numbers, strict=True)))
            for label, numbers in list(section.rows.items())[:SHOWN_ROWS]
        ]
        say(f"\n{section.title}", "bold")
        print_table(("", *(column.heading for column in section.columns)), rows)
        if len(section.rows) > SHOWN_ROWS:
            say(f"  and {len(section.rows) - SHOWN_ROWS} more in {CSV}")
    for note in section.notes:
        say(f"  {note}")
