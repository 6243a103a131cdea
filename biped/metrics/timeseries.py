"""``series``: what balance looks like over time, a table with units."""

import numpy as np
import pandas as pd

from biped.metrics.kernels import support as kernels
from biped.metrics.layout import Layout
from biped.metrics.measuring import rows_of
from biped.runs.run import Run
from contact.arrays import Floats

#: Name and unit of each column of the kernels' series, in their order.
COLUMNS = {
    "com_x": "m", "com_y": "m", "com_z": "m",
    "com_vx": "m/s", "com_vy": "m/s", "com_vz": "m/s",
    "xcom_x": "m", "xcom_y": "m", "margin_of_stability": "m",
    "capture_point_x": "m", "capture_point_y": "m", "capture_margin": "m",
    "cop_x": "m", "cop_y": "m", "cop_margin": "m",
    "zmp_x": "m", "zmp_y": "m", "zmp_margin": "m",
    "points_down": "1", "support_area": "m**2",
    "grf_x": "N", "grf_y": "N", "grf_z": "N", "grf_normal": "N",
    "sway_x": "rad", "sway_y": "rad",
    "floor_tilt_x": "rad", "floor_tilt_y": "rad", "floor_x": "m", "floor_y": "m",
}  # fmt: skip


def series(run: Run, pendulum_length: float | None = None) -> pd.DataFrame:
    """One row for each of the run's: centres of mass and pressure, margins, forces, sway.

    World axes, but ``cop_*`` and ``zmp_*`` are in the floor's frame, which is the world's where the floor is at rest.
    Empty (NaN) where there is none: no centre of pressure without load. ``attrs["units"]`` has each column's unit.

    Args:
        run: the run.
        pendulum_length: [m] as ``Circumstances`` has it.

    Raises:
        InputError: the table is not that of the run's model.
    """
    layout = Layout.of(run.state.model, list(run.frame.columns))
    return series_of(layout, rows_of(run), pendulum_length)


def series_of(layout: Layout, rows: Floats, pendulum_length: float | None = None) -> pd.DataFrame:
    """The same of the raw rows (n, columns) of a run."""
    table = np.empty((len(rows), kernels.FEET + len(layout.feet)))
    kernels.fill_series(rows, layout.places, layout.body(pendulum_length), layout.room(), table)
    units = {"time": "s"} | COLUMNS | {f"grf_normal_{foot}": "N" for foot in layout.feet}
    frame = pd.DataFrame(np.column_stack([rows[:, layout.places.time], table]), columns=list(units))
    frame.attrs["units"] = units
    return frame
