"""MATLAB's ``.mat`` files: variables of one length, or a struct of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from biped.errors import InputError
from biped.records.raw import MOST, Raw
from contact.arrays import Floats
from contact.errors import listed

#: Names of a scalar variable that is the sampling rate [Hz].
_RATES = ("rate", "fs", "Fs", "frequency", "sampling_rate", "SampleRate")
#: Name of the struct of units, with a field for each column that has a unit.
UNITS = "units"
_AXES = {2: ("_1", "_2"), 3: ("_x", "_y", "_z")}


def read_mat(path: Path) -> Raw:
    """Read the vectors of a file or of its only struct; an n × 3 matrix gives three columns, _x, _y and _z.

    A number named ``rate`` or ``fs`` is the sampling rate. A struct ``units`` gives units by vector, matrix or column.

    Raises:
        InputError: the file is of version 7.3 or not a .mat file, or has several structs or vectors of several lengths.
    """
    from scipy.io import loadmat

    try:
        contents: Mapping[str, Any] = loadmat(path, simplify_cells=True)
    except NotImplementedError:
        raise InputError(f"{path}: MAT-file version 7.3 is not supported: in MATLAB, use save(…, '-v7')") from None
    except (ValueError, TypeError) as error:
        raise InputError(f"{path}: not a .mat file ({error})") from None
    inside = {name: value for name, value in contents.items() if not name.startswith("__")}
    structs = [name for name, value in inside.items() if isinstance(value, Mapping) and name != UNITS]
    if len(structs) > 1:
        raise InputError(f"{path}: the file has several structs ({', '.join(structs)}): save only one of them")
    units = dict(inside.get(UNITS, {}))
    if structs:
        inside = dict(inside[structs[0]])
        units |= inside.get(UNITS, {})
    rate = next((float(inside[name]) for name in _RATES if np.ndim(inside.get(name, [])) == 0), None)
    of_matrices = {f"{name}{end}": unit for name, unit in units.items() for ends in _AXES.values() for end in ends}
    units = of_matrices | units
    columns, left = _columns(inside)
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        sizes = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise InputError(f"{path}: the columns differ in length ({sizes}): save columns of equal length")
    notes = [f"neither vectors nor matrices of two or three columns, not read: {listed(left, MOST)}"] if left else []
    return Raw([(name, values, str(units.get(name, ""))) for name, values in columns.items()], rate, notes)


def _columns(inside: Mapping[str, Any]) -> tuple[dict[str, Floats], list[str]]:
    """Return the columns by name, and the names of variables that are not columns."""
    columns: dict[str, Floats] = {}
    left = []
    for name, value in inside.items():
        values: Any = np.asarray(value)
        if name == UNITS or (name in _RATES and values.ndim == 0):
            continue
        if values.dtype.kind in "fiub" and values.size > 1 and values.ndim == 1:
            columns[name] = values.astype(float)
        elif values.dtype.kind in "fiub" and values.ndim == 2 and (ends := _AXES.get(values.shape[1])):
            columns |= {name + end: values[:, k].astype(float) for k, end in enumerate(ends)}
        else:
            left.append(name)
    return columns, left
