"""CSV and TSV, as laboratories' programs and spreadsheets write them."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from biped.errors import InputError
from biped.records.raw import Raw
from biped.records.units import is_unit
from contact.arrays import Floats

#: What is written where nothing was measured.
_MISSING = ("", "nan", "na", "n/a", "null", "-", "--")


def read_text(path: Path) -> Raw:
    """The columns of a text file with a heading; commas, semicolons or tabs between them, decimal points or commas.

    Lines that begin with ``#`` are left out before the heading. A row of units may come below it. Columns in which no
    number stands are left out.

    Raises:
        InputError: it is no UTF-8, has no numbers, a row has more cells than the heading, or a cell of a column of
            numbers is none; the message names file and line.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()  # spreadsheets put a mark at its beginning
    except UnicodeDecodeError:
        raise InputError(f"{path}: no text in UTF-8; save it as CSV UTF-8") from None
    above = next((k for k, line in enumerate(lines) if line.strip() and not line.startswith("#")), len(lines))
    if above == len(lines):
        raise InputError(f"{path}: it is empty: the first line must name the columns")
    between = next((mark for mark in "\t;" if mark in lines[above]), ",")
    reader = csv.reader(lines[above:], delimiter=between, skipinitialspace=True)
    heading = [name.strip() for name in next(reader)]
    rows = [(above + reader.line_num, [cell.strip() for cell in row]) for row in reader if any(map(str.strip, row))]
    units = _row_of_units(rows[0][1]) if rows else []
    if units:
        del rows[0]
    for line, row in rows:
        if len(row) > len(heading):
            remedy = "with decimal commas, columns need semicolons or tabs between them"
            raise InputError(f"{path}, line {line}: {len(row)} cells, the heading has {len(heading)}: {remedy}")
    named = [name for name in heading if name]
    if len(named) == 1 < len(heading) - 1:
        remedy = "delete what is above the row that names them; of Vicon Nexus, export C3D"
        raise InputError(f"{path}, line {above + 1}: {named[0]!r} names one of {len(heading)} columns: {remedy}")
    if twice := next((name for name in named if named.count(name) > 1), ""):
        raise InputError(f"{path}: two columns are called {twice!r}: rename one")
    lines_of = [line for line, _ in rows]
    cells = {name: [row[k] if k < len(row) else "" for _, row in rows] for k, name in enumerate(heading) if name}
    columns = {name: _numbers(f"{path}", name, column, lines_of) for name, column in cells.items()}
    found = {name: column for name, column in columns.items() if column is not None}
    return Raw(found, {name: unit for name, unit in zip(heading, units, strict=False) if unit})


def _row_of_units(row: list[str]) -> list[str]:
    """The units that a row below the heading consists of; empty where it is a row of numbers."""
    return row if any(row) and all(is_unit(cell) and not cell[:1].isdecimal() for cell in row) else []


def _numbers(path: str, name: str, cells: list[str], lines: list[int]) -> Floats | None:
    """(n,) the numbers of a column, NaN where nothing was measured; None where none is a number."""
    there = [cell for cell in cells if cell.lower() not in _MISSING]
    has_commas = any("," in cell for cell in there) and not any("." in cell for cell in there)
    found = np.full(len(cells), np.nan)
    wrong = None
    for k, cell in enumerate(cells):
        if cell.lower() in _MISSING:
            continue
        try:
            found[k] = float(cell.replace(",", ".") if has_commas else cell)
        except ValueError:
            wrong = k if wrong is None else wrong
    if there and not np.isfinite(found).any():
        return None
    if wrong is None and np.isinf(found).any():
        wrong = int(np.argmax(np.isinf(found)))
    if wrong is not None:
        remedy = "write it with a decimal point or comma, and nothing between thousands; leave what is missing empty"
        raise InputError(f"{path}, line {lines[wrong]}, column {name}: {cells[wrong]!r} is no number: {remedy}")
    return found
