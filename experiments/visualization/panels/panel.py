"""Panels: axes with their labels and units, and the points, lines, bands, bars and maps on them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from contact.arrays import Floats
from experiments.visualization.figures import style

Dash = Literal["", "solid", "dash", "dot", "dashdot"]
#: Symbols of points, by their names in Plotly.
Marker = Literal["", "circle", "square", "diamond", "star", "x", "x-thin", "cross-thin", "line-ew",
                 "triangle-down", "triangle-up", "cross", "triangle-left", "triangle-right"]  # fmt: skip
#: Places of a legend in a figure of Matplotlib; on a page all panels share one on the right.
Legend = Literal["", "best", "right", "beside", "below", "far below", "above", "center right", "over"]
Interval = tuple[ArrayLike, ArrayLike]


@dataclass(frozen=True)
class Axis:
    """An axis; of polar axes, x is the azimuth [°] and y the radius.

    Attributes:
        label: with the unit.
        low: its lower end; None to show all that there is.
        high: its upper end.
        log: whether it is logarithmic.
        powers: whether the ticks of a logarithmic axis are powers of ten, as for values that span many decades.
        form: format of its numbers; a format in percent is that of its ticks, too.
        ticks: texts at some values.
        words: texts at the places 0, 1, 2 …: the axis of a category.
        slanted: whether the words are long, and slanted where they stand beside one another.
        grid: whether it has grid lines.
        margin: the part of its range that is left free at both ends, where these are not given.
    """

    label: str = ""
    low: float | None = None
    high: float | None = None
    log: bool = False
    powers: bool = False
    form: str = ".4g"
    ticks: Mapping[float, str] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    slanted: bool = False
    grid: bool = True
    margin: float | None = None

    @property
    def in_percent(self) -> bool:
        return self.form.endswith("%")


@dataclass(frozen=True, eq=False)
class Points:
    """Points as markers, or joined by a line, or both; with intervals.

    Attributes:
        x: (n,) along x.
        y: (n,) along y; nothing is drawn where it is NaN.
        label: in the legend; none without.
        color: of line and markers.
        marker: symbol; none without.
        size: [pt] of the marker, (n,) of each.
        face: colour inside of the marker, where it is another; ``none`` for a hollow one.
        dash: of the line; not joined without.
        width: [pt] of the line.
        is_step: whether the line keeps each value up to the next x.
        interval: (n,) lower and (n,) upper ends along y.
        x_interval: likewise along x.
        bar: [pt] width of the intervals' lines.
        shades: (n,) numbers that the markers are coloured by, from little to much.
        hover: (n,) texts under the pointer; coordinates without.
        group: what is hidden and shown together on a page, where it is not the label.
        alpha: opacity.
    """

    x: ArrayLike
    y: ArrayLike
    label: str = ""
    color: str = style.BLUE
    marker: Marker = ""
    size: float | Floats = 4.0
    face: str = ""
    dash: Dash = ""
    width: float = 1.4
    is_step: bool = False
    interval: Interval | None = None
    x_interval: Interval | None = None
    bar: float = 1.2
    shades: ArrayLike | None = None
    hover: Sequence[str] = ()
    group: str = ""
    alpha: float = 1.0


@dataclass(frozen=True, eq=False)
class Band:
    """The area between two curves: (n,) ``low`` and ``high`` over ``x``."""

    x: ArrayLike
    low: ArrayLike
    high: ArrayLike
    color: str
    label: str = ""
    alpha: float = 0.35
    group: str = ""


@dataclass(frozen=True, eq=False)
class Outline:
    """A filled polygon with (n,) corners."""

    x: ArrayLike
    y: ArrayLike
    face: str
    edge: str


@dataclass(frozen=True)
class Span:
    """All between two values of x, or of y."""

    low: float
    high: float
    color: str
    label: str = ""
    along: Literal["x", "y"] = "x"
    alpha: float = 0.15
    group: str = ""


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
    """(n,) bars at ``at``, with the ends of their intervals.

    Several of a panel stand beside one another, the first on top or to the left; or on one another where they are
    ``stacked``.

    Attributes:
        at: (n,) numbers, or places of words.
        values: (n,) lengths.
        color: of all; or (n,) of each.
        label: in the legend.
        width: of a bar.
        interval: (n,) lower and (n,) upper ends.
        upright: whether they stand; they lie otherwise.
        stacked: whether they stand on one another.
        notes: (n,) texts at the bars' ends.
    """

    at: ArrayLike
    values: ArrayLike
    color: str | Sequence[str]
    label: str = ""
    width: float = 0.6
    interval: Interval | None = None
    upright: bool = False
    stacked: bool = False
    notes: Sequence[str] = ()


@dataclass(frozen=True, eq=False)
class Layers:
    """Shares of a whole, (n,) each by its name, one on the other; each holds from half-way before its x to half-way
    behind it.
    """

    x: ArrayLike
    parts: Mapping[str, Floats]
    colors: Sequence[str]


@dataclass(frozen=True, eq=False)
class HeatMap:
    """(rows, columns) numbers as colours.

    Attributes:
        x: (columns,) middles of the cells, equally far apart.
        y: (rows,) likewise.
        z: (rows, columns); NaN is blank.
        label: of the colours' scale.
        form: format of the numbers; a format in percent is that of the scale, too.
        low: the number of the first colour; the least one if not given.
        high: the number of the last colour; the greatest one if not given.
        texts: what is written in the cells of a figure in a file.
        hover: what stands under the pointer on a page; coordinates and number without.
    """

    x: ArrayLike
    y: ArrayLike
    z: Floats
    label: str = ""
    form: str = ".4g"
    low: float | None = None
    high: float | None = None
    texts: Sequence[Sequence[str]] = ()
    hover: Sequence[Sequence[str]] = ()


Item = Points | Band | Outline | Span | Rule | Bars | Layers | HeatMap


@dataclass(frozen=True)
class Panel:
    """Items on axes.

    Attributes:
        items: what is drawn; lines and markers in this order above areas.
        x: along x.
        y: along y.
        title: above the panel.
        polar: whether x is the azimuth [°] around a robot that is seen from above, its front at the top.
        legend: its place in a figure of Matplotlib; none without.
        columns: of that legend.
    """

    items: tuple[Item, ...]
    x: Axis = field(default_factory=Axis)
    y: Axis = field(default_factory=Axis)
    title: str = ""
    polar: bool = False
    legend: Legend = ""
    columns: int = 1


def closed(values: ArrayLike) -> Floats:
    """(n + 1,) values around a circle, with the first one at the end again."""
    values = np.asarray(values, dtype=float)
    return np.append(values, values[:1])
