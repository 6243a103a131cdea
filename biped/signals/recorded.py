"""Recorded signals: columns of text files."""

import csv
from pathlib import Path

import numpy as np

from biped.errors import InputError
from contact.arrays import Floats


def read_columns(path: Path, time: str, column: str) -> tuple[Floats, Floats]:
    """Two columns of a CSV file.

    Raises:
        InputError: one is missing, or a number is none; the message names file and line.
        OSError, UnicodeDecodeError: the file cannot be read.
    """
    with path.open(newline="", encoding="utf-8-sig") as file:  # spreadsheets put a mark at its beginning
        head = file.readline()
        file.seek(0)
        reader = csv.DictReader(file, delimiter=";" if ";" in head else ",", skipinitialspace=True)
        for name in (time, column):
            if name not in (reader.fieldnames or []):
                raise InputError(f"{path}: no column {name!r}; columns are {', '.join(reader.fieldnames or [])}")
        rows = []
        for row in reader:
            try:
                rows.append((float(row[time]), float(row[column])))
            except (TypeError, ValueError):
                found = f"{row[time]!r}, {row[column]!r}"
                remedy = ": write decimal points, not commas" if "," in f"{row[time]}{row[column]}" else ""
                raise InputError(f"{path}, line {reader.line_num}: {found}: no numbers{remedy}") from None
    if len(rows) < 2:
        raise InputError(f"{path}: a signal needs two rows or more")
    times, values = np.array(rows).T
    return times, values
