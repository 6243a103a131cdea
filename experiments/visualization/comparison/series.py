"""What figures show of runs over time: all engines at the same times."""

from collections.abc import Mapping

import numpy as np

from biped.metrics.timeseries import orientation_errors, series
from biped.runs.run import Run
from contact.arrays import Floats
from experiments.benchmarks.flight_energy import Flight

#: Joints whose torques are shown, by a part of their name, and how many where there is no such joint.
KNEE, FEW = "knee", 2


def common_times(runs: Mapping[str, Run]) -> Floats:
    """(rows,) [s] those of the run that lasted longest, of one run or more."""
    return max((run.frame["time"].to_numpy() for run in runs.values()), key=lambda time: float(time[-1]))


def resampled(time: Floats, run: Run, values: Floats) -> Floats:
    """(rows,) values of a run at other times; NaN after its end."""
    own = run.frame["time"].to_numpy()
    return np.interp(time, own, values, right=np.nan)


def column(time: Floats, run: Run, name: str) -> Floats:
    """(rows,) a column of a run at other times."""
    return resampled(time, run, run.frame[name].to_numpy())


def turn(time: Floats, run: Run) -> Floats:
    """(rows,) [°] of the root from its set point, or NaN where it has none."""
    if run.set_point is None:
        return np.full(len(time), np.nan)
    return resampled(time, run, np.degrees(orientation_errors(run, run.set_point)))


def floor_force(time: Floats, run: Run, axis: str) -> Floats:
    """(rows,) [N] of the floor on the whole model along x, y or z."""
    return resampled(time, run, series(run)[f"grf_{axis}"].to_numpy())


def shown_joints(run: Run) -> list[str]:
    """Joints whose torques are shown: the knees, or the first few."""
    joints = list(run.state.model.joint_names)
    return [joint for joint in joints if KNEE in joint] or joints[:FEW]


def greatest_so_far(flight: Flight) -> tuple[Floats, Floats]:
    """[s], and the greatest relative error of the energy up to then; without the start."""
    return flight.time[1:], np.maximum.accumulate(np.abs(flight.energy[1:]))
