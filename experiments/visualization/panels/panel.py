"""Panels: axes with their labels and units, and the points, lines, bands, bars and maps on them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from contact.arrays import Floats
from experiments.visualization.look import style

#: Lines; the last ones are strokes and gaps [px] that let lines below them be seen.
Dash = Literal["", "solid", "dash", "dot", "dashdot", "8px,8px", "4px,12px", "2px,14px"]
#: Symbols of points, by their names in Plotly.
Marker = Literal["", "circle", "square", "diamond", "star", "x", "x-thin", "cross-thin", "line-ew"]
#: Places of a legend in a file; on a page all panels share one on the right.
Legend = Literal["", "best", "right", "below", "around", "far below", "above", "over"]
#: (n,) lower and (n,) upper ends.
Interval = tuple[ArrayLike, ArrayLike]


@dataclass(frozen=True)
class Axis:
    """An axis; of polar axes, x is the azimuth [°] and y the radius."""

    label: str = ""  # with the unit
    low: float | None = None  # its lower end; None to show all that there is
    high: float | None = None  # its upper end
    log: bool = False  # whether it is logarithmic
    powers: bool = False  # whether the ticks of a logarithmic axis are powers of ten
    form: str = ".4g"  # format of numbers; the ticks of one that ends in % are percents
    ticks: Mapping[float, str] = field(default_factory=dict)  # texts at some values
    words: tuple[str, ...] = ()  # texts at the places 0, 1, 2 … of an axis of categories
    slanted: bool = False  # whether words are all shown, slanted
    grid: bool = True  # whether there are grid lines
    least: float = 0.0  # half the range that is shown at least where all values are smaller, such as round-off
    margin: float | None = None  # part of the range that is left free at both ends, in files

    @property
    def in_percent(self) -> bool:
        return self.form.endswith("%")


@dataclass(frozen=True, eq=False)
class Points:
    """(n,) points as markers, or joined by a line, or both, with intervals; nothing is drawn where y is NaN."""

    x: ArrayLike | None  # None in a curve over time, whose figure has the times
    y: ArrayLike
    label: str = ""  # in the legend; not in it without
    color: str = style.BLUE
    marker: Marker = ""  # none without
    size: float | Floats = 4.0  # [pt] of a marker, or (n,) of each
    face: str = ""  # colour inside of a marker, where it is another; "none" for a hollow one
    dash: Dash = ""  # of the line; not joined without
    width: float | None = 1.4  # [pt] of the line; that of the style if None
    is_step: bool = False  # whether the line keeps each value up to the next x
    interval: Interval | None = None  # along y
    x_interval: Interval | None = None  # along x
    bar: float = 1.2  # [pt] width of intervals; thin ones have caps
    shades: ArrayLike | None = None  # (n,) numbers that the markers are coloured by, from little to much
    hover: Sequence[str] = ()  # (n,) texts under the pointer on a page; coordinates without
    numbered: tuple[str, ArrayLike] | None = None  # a word and (n,) numbers, before the coordinates under the pointer
    group: str = ""  # what is hidden together with others on a page, where it is not the label
    alpha: float = 1.0  # opacity
    hidden: bool = False  # whether a page draws it only after a click on its entry in the legend


@dataclass(frozen=True, eq=False)
class Area:
    """A filled polygon with (n,) corners."""

    x: ArrayLike
    y: ArrayLike
    color: str
    label: str = ""
    alpha: float = 0.35  # opacity
    edge: str = ""  # colour of its outline, where it has one
    group: str = ""

    @classmethod
    def between(cls, x: ArrayLike, low: ArrayLike, high: ArrayLike, *look: Any, **more: Any) -> "Area":
        """Between two curves of (n,) points: out along the one, back along the other."""
        x, low, high = (np.asarray(values, dtype=float) for values in (x, low, high))
        return cls(np.append(x, x[::-1]), np.append(high, low[::-1]), *look, **more)


@dataclass(frozen=True)
class Rule:
    """A line at a value of x, or of y, across the panel."""

    value: float
    color: str = style.BLACK
    label: str = ""
    along: Literal["x", "y"] = "x"
    dash: Dash = "solid"
    width: float = 0.8


@dataclass(frozen=True, eq=False)
class Bars:
    """(n,) lying bars side by side, with intervals and notes at their ends; or upright ones, stacked."""

    at: ArrayLike  # numbers, or places of words
    values: ArrayLike
    color: str | Sequence[str]  # of all, or of each
    label: str = ""
    width: float = 0.6  # of a bar
    interval: Interval | None = None
    stacked: bool = False  # upright, on those before
    notes: Sequence[str] = ()

    @property
    def ends(self) -> Floats:
        """(n,) where the bars end, or their intervals."""
        return np.asarray(self.values if self.interval is None else np.maximum(self.values, self.interval[1]), float)


@dataclass(frozen=True, eq=False)
class HeatMap:
    """(rows, columns) numbers as colours; NaN is blank."""

    x: ArrayLike  # (columns,) middles of the cells, equally far apart
    y: ArrayLike  # (rows,) likewise
    z: Floats
    label: str = ""  # of the colours' scale
    form: str = ".4g"  # of the numbers; percents where it ends in %
    low: float | None = None  # the number of the first colour; the least one if not given
    high: float | None = None  # the number of the last colour; the greatest one if not given
    texts: Sequence[Sequence[str]] = ()  # written in the cells
    hover: Sequence[Sequence[str]] = ()  # under the pointer on a page; coordinates and number without


@dataclass(frozen=True, eq=False)
class Spans:
    """(n,) lying bars from a beginning to an end, at places of words."""

    at: ArrayLike  # places of words
    begins: Floats
    ends: Floats
    color: str
    label: str = ""


Item = Points | Area | Rule | Bars | HeatMap | Spans


@dataclass(frozen=True)
class Panel:
    """Items on axes; lines and markers are drawn in their order above areas."""

    items: tuple[Item, ...]
    x: Axis = field(default_factory=Axis)
    y: Axis = field(default_factory=Axis)
    title: str = ""
    polar: bool = False  # whether x is the azimuth [°] around a robot that is seen from above, its front at the top
    legend: Legend = ""  # none in a file without
    columns: int = 1  # of that legend

    @property
    def curves(self) -> tuple[Points, ...]:
        """The points and lines."""
        return tuple(item for item in self.items if isinstance(item, Points))

    @property
    def vertical(self) -> Axis:
        """The axis along y, whose ends are set where all values are round-off."""
        sizes = [np.nanmax(np.abs(np.asarray(one.y, float)), initial=0.0) for one in self.curves]
        if self.y.least and max(sizes, default=0.0) < self.y.least:
            return replace(self.y, low=-1.1 * self.y.least, high=1.1 * self.y.least)
        return self.y


def closed(values: ArrayLike) -> Floats:
    """(n + 1,) values around a circle, with the first one at the end again."""
    values = np.asarray(values, dtype=float)
    return np.append(values, values[:1])
