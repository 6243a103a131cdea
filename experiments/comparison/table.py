"""Tables of results: dataclasses for rows, whose fields have a unit and a meaning, and data frames made of them."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, field, fields
from pathlib import Path
from typing import Any

import pandas as pd

from biped.inputs.files import replace_file
from experiments.studies.store.table import as_parquet

UNIT, MEANING = "unit", "meaning"
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def quantity(unit: str, meaning: str, default: Any = MISSING) -> Any:
    """Return a dataclass field of a row, with its unit (``1``: dimensionless; empty: a text) and its meaning."""
    return field(default=default, metadata={UNIT: unit, MEANING: meaning})


def units_of(kind: type) -> dict[str, str]:
    return {item.name: item.metadata[UNIT] for item in fields(kind) if UNIT in item.metadata}


def meanings_of(kind: type) -> dict[str, str]:
    return {item.name: item.metadata[MEANING] for item in fields(kind) if MEANING in item.metadata}


def scientific(value: float, digits: int = 1) -> str:
    """Return a number in scientific notation: 2.1×10⁻⁹."""
    mantissa, _, exponent = f"{value:.{digits}e}".partition("e")
    return f"{mantissa}×10{str(int(exponent)).translate(_RAISED)}".replace("-", "−")


def table_of(kind: type, rows: Iterable[Any]) -> pd.DataFrame:
    """Return rows as a table; ``attrs["units"]`` has each column's unit. Missing numbers are NaN, texts empty."""
    units = units_of(kind)
    frame = pd.DataFrame([{name: getattr(row, name) for name in units} for row in rows], columns=list(units))
    for name, unit in units.items():
        frame[name] = frame[name].astype(float) if unit else frame[name].astype(object).fillna("").astype(str)
    frame.attrs["units"] = units
    return frame


def write_table(frame: pd.DataFrame, folder: Path, name: str) -> list[Path]:
    """Write ``name``.csv, with units in its headings, and ``name``.parquet, with units in its fields."""
    import pyarrow

    units: Mapping[str, str] = frame.attrs["units"]
    headings = {column: f"{column} [{unit}]" for column, unit in units.items() if unit not in ("", "1")}
    csv, parquet = files_of(folder, name)
    replace_file(csv, frame.rename(columns=headings).to_csv(index=False).encode())
    plain = frame.copy()
    plain.attrs = {}
    table = pyarrow.Table.from_pandas(plain, preserve_index=False)
    schema = [part.with_metadata({"unit": units[part.name]}) for part in table.schema]
    metadata = dict(table.schema.metadata or {}) | {b"units": json.dumps(dict(units)).encode()}
    replace_file(parquet, as_parquet(table.cast(pyarrow.schema(schema, metadata))))
    return [csv, parquet]


def files_of(folder: Path, name: str) -> tuple[Path, Path]:
    return folder / f"{name}.csv", folder / f"{name}.parquet"
