"""Records from files, of whatever format: by the end of the file's name."""

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

#: By the end of a file's name: what reads it.
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
_told: set[str] = set()


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
    """What was recorded into a file: CSV, TSV, C3D, OpenSim's .mot, .sto and .trc, or MATLAB's .mat.

    Lengths, times, forces, masses and what is made of them come in SI units, whatever the file has; angles in degrees
    where it has degrees. Units are those of the file: of a text file, behind the headings, ``com_ap [mm]``, or in a row
    below them. A column of which nothing says the unit has none.
    What was guessed, skipped, renamed or converted is in the record's ``notes``, and logged once. A column that cannot
    be read, such as one in a unit that is not known, is refused when it is asked for.

    Args:
        path: of the file; its end says the format.
        time: the name of the column of times; by default ``Time``, ``t``, ``Time_ms``, … are found too.
        rate: [Hz], of a file that has no column of times; it goes before a rate that the file says.
        units: by column, such as ``{"com_ap": "mm"}``; they go before those of the file.
        heading: of a text file: the line, from 1 on, that names the columns; 0: there is none.
        body: file of the person's body, by which centre of mass and angles are computed: see
            ``biped.records.with_person``.
        log: log each note, once in a process.

    Raises:
        InputError: an unknown format or unit, no time, no such column, or a number that is none; the message says
            where, and what would be right.
        MissingExtraError: a C3D file without the extra ``export``, or an ``.osim`` without ``opensim``.
        OSError: the file cannot be read.
    """
    path = Path(path)
    reader = FORMATS.get(path.suffix.lower())
    if reader is None:
        raise InputError(f"{path}: a record must be a file of one of these: {', '.join(FORMATS)}")
    with path.open("rb"):  # the formats' own readers have errors of their own for what is not there
        pass
    if heading is not None and reader is not read_text:
        raise InputError(f"{path}: heading = {heading}: only text files (.csv, .tsv, .txt) need it: leave it out")
    raw = reader(path) if heading is None else read_text(path, heading)
    record = to_record(raw, str(path), time, rate, units)
    if body is not None:
        record = with_person(record, body)
    for message in (f"biped: {path}: {note}" for note in record.notes if log):
        if message not in _told:
            _told.add(message)
            _log.warning(message)
    return record


@dataclass(frozen=True)
class Reading:
    """Options of ``read_record`` as parameters; a rate of 0 and units ``file`` are those of the file."""

    time: str = quantity("", "Recorded: time column", TIME)
    rate: float = quantity("Hz", "Recorded: sampling rate of a file without times; 0: the file's", 0.0)
    units: str = quantity("", "Recorded: unit of the column, or a list such as x=mm, t=ms", "file")
    heading: int = quantity("", "Recorded: header line; 0: none; -1: automatic", -1)

    def read(self, path: str | Path, column: str = "") -> Record:
        """Return the record in a file, of which one column is used if its name is given; raise as ``read_record``."""
        units = self.units if "=" in self.units or not column else f"{column}={self.units}"
        try:
            told = {} if self.units == "file" else units_in(units)
        except InputError as error:
            raise InputError(f"{path}: units = {error}") from None
        heading = None if self.heading == -1 else self.heading
        return read_record(path, time=self.time, rate=self.rate or None, units=told, heading=heading)


def units_in(text: str) -> dict[str, str]:
    """Return units by column, of a text such as ``COPx=mm,COPy=mm``; raise InputError if it is none."""
    pairs = [[part.strip() for part in pair.rpartition("=")[::2]] for pair in text.split(",")]
    if not all(map(all, pairs)):
        raise InputError(f"{text!r}: it must be columns and their units, such as COPx=mm,COPy=mm")
    return dict(pairs)
