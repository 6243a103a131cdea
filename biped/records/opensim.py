"""OpenSim's files: motions and storages (``.mot``, ``.sto``), and trajectories of markers (``.trc``)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from biped.errors import InputError
from biped.records.raw import Raw
from contact.arrays import Floats

#: Units of columns by their names, as OpenSim's tools name them: the first that matches counts.
_BY_NAME = (
    (re.compile(r"(?i).*(force|grf|reaction).*_v[xyz]|.*_force|.*_f[xyz]"), "N"),
    (re.compile(r"(?i).*(torque|moment).*|.*_m[xyz]"), "N·m"),
    (re.compile(r"(?i).*(activation|excitation|emg).*"), "1"),
    (re.compile(r".*_t[xyz]/speed|.*fiber_velocity"), "m/s"),
    (re.compile(r".*_(t|p)[xyz](/value)?|.*_[XYZ]|.*(fiber|tendon|path)_length"), "m"),
)
#: Units of the coordinates of files of velocities and accelerations, by the file's title.
_RATES = ((re.compile("speeds|velocities"), "/s"), (re.compile("accelerations"), "/s^2"))
#: Parts of a cell of a file of other data types than numbers; commas are between them.
_PARTS = {"quaternion": "wxyz", "vec3": "xyz", "unitvec3": "xyz"}
#: Keys of a header that say how many rows and columns there are. A file with fewer rows than the tool that wrote it
#: counted was cut off; ``datarows`` is of converters, which often leave that of another file.
_COUNTED = ("nRows", "nr", "NumFrames")


def read_storage(path: Path) -> Raw:
    """Read the columns of a ``.mot`` or ``.sto``; a column whose name says no unit is an angle of coordinates.

    A file does not say which of its columns are angles: with ``inDegrees=yes`` those that are neither forces, places,
    moments nor translations are taken to be in degrees. With ``inDegrees=no`` they are radians if the file is one of
    coordinates or states, newton metres if it is one of torques, and else have no unit. Header keys end at the first
    blank, tab or ``=``, as in OpenSim's ``Storage::parseHeaders``. Of rows at one time, as its tools for RRA, CMC and
    forward simulations write the last one twice, the later one stands. A quaternion, as of an inertial sensor, is four
    columns, ``NAME_w``, ``_x``, ``_y`` and ``_z``, a vector three.

    Raises:
        InputError: there is no ``endheader``, no heading, a row has other cells than the heading, or there are fewer
            rows than ``nRows`` says.
    """
    lines = _lines(path)
    end = next((k for k, line in enumerate(lines) if line.strip().lower() == "endheader"), len(lines))
    below = [k for k in range(end + 1, len(lines)) if lines[k].strip()]
    if not below:
        raise InputError(f"{path}: no line endheader with a heading below: it is no file of OpenSim's")
    header = _header(lines[:end])
    parts = _PARTS.get(header.get("DataType", "").lower(), "")
    heading = _names(lines[below[0]], lines[below[1]] if len(below) > 1 else "")
    columns = [len(heading)]
    if parts:
        heading = [heading[0], *(f"{name}_{part}" for name in heading[1:] for part in parts)]
        lines = [re.sub(r"\s*,\s*", "\t", line) for line in lines]
    table = _table(path, lines, below[0] + 1, len(heading))
    notes = [
        *_compared(path, header, ("nRows", "nr", "datarows"), len(table), "rows"),
        *_compared(path, header, ("nColumns", "nc", "datacolumns"), columns[0], "columns"),
    ]
    at = heading.index("time") if "time" in heading else 0
    stands = np.append(np.diff(table[:, at]) != 0.0, True)[: len(table)]
    if not stands.all():
        notes.append(f"of rows at one time the later one stands: {np.count_nonzero(~stands)} left out")
    title = f"{lines[0]} {header.get('name', '')}".lower()
    other, note = ("1", "") if parts else _unit_of_others(header, title)
    units = [_unit_of(name, other, title) for name in heading[1:]]
    if note and any(unit.startswith(other) for unit in units):
        notes.append(note)
    values = table[stands].T
    return Raw(list(zip(heading, values, ["", *units], strict=True)), notes=notes)


def read_trc(path: Path) -> Raw:
    """Read the columns of a ``.trc``: ``MARKER_x``, ``_y`` and ``_z``, in the unit of its header; empty cells are gaps.

    Raises:
        InputError: a line of the header is missing, a row has other cells than the markers, or there are fewer rows
            than ``NumFrames`` says.
    """
    lines = _lines(path)
    if len(lines) < 6 or not lines[0].startswith("PathFileType"):
        raise InputError(f"{path}: it does not begin with PathFileType and five lines more: it is no .trc file")
    keys, values = (line.split("\t") for line in lines[1:3])
    if len(keys) != len(values):
        keys, values = (line.split() for line in lines[1:3])
    header = {key.strip(): value.strip() for key, value in zip(keys, values, strict=False)}
    markers = [name.strip() for name in lines[3].split("\t")[2:] if name.strip()]
    names = ["frame", "time", *(f"{marker}_{axis}" for marker in markers for axis in "xyz")]
    if not header.get("Units"):
        raise InputError(f"{path}: its header has no Units: write them below it, such as mm")
    table = _table(path, lines, 5 if "X1" in lines[4].upper() else 4, len(names))
    notes = _compared(path, header, ("NumFrames",), len(table), "rows")
    notes += _compared(path, header, ("NumMarkers",), len(markers), "markers")
    units = ["s"] + [header["Units"]] * len(names)
    return Raw([(name, table[:, k + 1], units[min(k, 1)]) for k, name in enumerate(names[1:])], notes=notes)


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise InputError(f"{path}: no text in UTF-8") from None


def _header(lines: list[str]) -> dict[str, str]:
    """Return the values of a header by key; a key ends at the first blank, tab or ``=``."""
    parts = (re.split(r"[ \t=]+", line.strip(), maxsplit=1) for line in lines if line.strip())
    return {key: rest[0] if rest else "" for key, *rest in parts}


def _compared(path: Path, header: Mapping[str, str], keys: tuple[str, ...], there: int, what: str) -> list[str]:
    """Return a sentence if a header says another number of rows or columns than there are."""
    for key in keys:
        said = header.get(key, "")
        if not said.isdecimal() or int(said) == there:
            continue
        told = f"the header says {key} = {said}, and there are {there} {what}"
        if int(said) < there:
            return [told]
        if key in _COUNTED:
            raise InputError(f"{path}: {told}: it is an incomplete copy: copy it again, or correct {key} in the header")
        return [f"{told}: it may be an incomplete copy"]
    return []


def _unit_of_others(header: Mapping[str, str], title: str) -> tuple[str, str]:
    """Return the unit of columns whose names say none, and what has to be said of it."""
    in_degrees = next((value for key, value in header.items() if key.lower() == "indegrees"), None)
    note = ""
    if in_degrees is None:
        in_degrees = {"are in degrees": "yes", "are in radians": "no"}.get(header.get("Angles", "").rstrip(".").lower())
    by_title = "rad" if re.search("coordinates|states|positions|speeds|velocities|accelerations", title) else ""
    if in_degrees is None and by_title:
        in_degrees, note = "no", "the header does not say inDegrees: angles are taken to be in radians, as OpenSim does"
    if (in_degrees or "no").lower() in ("yes", "y"):
        return "deg", note
    if (in_degrees or "no").lower() in ("no", "n"):
        return by_title or ("N·m" if "torque" in title else ""), note
    return f"inDegrees = {in_degrees}", f"inDegrees = {in_degrees} in the header is neither yes nor no"


def _unit_of(name: str, other: str, title: str) -> str:
    unit = next((unit for form, unit in _BY_NAME if form.fullmatch(name)), other)
    if unit in ("rad", "deg", "m"):
        return unit + next((per for form, per in _RATES if form.search(title)), "/s" if name.endswith("/speed") else "")
    return unit


def _names(line: str, row: str) -> list[str]:
    """Return the names of a heading: tabs or blanks are between them, as many as fit the first row."""
    by_tabs = [name.strip() for name in line.split("\t") if name.strip()]
    return line.split() if "\t" not in line.strip() or len(line.split()) == len(row.split()) else by_tabs


def _cells(line: str, width: int) -> list[str]:
    """Return the cells of a row: tabs are between them, or blanks where tabs do not make as many as there should be."""
    cells = [cell.strip() for cell in line.split("\t")]
    while len(cells) > width and not cells[-1]:
        cells.pop()
    return cells if len(cells) == width else line.split()


def _table(path: Path, lines: list[str], first: int, width: int) -> Floats:
    """Return the numbers (n, width) of the lines from one on; empty cells between tabs are NaN."""
    rows = []
    for number, line in enumerate(lines[first:], start=first + 1):
        if not line.strip():
            continue
        cells = _cells(line, width)
        if len(cells) != width:
            raise InputError(f"{path}, line {number}: {len(cells)} cells, the heading has {width} columns")
        try:
            rows.append([float(cell or "nan") for cell in cells])
        except ValueError:
            raise InputError(f"{path}, line {number}: a cell is no number: {line.strip()[:40]!r}") from None
    return np.array(rows, dtype=float).reshape(len(rows), width)
