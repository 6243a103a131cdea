"""Records from files, of whatever format: by the end of the file's name."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from biped.errors import InputError
from biped.records.c3d import read_c3d
from biped.records.matlab import read_mat
from biped.records.opensim import read_storage, read_trc
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

#: In the place of units, where those of the file count.
AS_WRITTEN = "file"
#: What options of ``read_record`` are called as parameters: default, unit and meaning.
READING: dict[str, tuple[float | int | str, str, str]] = {
    "time": (TIME, "", "recorded: column of times"),
    "rate": (0.0, "Hz", "recorded: rate of a file without times; 0: as the file says"),
    "units": (AS_WRITTEN, "", "recorded: unit of the column, or pairs such as x=mm, t=ms; file: as the file says"),
    "heading": (-1, "", "recorded: line of a text file that names the columns; 0: there is none; -1: it is found"),
}

_log = logging.getLogger("biped")
_said: set[str] = set()


def read_record(
    path: str | Path,
    *,
    time: str = TIME,
    rate: float | None = None,
    units: Mapping[str, str] | None = None,
    heading: int | None = None,
) -> Record:
    """What was recorded into a file: CSV, TSV, C3D, OpenSim's .mot, .sto and .trc, or MATLAB's .mat.

    Lengths, times, forces, masses and what is made of them come in SI units, whatever the file has; angles in degrees
    where it has degrees. Units are those of the file: of a text file, behind the headings, ``com_ap [mm]``, or in a row
    below them. A column of which nothing says the unit has none.
    What was guessed, skipped, renamed or converted is in the record's ``notes``. A column that cannot be read, such as
    one in a unit that is not known, is refused when it is asked for.

    Args:
        path: of the file; its end says the format.
        time: the name of the column of times; by default ``Time``, ``t``, ``Time_ms``, … are found too.
        rate: [Hz], of a file that has no column of times; it goes before a rate that the file says.
        units: by column, such as ``{"com_ap": "mm"}``; they go before those of the file.
        heading: of a text file: the line, from 1 on, that names the columns; 0: there is none.

    Raises:
        InputError: an unknown format or unit, no time, no such column, or a number that is none; the message says
            where, and what would be right.
        MissingExtraError: a C3D file without the extra ``export``.
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
    return to_record(raw, str(path), time, rate, units)


def reading_of(values: Mapping[str, Any], column: str = "") -> dict[str, Any]:
    """Return the options of ``read_record`` that parameters ``time``, ``rate``, ``units`` and ``heading`` stand for.

    ``units`` is the unit of ``column``, or pairs such as ``x=mm, t=ms``.

    Raises:
        InputError: ``heading`` is below −1, or ``units`` neither pairs nor, for want of a column, one unit.
    """
    units, heading = values["units"], values["heading"]
    pairs = [part.rpartition("=") for part in units.split(",")] if "=" in units or not column else [(column, "=", units)]
    if heading < -1:
        raise InputError(f"heading = {heading}: it must be a line from 1 on, 0 (no heading) or -1 (it is found)")
    if units != AS_WRITTEN and not all(name.strip() and unit.strip() for name, _, unit in pairs):
        raise InputError(f"units = {units!r}: it must be pairs such as 'x=mm, t=ms'")
    return {
        "time": values["time"],
        "rate": values["rate"] or None,
        "units": {} if units == AS_WRITTEN else {name.strip(): unit.strip() for name, _, unit in pairs},
        "heading": None if heading < 0 else heading,
    }


def read_and_tell(path: str | Path, **told: Any) -> Record:
    """Read a record as ``read_record`` does, and log each of its notes once."""
    record = read_record(path, **told)
    for note in record.notes:
        message = f"{record.source}: {note}"
        if message not in _said:
            _said.add(message)
            _log.warning("biped: %s", message)
    return record
