"""OpenSim's files: motions and storages (``.mot``, ``.sto``), and trajectories of markers (``.trc``)."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from biped.errors import InputError
from biped.records.raw import Raw
from contact.arrays import Floats

#: Units of columns by their names: forces, places, moments and translations as OpenSim's tools name them.
_BY_NAME = (
    (re.compile(r".*force.*_v[xyz]"), "N"),
    (re.compile(r".*force.*_p[xyz]"), "m"),
    (re.compile(r".*(torque|moment).*"), "N·m"),
    (re.compile(r".*_force"), "N"),
    (re.compile(r".*_t[xyz](/value)?"), "m"),
)
#: What a cell of a file of some other data type than numbers holds, with commas between.
_PARTS = {"quaternion": "wxyz", "vec3": "xyz", "unitvec3": "xyz"}


def read_storage(path: Path) -> Raw:
    """The columns of a ``.mot`` or ``.sto``; what no name tells is an angle where the header speaks of coordinates.

    A file does not say which of its columns are angles: with ``inDegrees=yes`` those that are neither forces, places,
    moments nor translations are taken to be in degrees. With ``inDegrees=no`` they are radians if the file is one of
    coordinates or states, newton metres if it is one of torques, and else have no unit. Of rows at one time, as its
    tools for RRA, CMC and forward simulations write the last one twice, the later one stands. A quaternion, as of an
    inertial sensor, is four columns, ``NAME_w``, ``_x``, ``_y`` and ``_z``, a vector three.

    Raises:
        InputError: there is no ``endheader``, no heading, or a row has other cells than the heading.
    """
    lines = _lines(path)
    end = next((k for k, line in enumerate(lines) if line.strip().lower() == "endheader"), None)
    if end is None or end + 1 >= len(lines):
        raise InputError(f"{path}: no line endheader with a heading below: it is no file of OpenSim's")
    header = dict(line.strip().lower().split("=", 1) for line in lines[:end] if "=" in line)
    heading = [name.strip() for name in re.split(r"\t+|\s+", lines[end + 1].strip())]
    if parts := _PARTS.get(header.get("datatype", "")):
        heading = [heading[0], *(f"{name}_{part}" for name in heading[1:] for part in parts)]
        lines = [line.replace(",", "\t") for line in lines]
    table = _table(path, lines, end + 2, len(heading))
    table = table[np.append(np.diff(table[:, 0]) != 0.0, True)] if len(table) else table
    title = lines[0].lower()
    if parts:
        other = ""
    elif header.get("indegrees") == "yes":
        other = "deg"
    else:
        other = "rad" if re.search("coordinates|states", title) else "N·m" if "torque" in title else ""
    units = {name: next((unit for form, unit in _BY_NAME if form.fullmatch(name)), other) for name in heading[1:]}
    return Raw(dict(zip(heading, table.T, strict=True)), units)


def read_trc(path: Path) -> Raw:
    """The columns of a ``.trc``: ``MARKER_x``, ``_y`` and ``_z``, in the unit of its header; empty cells are gaps.

    Raises:
        InputError: a line of the header is missing, or a row has more cells than the markers.
    """
    lines = _lines(path)
    if len(lines) < 6 or not lines[0].startswith("PathFileType"):
        raise InputError(f"{path}: it does not begin with PathFileType and five lines more: it is no .trc file")
    header = dict(zip(lines[1].split(), lines[2].split(), strict=False))
    markers = [name.strip() for name in lines[3].split("\t")[2:] if name.strip()]
    names = ["frame", "time", *(f"{marker}_{axis}" for marker in markers for axis in "xyz")]
    if "Units" not in header:
        raise InputError(f"{path}: its header has no Units: write them below it, such as mm")
    table = _table(path, lines, 5, len(names))
    units = {"time": "s"} | dict.fromkeys(names[2:], header["Units"])
    return Raw(dict(zip(names[1:], table.T[1:], strict=True)), units)


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise InputError(f"{path}: no text in UTF-8") from None


def _table(path: Path, lines: list[str], first: int, width: int) -> Floats:
    """(n, width) of the lines from one on; empty cells, and those that are missing at the end, are NaN."""
    rows = []
    for k, line in enumerate(lines[first:], start=first + 1):
        if not line.strip():
            continue
        cells = line.rstrip("\r\n").split("\t") if "\t" in line else line.split()
        cells = [cell.strip() for cell in cells]
        while len(cells) > width and not cells[-1]:
            cells.pop()
        if len(cells) > width:
            raise InputError(f"{path}, line {k}: {len(cells)} cells, the heading has {width}")
        try:
            rows.append([float(cell) if cell else np.nan for cell in cells] + [np.nan] * (width - len(cells)))
        except ValueError:
            raise InputError(f"{path}, line {k}: a cell is no number: {line.strip()[:40]!r}") from None
    return np.array(rows, dtype=float).reshape(len(rows), width)
