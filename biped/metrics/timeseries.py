"""Time series of balance: centres of mass and pressure, margins, base of support."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from biped.control.controller import SetPoint
from biped.metrics.context import MeasurementContext
from biped.metrics.layout import Layout
from biped.metrics.measurement import Measurement
from biped.metrics.runs import rows_of
from biped.runs.run import Run
from contact.arrays import Floats

if TYPE_CHECKING:
    import pandas as pd


def series(run: Run, pendulum_length: float | None = None) -> pd.DataFrame:
    """One row for each of the run's: centres of mass and pressure, margins, forces, sway.

    World axes, but ``cop_*`` and ``zmp_*`` are in the floor's frame, which is the world's where the floor is at rest,
    and so are those that end in ``_ap`` (anterior positive) and ``_ml`` (to the right positive); the root's ``_pitch``
    (forwards) and ``_roll`` (to the right) are its inclinations in the world.
    Empty (NaN) where there is none: no centre of pressure without load. ``attrs["units"]`` has each column's unit.

    Args:
        run: the run.
        pendulum_length: [m] as ``MeasurementContext`` has it.

    Raises:
        InputError: the table is not that of the run's model.
    """
    layout = Layout.of(run.state.model, list(run.frame.columns))
    return series_of(layout, rows_of(run), pendulum_length)


def series_of(layout: Layout, rows: Floats, pendulum_length: float | None = None) -> pd.DataFrame:
    """Time series of the raw rows (n, columns) of a run, as ``series`` has them of a run."""
    import pandas as pd  # a quarter of a command's start

    measured = Measurement(layout, rows, None, MeasurementContext(pendulum_length=pendulum_length))
    units = {"time": "s"} | layout.series | layout.anatomical
    more = [measured[name] for name in layout.anatomical]
    frame = pd.DataFrame(np.column_stack([measured["time"], measured.series, *more]), columns=list(units))
    frame.attrs["units"] = units
    return frame


def position_errors(run: Run, set_point: SetPoint) -> NDArray[np.float64]:
    """(rows, 3) [m] the root's centre of mass less its set point."""
    return _errors(run, set_point)[:, :3]


def orientation_errors(run: Run, set_point: SetPoint) -> NDArray[np.float64]:
    """(rows,) [rad] angle of the turn from the set point to the root's orientation."""
    return np.asarray(np.linalg.norm(_errors(run, set_point)[:, 3:], axis=1))


def error_quaternions(run: Run, set_point: SetPoint) -> NDArray[np.float64]:
    """(rows, 4) q q̄_d with its scalar part not negative (Wendlandt 1997, equation 4.17)."""
    from scipy.spatial.transform import Rotation  # a quarter of a second, which no other run needs

    turns = Rotation.from_rotvec(_errors(run, set_point)[:, 3:])
    return np.asarray(turns.as_quat(canonical=True, scalar_first=True))


def _errors(run: Run, set_point: SetPoint) -> Floats:
    layout = Layout.of(run.state.model, list(run.frame.columns))
    return Measurement(layout, rows_of(run), None, MeasurementContext(set_point=set_point)).errors
