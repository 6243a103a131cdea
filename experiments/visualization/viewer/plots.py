"""Quantities of a run over time, for plots beside the scene."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from biped.records.record import are_left_out
from biped.runs.run import Run
from contact.arrays import Floats
from experiments.cli.quantities import unit_text
from experiments.visualization.figures.quantities import curve, over_time
from experiments.visualization.figures.sheets import sheets_of
from experiments.visualization.figures.subject import Subject
from experiments.visualization.look.words import words_of
from experiments.visualization.panels.panel import Panel
from experiments.visualization.report.record_comparison import RecordComparison

#: Kind of figure whose plots come first.
FIRST = "support"
#: Points of a curve that are sent to the browser.
POINTS = 480


def plots_of(run: Run) -> list[Panel]:
    """Return the panels over time on the run's page, the kind ``support`` first; titles end with the unit."""
    subject, plots = Subject(run), dict[str, Panel]()
    for sheet in sorted(sheets_of(run), key=lambda sheet: sheet.kind != FIRST):
        if not (sheet.caption and sheet.applies(subject)):
            continue
        content, heading = sheet.content(subject), ""
        for panel in content if isinstance(content, list) else ():
            heading = panel.title or heading
            title = f"{heading}, {panel.y.label}"
            if panel.curves:
                title = title if title not in plots else f"{title} ({sheet.kind.replace('-', ' ')})"
                plots[title] = replace(panel, title=title)
    return list(plots.values())


def measured_plots(run: Run, record: str | Path) -> list[Panel]:
    """Return panels of modelled and measured columns at the run's times; ``record``: see ``paired_columns``."""
    times, plots = run.frame["time"].to_numpy(), []
    for pair, remark in RecordComparison.of(run, record).remarked:
        after = np.searchsorted(pair.time, times).clip(1, len(pair.time) - 1)
        is_gap = are_left_out(pair.time)[after - 1] & (times < pair.time[after])
        measured, model = (
            np.where(is_gap, np.nan, np.interp(times, pair.time, each, np.nan, np.nan))
            for each in (pair.measured, pair.model)
        )
        title = f"{words_of(pair.column)}, model and measured{remark} [{unit_text(pair.unit) or '–'}]"
        plots.append(over_time(title, "", (curve("model", model), curve("measured", measured))))
    return plots


def pooled(time: Floats, values: Floats, grid: Floats) -> Floats:
    """Return values on an even grid [s], at each point the value in its interval farthest from the interval's mean.

    Peaks are thus kept. The result is NaN outside the run, and interpolated if no row falls into an interval.
    """
    half = 0.5 * (grid[1] - grid[0]) if len(grid) > 1 else 0.0
    result = np.interp(grid, time, values, left=np.nan, right=np.nan)
    first = np.searchsorted(time, grid - half)
    last = np.searchsorted(time, grid + half)
    for k in np.flatnonzero(last - first > 1):
        part = values[first[k] : last[k]]
        if np.isfinite(part).any():
            result[k] = part[np.nanargmax(np.abs(part - np.nanmean(part)))]
    return result
