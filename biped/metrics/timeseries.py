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
    """Return a table with centres of mass and pressure, margins, forces and sway, for each row of a run.

    Columns are in inertial axes, except ``cop_*``, ``zmp_*`` and columns that end in ``_ap`` (anterior positive) or
    ``_ml`` (right positive). These are in the floor's frame, which is the inertial frame if the floor is at rest. The
    root's ``_pitch`` (forward) and ``_roll`` (right) are its inclinations in the inertial frame. Undefined values are
    NaN, for example the centre of pressure without load. ``attrs["units"]`` gives each column's unit.

    Args:
        run: recorded run.
        pendulum_length: [m] length of the equivalent pendulum, see ``MeasurementContext``; None: standing height.

    Raises:
        InputError: the run's columns do not fit its model.
    """
    layout = Layout.of(run.state.model, list(run.frame.columns))
    return series_of(layout, rows_of(run), pendulum_length)


def series_of(layout: Layout, rows: Floats, pendulum_length: float | None = None) -> pd.DataFrame:
    """Return the time series of the raw rows (n, columns) of a run, as ``series`` does for a run."""
    import pandas as pd  # importing pandas takes a quarter of a command's start

    measured = Measurement(layout, rows, None, MeasurementContext(pendulum_length=pendulum_length))
    units = {"time": "s"} | layout.series | layout.anatomical
    more = [measured[name] for name in layout.anatomical]
    frame = pd.DataFrame(np.column_stack([measured["time"], measured.series, *more]), columns=list(units))
    frame.attrs["units"] = units
    return frame


def position_errors(run: Run, set_point: SetPoint) -> NDArray[np.float64]:
    """Return the position [m] of the root's centre of mass relative to the set point, (rows, 3)."""
    return _errors(run, set_point)[:, :3]


def orientation_errors(run: Run, set_point: SetPoint) -> NDArray[np.float64]:
    """Return the angle [rad] from the set point to the root's orientation, (rows,)."""
    return np.asarray(np.linalg.norm(_errors(run, set_point)[:, 3:], axis=1))


def error_quaternions(run: Run, set_point: SetPoint) -> NDArray[np.float64]:
    """Return q q̄_d with a non-negative scalar part (Wendlandt 1997, equation 4.17), (rows, 4)."""
    from scipy.spatial.transform import Rotation  # importing takes a quarter of a second

    turns = Rotation.from_rotvec(_errors(run, set_point)[:, 3:])
    return np.asarray(turns.as_quat(canonical=True, scalar_first=True))


def _errors(run: Run, set_point: SetPoint) -> Floats:
    layout = Layout.of(run.state.model, list(run.frame.columns))
    return Measurement(layout, rows_of(run), None, MeasurementContext(set_point=set_point)).errors
