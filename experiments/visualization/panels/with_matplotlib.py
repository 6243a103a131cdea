"""Drawing of panels with Matplotlib."""

from collections.abc import Mapping, Sequence
from functools import singledispatch
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis as PaperAxis
from matplotlib.figure import Figure
from matplotlib.projections.polar import PolarAxes
from matplotlib.ticker import LogFormatter, MaxNLocator, PercentFormatter

from experiments.studies.threshold.directions import WORDS
from experiments.visualization.look import style
from experiments.visualization.look.writing import styled, write_figure
from experiments.visualization.panels.panel import Area, Axis, Bars, HeatMap, Item, Panel, Points, Rule, Spans

DASHES: Mapping[str, Any] = {
    "": "none", "solid": "-", "dash": (0, (3.5, 1.8)), "dot": (0, (1, 1.4)), "dashdot": "-.",
    "8px,8px": (0, (4, 4)), "4px,12px": (0, (2, 6)), "2px,14px": (0, (1, 7)),
}  # fmt: skip
_MARKERS = {
    "": "", "circle": "o", "square": "s", "diamond": "D", "star": "*", "x": "X", "x-thin": "x", "cross-thin": "+",
    "line-ew": "_",
}  # fmt: skip
_LEGENDS: Mapping[str, Mapping[str, Any]] = {
    "best": {"loc": "best"},
    "right": {"loc": "upper left", "bbox_to_anchor": (1.0, 1.02), "borderaxespad": 0.3, "handlelength": 1.6},
    "below": {"loc": "upper center", "bbox_to_anchor": (0.5, -0.14)},
    "around": {"loc": "upper center", "bbox_to_anchor": (0.5, -0.1)},
    "far below": {"loc": "upper center", "bbox_to_anchor": (0.5, -0.62), "handlelength": 1.2},
    "above": {"loc": "lower right", "bbox_to_anchor": (1.0, 1.0)},
    "over": {"loc": "upper center", "labelcolor": "white"},
}
#: Brightness of a cell below which its text is white.
_DARK = 0.55
#: Most words along an axis that are all shown.
_MOST_WORDS = 12


class _Place(NamedTuple):
    """Axes, panel and z-order for an item."""

    axes: Axes
    panel: Panel
    above: float  # z-order of lines and markers


def figure_of(
    panels: Panel | Sequence[Panel | None], size: tuple[float, float], columns: int = 1, **options: Any
) -> Figure:
    """Return a figure of a panel, or of several panels row by row; it needs no ``pyplot.close``.

    Args:
        panels: at least one; None leaves a cell empty.
        size: width and height [inch] of the figure.
        columns: number of panels in a row.
        options: further arguments of ``Figure.subplots``.
    """
    panels = [panels] if isinstance(panels, Panel) else panels
    projection = {"projection": "polar"} if panels[0] and panels[0].polar else {}
    figure = Figure(figsize=size)
    cells = figure.subplots(
        -(-len(panels) // columns), columns, squeeze=False, subplot_kw=projection, **options
    ).ravel()
    for axes, panel in zip_longest(cells, panels):
        if panel is None:
            axes.remove()
        else:
            draw(axes, panel)
    return figure


def write_panels(path: str | Path, panels: Panel | Sequence[Panel | None], size: tuple[float, float]) -> list[Path]:
    """Write the figure of panels (``figure_of``) in the style and the formats of the current look; return the files."""
    with styled():
        return write_figure(figure_of(panels, size), path)


def draw(axes: Axes, panel: Panel) -> None:
    """Draw a panel on axes, polar ones for a polar panel."""
    for place, item in enumerate(panel.items):
        _draw(item, _Place(axes, panel, 2.0 + 0.01 * place))
    if panel.polar:
        assert isinstance(axes, PolarAxes)
        face_front(axes)
        axes.set_ylim(panel.y.low, panel.y.high)
    else:
        _set_axis(axes, "x", panel.x)
        _set_axis(axes, "y", panel.vertical)
    if panel.title:
        axes.set_title(panel.title)
    if panel.legend:
        axes.legend(ncols=panel.columns, **_LEGENDS[panel.legend])


def face_front(axes: PolarAxes) -> None:
    """Label directions in words and degrees around a robot that faces up; at most five circles."""
    axes.set_theta_zero_location("N")
    axes.set_xticks(np.radians(np.arange(0, 360, 45)), [f"{WORDS[k]}\n{45 * k}°" for k in range(8)])
    axes.tick_params(axis="x", pad=10)
    axes.set_rlabel_position(157.5)
    axes.yaxis.set_major_locator(MaxNLocator(5))


class _PlainLogFormatter(LogFormatter):
    def _num_to_string(self, x: float, vmin: float, vmax: float) -> str:
        return f"{x:g}"


def plain_log_ticks(axis: PaperAxis) -> None:
    """Label ticks of a logarithmic axis with numbers such as 0.5 and 20; if it spans few decades, also within them."""
    axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter(_PlainLogFormatter(labelOnlyBase=False, minor_thresholds=(2.0, 0.5)))


def _set_axis(axes: Axes, name: str, axis: Axis) -> None:
    ticks = getattr(axes, f"{name}axis")
    getattr(axes, f"set_{name}label")(axis.label)
    if axis.log:
        getattr(axes, f"set_{name}scale")("log")
        if axis.ticks:
            ticks.set_minor_formatter("")
        elif not axis.powers:
            plain_log_ticks(ticks)
    elif axis.in_percent:
        ticks.set_major_formatter(PercentFormatter(1.0))
    if axis.words:
        turned: Any = {"rotation": 45, "ha": "right"} if axis.slanted else {}
        step = 1 if axis.slanted else -(-len(axis.words) // _MOST_WORDS)
        ticks.set_ticks(range(0, len(axis.words), step), axis.words[::step], **turned)
    elif axis.ticks:
        ticks.set_ticks(list(axis.ticks), list(axis.ticks.values()))
    if axis.margin is not None:
        getattr(axes, f"set_{name}margin")(axis.margin)
    if axis.low is not None or axis.high is not None:
        getattr(axes, f"set_{name}lim")(axis.low, axis.high)
    if not axis.grid:
        axes.grid(visible=False, axis="x" if name == "x" else "y")


def _along(values: Any, panel: Panel) -> Any:
    return np.radians(np.asarray(values, dtype=float)) if panel.polar else values


def _reach(values: Any, interval: Any) -> Any:
    """Return the lengths (2, n) of error bars."""
    return None if interval is None else np.abs(np.asarray(interval, dtype=float) - np.asarray(values, dtype=float))


def _are_inside(item: Points, panel: Panel) -> bool:
    """Return whether all points lie within the given ends of a panel's axes."""
    for values, axis in ((item.x, panel.x), (item.y, panel.vertical)):
        low, high = (default if end is None else end for end, default in ((axis.low, -np.inf), (axis.high, np.inf)))
        shown = np.asarray([] if values is None else values, dtype=float)
        if np.any((shown < low) | (shown > high)):
            return False
    return True


@singledispatch
def _draw(item: Item, _on: _Place) -> None:
    raise TypeError(f"a panel cannot draw a {type(item).__name__}")


@_draw.register
def _draw_points(item: Points, on: _Place) -> None:
    x, label = _along(item.x, on.panel), item.label or None
    is_clipped = bool(item.dash) and not (item.marker and _are_inside(item, on.panel))
    if item.shades is not None or np.ndim(item.size):
        colors: Any = {"c": item.shades, "cmap": f"{style.MAP}_r", "linewidths": 0} if item.shades is not None else {
            "facecolors": item.face or item.color, "edgecolors": item.color, "linewidths": 1.0,
        }  # fmt: skip
        on.axes.scatter(x, item.y, s=np.square(item.size), label=label, zorder=on.above, alpha=item.alpha,
                        clip_on=not _are_inside(item, on.panel), **colors)  # fmt: skip
        return
    look: dict[str, Any] = {
        "color": item.color, "marker": _MARKERS[item.marker], "markersize": item.size, "linewidth": item.width,
        "linestyle": DASHES[item.dash], "label": label, "zorder": on.above, "alpha": item.alpha,
        "clip_on": is_clipped or not np.size(x), "drawstyle": "steps-post" if item.is_step else "default",
    }  # fmt: skip
    if item.face:
        look["markerfacecolor"] = item.face
    elif item.marker == "star":
        look["markeredgecolor"] = "white"
    if item.interval is None and item.x_interval is None:
        on.axes.plot(x, item.y, **look)
    else:
        ends = {"yerr": _reach(item.y, item.interval), "xerr": _reach(item.x, item.x_interval)}
        look["zorder"] -= 0.1  # intervals are below markers and line
        _, caps, bars = on.axes.errorbar(
            x, item.y, elinewidth=item.bar, capsize=2.5 if item.bar < 1.0 else 0.0, **ends, **look
        )
        for end in (*caps, *bars):  # parts beyond the axis would cover the title
            end.set_clip_on(True)


@_draw.register
def _draw_area(item: Area, on: _Place) -> None:
    look: Any = {"facecolor": (item.color, item.alpha), "edgecolor": item.edge or "none", "linewidth": 0.8}
    on.axes.fill(_along(item.x, on.panel), item.y, label=item.label or None, **look)


@_draw.register
def _draw_rule(item: Rule, on: _Place) -> None:
    across = on.axes.axvline if item.along == "x" else on.axes.axhline
    look: Any = {"color": item.color, "linewidth": item.width, "linestyle": DASHES[item.dash], "zorder": on.above}
    across(item.value, label=item.label or None, **look)


@_draw.register
def _draw_bars(item: Bars, on: _Place) -> None:
    at, values = np.asarray(item.at, dtype=float), np.asarray(item.values, dtype=float)
    mine = [bars for bars in on.panel.items if isinstance(bars, Bars)]
    place = next(k for k, bars in enumerate(mine) if bars is item)
    look: Any = {"color": item.color, "label": item.label or None}
    if item.stacked:
        below = sum((np.asarray(bars.values, dtype=float) for bars in mine[:place]), np.zeros(len(at)))
        on.axes.bar(at, values, item.width, below, **look)
        return
    at = at + (item.width + 0.02) * (0.5 * (len(mine) - 1) - place)
    on.axes.barh(at, values, item.width, **look)
    if item.interval is not None:
        reach = _reach(values, item.interval)
        on.axes.errorbar(values, at, xerr=reach, fmt="none", ecolor=style.BLACK, elinewidth=0.9, capsize=2.0)
    for text, end in zip(item.notes, zip(item.ends, at, strict=True), strict=False):
        on.axes.annotate(text, end, (4, 0), textcoords="offset points", va="center", fontsize=8.0)


@_draw.register
def _draw_spans(item: Spans, on: _Place) -> None:
    label = item.label or None
    for at in np.unique(item.at):
        mine = np.asarray(item.at) == at
        bars = np.column_stack([item.begins[mine], item.ends[mine] - item.begins[mine]])
        look: Any = {"facecolors": item.color, "linewidth": 0.0, "label": label}
        on.axes.broken_barh(bars.tolist(), (float(at) - 0.46, 0.92), **look)
        label = None


@_draw.register
def _draw_map(item: HeatMap, on: _Place) -> None:
    colors: Any = {"cmap": style.MAP, "vmin": item.low, "vmax": item.high, "rasterized": True, "shading": "nearest"}
    mesh = on.axes.pcolormesh(item.x, item.y, item.z, **colors)
    on.axes.grid(visible=False)
    form = PercentFormatter(1.0) if item.form.endswith("%") else None
    on.axes.figure.colorbar(mesh, ax=on.axes, pad=0.02, label=item.label, format=form)
    for (row, column), text in np.ndenumerate(np.array(item.texts, dtype=object).reshape(-1, item.z.shape[1])):
        dark = float(np.asarray(mesh.norm(item.z[row, column]))) < _DARK
        look: Any = {"ha": "center", "va": "center", "fontsize": 7, "color": "white" if dark else "black"}
        on.axes.text(float(np.asarray(item.x)[column]), float(np.asarray(item.y)[row]), str(text), **look)
