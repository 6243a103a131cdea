"""C3D: points, and a force plate under each foot, with the axes and signs that are usual in laboratories.

Format: The C3D File Format, c3d.org: groups POINT, ANALOG and FORCE_PLATFORM. Lengths are in mm, Z is up.
"""

from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from biped.inputs.extras import need
from biped.metrics.layout import Layout
from biped.runs.run import Run
from contact.arrays import Floats
from experiments.visualization.export.points import points_of, rate_of
from experiments.visualization.export.tables import columns, foot_wrenches, write_by

#: [m] margin of a plate around the positions of its foot.
MARGIN = 0.05
#: Axes of a plate (rows) in laboratory axes: x along X, y along −Y, z down, as the format requires.
PLATE = np.diag([1.0, -1.0, -1.0])
#: Millimetres per metre.
MM = 1000.0


def export_c3d(run: Run, folder: Path) -> list[Path]:
    """Write ``run.c3d``: points of the body, and the forces on each foot as a force plate of type 2; return its path.

    Args:
        run: run of a model, recorded at evenly spaced times.
        folder: existing folder.

    Raises:
        InputError: the rows are not evenly spaced, or the run has no bodies.
        MissingExtraError: ezc3d is not installed.
        OSError: the file cannot be written.
    """
    need("ezc3d")
    import ezc3d

    file, rate, points = ezc3d.c3d(), rate_of(run), points_of(run)
    group = file["parameters"]["POINT"]
    group["RATE"]["value"], group["UNITS"]["value"] = [rate], ["mm"]
    group["LABELS"]["value"] = list(points)
    file["data"]["points"] = MM * np.stack([place.T for place in points.values()], axis=1)
    _add_plates(file, plates_of(run), rate, len(run.frame))
    return [write_by(folder / "run.c3d", file.write)]


def plates_of(run: Run) -> dict[str, tuple[Floats, Floats]]:
    """Return for each foot the corners (4, 3) [m] of a plate, and its loads (n, 6) [N, N·m] in the plate's axes.

    Positions are in the floor's frame, in which plates are fixed. Corners are numbered by the quadrants (+x, +y), (−x,
    +y), (−x, −y), (+x, −y) of the plate's axes. Forces act on the foot, as in the files of Qualisys and Vicon; moments
    are about the middle of the surface. As in the metrics, the force acts at the centre of pressure on the surface,
    whatever the penetration of the soles. A model without feet has one plate, named "".
    """
    model = run.state.model
    foot_of = Layout.of(model, list(run.frame.columns)).places.foot
    rotation, origin = _floor(run)
    plates = {}
    for foot, (force, place, moment) in foot_wrenches(run).items():
        points = [
            columns(run, f"contact_{name}", ("x", "y", "z"))
            for name, body in zip(model.contact_names, foot_of, strict=True)
            if not model.feet or (body >= 0 and foot and model.feet[body] == foot)
        ]
        if not points:
            continue
        beneath = np.concatenate([rotation.inv().apply(there - origin) for there in points])
        low, high = beneath[:, :2].min(axis=0) - MARGIN, beneath[:, :2].max(axis=0) + MARGIN
        middle = np.append((low + high) / 2.0, 0.0)
        lever = (rotation.inv().apply(place - origin) - middle) * (1.0, 1.0, 0.0)
        force, moment = rotation.inv().apply(force), rotation.inv().apply(moment)
        turning = np.cross(lever, force) + moment * (0.0, 0.0, 1.0)
        quadrants = np.array([(1, 1, 0), (-1, 1, 0), (-1, -1, 0), (1, -1, 0)]) @ PLATE
        corners = middle + np.append((high - low) / 2.0, 0.0) * quadrants
        plates[foot] = corners, np.hstack([force @ PLATE.T, turning @ PLATE.T])
    return plates


def _floor(run: Run) -> tuple[Rotation, Floats]:
    """Return orientation and position [m] of the floor in each row."""
    if "platform_x" not in run.frame:
        return Rotation.identity(), np.zeros(3)
    turns = Rotation.from_quat(columns(run, "platform", ("qw", "qx", "qy", "qz")), scalar_first=True)
    return turns, columns(run, "platform", ("x", "y", "z"))


def _add_plates(file: Any, plates: dict[str, tuple[Floats, Floats]], rate: float, rows: int) -> None:
    """Add the groups ANALOG and FORCE_PLATFORM: six channels for each plate, one sample per row."""
    analog, scale = file["parameters"]["ANALOG"], np.repeat((1.0, MM), 3)
    labels = [
        f"{part}{number}" for number in range(1, len(plates) + 1) for part in ("Fx", "Fy", "Fz", "Mx", "My", "Mz")
    ]
    analog["RATE"]["value"], analog["LABELS"]["value"] = [rate], labels
    analog["UNITS"]["value"] = ["N", "N", "N", "Nmm", "Nmm", "Nmm"] * len(plates)
    borne = [(wrench * scale).T for _, wrench in plates.values()]
    file["data"]["analogs"] = np.concatenate(borne or [np.empty((0, rows))])[np.newaxis]
    count = len(plates)
    corners = [MM * corners.T for corners, _ in plates.values()]
    if not count:
        return
    group = file["parameters"]["FORCE_PLATFORM"]  # assignment keeps types, such as integers for USED
    group["USED"]["value"], group["TYPE"]["value"] = [count], [2] * count
    group["CORNERS"]["value"] = np.stack(corners, axis=-1)
    group["ORIGIN"]["value"] = np.zeros((3, count))  # the origin is the middle of the surface
    group["CHANNEL"]["value"] = np.arange(1, 6 * count + 1).reshape(count, 6).T
    file.add_parameter("FORCE_PLATFORM", "UNITS", ["N"] * count)
    file.add_parameter("FORCE_PLATFORM", "NAMES", [name or "floor" for name in plates])
