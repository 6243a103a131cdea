"""Records from files, of whatever format: by the end of the file's name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

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


def read_record(
    path: str | Path, *, time: str = TIME, rate: float | None = None, units: Mapping[str, str] | None = None
) -> Record:
    """What was recorded into a file: CSV, TSV, C3D, OpenSim's .mot, .sto and .trc, or MATLAB's .mat.

    Lengths, times, forces, masses and what is made of them come in SI units, whatever the file has; angles in degrees
    where it has degrees. Units are those of the file: of a text file, behind the headings, ``com_ap [mm]``, or in a row
    below them. A column of which nothing says the unit has none.

    Args:
        path: of the file; its end says the format.
        time: the name of the column of times; ``Time`` and ``t`` are found too.
        rate: [Hz], of a file that has no column of times and does not say its rate.
        units: by column, such as ``{"com_ap": "mm"}``; they go before those of the file.

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
    return to_record(reader(path), str(path), time, rate, units)
