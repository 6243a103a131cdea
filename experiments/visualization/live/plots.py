"""Plots of what is recorded while it runs, and the numbers that tell most."""

import math
from collections import deque
from typing import Any

import numpy as np

from biped.metrics.kernels.support import SERIES
from contact.arrays import Floats
from experiments.cli.quantities import unit_text
from experiments.visualization.figures.support import ahead_of
from experiments.visualization.live.loop import Loop
from experiments.visualization.live.tape import quantities_of
from experiments.visualization.viewer.plot_panel import with_room

#: What the plots show at first, of a model that looks along this axis.
SHOWN = ("cop_{ahead}", "com_{ahead}", "margin_of_stability")
NONE = "(none)"
#: [s] that a plot looks back.
SPAN = 8.0
#: [1/s] how often plots change.
RATE = 5.0
#: [s] A limp body begins that much before its fall was known, at most.
BACK = 0.05
#: One row of so many is drawn.
THINNED = 3
_STROKE = {"stroke": "#0072B2", "width": 1.6, "points": {"show": False}}
#: A curve that is there for the range of the axis.
_UNSEEN = {"stroke": "transparent", "width": 0, "points": {"show": False}}
#: What parts of columns' names are short for.
_LONG = {
    "grf": "floor reaction force",
    "cop": "centre of pressure",
    "com": "centre of mass",
    "xcom": "extrapolated centre of mass",
    "zmp": "zero moment point",
}


class LivePlots:
    """Several plots, each of a quantity that is chosen from all that a row holds."""

    def __init__(self, gui: Any, loop: Loop) -> None:
        self._gui = gui
        units = SERIES | {name: loop.columns.units[name] for name in _shown(loop)}
        self._titles = {name: _title(name, unit) for name, unit in units.items() if name != "time"}
        self._names = {title: name for name, title in self._titles.items()}
        self._chunks: deque[dict[str, Floats]] = deque()
        self._handles: list[Any] = []
        ahead = "xy"[ahead_of(loop.model)]
        self._choices = [self._add(name.format(ahead=ahead)) for name in SHOWN]
        self._seen = -math.inf  # [s] simulated, up to where it is drawn

    def _add(self, name: str) -> Any:
        options = (NONE, *self._names)
        number = len(self._handles)
        choice = self._gui.add_dropdown(
            f"Plot {number + 1}", options, initial_value=self._titles.get(name, NONE), hint="type to search"
        )
        slot = self._gui.add_folder(None)
        with slot:
            self._handles.append(
                self._gui.add_uplot(
                    (np.zeros(2), np.full(2, np.nan), np.full(2, np.nan)),
                    ({"label": "time [s]"}, {"label": " ", **_STROKE}, {"label": " ", **_UNSEEN}),
                    scales={"x": {"time": False}},
                    legend={"show": False},
                    cursor={"drag": {"x": False, "y": False}},
                    height=150,
                    padding=(14, 8, 0, 0),
                    visible=bool(name),
                )
            )
        choice.on_update(lambda _: self._draw())
        return choice

    def update(self, loop: Loop) -> None:
        """Draw what is new."""
        if loop.time < self._seen - BACK:  # it was restarted
            self._chunks.clear()
            self._seen = -math.inf
        fresh = loop.recorded_since(max(self._seen, loop.time - SPAN))
        if fresh is None:
            return
        self._chunks.append({name: values[::THINNED] for name, values in quantities_of(fresh).items()})
        self._seen = float(fresh.rows[-1, 0])
        while self._chunks[0]["time"][-1] < self._seen - SPAN:
            self._chunks.popleft()
        self._draw()

    def _draw(self) -> None:
        for choice, handle in zip(self._choices, self._handles, strict=True):
            name = self._names.get(choice.value)
            shown = name is not None
            if handle.visible != shown:
                handle.visible = shown
            if name is not None and self._chunks:
                values = self._curve(name)
                handle.data = (self._curve("time"), values, _room(values))

    def _curve(self, name: str) -> Floats:
        chunks = tuple(self._chunks)
        return np.concatenate([chunk.get(name, np.full(len(chunk["time"]), np.nan)) for chunk in chunks])

    def readouts(self) -> str:
        """The numbers that say most about balance now, as Markdown; empty before anything was recorded."""
        if not self._chunks:
            return ""
        last = {name: float(values[-1]) for name, values in self._chunks[-1].items() if len(values)}
        torques = {name: value for name, value in last.items() if name.startswith("torque_")}
        most = max(torques, key=lambda name: abs(torques[name]), default="")
        lines = [
            ("margin of stability", _shown_as(last, ["margin_of_stability"], 1e3, "mm")),
            ("centre of pressure", _shown_as(last, ["cop_x", "cop_y"], 1e3, "mm")),
            ("floor reaction force", _shown_as(last, ["grf_x", "grf_y", "grf_z"], 1.0, "N")),
            (f"torque, {_words(most.removeprefix('torque_'))}", _shown_as(last, [most], 1.0, "N·m")),
        ]
        return "\n".join(f"| {what} | {value} |" for what, value in [(" ", " "), ("-", "-:"), *lines])


def _shown(loop: Loop) -> list[str]:
    return [loop.columns.names[place] for place in loop.columns.shown]


def _words(name: str) -> str:
    first, *others = name.split("_")
    return " ".join((_LONG.get(first, first), *others))


def _room(values: Floats) -> Floats:
    """The ends of a range that has room around some values, and nothing else: what is constant is drawn so."""
    ends = np.full(len(values), np.nan)
    if len(values) > 1 and np.isfinite(values).any():
        ends[:2] = with_room(float(np.nanmin(values)), float(np.nanmax(values)))
    return ends


def _title(name: str, unit: str) -> str:
    shown = unit_text(unit)
    return f"{_words(name)} [{shown}]" if shown else _words(name)


def _shown_as(last: dict[str, float], names: list[str], scale: float, unit: str) -> str:
    values = [scale * last.get(name, math.nan) for name in names]
    if not all(map(math.isfinite, values)):
        return "–"
    return f"{', '.join(str(round(value)) for value in values)} {unit}"
