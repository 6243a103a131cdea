"""Reader of tables in text files, as written by laboratory software and spreadsheets."""

from __future__ import annotations

import csv
import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np

from biped.errors import InputError
from biped.records.raw import MOST, Raw
from biped.records.units import is_unit
from contact.arrays import Floats
from contact.errors import listed

#: Cells of missing values.
_MISSING = ("", "nan", "na", "n/a", "null", "-", "--", "-nan", "-1.#ind", "1.#qnan")
_NUMBER = re.compile(r"[-+]?(\d+[.,]?\d*|[.,]\d+)(e[-+]?\d+)?", re.IGNORECASE)
#: Numbers that may have separators of thousands, and numbers of nines that may stand for missing values.
_THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2}([.,]\d{3})+")
_NINES = re.compile(r"-?(9{3,}([.,](0*|9*))?|9[.,]9{3,}e\+?\d+)", re.IGNORECASE)
_COMMENT = re.compile(r"\s*(#|%|!|//)+\s*")
#: Number of lines at the end of a file from which the separator of columns is determined.
_LAST = 50


class Row(NamedTuple):
    """A non-empty line: line number in the file, cells, and a flag for comments."""

    line: int
    cells: list[str]
    is_comment: bool


def read_text(path: Path, heading: int | None = None) -> Raw:
    """Read the columns of a text file, separated by tabs, semicolons, commas or blanks, with decimal points or commas.

    The heading is the line above the first row of numbers, even if it is a comment; a row of units may follow it. Lines
    above the heading are skipped. Columns without a heading are named ``column1``, ``column2``, ….

    Args:
        path: path of the file.
        heading: number of the line that names the columns, from 1 on; 0: no line; None: determine it.

    Raises:
        InputError: the file is not UTF-8, has no numbers, or a row and the heading differ in length; the message gives
            file and line.
    """
    rows = rows_of(lines_of(path), "\t;, ")
    if all(row.is_comment for row in rows):
        raise InputError(f"{path}: the file is empty: it must have rows of numbers below a line that names the columns")
    at = next((k for k, row in enumerate(rows) if row.line == heading), -1)
    if heading and at < 0:
        raise InputError(f"{path}: heading = {heading}: it must be a non-empty line of the file, or 0")
    first = _first_row(rows) if not heading else at + 1
    if heading is None:
        at = first - 1 - (first > 1 and _are_units(rows[first - 1].cells) and not _are_units(rows[first - 2].cells))
        at = -1 if at >= 0 and rows[at].is_comment and len(rows[at].cells) != len(rows[first].cells) else at
    if heading and first < len(rows) and _are_units(rows[first].cells):
        first += 1
    names = names_in(rows[at], rows[first:]) if at >= 0 else []
    units = [cell.strip("[]()") for cell in rows[at + 1].cells] if 0 <= at < first - 1 else []
    notes = [f"the heading is line {rows[at].line}: lines above it are skipped"] if at > 0 else []
    if not names:
        names = [f"column{k + 1}" for k in range(len(rows[min(first, len(rows) - 1)].cells))]
        notes.append(f"no line names the columns: they are named {listed(names, MOST)}")
    remedy = "; if that is not the heading, set 'heading' to the number of the line that names the columns"
    body = [(row.line, fitted(path, row, len(names), remedy)) for row in rows[first:] if not row.is_comment]
    return columns_of(names, units, body, notes)


def lines_of(path: Path) -> list[str]:
    """Return the lines of a text; raise InputError if it is not UTF-8."""
    try:
        return path.read_text(encoding="utf-8-sig").splitlines()  # spreadsheets begin it with a byte order mark
    except UnicodeDecodeError:
        raise InputError(f"{path}: not a UTF-8 text: save it as CSV UTF-8") from None


def rows_of(lines: list[str], marks: str) -> list[Row]:
    """Return lines split into cells at the separator that yields the most rows of numbers at the end of the file."""

    def score(mark: str) -> tuple[int, int]:
        rows = [row for row in _split(last, mark) if len(row.cells) > 1]
        return sum(_is_of_numbers(row.cells) for row in rows), len(rows) if mark != " " else 0

    last = [line for line in lines if line.strip()][-_LAST:]
    return _split(lines, max(marks.replace(" ", "") if last and "\t" in last[-1] else marks, key=score))


def _split(lines: list[str], between: str) -> list[Row]:
    rows = []
    for number, line in enumerate(lines, start=1):
        mark = _COMMENT.match(line)
        line = line[mark.end() :] if mark else line
        if between == " ":
            line = re.sub(r"\s+(?=[\[(])", "", line.strip()).replace("\t", " ")  # units stay with their names
        cells = [cell.strip() for cell in next(csv.reader([line], delimiter=between, skipinitialspace=True), [])]
        if any(cells):
            rows.append(Row(number, cells, bool(mark)))
    return rows


def _is_of_numbers(row: list[str]) -> bool:
    """Return True for at least two cells, of which at least half are numbers and the rest are missing values."""
    numbers = [cell for cell in row if cell.lower() not in _MISSING]
    return len(row) > 1 and 2 * len(numbers) >= len(row) and all(map(_NUMBER.fullmatch, numbers))


def _first_row(rows: list[Row]) -> int:
    """Return the index of the first row of the table of numbers; if no row is of numbers alone, of the second row."""
    there = [k for k, row in enumerate(rows) if not row.is_comment]
    width = Counter(len(rows[k].cells) for k in there).most_common(1)[0][0]
    is_table = _is_of_numbers if width > 1 else lambda cells: bool(_NUMBER.fullmatch(cells[0]))
    of_numbers = (k for k in there if len(rows[k].cells) == width and is_table(rows[k].cells))
    first = next(of_numbers, min(there[0] + 1, len(rows)))
    while first > 0 and not rows[first - 1].is_comment and _NUMBER.fullmatch(rows[first - 1].cells[0]):
        first -= 1
    return first


def names_in(row: Row, below: list[Row]) -> list[str]:
    """Return the names in a heading, without empty names at its end; blanks may separate only the names."""
    cells = row.cells[: max(k + 1 for k, cell in enumerate(row.cells) if cell)]
    return cells[0].split() if len(cells) == 1 and below and len(below[0].cells) > 1 else cells


def _are_units(row: list[str]) -> bool:
    """Return True if a row below the heading has units, at least half of them known."""
    there = [cell.strip("[]()") for cell in row if cell]
    known = [cell for cell in there if is_unit(cell) and not cell[:1].isdecimal()]
    return 2 * len(known) >= len(there) and not any(map(_NUMBER.fullmatch, there))


def fitted(path: Path, row: Row, width: int, also: str = "") -> list[str]:
    """Return as many cells as there are names; raise InputError if the row has more or fewer."""
    cells = row.cells if any(row.cells[width:]) else row.cells[:width]
    if len(cells) == width:
        return cells
    remedy = "with decimal commas, separate columns by semicolons or tabs"
    if len(cells) < width:
        remedy = "write missing values as empty cells; delete the row if the file ends within it"
    raise InputError(f"{path}, line {row.line}: {len(cells)} cells, but the heading has {width}: {remedy}{also}")


def columns_of(names: list[str], units: list[str], body: list[tuple[int, list[str]]], notes: list[str]) -> Raw:
    """Return the columns of rows (line number, cells); a column with a cell that is not a number is blocked."""
    lines = [line for line, _ in body]
    columns, blocked, by_comma = [], dict[str, str](), list[str]()
    marks = ((mark, (cell for _, row in body for cell in row if mark in cell)) for mark in ".,")
    decimal = [
        mark for mark, cells in marks if any(_NUMBER.fullmatch(it) and not _THOUSANDS.fullmatch(it) for it in cells)
    ]
    for k, name in enumerate(names):
        cells = [row[k] for _, row in body]
        if not name:
            notes += [f"column {k + 1} has no name and is not read"] if any(cells) else []
            continue
        try:
            columns.append((name, _numbers(cells, lines, decimal), units[k] if k < len(units) else ""))
        except InputError as error:
            blocked[name] = str(error)
        else:
            by_comma += [name] if any("," in cell for cell in cells) else []
    notes += [f"commas are decimal commas in {listed(by_comma, MOST)}"] if by_comma else []
    return Raw(columns, notes=notes, blocked=blocked)


def _numbers(cells: list[str], lines: list[int], decimal: list[str]) -> Floats:
    """Return the numbers (n,) of a column, NaN for missing values; raise InputError if a cell is not a number.

    A number is also an error if its separators differ from the file's ``decimal`` marks, or if it consists of nines far
    from all other values.
    """
    there = [cell for cell in cells if cell.lower() not in _MISSING]
    marked = [cell for cell in there if "," in cell or "." in cell]
    if marked and decimal and all(map(_THOUSANDS.fullmatch, marked)) and not any(m in marked[0] for m in decimal):
        why = "may be thousands or a fraction: write thousands without separators, and one decimal mark only"
        raise InputError(f"line {lines[cells.index(marked[0])]}: {marked[0]!r} {why}")
    has_commas = any("," in cell for cell in there) and not any("." in cell for cell in there)
    values = np.full(len(cells), np.nan)
    for k, cell in enumerate(cells):
        if cell.lower() not in _MISSING:
            try:
                values[k] = float(cell.replace(",", ".") if has_commas else cell)
            except ValueError:
                values[k] = np.inf
    if np.isinf(values).any():
        wrong = int(np.argmax(np.isinf(values)))
        remedy = "write a decimal point or comma and no separators of thousands; leave missing values empty"
        raise InputError(f"line {lines[wrong]}: {cells[wrong]!r} is not a number: {remedy}")
    nines = np.array(["999" in cell and bool(_NINES.fullmatch(cell)) for cell in cells], dtype=bool)
    usual = values[~nines & np.isfinite(values)]
    if nines.any() and len(usual) > 2 and (span := np.ptp(usual)) > 0.0:
        far = np.flatnonzero(nines & (np.abs(values - np.median(usual)) > 4.0 * span))
        if far.size:
            raise InputError(f"line {lines[far[0]]}: {cells[far[0]]!r} is far from all others: if missing, empty it")
    return values
