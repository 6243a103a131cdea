"""Plot of one quantity of all runs beside the scene, with a line at the present time."""

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from contact.arrays import Floats
from experiments.visualization.viewer import colors
from experiments.visualization.viewer.loaded_runs import LoadedRun
from experiments.visualization.viewer.playback import Playback
from experiments.visualization.viewer.plots import POINTS, pooled

#: [pixels] width of the value axis.
AXIS = 64
#: Relative difference of a plot's values below which they count as constant.
SAME = 1e-9
#: Dashes of the curves of one plot.
DASHES: tuple[tuple[int, ...], ...] = ((), (6, 4), (2, 3), (9, 3, 2, 3))
_BLUE = colors.rgb("#0072B2")


class PlotPanel:
    """Menu of plots and the chosen plot; ``first``: position of the initial plot in the menu, None: no plot."""

    def __init__(
        self, gui: Any, runs: Sequence[LoadedRun], playback: Playback, label: str = "Plot", first: int | None = 0
    ) -> None:
        self._gui, self._runs, self._playback = gui, runs, playback
        titles = list(dict.fromkeys(title for loaded in runs for title in loaded.plots))
        self._grid = np.linspace(playback.begins, max(playback.ends, playback.begins + 1e-3), POINTS)
        shown = "(none)" if first is None else titles[first]
        self._choice = gui.add_dropdown(label, ("(none)", *titles), initial_value=shown)
        self._handle: Any = None
        self._lock = threading.Lock()
        self._slot = gui.add_folder(None)
        self._choice.on_update(lambda _: self._draw())
        self._draw()

    def _draw(self) -> None:
        with self._lock:
            if self._handle is not None:
                self._handle.remove()
                self._handle = None
            title = self._choice.value
            curves: list[Floats] = []
            series: list[dict[str, Any]] = [{"label": "time [s]"}]
            for k, loaded in enumerate(self._runs):
                for j, curve in enumerate(loaded.plots[title].curves if title in loaded.plots else ()):
                    curves.append(pooled(loaded.times, np.asarray(curve.y), self._grid))
                    label = f"{loaded.name} {curve.label}" if len(self._runs) > 1 else curve.label
                    series.append(_stroke(k, j, label.strip(), len(self._runs)))
            if not curves:
                return
            self._curves = curves
            with np.errstate(all="ignore"):
                self._range = with_margins(float(np.nanmin(curves)), float(np.nanmax(curves)))
            series.append({"label": "now", "stroke": "#C8102E", "width": 1.5, "points": {"show": False}})
            begin, end = self._grid[0], self._grid[-1]
            with self._slot:
                self._handle = self._gui.add_uplot(
                    self._data(self._playback.time),
                    tuple(series),
                    title=title,
                    scales={"x": {"time": False, "range": (begin, end)}, "y": {"range": self._range}},
                    axes=({}, {"size": AXIS}),
                    legend={"show": len(series) > 3, "live": False},
                    cursor={"drag": {"x": False, "y": False}},
                    height=210,
                )

    def _data(self, moment: float) -> tuple[Floats, ...]:
        """Return the curves with the present time added twice to the grid, where the line is drawn."""
        at = int(np.searchsorted(self._grid, moment))
        grid = np.insert(self._grid, at, (moment, moment))
        filled = [np.insert(values, at, [np.interp(moment, self._grid, values)] * 2) for values in self._curves]
        line = np.full(len(grid), np.nan)
        line[at : at + 2] = self._range
        return (grid, *filled, line)

    def move_to(self, moment: float) -> None:
        with self._lock:
            if self._handle is not None:
                self._handle.data = self._data(moment)


def with_margins(low: float, high: float) -> tuple[float, float]:
    """Return a range with margins; values that differ in the last digits only count as constant."""
    most = max(abs(low), abs(high))
    pad = 0.05 * (high - low) if high - low > SAME * most else max(1e-3, 0.05 * most)
    return low - pad, high + pad


def _stroke(run: int, curve: int, label: str, runs: int) -> dict[str, Any]:
    """Return a curve's style; its colour shows the run or, if there is a single run, the curve."""
    number = curve if runs == 1 else run
    color = colors.ghost_color(number - 1) if number else _BLUE
    stroke: dict[str, Any] = {"label": label or " ", "stroke": colors.code_of(color), "width": 1.6}
    if runs > 1 and curve:
        stroke["dash"] = list(DASHES[curve % len(DASHES)])
    return stroke | {"points": {"show": False}}
