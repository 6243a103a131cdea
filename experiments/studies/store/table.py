"""Table of finished trials, and conversion of their values to JSON and to cells."""

import json
import math
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from biped.errors import InputError
from biped.metrics import metric_named
from experiments.catalogue.parameters.parameter import Value, as_json
from experiments.studies.store.header import Header
from experiments.studies.trial import OUTCOME

if TYPE_CHECKING:
    import pyarrow

#: Function that encodes values as exact JSON and rejects numbers that are not finite.
json_text = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode

#: First columns of every table.
FIRST = ("trial", *OUTCOME)
CHANGES = "changes"
_TYPES = {"trial": "int64", CHANGES: "string", **dict.fromkeys(OUTCOME, "string")}
#: Number of rows that are converted into columns at a time.
_CHUNK = 1000


def cell_of(value: Value) -> float | int | str:
    """Return a value as one cell of the table; several numbers, and infinity, become exact text."""
    if isinstance(value, tuple):
        return ",".join(repr(part) for part in value)
    return "inf" if value == math.inf else value


def cells_of(text: str) -> dict[str, Any]:
    """Return the entries of a trial's JSON text by name: numbers, texts, and lists of these."""
    cells: dict[str, Any] = json.loads(text)
    return cells


def changes_text(changes: Mapping[str, Value]) -> str:
    """Return changes as exact JSON, sorted by name; raises ValueError for a number that JSON cannot hold."""
    return json_text({name: as_json(changes[name]) for name in sorted(changes)})


def table_of(rows: Iterator[tuple[int, str, str, str, str]], header: Header) -> "pyarrow.Table":
    """Return trials as a table: labels, varied parameters, metrics, changes and result as JSON; units as metadata."""
    import pyarrow

    labels: dict[str, None] = {}
    metrics: dict[str, None] = {}
    parts = []
    while chunk := list(islice(rows, _CHUNK)):
        cells = []
        for number, *texts, changes, result in chunk:
            labelled, varied, measured = map(cells_of, (*texts, result))
            labels |= dict.fromkeys(labelled)
            metrics |= dict.fromkeys(measured)
            cells.append({"trial": number, **labelled, **varied, CHANGES: changes, **measured})
        names = dict.fromkeys(name for row in cells for name in row)
        columns = {name: pyarrow.array([row.get(name) for row in cells], _TYPES.get(name)) for name in names}
        parts.append(pyarrow.table(columns))
    order = dict.fromkeys([*FIRST, *labels, *header.varied, CHANGES, *metrics])
    if not parts:
        parts = [pyarrow.table({name: pyarrow.array([], _TYPES.get(name, "float64")) for name in order})]
    table = pyarrow.concat_tables(parts, promote_options="permissive")
    table = table.select(list(order)).combine_chunks()
    units = {name: header.units.get(name) or _unit(name) for name in order}
    fields = [_field(field, units[field.name]) for field in table.schema]
    return table.cast(pyarrow.schema(fields, {"units": json_text(units)}))


def as_parquet(table: "pyarrow.Table") -> bytes:
    import pyarrow
    import pyarrow.parquet

    sink = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(table, sink)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def _unit(name: str) -> str:
    """Return the unit of a metric that only some trials have; empty for other columns."""
    try:
        return metric_named(name).unit
    except InputError:
        return ""


def _field(field: Any, unit: str) -> Any:
    """Return a field with its unit as metadata; a column without any value becomes one of numbers."""
    import pyarrow

    numbers = pyarrow.types.is_null(field.type)
    return (field.with_type(pyarrow.float64()) if numbers else field).with_metadata({"unit": unit})
