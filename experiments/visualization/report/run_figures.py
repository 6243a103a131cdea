"""Interactive figures of a run."""

from typing import Any

import plotly.graph_objects as go

from biped.runs.run import Run
from experiments.visualization.figures.quantities import floats
from experiments.visualization.figures.sheets import sheets_of
from experiments.visualization.figures.subject import subject_of
from experiments.visualization.pages import Chart
from experiments.visualization.report.curves import time_figure
from experiments.visualization.report.top_view import top_view


def run_figures(run: Run) -> dict[str, go.Figure]:
    """Return the interactive figures of a run's page by name; figures for which it has no data are left out."""
    return {chart.name: chart.figure for chart in run_charts(run)}


def run_charts(run: Run) -> list[Chart]:
    """Return all figures of a run for its page; none for fewer than two rows."""
    if len(run.frame) < 2:
        return []
    subject, time = subject_of(run), run.frame["time"].to_numpy()
    charts = []
    for sheet in sheets_of(run):
        if sheet.caption and sheet.applies(subject):
            content: Any = sheet.content(subject)
            charts.append(Chart(time_figure(time, content, subject.marks), sheet.caption, sheet.kind))
    if run.world is None and subject.model.nc and floats(subject):
        charts.append(top_view(subject))
    return charts
