"""Columns of a run as tables, in ISB axes or unchanged, and as text.

ISB axes (Wu & Cavanagh 1995), which EUROBENCH and OpenSim use, are x forward, y up, z to the right. In this project Z
is up, and forward is where a model faces in the home configuration, −X for the human.
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

#: Direction in which the human faces.
FACING: Vector3 = (-1.0, 0.0, 0.0)


def to_isb(vectors: ArrayLike, facing: Vector3 = FACING) -> Floats:
    """Return vectors or positions (…, 3) in ISB axes, for a model that faces ``facing`` in the home configuration."""
    x, y, _ = facing
    axes = np.array([[x, y, 0.0], [0.0, 0.0, 1.0], [y, -x, 0.0]])  # rows: forward, up, right
    return np.asarray(vectors, dtype=np.float64) @ axes.T


def quaternions_to_isb(quaternions: ArrayLike, facing: Vector3 = FACING) -> Floats:
    """Return orientations (…, 4), scalar first, of a body in ISB axes relative to the world frame in ISB axes."""
    q = np.asarray(quaternions, dtype=np.float64)
    return np.concatenate([q[..., :1], to_isb(q[..., 1:], facing)], axis=-1)


def cardan_yxz(rotations: Rotation) -> Floats:
    """Return angles (n, 3) [rad] (a, b, c) with R = R_y(a) R_x(b) R_z(c); a and c without jumps by 2π."""
    a, b, c = rotations.as_euler("YXZ").T
    return np.stack([np.unwrap(a), b, np.unwrap(c)], axis=1)


Table = dict[str, Floats]
#: Force [N], point of application [m], moment about it [N·m].
Wrenches = tuple[Floats, Floats, Floats]


def columns(run: Run, prefix: str, parts: tuple[str, ...]) -> Floats:
    """Return columns (n, parts) of a run side by side."""
    return run.frame[[f"{prefix}_{part}" for part in parts]].to_numpy(dtype=np.float64)


def joint_values(run: Run, joint: str) -> Floats:
    """Return the angle (n,) [rad] of a hinge, or the position [m] of a slide."""
    column = f"angle_{joint}" if f"angle_{joint}" in run.frame else f"position_{joint}"
    return run.frame[column].to_numpy(dtype=np.float64)


def by_axis(vectors: Floats, prefix: str = "") -> Table:
    return {f"{prefix}{axis}": vectors[:, k] for k, axis in enumerate("xyz")}


def text_of(run: Run, table: Table, separator: str) -> str:
    """Return a table as text, with the times [s] as its first column and twelve digits per number."""
    frame = pd.DataFrame({"time": run.frame["time"].to_numpy(dtype=np.float64)} | table)
    return frame.to_csv(sep=separator, index=False, float_format="%.12g", lineterminator="\n")


def export_columns(run: Run, folder: Path) -> list[Path]:
    """Write all columns of any run as ``run.csv``, and its footsteps as ``steps.csv``; return the paths.

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
    """Write a file with ``save``, a function of a path; as with ``write``, the file is never incomplete."""
    with TemporaryDirectory() as folder:
        written = Path(folder) / path.name
        save(str(written))
        replace_file(path, written.read_bytes())
    return path


def ground_reactions(run: Run) -> dict[str, Wrenches]:
    """Return ``foot_wrenches`` in ISB axes."""
    facing = run.state.model.facing
    return {
        name: (to_isb(force, facing), to_isb(place, facing), to_isb(moment, facing))
        for name, (force, place, moment) in foot_wrenches(run).items()
    }


def foot_wrenches(run: Run) -> dict[str, Wrenches]:
    """Return force [N], point of application [m] and moment [N·m] (n, 3) for each foot, and under "" for all points.

    They are in world axes and equivalent to the forces on the contact points. Without load the force is zero and the
    point of application keeps its last value, so that it neither jumps nor is missing.
    """
    model = run.state.model
    if not model.contact_points:
        return {}
    layout = Layout.of(model, list(run.frame.columns))
    rows = rows_of(run)
    all_points = layout.places._replace(foot=np.zeros_like(layout.places.foot))
    by_foot: dict[str, Wrenches] = {}
    for names, places in (("",), all_points), (layout.feet, layout.places):
        wrenches = np.empty((len(rows), len(names), 9))
        fill_foot_wrenches(rows, places, len(names), wrenches)
        for i, name in enumerate(names):
            by_foot[name] = (wrenches[:, i, :3], wrenches[:, i, 3:6], wrenches[:, i, 6:])
    return by_foot
