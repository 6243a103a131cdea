"""Reader of records in files; the suffix of the file's name gives the format."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from biped.errors import InputError
from biped.inputs.fields import quantity
from biped.records.c3d import read_c3d
from biped.records.matlab import read_mat
from biped.records.opensim import read_storage, read_trc
from biped.records.person import with_person
from biped.records.raw import TIME, Raw, to_record
from biped.records.record import Record
from biped.records.text import read_text

#: Reader of each format, by the suffix of the file's name.
FORMATS: dict[str, Callable[[Path], Raw]] = {
    ".csv": read_text,
    ".tsv": read_text,
    ".txt": read_text,
    ".c3d": read_c3d,
    ".mot": read_storage,
    ".sto": read_storage,
    ".trc": read_trc,
    ".mat": read_mat,
}

_log = logging.getLogger("biped")
_logged: set[str] = set()


def read_record(
    path: str | Path,
    *,
    time: str = TIME,
    rate: float | None = None,
    units: Mapping[str, str] | None = None,
    heading: int | None = None,
    body: str | Path | None = None,
    log: bool = True,
) -> Record:
    """Read a record from a file: CSV, TSV, C3D, OpenSim's .mot, .sto and .trc, or MATLAB's .mat.

    Lengths, times, forces, masses and derived quantities are converted to SI units; angles in degrees stay in degrees.
    Units are those in the file; a text file gives them after the headings, ``com_ap [mm]``, or in a row below. Columns
    without a unit keep an empty unit. The record's ``notes`` list everything that was guessed, skipped, renamed or
    converted; each note is also logged once. A column that cannot be read, for example because its unit is unknown,
    raises an error when it is used.

    Args:
        path: path of the file; its suffix gives the format.
        time: name of the column of times; by default ``Time``, ``t``, ``Time_ms``, … are recognized too.
        rate: [Hz] sampling rate of a file without a column of times; it overrides a rate in the file.
        units: units by column, for example ``{"com_ap": "mm"}``; they override those in the file.
        heading: number of the line of a text file that names the columns, from 1 on; 0: no line; None: automatic.
        body: path of the description (``.toml``, ``.osim``) of a body, from which centre of mass and angles are
            computed; see ``biped.records.with_person``.
        log: True to log each note, once in a process.

    Raises:
        InputError: the format or a unit is unknown, or the time, a column or a number is missing; the message gives the
            location and a remedy.
        MissingExtraError: an extra is missing: ``export`` for a C3D file, or ``opensim`` for an ``.osim`` file.
        OSError: the file cannot be read.
    """
    path = Path(path)
    reader = FORMATS.get(path.suffix.lower())
    if reader is None:
        raise InputError(f"{path}: unknown format: a record must be one of {', '.join(FORMATS)}")
    with path.open("rb"):  # the formats' readers have other errors for a missing file
        pass
    if heading is not None and reader is not read_text:
        raise InputError(f"{path}: heading = {heading}: it applies only to text files (.csv, .tsv, .txt)")
    raw = reader(path) if heading is None else read_text(path, heading)
    record = to_record(raw, str(path), time, rate, units)
    if body is not None:
        record = with_person(record, body)
    for message in (f"biped: {path}: {note}" for note in record.notes if log):
        if message not in _logged:
            _logged.add(message)
            _log.warning(message)
    return record


@dataclass(frozen=True)
class Reading:
    """Options of ``read_record`` as parameters; a rate of 0 and units ``file`` mean those in the file."""

    time: str = quantity("", "Recorded data: name of the time column", TIME)
    rate: float = quantity("Hz", "Recorded data: sampling rate if the file has no time column; 0: from the file", 0.0)
    units: str = quantity("", "Recorded data: unit, or units by column as x=mm, t=ms; file: those in the file", "file")
    heading: int = quantity("", "Recorded data: number of the line with column names; 0: none; -1: automatic", -1)

    def read(self, path: str | Path, column: str = "") -> Record:
        """Read the record in a file; a single unit in ``units`` is that of ``column``. Raise as ``read_record``."""
        units = self.units if "=" in self.units or not column else f"{column}={self.units}"
        try:
            given = {} if self.units == "file" else units_in(units)
        except InputError as error:
            raise InputError(f"{path}: units = {error}") from None
        heading = None if self.heading == -1 else self.heading
        return read_record(path, time=self.time, rate=self.rate or None, units=given, heading=heading)


def units_in(text: str) -> dict[str, str]:
    """Return units by column from a text such as ``COPx=mm,COPy=mm``; raise InputError if it is invalid."""
    pairs = [[part.strip() for part in pair.rpartition("=")[::2]] for pair in text.split(",")]
    if not all(map(all, pairs)):
        raise InputError(f"{text!r}: it must list columns and units, for example COPx=mm,COPy=mm")
    return dict(pairs)
