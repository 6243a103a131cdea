"""Gains of the workspace controller in a TOML file.

The file has one table; a missing key keeps the thesis's value::

    [controller]
    kp_position = [50.0, 50.0, 200.0]       # 1/s², along x, y, z; or one number for all three
    kd_position = [7.07, 7.07, 14.142]      # 1/s
    kp_orientation = [50.0, 50.0, 50.0]     # 1/s²
    kd_orientation = [7.07, 7.07, 7.07]     # 1/s

A gain may also be a symmetric positive definite matrix, as three rows: ``[[50, 5, 0], [5, 50, 0], [0, 0, 200]]``.
"""

import re
import tomllib
from dataclasses import fields
from pathlib import Path
from typing import Any

from biped.errors import InputError
from controllers.workspace import Gain, WorkspaceGains

TABLE = "controller"
KEYS = tuple(item.name for item in fields(WorkspaceGains))
UNITS = {item.name: item.metadata["unit"] for item in fields(WorkspaceGains)}


def load_gains(path: str | Path) -> WorkspaceGains:
    """Read gains of the workspace controller from a TOML file.

    Raises:
        InputError: the file is not TOML, a key is not the name of a gain, or a gain is invalid.
        OSError: the file cannot be read.
    """
    return WorkspaceGains(**read_gains(path))


def read_gains(path: str | Path) -> dict[str, Gain]:
    """Return only the gains that a file sets, by name; raises as ``load_gains``."""
    path = Path(path)
    text = _text(path)
    try:
        document = tomllib.loads(text)
    except ValueError as error:
        raise InputError(f"{path}: not TOML: {error}") from None
    table = _controller_table(path, text, document)
    return {key: _gain(path, text, key, value) for key, value in table.items()}


def save_gains(gains: WorkspaceGains, path: str | Path) -> None:
    """Write gains of the workspace controller to a TOML file for ``load_gains``.

    Raises:
        OSError: the file cannot be written.
    """
    lines = [f"[{TABLE}]"]
    for key in KEYS:
        gain = getattr(gains, key)
        rows = list(gain) if len(gain) == 3 else gains.matrix(key).tolist()
        lines.append(f"{key} = {rows}  # {UNITS[key]}, along x, y, z")
    Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not TOML: it is not a text in UTF-8 ({error.reason})") from None


def _controller_table(path: Path, text: str, document: dict[str, Any]) -> dict[str, Any]:
    """Return the table ``[controller]``; raise InputError for other tables and for keys that are not gains."""
    for name in document:
        if name != TABLE:
            raise InputError(f"{path}{_line(text, name)}: unknown table or key {name!r}; the only table is [{TABLE}]")
    table = document.get(TABLE)
    if not isinstance(table, dict):
        raise InputError(f"{path}: table [{TABLE}] is missing; its keys are {', '.join(KEYS)}")
    for key in table:
        if key not in KEYS:
            raise InputError(f"{path}{_line(text, key)}: unknown gain {key!r}: it must be one of {', '.join(KEYS)}")
    return table


def _gain(path: Path, text: str, key: str, value: Any) -> Gain:
    """Return a gain, checked as in ``WorkspaceGains``."""
    rows = value if isinstance(value, list) else [value]
    entries = [entry for row in rows for entry in (row if isinstance(row, list) else [row])]
    if not all(isinstance(entry, (int, float)) and not isinstance(entry, bool) for entry in entries):
        raise InputError(f"{path}{_line(text, key)}: {key} = {value!r}: it must be one number or three, or three rows")
    try:
        checked: Gain = getattr(WorkspaceGains(**{key: value}), key)
    except InputError as error:
        raise InputError(f"{path}{_line(text, key)}: {error}") from None
    return checked


def _line(text: str, name: str) -> str:
    """Return ``, line N`` with the number of the line that begins with a name; empty if there is none."""
    pattern = re.compile(rf"^\s*\[?\s*[\"']?{re.escape(name)}[\"']?\s*[=\].]")
    for number, line in enumerate(text.splitlines(), start=1):
        if pattern.match(line):
            return f", line {number}"
    return ""
