"""A plot of one quantity of all runs beside the scene, with a line at the present time and ticks of its own."""

import math
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.ticker import MaxNLocator

from contact.arrays import Floats
from experiments.visualization.viewer import colors
from experiments.visualization.viewer.loaded_runs import LoadedRun
from experiments.visualization.viewer.playback import Playback
from experiments.visualization.viewer.plots import POINTS, pooled

#: [pixels] of a digit, and of tick and gap.
DIGIT, GAP = 7.0, 20.0
#: Numbers with so many decimals or digits before them are written with an exponent.
MOST_DECIMALS, MOST_DIGITS = 4, 6
_LOCATOR = MaxNLocator(5, steps=(1, 2, 5, 10), min_n_ticks=3)


def ticks_of(low: float, high: float) -> tuple[list[float], list[str]]:
    """At most six round numbers within a range, and their names, no two of which are the same."""
    room = 1e-9 * (high - low)
    values = [float(value) for value in _LOCATOR.tick_values(low, high) if low - room <= value <= high + room]
    power, most = math.log10(values[1] - values[0]), max(abs(low), abs(high))
    decimals = max(0, -math.floor(power + 1e-9))
    if decimals <= MOST_DECIMALS and most < 10.0**MOST_DIGITS:
        return values, [f"{value + 0.0:.{decimals}f}" for value in values]
    digits = max(0, math.floor(math.log10(most)) - math.floor(power + 1e-9))
    return values, [f"{value:.{digits}e}" if value else "0" for value in values]


def axis(low: float, high: float, *, upright: bool) -> dict[str, Any]:
    """An axis of uPlot with these ticks; an upright one as wide as its names need."""
    values, names = ticks_of(low, high)
    size = {"size": GAP + DIGIT * max(map(len, names), default=0)} if upright else {}
    return {"splits": tuple(values), "values": tuple(names), **size}


#: Values of a plot that differ by a smaller part than this are shown as one.
SAME = 1e-9
#: Strokes of the curves of one plot.
DASHES: tuple[tuple[int, ...], ...] = ((), (6, 4), (2, 3), (9, 3, 2, 3))
_BLUE = colors.rgb("#0072B2")


class PlotPanel:
    """A choice of plots, and the one that is chosen; at first the one of this place among them, None for none."""

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
                self._range = with_room(float(np.nanmin(curves)), float(np.nanmax(curves)))
            series.append({"label": "now", "stroke": "#C8102E", "width": 1.5, "points": {"show": False}})
            begin, end = self._grid[0], self._grid[-1]
            with self._slot:
                self._handle = self._gui.add_uplot(
                    self._data(self._playback.time),
                    tuple(series),
                    title=title,
                    scales={"x": {"time": False, "range": (begin, end)}, "y": {"range": self._range}},
                    axes=(axis(begin, end, upright=False), axis(*self._range, upright=True)),
                    legend={"show": len(series) > 3, "live": False},
                    cursor={"drag": {"x": False, "y": False}},
                    height=210,
                )

    def _data(self, moment: float) -> tuple[Floats, ...]:
        """The curves, with the present time twice among the grid: there the line that shows it stands."""
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


def with_room(low: float, high: float) -> tuple[float, float]:
    """A range with some room; what only the last digits tell apart counts as constant."""
    most = max(abs(low), abs(high))
    pad = 0.05 * (high - low) if high - low > SAME * most else max(1e-3, 0.05 * most)
    return low - pad, high + pad


def _stroke(run: int, curve: int, label: str, runs: int) -> dict[str, Any]:
    """How a curve is drawn: by its run's colour where there are several, else by its own."""
    number = curve if runs == 1 else run
    color = colors.ghost_color(number - 1) if number else _BLUE
    stroke: dict[str, Any] = {"label": label or " ", "stroke": colors.code_of(color), "width": 1.6}
    if runs > 1 and curve:
        stroke["dash"] = list(DASHES[curve % len(DASHES)])
    return stroke | {"points": {"show": False}}
