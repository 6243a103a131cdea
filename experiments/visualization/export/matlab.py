"""MATLAB file: all columns of any run in one struct, with their units."""

import re
from pathlib import Path

import numpy as np

from biped.errors import InputError
from biped.runs.run import Run
from experiments.visualization.export.tables import write_by

#: Longest name in a MATLAB file of version 7.
LONGEST_NAME = 63


def export_matlab(run: Run, folder: Path) -> list[Path]:
    """Write ``run.mat``: a struct ``run`` with a field (rows, 1) for each column, and a struct ``units``.

    The folder must exist. Characters that are not allowed in MATLAB names become underscores.

    Raises:
        InputError: two columns would have the same MATLAB name, or a name would be too long.
        OSError: the file cannot be written.
    """
    from scipy.io import savemat

    names = {column: _name_of(str(column)) for column in run.frame.columns}
    if len(set(names.values()) - {"units"}) < len(names) or any(len(name) > LONGEST_NAME for name in names.values()):
        raise InputError(
            f"no MATLAB file: names of columns would be equal or exceed {LONGEST_NAME} characters; export with --csv"
        )
    columns = {name: np.asarray(run.frame[column]) for column, name in names.items()}
    units = {names[column]: unit for column, unit in run.units.items() if column in names}
    struct = {"run": {**columns, "units": units}}

    def save(path: str) -> None:
        savemat(path, struct, long_field_names=True, oned_as="column", do_compression=True)

    return [write_by(folder / "run.mat", save)]


def _name_of(column: str) -> str:
    name = re.sub(r"\W", "_", column, flags=re.ASCII)
    return name if name[:1].isalpha() else f"x{name}"
