"""Finished trials in memory: those of the table as Arrow columns, the newest as rows."""

import json
import math
from collections.abc import Iterable, KeysView, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biped.errors import InputError
from biped.metrics import metric_named
from experiments.catalogue.experiment import Experiment
from experiments.catalogue.parameters.parameter import Value, as_json, from_json, parameter_named, value_under
from experiments.studies.store.header import Header
from experiments.studies.trial import OUTCOME, Label, Result, Trial

if TYPE_CHECKING:
    import pyarrow

#: Made once: this is done for every trial.
_encoded = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode

#: Columns that every table begins with.
FIRST = ("trial", *OUTCOME)
CHANGES = "changes"


@dataclass(frozen=True)
class Row:
    """A finished trial as it is kept: ``varied`` are columns, ``changes`` is the exact JSON text."""

    number: int
    labels: dict[str, Label]
    varied: dict[str, float | int | str]
    changes: str
    result: Result

    @classmethod
    def of(cls, trial: Trial, result: Result, varied: Iterable[str], experiment: Experiment) -> "Row":
        """From a trial and its result.

        Raises:
            ValueError: a number in it is not finite.
        """
        changes = changes_text(trial.changes)
        columns = {name: _cell(value_under(name, trial.changes, experiment.parameters)) for name in varied}
        return cls(trial.number, dict(trial.labels), columns, changes, dict(result))

    def line(self) -> bytes:
        """As one line of the journal.

        Raises:
            ValueError: a number in it is not finite.
        """
        data = {
            "trial": self.number,
            "labels": self.labels,
            "varied": self.varied,
            CHANGES: self.changes,
            "result": self.result,
        }
        return _encoded(data).encode() + b"\n"

    @classmethod
    def from_line(cls, line: bytes) -> "Row":
        """From a line of the journal.

        Raises:
            ValueError, KeyError, TypeError: it is damaged.
        """
        data = json.loads(line)
        return cls(data["trial"], data["labels"], data["varied"], data[CHANGES], data["result"])

    def cells(self) -> dict[str, Any]:
        """By column."""
        return {"trial": self.number, **self.labels, **self.varied, CHANGES: self.changes, **self.result}


def _cell(value: Value) -> float | int | str:
    """A value as one cell: several numbers as a text, exact; infinity too, which JSON has not."""
    if isinstance(value, tuple):
        return ",".join(repr(part) for part in value)
    return "inf" if value == math.inf else value


def changes_text(changes: Mapping[str, Value]) -> str:
    """Changes as they are kept: JSON, exact, in the order of their names.

    Raises:
        ValueError: a number is not finite, and not infinity.
    """
    return _encoded({name: as_json(changes[name]) for name in sorted(changes)})


class Rows:
    """All finished trials by number.

    Attributes:
        unsaved: whether there are some that the table on disk has not.
    """

    def __init__(self) -> None:
        self.unsaved = False
        self._table: pyarrow.Table | None = None
        self._place: dict[int, int] = {}  # in the table; in order of arrival after that
        self._new: dict[int, Row] = {}
        self._roles: dict[str, list[str]] = {"labels": [], "metrics": []}
        self._known: dict[str, set[str]] = {"labels": set(), "metrics": set(OUTCOME)}

    @classmethod
    def load(cls, path: Path, lines: list[bytes], folder: Path) -> "Rows":
        """From the table, if there is one, and the journal's lines.

        Raises:
            InputError: one of them is damaged.
        """
        rows = cls()
        if path.exists():
            rows._load_table(path)
        rows.add_lines(lines, folder)
        return rows

    def add_lines(self, lines: Iterable[bytes], folder: Path) -> None:
        """Those of a journal's lines that are not there yet.

        Raises:
            InputError: one of them is damaged.
        """
        for number, line in enumerate(lines, start=1):
            try:
                row = Row.from_line(line)
            except (ValueError, KeyError, TypeError) as error:
                raise InputError(f"{folder}: line {number} of its journal is damaged ({error})") from None
            if row.number not in self._place:
                self.add(row)

    def _load_table(self, path: Path) -> None:
        import pyarrow
        import pyarrow.parquet

        try:
            table = pyarrow.parquet.read_table(path)
            self._roles = json.loads(table.schema.metadata[b"roles"])
            for role, names in self._roles.items():
                self._known[role].update(names)
            self._place = {number: place for place, number in enumerate(table.column("trial").to_pylist())}
        except (pyarrow.ArrowException, OSError, KeyError, TypeError, ValueError) as error:
            raise InputError(f"{path}: damaged, or not a study's ({error})") from None
        self._table = table.replace_schema_metadata(None)

    def __len__(self) -> int:
        return len(self._place)

    def numbers(self) -> KeysView[int]:
        """Of all trials that are there."""
        return self._place.keys()

    def add(self, row: Row) -> None:
        """One that is not there yet."""
        self._new[row.number] = row
        self._place[row.number] = len(self._place)
        self.unsaved = True
        for role, names in (("labels", row.labels), ("metrics", row.result)):
            if not names.keys() <= self._known[role]:
                self._roles[role] += [name for name in names if name not in self._known[role]]
                self._known[role].update(names)

    def results(self, numbers: Iterable[int]) -> dict[int, Result]:
        """Those of these trials."""
        wanted = list(numbers)
        old = [number for number in wanted if number not in self._new]
        found: dict[int, Result] = {number: self._new[number].result for number in wanted if number in self._new}
        if old:
            assert self._table is not None
            columns = [*OUTCOME, *(name for name in self._roles["metrics"] if name in self._table.column_names)]
            part = self._table.select(columns).take([self._place[number] for number in old])
            found |= zip(old, part.to_pylist(), strict=True)
        return {number: found[number] for number in wanted}

    def changes(self, numbers: Sequence[int]) -> dict[int, str]:
        """The changes' text of these trials."""
        found = {number: self._new[number].changes for number in numbers if number in self._new}
        old = [number for number in numbers if number not in found]
        if old:
            assert self._table is not None
            part = self._table.column(CHANGES).take([self._place[number] for number in old])
            found |= zip(old, part.to_pylist(), strict=True)
        return found

    def trial(self, number: int, experiment: Experiment) -> Trial:
        """The trial of this number."""
        row = self._new.get(number)
        if row is not None:
            labels, changes = row.labels, row.changes
        else:
            assert self._table is not None
            cells = self._table.slice(self._place[number], 1).to_pylist()[0]
            labels = {name: cells[name] for name in self._roles["labels"] if cells.get(name) is not None}
            changes = cells[CHANGES]
        return Trial(number, _changes(changes, experiment), labels)

    def table(self, header: Header) -> "pyarrow.Table":
        """All trials in the order of their numbers, each column with its unit."""
        import pyarrow

        self._absorb()
        names = [*FIRST, *self._roles["labels"], *header.varied, CHANGES, *self._roles["metrics"]]
        table = self._table
        if table is None:
            table = pyarrow.table({name: pyarrow.array([], _TYPES.get(name, "float64")) for name in names})
        table = table.select(names).sort_by("trial").combine_chunks()
        units = {name: header.units[name] if name in header.units else _unit(name) for name in table.column_names}
        fields = [_field(field, units[field.name]) for field in table.schema]
        metadata = {"units": json.dumps(units), "roles": json.dumps(self._roles)}
        return table.cast(pyarrow.schema(fields, metadata))

    def as_parquet(self, header: Header) -> bytes:
        """The table as the bytes of a file."""
        import pyarrow
        import pyarrow.parquet

        sink = pyarrow.BufferOutputStream()
        pyarrow.parquet.write_table(self.table(header), sink)
        data: bytes = sink.getvalue().to_pybytes()
        return data

    def _absorb(self) -> None:
        """Turn the newest trials into columns."""
        import pyarrow

        if not self._new:
            return
        cells = [row.cells() for row in self._new.values()]
        names = dict.fromkeys(name for row in cells for name in row)
        fresh = pyarrow.table({name: _column(name, [row.get(name) for row in cells]) for name in names})
        parts = [fresh] if self._table is None else [self._table, fresh]
        self._table = pyarrow.concat_tables(parts, promote_options="permissive").combine_chunks()
        self._new = {}


def _unit(name: str) -> str:
    """Of a metric that only some trials have; none of what is no metric."""
    try:
        return metric_named(name).unit
    except InputError:
        return ""


def _field(field: Any, unit: str) -> Any:
    """With its unit; numbers, where there is not even one to tell."""
    import pyarrow

    return (field.with_type(pyarrow.float64()) if pyarrow.types.is_null(field.type) else field).with_metadata(
        {"unit": unit}
    )


_TYPES = {"trial": "int64", CHANGES: "string", **dict.fromkeys(OUTCOME, "string")}


def _column(name: str, cells: list[Any]) -> "pyarrow.Array":
    import pyarrow

    try:
        return pyarrow.array(cells, _TYPES.get(name))
    except pyarrow.ArrowException as error:
        raise TypeError(f"column {name} of a study: {error}") from None


def _changes(text: str, experiment: Experiment) -> dict[str, Value]:
    """From the exact text that is kept."""
    data: dict[str, Any] = json.loads(text)
    return {name: from_json(parameter_named(name, experiment.parameters), value) for name, value in data.items()}
