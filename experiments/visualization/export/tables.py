"""Columns of a run as tables, in ISB axes or as they are, and as text.

ISB (Wu & Cavanagh 1995), which EUROBENCH and OpenSim follow: x forward, y up, z to the right. Here Z is up; forward is
where a model looks at home, for the human −X.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from biped.inputs.files import replace_file
from biped.metrics.kernels.support import fill_foot_wrenches
from biped.metrics.layout import Layout
from biped.metrics.runs import rows_of, steps
from biped.model.geometry import Vector3
from biped.runs.run import Run
from contact.arrays import Floats

#: Of the human.
FACING: Vector3 = (-1.0, 0.0, 0.0)


def to_isb(vectors: ArrayLike, facing: Vector3 = FACING) -> Floats:
    """(…, 3) vectors or places of ours in ISB axes, of a model that looks along ``facing`` at home."""
    x, y, _ = facing
    axes = np.array([[x, y, 0.0], [0.0, 0.0, 1.0], [y, -x, 0.0]])  # its rows are the ISB's: forward, up, right
    return np.asarray(vectors, dtype=np.float64) @ axes.T


def quaternions_to_isb(quaternions: ArrayLike, facing: Vector3 = FACING) -> Floats:
    """(…, 4) orientations of ours, scalar first, in ISB axes: both the body's and the world's are renamed."""
    q = np.asarray(quaternions, dtype=np.float64)
    return np.concatenate([q[..., :1], to_isb(q[..., 1:], facing)], axis=-1)


def cardan_yxz(rotations: Rotation) -> Floats:
    """(n, 3) angles (a, b, c) [rad] with R = R_y(a) R_x(b) R_z(c); the first and the last without jumps by 2π."""
    a, b, c = rotations.as_euler("YXZ").T
    return np.stack([np.unwrap(a), b, np.unwrap(c)], axis=1)


Table = dict[str, Floats]
#: Force [N], its place [m] and the moment about it [N·m].
Wrenches = tuple[Floats, Floats, Floats]


def columns(run: Run, prefix: str, parts: tuple[str, ...]) -> Floats:
    """(n, parts) columns of a run side by side."""
    return run.frame[[f"{prefix}_{part}" for part in parts]].to_numpy(dtype=np.float64)


def joint_values(run: Run, joint: str) -> Floats:
    """(n,) [rad] the angle of a hinge, or [m] the position of a slide."""
    column = f"angle_{joint}" if f"angle_{joint}" in run.frame else f"position_{joint}"
    return run.frame[column].to_numpy(dtype=np.float64)


def by_axis(vectors: Floats, prefix: str = "") -> Table:
    return {f"{prefix}{axis}": vectors[:, k] for k, axis in enumerate("xyz")}


def text_of(run: Run, table: Table, separator: str) -> str:
    """A table with its times, twelve digits a number."""
    frame = pd.DataFrame({"time": run.frame["time"].to_numpy(dtype=np.float64)} | table)
    return frame.to_csv(sep=separator, index=False, float_format="%.12g", lineterminator="\n")


def export_columns(run: Run, folder: Path) -> list[Path]:
    """Write all columns of a run of whatever it is as ``run.csv``, and the steps that it has taken as ``steps.csv``.

    Each is headed by its name and unit.

    Raises:
        OSError: a file cannot be written.
    """
    tables = {"run.csv": (run.frame, run.units)}
    if run.metrics.get("footsteps"):
        taken = steps(run)
        tables["steps.csv"] = taken, {name: unit for name, unit in taken.attrs["units"].items() if unit}
    return [_write_columns(folder / name, *table) for name, table in tables.items()]


def _write_columns(path: Path, frame: pd.DataFrame, units: Mapping[str, str]) -> Path:
    named = frame.rename(columns={name: f"{name} [{unit}]" for name, unit in units.items()})
    return write(path, named.to_csv(index=False, float_format="%.17g", lineterminator="\n"))


def write(path: Path, text: str) -> Path:
    replace_file(path, text.encode())
    return path


def write_by(path: Path, save: Callable[[str], object]) -> Path:
    """A file that a library's function writes by its name, as ``write``."""
    with TemporaryDirectory() as beside:
        written = Path(beside) / path.name
        save(str(written))
        replace_file(path, written.read_bytes())
    return path


def ground_reactions(run: Run) -> dict[str, Wrenches]:
    """``foot_wrenches`` in ISB axes."""
    facing = run.state.model.facing
    return {
        name: (to_isb(force, facing), to_isb(place, facing), to_isb(moment, facing))
        for name, (force, place, moment) in foot_wrenches(run).items()
    }


def foot_wrenches(run: Run) -> dict[str, Wrenches]:
    """For each foot, and under "" for all points: force [N], its place [m] and the moment about it [N·m], world axes.

    Each (n, 3); the three together are equivalent to the forces of all points. Where nothing is borne, the force is
    zero and the place is the last one: it means nothing, and neither jumps nor is empty.
    """
    model = run.state.model
    if not model.contact_points:
        return {}
    layout = Layout.of(model, list(run.frame.columns))
    rows = rows_of(run)
    whole = layout.places._replace(foot=np.zeros_like(layout.places.foot))
    found: dict[str, Wrenches] = {}
    for names, places in (("",), whole), (layout.feet, layout.places):
        wrenches = np.empty((len(rows), len(names), 9))
        fill_foot_wrenches(rows, places, len(names), wrenches)
        for i, name in enumerate(names):
            found[name] = (wrenches[:, i, :3], wrenches[:, i, 3:6], wrenches[:, i, 6:])
    return found
