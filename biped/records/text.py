"""Reader of tables in text files, as laboratories' programs and spreadsheets write them."""

from __future__ import annotations

import csv
import re
from collections import Counter
from pathlib import Path

import numpy as np

from biped.errors import InputError
from biped.records.raw import Raw, listed
from biped.records.units import is_unit
from contact.arrays import Floats

#: What is written where nothing was measured.
_MISSING = ("", "nan", "na", "n/a", "null", "-", "--")
_NUMBER = re.compile(r"[-+]?(\d+[.,]?\d*|[.,]\d+)(e[-+]?\d+)?", re.IGNORECASE)
#: Marks of a line that is a comment, or a heading in one.
_COMMENT = re.compile(r"\s*(#|%|//|!)+\s*")
_BLANK = " "
#: Number of lines at the end of a file by which it is decided what is between its columns.
_LAST = 50

#: A line's number in the file, from 1 on, and its cells.
Row = tuple[int, list[str]]


def read_text(path: Path, heading: int | None = None) -> Raw:
    """Read the columns of a text file: tabs, semicolons, commas or blanks between them, decimal points or commas.

    The heading is the line above the first row of numbers, also if it is a comment; a row of units may be between
    them. What is above the heading is skipped. Columns without a heading are called ``column1``, ``column2``, ….

    Args:
        path: of the file.
        heading: line of the file, from 1 on, that names the columns; 0: there is none; None: it is found.

    Raises:
        InputError: it is no UTF-8, has no numbers, or a row has more or fewer cells than the heading; the message
            names file and line.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()  # spreadsheets put a mark at its beginning
    except UnicodeDecodeError:
        raise InputError(f"{path}: no text in UTF-8; save it as CSV UTF-8") from None
    if heading is not None and not 0 <= heading <= len(lines):
        raise InputError(f"{path}: heading = {heading}: it must be a line of the file, from 1 to {len(lines)}, or 0")
    if not any(line.strip() and not _COMMENT.match(line) for line in lines):
        raise InputError(f"{path}: it is empty: rows of numbers are needed, below a line that names the columns")
    between = _separator(lines)
    rows = _rows(lines, between)
    if heading:
        first = next((k for k, (line, _) in enumerate(rows) if line > heading), len(rows))
        names = next(iter(_rows(lines[heading - 1 : heading], between, is_comment=True)), (heading, []))[1]
        at, units = heading, _row_of_units(rows[first][1]) if first < len(rows) else []
        first += bool(units)
    else:
        first = _first_row(rows)
        at, names, units = _heading(rows, first, lines, between) if heading is None else (0, [], [])
        if heading is None and not at and first < 0:  # no row of numbers alone: the first line names them
            (at, names), first = rows[0], 1
    first = max(first, 0)
    width = len(names) or len(rows[first][1])
    while names and not names[-1] and all(len(row) < width for _, row in rows[first:]):
        width -= 1
        names.pop()
    notes = []
    skipped = [number for number, line in enumerate(lines, start=1) if line.strip() and number < (at or rows[first][0])]
    if skipped:
        notes.append(f"lines {skipped[0]} to {skipped[-1]}, above the heading, are skipped")
    if not names:
        names = [f"column{k + 1}" for k in range(width)]
        notes.append(f"no line names the columns: they are called {listed(names)}")
    body = [(line, _fitted(path, line, row, names)) for line, row in rows[first:]]
    return _columns(path, names, units, body, notes)


def _separator(lines: list[str]) -> str:
    """Return the mark between columns with which most of the last rows are two numbers or more."""
    last = [line for line in lines if line.strip()][-_LAST:]

    def score(mark: str) -> tuple[int, int]:
        rows = [row for _, row in _rows(last, mark) if len(row) > 1]
        return sum(map(_is_of_numbers, rows)), len(rows) if mark != _BLANK else 0

    return max(("\t", ";", ",", _BLANK), key=score)


def _rows(lines: list[str], between: str, is_comment: bool = False) -> list[Row]:
    """Return number and cells of all lines but empty and, unless ``is_comment``, commented ones."""
    rows = []
    for number, line in enumerate(lines, start=1):
        mark = _COMMENT.match(line)
        if (mark and not is_comment) or not line.strip():
            continue
        line = line[mark.end() :] if mark else line
        line = line.strip() if between == _BLANK else line
        row = next(csv.reader([line], delimiter=between, skipinitialspace=True))
        cells = [cell.strip() for cell in row]
        if any(cells):
            rows.append((number, cells))
    return rows


def _is_of_numbers(row: list[str]) -> bool:
    """Return whether each cell is a number or missing, and half of them or more are numbers."""
    numbers = [cell for cell in row if cell.lower() not in _MISSING]
    return 2 * len(numbers) >= len(row) > 0 and all(map(_NUMBER.fullmatch, numbers))


def _first_row(rows: list[Row]) -> int:
    """Return the place of the first row of the table of numbers; −1 if no row is of numbers alone."""
    width = Counter(len(row) for _, row in rows).most_common(1)[0][0]
    first = next((k for k, (_, row) in enumerate(rows) if len(row) == width and _is_of_numbers(row)), -1)
    while first > 0 and len(rows[first - 1][1]) == width and _NUMBER.fullmatch(rows[first - 1][1][0]):
        first -= 1
    return first


def _heading(rows: list[Row], first: int, lines: list[str], between: str) -> tuple[int, list[str], list[str]]:
    """Return line, names and units of the heading above a row: the line is 0 if there is none."""
    if first < 0:
        return 0, [], []
    number, row = rows[first]
    width = len(row)
    above = _rows(lines[: number - 1], between, is_comment=True)
    if not above:
        return 0, [], []
    line, names = above[-1]
    is_fitting = [len(_without_end(cells)) <= width for _, cells in above]
    units = _row_of_units(names)
    if units and len(above) > 1 and is_fitting[-2] and not _row_of_units(above[-2][1]):
        return above[-2][0], above[-2][1], units
    if _COMMENT.match(lines[line - 1]) and (len(_without_end(names)) != width or not any(names)):
        return 0, [], []
    return line, names, []


def _without_end(cells: list[str]) -> list[str]:
    """Return cells without the empty ones at the end."""
    return cells[: max((k + 1 for k, cell in enumerate(cells) if cell), default=0)]


def _row_of_units(row: list[str]) -> list[str]:
    """Return the units that a row below the heading consists of, most of which are known; else nothing."""
    units = [cell[1:-1] if cell[:1] + cell[-1:] in ("[]", "()") else cell for cell in row]
    there = [unit for unit in units if unit]
    known = [unit for unit in there if is_unit(unit) and not unit[:1].isdecimal()]
    return units if there and 2 * len(known) >= len(there) and not any(map(_NUMBER.fullmatch, there)) else []


def _fitted(path: Path, line: int, row: list[str], names: list[str]) -> list[str]:
    """Return as many cells as names; raise InputError if the row has others."""
    row = row[: len(names)] if not any(row[len(names) :]) else row
    if len(row) != len(names):
        more = "with decimal commas, columns need semicolons or tabs between them"
        fewer = "write what is missing as an empty cell, or delete the row if the file ends within it"
        told = f"{len(row)} cells, the heading has {len(names)}"
        known = "; another table below needs a file of its own, and heading the line that names the columns"
        raise InputError(f"{path}, line {line}: {told}: {more if len(row) > len(names) else fewer}{known}")
    return row


def _columns(path: Path, names: list[str], units: list[str], body: list[Row], notes: list[str]) -> Raw:
    lines = [line for line, _ in body]
    columns, blocked, by_comma = [], dict[str, str](), []
    for k, name in enumerate(names):
        if not name:
            if any(row[k] for _, row in body):
                notes.append(f"column {k + 1} has no name, and is not read")
            continue
        cells = [row[k] for _, row in body]
        try:
            values, has_commas = _numbers(cells, lines)
        except InputError as error:
            blocked[name] = str(error)
            continue
        by_comma += [name] if has_commas else []
        columns.append((name, values, units[k] if k < len(units) else ""))
    if by_comma:
        notes.append(f"commas are decimal commas in {listed(by_comma)}")
    if not columns and body:
        raise InputError(f"{path}: no column of numbers: {'; '.join(f'{k}: {v}' for k, v in blocked.items())}")
    return Raw(columns, notes=notes, blocked=blocked)


def _numbers(cells: list[str], lines: list[int]) -> tuple[Floats, bool]:
    """Return the numbers (n,) of a column, NaN where nothing was measured, and whether they have decimal commas.

    Dates and times of day become seconds since the first one.

    Raises:
        InputError: a cell is no number.
    """
    there = [cell for cell in cells if cell.lower() not in _MISSING]
    has_commas = any("," in cell for cell in there) and not any("." in cell for cell in there)
    found = np.full(len(cells), np.nan)
    for k, cell in enumerate(cells):
        if cell.lower() in _MISSING:
            continue
        try:
            found[k] = float(cell.replace(",", ".") if has_commas else cell)
        except ValueError:
            found[k] = np.inf
    if there and not np.isfinite(found).any():
        return _seconds(cells, lines[0]), False
    if np.isinf(found).any():
        wrong = int(np.argmax(np.isinf(found)))
        remedy = "write it with a decimal point or comma, and nothing between thousands; leave what is missing empty"
        raise InputError(f"line {lines[wrong]}: {cells[wrong]!r} is no number: {remedy}")
    return found, has_commas


def _seconds(cells: list[str], line: int) -> Floats:
    """Return seconds (n,) since the first of dates, or times of a day, as ISO 8601 has them."""
    clock = [f"1970-01-01T{cell}" if re.fullmatch(r"\d\d:\d\d:\d\d(\.\d*)?", cell) else cell for cell in cells]
    try:
        since = np.array(clock, dtype="datetime64[us]")
    except ValueError:
        raise InputError(f"no number stands in it, from line {line} on: {cells[0]!r}") from None
    return np.asarray((since - since[0]) / np.timedelta64(1, "s"), dtype=float)
