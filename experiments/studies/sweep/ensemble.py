"""Ensemble averages of a sweep's time series: mean and standard deviation over replicas."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from biped.errors import IntegrationError
from biped.metrics import series
from contact.errors import BipedError
from experiments.catalogue.parameters.parameter import shown
from experiments.studies.sweep.groups import as_written, factors_of

if TYPE_CHECKING:
    import pandas as pd

    from biped.runs.run import Run
    from contact.arrays import Floats
    from experiments.catalogue.parameters.parameter import Value
    from experiments.studies.sweep.sweep import Sweep

#: Largest number of time intervals.
MOST_TIMES = 1000


def ensemble(sweep: "Sweep") -> "pd.DataFrame":
    """Return mean and standard deviation over replicas of the columns ``traces``; all trials are run again.

    The table has a row for each combination and time: the varied values, ``time`` [s], and for each traced column
    ``…_mean``, ``…_sd`` (with n − 1) and ``…_n``, the number of replicas. A replica contributes until its run ends.
    The standard deviation is NaN for fewer than two replicas.
    """
    import pandas as pd

    names = [factor.column for factor in factors_of(sweep)]
    trials, parts = sweep.trials(), list[pd.DataFrame]()
    for point in range(sweep.points):
        replicas = [trial for trial in trials if trial.labels["point"] == point]
        runs = [run for run in (_run(sweep, trial.changes) for trial in replicas) if run is not None]
        if runs:
            time, traces = _on_common_times(runs, sweep.traces)
            values = {name: replicas[0].changes[name] for name in names}
            where: dict[str, Any] = {n: shown(v) if isinstance(v, tuple) else v for n, v in values.items()}
            parts.append(pd.DataFrame({**where, "time": time, **_statistics(traces)}))
    return as_written(sweep, pd.concat(parts, ignore_index=True)) if parts else pd.DataFrame()


def _run(sweep: "Sweep", changes: "Mapping[str, Value]") -> "Run | None":
    try:
        return sweep.experiment.run(changes)
    except IntegrationError as error:
        return error.run
    except BipedError:  # the trial has the reason
        return None


def _on_common_times(runs: "list[Run]", columns: tuple[str, ...]) -> "tuple[Floats, dict[str, Floats]]":
    """Return common times [s] of all runs, and the values (runs, times) of each column; NaN after a run's end."""
    ends = [float(run.frame["time"].iloc[-1]) for run in runs]
    longest = runs[int(np.argmax(ends))].frame["time"].to_numpy()
    time = np.linspace(longest[0], longest[-1], min(len(longest), MOST_TIMES + 1))
    traces = {column: np.full((len(runs), len(time)), np.nan) for column in columns}
    for k, run in enumerate(runs):
        table = series(run)
        for column in columns:
            values = run.frame[column] if column in run.frame.columns else table[column]
            traces[column][k] = np.interp(time, run.frame["time"], values, right=np.nan)
    return time, traces


def _statistics(traces: "dict[str, Floats]") -> "dict[str, Floats]":
    statistics: dict[str, Floats] = {}
    for column, values in traces.items():
        there = np.isfinite(values)
        count = there.sum(axis=0)
        mean = np.where(there, values, 0.0).sum(axis=0) / np.where(count > 0, count, np.nan)
        squares = np.where(there, values - mean, 0.0) ** 2
        statistics[f"{column}_mean"] = mean
        statistics[f"{column}_sd"] = np.sqrt(squares.sum(axis=0) / np.where(count > 1, count - 1.0, np.nan))
        statistics[f"{column}_n"] = count
    return statistics
