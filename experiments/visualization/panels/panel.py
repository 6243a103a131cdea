"""Panels: axes with their labels and units, and the points, lines, bands, bars and maps on them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from contact.arrays import Floats
from experiments.visualization.look import style

#: Dashes of lines; the last ones are strokes and gaps [px] through which lines below are visible.
Dash = Literal["", "solid", "dash", "dot", "dashdot", "8px,8px", "4px,12px", "2px,14px"]
#: Symbols of points, by their names in Plotly.
Marker = Literal["", "circle", "square", "diamond", "star", "x", "x-thin", "cross-thin", "line-ew"]
#: Positions of a legend in a file; on a page all panels share one on the right.
Legend = Literal["", "best", "right", "below", "around", "far below", "above", "over"]
#: Lower (n,) and upper (n,) ends of intervals.
Interval = tuple[ArrayLike, ArrayLike]


@dataclass(frozen=True)
class Axis:
    """Axis of a panel; in polar axes x is the azimuth [°] and y the radius."""

    label: str = ""  # label with the unit
    low: float | None = None  # lower end; None: show all values
    high: float | None = None  # upper end; None: show all values
    log: bool = False  # whether the axis is logarithmic
    powers: bool = False  # whether the ticks of a logarithmic axis are powers of ten
    form: str = ".4g"  # format of numbers; % at its end makes ticks percentages
    ticks: Mapping[float, str] = field(default_factory=dict)  # texts at some values
    words: tuple[str, ...] = ()  # texts at the positions 0, 1, 2 … of an axis of categories
    slanted: bool = False  # whether all words are shown, slanted
    grid: bool = True  # whether there are grid lines
    least: float = 0.0  # smallest half range, for values that are only round-off
    margin: float | None = None  # part of the range that is left free at both ends, in files

    @property
    def in_percent(self) -> bool:
        return self.form.endswith("%")


@dataclass(frozen=True, eq=False)
class Points:
    """Markers at n points, a line through them, or both, with optional error bars; nothing is drawn where y is NaN."""

    x: ArrayLike | None  # None in a curve over time, whose figure has the times
    y: ArrayLike
    label: str = ""  # entry in the legend; no entry if empty
    color: str = style.BLUE
    marker: Marker = ""  # no markers if empty
    size: float | Floats = 4.0  # [pt] size of the markers, or (n,) of each one
    face: str = ""  # colour inside the markers; empty: ``color``; "none": hollow markers
    dash: Dash = ""  # dashes of the line; no line if empty
    width: float | None = 1.4  # [pt] width of the line; None: as in the style
    is_step: bool = False  # whether the line keeps each value up to the next x
    interval: Interval | None = None  # interval of each point along y
    x_interval: Interval | None = None  # interval of each point along x
    bar: float = 1.2  # [pt] width of intervals; thin ones have caps
    shades: ArrayLike | None = None  # (n,) numbers for the markers' colours
    hover: Sequence[str] = ()  # (n,) texts under the pointer on a page, instead of coordinates
    numbered: tuple[str, ArrayLike] | None = None  # a word and (n,) numbers, before the coordinates under the pointer
    group: str = ""  # name of items that a page hides together; empty: the label
    alpha: float = 1.0  # opacity
    hidden: bool = False  # whether a page draws it only after a click on the legend


@dataclass(frozen=True, eq=False)
class Area:
    """Filled polygon with n corners; ``x``, ``y``: (n,)."""

    x: ArrayLike
    y: ArrayLike
    color: str
    label: str = ""
    alpha: float = 0.35  # opacity
    edge: str = ""  # colour of the outline, if any
    group: str = ""

    @classmethod
    def between(cls, x: ArrayLike, low: ArrayLike, high: ArrayLike, *look: Any, **more: Any) -> "Area":
        """Return the area between two curves of (n,) points."""
        x, low, high = (np.asarray(values, dtype=float) for values in (x, low, high))
        return cls(np.append(x, x[::-1]), np.append(high, low[::-1]), *look, **more)


@dataclass(frozen=True)
class Rule:
    """Line across the panel at the value ``value`` of x or y (``along``)."""

    value: float
    color: str = style.BLACK
    label: str = ""
    along: Literal["x", "y"] = "x"
    dash: Dash = "solid"
    width: float = 0.8


@dataclass(frozen=True, eq=False)
class Bars:
    """Horizontal bars (n,) with intervals and notes at their ends, or vertical stacked ones."""

    at: ArrayLike  # (n,) positions: numbers, or indices of the axis's words
    values: ArrayLike
    color: str | Sequence[str]  # one colour, or one for each bar
    label: str = ""
    width: float = 0.6  # width of a bar
    interval: Interval | None = None
    stacked: bool = False  # vertical, on top of earlier bars
    notes: Sequence[str] = ()

    @property
    def ends(self) -> Floats:
        """Ends (n,) of the bars, or of their intervals."""
        return np.asarray(self.values if self.interval is None else np.maximum(self.values, self.interval[1]), float)


@dataclass(frozen=True, eq=False)
class HeatMap:
    """Numbers (rows, columns) as colours; NaN is blank."""

    x: ArrayLike  # (columns,) centres of the cells, evenly spaced
    y: ArrayLike  # (rows,) centres of the cells, evenly spaced
    z: Floats
    label: str = ""  # label of the colour scale
    form: str = ".4g"  # format of the numbers; percentages if it ends in %
    low: float | None = None  # number of the first colour; the smallest one if None
    high: float | None = None  # number of the last colour; the largest one if None
    texts: Sequence[Sequence[str]] = ()  # texts in the cells
    hover: Sequence[Sequence[str]] = ()  # texts under the pointer on a page, instead of coordinates and number


@dataclass(frozen=True, eq=False)
class Spans:
    """Horizontal bars (n,) from a beginning to an end, on an axis of categories."""

    at: ArrayLike  # (n,) indices of the axis's words
    begins: Floats
    ends: Floats
    color: str
    label: str = ""


Item = Points | Area | Rule | Bars | HeatMap | Spans


@dataclass(frozen=True)
class Panel:
    """Pair of axes with the items on them; lines and markers are drawn in the order of ``items``, above areas."""

    items: tuple[Item, ...]
    x: Axis = field(default_factory=Axis)
    y: Axis = field(default_factory=Axis)
    title: str = ""
    polar: bool = False  # whether x is the azimuth [°] in a top view of a robot that faces up
    legend: Legend = ""  # no legend in a file if empty
    columns: int = 1  # columns of the legend

    @property
    def curves(self) -> tuple[Points, ...]:
        """Points and lines of the panel."""
        return tuple(item for item in self.items if isinstance(item, Points))

    @property
    def vertical(self) -> Axis:
        """Axis along y, with fixed ends if all values are round-off."""
        sizes = [np.nanmax(np.abs(np.asarray(c.y, float)), initial=0.0) for c in self.curves]
        if self.y.least and max(sizes, default=0.0) < self.y.least:
            return replace(self.y, low=-1.1 * self.y.least, high=1.1 * self.y.least)
        return self.y


def closed(values: ArrayLike) -> Floats:
    """Return values (n + 1,) around a circle, with the first one repeated at the end."""
    values = np.asarray(values, dtype=float)
    return np.append(values, values[:1])
