"""OpenSim's files: motions and storages (``.mot``, ``.sto``), and marker trajectories (``.trc``)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

from biped.errors import InputError
from biped.records.raw import Raw
from biped.records.text import Row, columns_of, fitted, lines_of, names_in, rows_of

#: Units of columns by name, as OpenSim's tools name them; the first match counts.
_BY_NAME = (
    (re.compile(r"(?i).*(force|grf|reaction).*_v[xyz]|.*_force|.*_f[xyz]"), "N"),
    (re.compile(r"(?i).*(torque|moment).*|.*_m[xyz]"), "N·m"),
    (re.compile(r"(?i).*(activation|excitation|emg).*"), "1"),
    (re.compile(r".*_t[xyz]/speed|.*fiber_velocity"), "m/s"),
    (re.compile(r".*_(t|p)[xyz](/value)?|.*_[XYZ]|.*(fiber|tendon|path)_length"), "m"),
)
#: Units of coordinates in files of velocities and accelerations, by the file's title.
_RATES = ((re.compile("speeds|velocities"), "/s"), (re.compile("accelerations"), "/s^2"))
#: Parts of a cell, separated by commas, by data type if this is not numbers.
_PARTS = {"quaternion": "wxyz", "vec3": "xyz", "unitvec3": "xyz"}
#: Header keys for the numbers of rows and columns. A file with fewer rows was cut off. ``datarows`` is written by
#: converters, which often copy it from another file.
_COUNTED = ("nRows", "nr", "NumFrames")


def read_storage(path: Path) -> Raw:
    """Read the columns of a ``.mot`` or ``.sto``; a column whose name implies no unit is an angle of a coordinate.

    A file does not state which of its columns are angles. With ``inDegrees=yes``, all columns are assumed to be in
    degrees except forces, positions, moments and translations. With ``inDegrees=no``, they are radians in a file of
    coordinates or states, newton metres in a file of torques, and otherwise have no unit. Header keys end at the first
    blank, tab or ``=``, as in OpenSim's ``Storage::parseHeaders``. Of several rows at one time the last one is read:
    OpenSim's tools for RRA, CMC and forward simulations write the last row twice. A quaternion, for example from an
    inertial sensor, gives four columns, ``NAME_w``, ``_x``, ``_y`` and ``_z``; a vector gives three.

    Raises:
        InputError: there is no ``endheader`` or no heading, a row has another number of cells than the heading, or
            there are fewer rows than ``nRows``.
    """
    lines = lines_of(path)
    end = next((k for k, line in enumerate(lines, start=1) if line.strip().lower() == "endheader"), len(lines))
    header = _header(lines[:end])
    parts = _PARTS.get(header.get("DataType", "").lower(), "")
    below = _below(end, [re.sub(r"\s*,\s*", "\t", line) for line in lines] if parts else lines)
    if not below:
        raise InputError(f"{path}: not an OpenSim file: there is no line endheader above the column names")
    heading, *rows = below
    names = [name for name in names_in(heading, rows) if name]
    notes = _compared(path, header, ("nRows", "nr", "datarows"), len(rows), "rows")
    notes += _compared(path, header, ("nColumns", "nc", "datacolumns"), len(names), "columns")
    if parts:
        names = [names[0], *(f"{name}_{part}" for name in names[1:] for part in parts)]
    title = f"{lines[0]} {header.get('name', '')}".lower()
    other, note = ("1", "") if parts else _unit_of_others(header, title)
    units = ["", *(_unit_of(name, other, title) for name in names[1:])]
    notes += [note] if note and any(unit.startswith(other) for unit in units) else []
    body = [(row.line, fitted(path, row, len(names))) for row in rows]
    at = names.index("time") if "time" in names else 0
    stand = [entry for entry, (_, later) in pairwise(body) if entry[1][at] != later[at]] + body[-1:]
    if len(stand) < len(body):
        notes.append(f"{len(body) - len(stand)} rows are ignored: of several rows at one time, the last one is read")
    return columns_of(names, units, stand, notes)


def read_trc(path: Path) -> Raw:
    """Read the columns of a ``.trc``: ``MARKER_x``, ``_y``, ``_z``, in the unit of its header; empty cells are gaps.

    Raises:
        InputError: a line of the header is missing, a row has another number of cells than the markers need, or there
            are fewer rows than ``NumFrames``.
    """
    lines = lines_of(path)
    if len(lines) < 6 or not lines[0].startswith("PathFileType"):
        raise InputError(f"{path}: not a .trc file: it does not begin with PathFileType and five more lines")
    keys, values = (line.split("\t") for line in lines[1:3])
    if len(keys) != len(values):
        keys, values = (line.split() for line in lines[1:3])
    header = {key.strip(): value.strip() for key, value in zip(keys, values, strict=False)}
    markers = [name.strip() for name in lines[3].split("\t")[2:] if name.strip()]
    names = ["frame", "time", *(f"{marker}_{axis}" for marker in markers for axis in "xyz")]
    if not header.get("Units"):
        raise InputError(f"{path}: the header has no Units: add them, for example mm")
    rows = _below(5 if "X1" in lines[4].upper() else 4, lines)
    notes = _compared(path, header, ("NumFrames",), len(rows), "rows")
    notes += _compared(path, header, ("NumMarkers",), len(markers), "markers")
    body = [(row.line, fitted(path, row, len(names))[1:]) for row in rows]
    return columns_of(names[1:], ["s", *[header["Units"]] * (len(names) - 2)], body, notes)


def _below(line: int, lines: list[str]) -> list[Row]:
    """Return the rows below a line of a file, with cells separated by tabs or blanks."""
    return [row for row in rows_of(lines, "\t ") if row.line > line]


def _header(lines: list[str]) -> dict[str, str]:
    """Return the values of a header by key; a key ends at the first blank, tab or ``=``."""
    parts = (re.split(r"[ \t=]+", line.strip(), maxsplit=1) for line in lines if line.strip())
    return {key: rest[0] if rest else "" for key, *rest in parts}


def _compared(path: Path, header: Mapping[str, str], keys: tuple[str, ...], there: int, what: str) -> list[str]:
    """Return a note if the header gives another number of rows or columns than the file has."""
    for key, value in ((key, header[key]) for key in keys if header.get(key, "").isdecimal()):
        fault = f"the header says {key} = {value}, and there are {there} {what}"
        if key in _COUNTED and int(value) > there:
            raise InputError(f"{path}: {fault}: the copy is incomplete; copy it again, or correct {key} in the header")
        if int(value) != there:
            return [fault]
    return []


def _unit_of_others(header: Mapping[str, str], title: str) -> tuple[str, str]:
    """Return the unit of columns whose names imply none, and a note about it."""
    in_degrees = next((value.lower() for key, value in header.items() if key.lower() == "indegrees"), None)
    if in_degrees is None:
        in_degrees = {"are in degrees": "yes", "are in radians": "no"}.get(header.get("Angles", "").rstrip(".").lower())
    of_angles = "rad" if re.search("coordinates|states|positions|speeds|velocities|accelerations", title) else ""
    if in_degrees in ("yes", "y"):
        return "deg", ""
    if in_degrees in ("no", "n"):
        return of_angles or ("N·m" if "torque" in title else ""), ""
    if in_degrees is not None:
        return f"inDegrees = {in_degrees}", f"inDegrees = {in_degrees} in the header must be yes or no"
    note = "the header has no inDegrees: angles are assumed to be in radians, as in OpenSim"
    return of_angles, note if of_angles else ""


def _unit_of(name: str, other: str, title: str) -> str:
    of_state = "rad" if name.endswith(("/value", "/speed")) else ""  # whatever the title is
    unit = next((unit for form, unit in _BY_NAME if form.fullmatch(name)), other or of_state)
    if unit in ("rad", "deg", "m"):
        return unit + next((per for form, per in _RATES if form.search(title)), "/s" if name.endswith("/speed") else "")
    return unit
