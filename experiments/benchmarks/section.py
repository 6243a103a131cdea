"""Tables of the benchmark: timing, display and saving of their rows."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple, TypeVar

from rich.box import SIMPLE_HEAD
from rich.table import Table

from experiments.cli.terminal import terminal
from experiments.timing import interleaved, ratios

JSON = "bench.json"
MICROSECONDS = 1e6
T = TypeVar("T")


class Column(NamedTuple):
    """A column of numbers: name, unit (SI or empty), and format on the terminal (the file has all digits)."""

    name: str
    unit: str = ""
    form: str = ".2f"


def columns(*names: str, unit: str = "", form: str = ".2f") -> tuple[Column, ...]:
    return tuple(Column(name, unit, form) for name in names)


def spread_columns(unit: str = "µs", form: str = ".2f") -> tuple[Column, ...]:
    return columns("least", "median", "most", unit=unit, form=form)


@dataclass
class Section:
    """Table of the benchmark's results: name in the JSON file, title, columns, rows by label, notes below it."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: dict[str, tuple[float, ...]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        names = [column.name for column in self.columns]
        return {
            "title": self.title,
            "units": {column.name: column.unit for column in self.columns},
            "rows": {label: dict(zip(names, row, strict=True)) for label, row in self.rows.items()},
            "notes": self.notes,
        }

    def show(self) -> None:
        """Print the table and its notes."""
        console = terminal()
        if self.rows:
            table = Table(title=self.title, title_justify="left", title_style="bold", box=SIMPLE_HEAD)
            table.add_column("", no_wrap=True)
            for name, unit, _ in self.columns:
                table.add_column(f"{name}\n{unit}" if unit else name, justify="right", min_width=len(name))
            for label, numbers in self.rows.items():
                table.add_row(label, *(format(x, column.form) for column, x in zip(self.columns, numbers, strict=True)))
            console.print(table)
        for note in self.notes:
            console.print(f"  {note}", markup=False, highlight=False)


def measured(
    name: str,
    title: str,
    columns: Sequence[Column],
    works: Mapping[str, Callable[[], T]],
    numbers: Callable[[list[T]], tuple[float, ...]],
    repeats: int,
) -> Section:
    """Return a section with a row for each of ``works``: the ``numbers`` of its results, with all repeated in turn."""
    rows = {label: numbers(results) for label, results in interleaved(works, repeats).items()}
    return Section(name, title, tuple(columns), rows)


def spread(values: Sequence[float], factor: float = 1.0) -> tuple[float, float, float]:
    """Return the least, the median and the greatest of values, times a factor."""
    return min(values) * factor, median(values) * factor, max(values) * factor


def microseconds(times: Sequence[float]) -> tuple[float, float, float]:
    """Return the spread of times [s] in microseconds."""
    return spread(times, MICROSECONDS)


def compared(times: Sequence[float], reference: Sequence[float]) -> tuple[float, float, float]:
    """Return the median, least and most of the ratios of ``times`` to ``reference``, pair by pair."""
    least, middle, most = spread(ratios(times, reference))
    return middle, least, most


def in_microseconds(*times: Sequence[float]) -> tuple[float, ...]:
    """Return the medians of several lists of times [s] in microseconds."""
    return tuple(MICROSECONDS * median(taken) for taken in times)


def milliseconds(step: float) -> str:
    return f"{1e3 * step:g} ms"


@dataclass(frozen=True)
class Budget:
    """Amount of measuring."""

    repeats: int  # number of repeats of each timing
    duration: float  # [s] simulated time of a closed loop
    race_steps: int  # number of steps of one engine before the next engine's turn
    quick: bool  # leave out the first compilation and MuJoCo's slow settings

    @property
    def few(self) -> int:
        """Number of repeats for work that takes seconds."""
        return min(self.repeats, 5)


def save(folder: Path, stamp: Mapping[str, Any], sections: Sequence[Section]) -> None:
    """Write the stamp and all sections as JSON."""
    content = {"stamp": dict(stamp), "sections": {section.name: section.as_json() for section in sections}}
    (folder / JSON).write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
