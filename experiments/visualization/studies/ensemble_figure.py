"""Panels of a sweep's replicas over time: mean and standard deviation of each traced column."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from biped.metrics import start_time_of
from experiments.studies.store.measured import trace_units
from experiments.studies.sweep.groups import factors_of
from experiments.studies.sweep.sweep import Sweep
from experiments.visualization.look import style
from experiments.visualization.look.words import with_unit
from experiments.visualization.panels.panel import Area, Axis, Item, Panel, Points, Rule


def ensemble_panels(plan: Sweep, table: pd.DataFrame) -> list[Panel]:
    """Return a panel for each traced column of a table from ``ensemble``, with the first few combinations.

    The first floor motion, push or force is marked.
    """
    units = trace_units(plan.experiment, plan.fixed)
    onset = start_time_of(plan.experiment.build(plan.trials()[0].changes).disturbances)
    marks = () if onset is None else (Rule(onset, style.GREY, dash="dash"),)
    panels = []
    for place, column in enumerate(plan.traces):
        is_last = place == len(plan.traces) - 1
        items = (*marks, *_items(plan, table, column))
        x, y = Axis("time [s]" if is_last else ""), Axis(with_unit(column, units[column]))
        panels.append(Panel(items, x, y, legend="best" if place == 0 else ""))
    return panels


def _items(plan: Sweep, table: pd.DataFrame, column: str) -> Iterator[Item]:
    names = [factor.column for factor in factors_of(plan)]
    for color, (values, rows) in zip(style.LINES, table.groupby(names, sort=False), strict=False):
        label = ", ".join(f"{value:g}" if isinstance(value, float) else str(value) for value in values)
        mean, deviation = rows[f"{column}_mean"].to_numpy(), rows[f"{column}_sd"].to_numpy()
        time, spread = rows["time"].to_numpy(), np.isfinite(deviation)
        low, high = (mean - deviation)[spread], (mean + deviation)[spread]
        yield Area.between(time[spread], low, high, color, alpha=0.25, group=label)
        yield Points(time, mean, label, color, dash="solid")
