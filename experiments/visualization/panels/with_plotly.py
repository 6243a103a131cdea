"""Drawing of panels with Plotly: one, several in rows, or several sets in a menu."""

from collections.abc import Mapping, Sequence
from functools import singledispatch
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from experiments.studies.threshold.directions import WORDS
from experiments.visualization.look import style, theme
from experiments.visualization.look.theme import plain
from experiments.visualization.panels.panel import Area, Axis, Bars, HeatMap, Item, Panel, Points, Rule, Spans, closed

if TYPE_CHECKING:
    import plotly.graph_objects as go

#: Panels in a row.
COLUMNS = 3
#: [px] height of a panel, of a single one, below it, above and below all; part of the width between two panels.
_PANEL, _ALONE, _BELOW, _TOP, _BOTTOM, _GAP = 230, 300, 70, 34, 60, 0.085
#: [px] above panels with titles or a menu.
_HIGH_TOP = 70
#: [px] size of a marker for a size of 1 pt in a file.
_PX = 1.6
#: [°] direction of the radius labels; they are turned back by as much to stay upright.
_RADII_AT = 157.5


def figure_of(
    panels: Panel | Sequence[Panel] | Mapping[str, Sequence[Panel]], columns: int = COLUMNS, height: int | None = None
) -> "go.Figure":
    """Return a figure of one panel, of several panels row by row, or of several panels for each entry of a menu.

    Items with the same label are hidden and shown together. Panels at the same position share their axes in all
    entries of a menu; rules across a panel are always shown.

    Args:
        panels: at least one, and equally many for each entry; the title of a single panel is not drawn.
        columns: most panels in a row.
        height: [px] height of the figure; None: as the panels need.
    """
    if isinstance(panels, Panel):
        panels = [panels]
    choices = panels if isinstance(panels, Mapping) else {"": panels}
    figure = _grid(list(choices.values()), columns)
    if height is not None:
        figure.update_layout(height=height)
    counts: list[int] = []
    for panels in choices.values():
        before, labels = len(figure.data), set[str]()
        for k, panel in enumerate(panels):
            _add_panel(figure, k, panel, labels)
        for trace in figure.data[before:] if counts else ():
            trace.visible = False
        counts.append(len(figure.data) - before)
    if len(choices) > 1:
        _add_menu(figure, list(choices), counts)
    return figure


def _grid(choices: Sequence[Sequence[Panel]], columns: int) -> "go.Figure":
    """Return empty axes; a y label is shown if all choices have it and the panel on the left has another."""
    from plotly.subplots import make_subplots

    panels = choices[0]
    count = len(panels)
    columns = min(columns, count)
    rows = -(-count // columns)
    inner = rows * (_PANEL if count > 1 else _ALONE) + (rows - 1) * _BELOW
    top = _HIGH_TOP if len(choices) > 1 else _TOP
    margin = {"t": top, "b": _BOTTOM}
    if panels[0].polar:
        return theme.new_figure(inner + top + _BOTTOM, margin=margin, polar=_polar(panels[0].y))
    there: list[list[dict[str, Any] | None]] = [
        [{} if row * columns + column < count else None for column in range(columns)] for row in range(rows)
    ]
    figure = make_subplots(rows, columns, specs=there, horizontal_spacing=_GAP, vertical_spacing=_BELOW / inner)
    figure.update_layout(theme.new_figure(inner + top + _BOTTOM, margin=margin).layout)
    labels = [panel.y.label if len({c[k].y.label for c in choices}) == 1 else "" for k, panel in enumerate(panels)]
    axes: dict[str, dict[str, Any]] = {}
    titles: list[dict[str, Any]] = []
    for k, panel in enumerate(panels):
        number = number_of(k)
        x, y = axes[f"xaxis{number}"], axes[f"yaxis{number}"] = _axis(panel.x), _axis(panel.y)
        x["title"] = {"text": plain(panel.x.label)}
        if k % columns == 0 or labels[k] != labels[k - 1]:
            y["title"] = {"text": plain(labels[k])}
        if panel.title and count > 1:
            titles.append({
                "text": f"<b>{plain(panel.title)}</b>", "xref": f"x{number} domain", "x": 0, "xanchor": "left",
                "yref": f"y{number} domain", "y": 1, "yanchor": "bottom", "showarrow": False,
            })  # fmt: skip
    figure.update_layout(axes, annotations=titles)  # together, as each update copies the layout
    return figure


def number_of(k: int) -> str:
    return "" if k == 0 else str(k + 1)


def _axis(axis: Axis) -> dict[str, Any]:
    look: dict[str, Any] = {"automargin": True}
    if axis.log:
        look["type"] = "log"
    elif axis.in_percent:
        look["tickformat"] = axis.form
    if axis.words:
        look["type"] = "category"
    elif axis.ticks:
        look |= {"tickvals": list(axis.ticks), "ticktext": [_lines(text) for text in axis.ticks.values()]}
    if axis.low is not None and axis.high is not None:
        ends = (axis.low, axis.high)
        look["range"] = np.log10(ends).tolist() if axis.log else list(ends)
    elif axis.low == 0.0:
        look["rangemode"] = "tozero"
    if not axis.grid:
        look["showgrid"] = False
    return look


def _polar(radius: Axis) -> dict[str, Any]:
    words = [f"{word}<br>{45 * k}°" for k, word in enumerate(WORDS)]
    ticks = {"tickmode": "array", "tickvals": list(range(0, 360, 45)), "ticktext": words}
    return {
        "angularaxis": {"rotation": 90, "direction": "counterclockwise", **ticks},
        "radialaxis": {"range": [radius.low, radius.high], "angle": _RADII_AT, "tickangle": _RADII_AT, "nticks": 6},
    }


def _lines(text: str) -> str:
    return plain(text).replace("\n", "<br>")


def _add_menu(figure: "go.Figure", labels: Sequence[str], counts: Sequence[int]) -> None:
    """Add a menu with an entry for each label, which shows the next ``counts`` traces of the figure."""
    owners = np.repeat(np.arange(len(labels)), counts)
    buttons = [
        {"label": plain(label), "method": "restyle", "args": [{"visible": (owners == place).tolist()}]}
        for place, label in enumerate(labels)
    ]
    menu = {"buttons": buttons, "x": 0, "xanchor": "left", "y": 1, "yanchor": "bottom", "pad": {"b": 12}}
    look = {"bgcolor": "rgba(128,128,128,0.12)", "bordercolor": theme.FAINT, "showactive": True}
    figure.update_layout(updatemenus=[menu | look])


def _add_panel(figure: "go.Figure", k: int, panel: Panel, labels: set[str]) -> None:
    """Add a panel; ``labels`` are already in the legend because of other panels."""
    bars = [item for item in panel.items if isinstance(item, Bars)]
    if bars:
        figure.update_layout(barmode="stack" if bars[0].stacked else "group")
    lying = [bar for bar in bars if not bar.stacked]  # the last is on top
    there = set(labels)
    for item in (*reversed(lying), *(item for item in panel.items if item not in lying)):
        name = plain(getattr(item, "label", ""))
        entry: dict[str, Any] = {"showlegend": bool(name) and name not in there and not isinstance(item, HeatMap)}
        if name:
            entry |= {"name": name}
        if group := plain(getattr(item, "group", "")) or name:
            entry |= {"legendgroup": group}
        labels.add(name)
        add_item(item, Place(figure, number_of(k), panel, entry))


def _color(color: Any) -> Any:
    """Return a colour; black becomes grey, as pages may be black."""
    return theme.NEUTRAL if isinstance(color, str) and color == style.BLACK else color


def _faint(color: str, alpha: float) -> str:
    red, green, blue = (int(color[k : k + 2], 16) for k in (1, 3, 5))
    return f"rgba({red},{green},{blue},{alpha:g})"


def _values(values: Any, axis: Axis) -> Any:
    """Return numbers, or the words at these positions; None for no values, so that the legend has an entry."""
    if not np.size(values):
        return [None]
    if axis.words:
        return [plain(axis.words[round(float(place))]) for place in np.ravel(values)]
    return values if getattr(values, "dtype", None) == np.float32 else np.asarray(values, dtype=float)


def _ends(values: Any, interval: Any) -> dict[str, Any]:
    low, high = (np.asarray(end, dtype=float) for end in interval)
    values = np.asarray(values, dtype=float)
    return {"type": "data", "array": high - values, "arrayminus": values - low, "thickness": 1.2, "width": 3}


class Place(NamedTuple):
    """Figure, axes and legend entry for an item."""

    figure: "go.Figure"
    number: str  # number of the panel's axes in Plotly
    panel: Panel
    entry: dict[str, Any]  # name and legend of the trace
    x: str = ""  # x axis in Plotly; empty: that of the panel

    @property
    def axes(self) -> tuple[str, str]:
        """Names of the axes along x and y."""
        return self.x or f"x{self.number}", f"y{self.number}"


def _scatter(on: Place, x: Any, y: Any, **look: Any) -> None:
    if on.panel.polar:
        on.figure.add_scatterpolar(theta=x, r=y, **look)
    else:
        place = dict(zip(("xaxis", "yaxis"), on.axes, strict=True))
        on.figure.add_scatter(x=_values(x, on.panel.x), y=_values(y, on.panel.y), **place, **look)


@singledispatch
def add_item(item: Item, _on: Place) -> None:
    """Draw an item of a panel."""
    raise TypeError(f"a panel cannot draw a {type(item).__name__}")


@add_item.register
def _add_points(item: Points, on: Place) -> None:
    look: dict[str, Any] = {"mode": "+".join(["lines"] * bool(item.dash) + ["markers"] * bool(item.marker)) or "none"}
    if item.dash:
        shape = "hv" if item.is_step else "linear"
        look["line"] = {
            "color": _color(item.color),
            "dash": item.dash,
            "width": 1.2 * (item.width or 1.4),
            "shape": shape,
        }
    if item.marker:
        hollow = "-open" if item.face or item.marker.endswith(("-thin", "-ew")) else ""
        size = _PX * np.asarray(item.size, dtype=float)
        look["marker"] = {"color": _color(item.color), "symbol": item.marker + hollow, "opacity": item.alpha,
                          "size": size if size.ndim else float(size)}  # fmt: skip
        if item.shades is not None:
            look["marker"] |= {"color": item.shades, "colorscale": style.MAP, "reversescale": True}
    if len(item.hover):
        look |= {"text": [plain(text) for text in item.hover], "hovertemplate": "%{text}<extra></extra>"}
    else:
        names = ("theta", "r") if on.panel.polar else ("x", "y")
        forms = ("" if axis.words else f":{axis.form}" for axis in (on.panel.x, on.panel.y))
        look["hovertemplate"] = ", ".join(f"%{{{name}{form}}}" for name, form in zip(names, forms, strict=True))
        if item.numbered is not None:
            word, look["customdata"] = item.numbered
            look["hovertemplate"] = f"{word} %{{customdata}}: {look['hovertemplate']}"
    for name, values, interval in (("error_y", item.y, item.interval), ("error_x", item.x, item.x_interval)):
        if interval is not None:
            thick = {"thickness": _PX * item.bar, "width": 0} if item.bar >= 1.0 else {}
            look[name] = _ends(values, interval) | thick
    _scatter(on, item.x, item.y, **(look | on.entry))


@add_item.register
def _add_area(item: Area, on: Place) -> None:
    line = {"width": 1.0 if item.edge else 0.0, "color": item.edge or item.color}
    look = {"fill": "toself", "fillcolor": _faint(item.color, item.alpha), "mode": "lines", "line": line}
    _scatter(on, closed(item.x), closed(item.y), hoverinfo="skip", **look, **on.entry)


@add_item.register
def _add_rule(item: Rule, on: Place) -> None:
    """Draw a line across the panel; the label of a vertical line is next to it, not in the legend."""
    line = {"width": 1.2 * item.width, "color": _color(item.color), "dash": item.dash}
    other = "y" if item.along == "x" else "x"
    ends = {f"{item.along}0": item.value, f"{item.along}1": item.value, f"{other}0": 0, f"{other}1": 1}
    names = dict(zip("xy", on.axes, strict=True))
    axes = {f"{item.along}ref": names[item.along], f"{other}ref": f"{names[other]} domain"}
    label = {"text": plain(item.label), "textposition": "end", "textangle": 0, "xanchor": "left", "yanchor": "top"}
    on.figure.add_shape(type="line", line=line, **ends, **axes, **({"label": label} if other == "y" else on.entry))


@add_item.register
def _add_bars(item: Bars, on: Place) -> None:
    values, across = ("y", "x") if item.stacked else ("x", "y")
    axes = {"x": on.panel.x, "y": on.panel.y}
    color = item.color if isinstance(item.color, str) else list(item.color)
    look: dict[str, Any] = {values: np.asarray(item.values, dtype=float), across: _values(item.at, axes[across])}
    if item.interval is not None:
        look["error_x"] = _ends(item.values, item.interval) | {"color": theme.NEUTRAL}
    hover = f"%{{{across}}}: %{{{values}:{axes[values].form}}}"
    on.figure.add_bar(
        orientation="v" if item.stacked else "h", marker={"color": _color(color)}, hovertemplate=hover,
        xaxis=f"x{on.number}", yaxis=f"y{on.number}", **look, **on.entry,
    )  # fmt: skip
    if len(item.notes):
        texts = [f"  {plain(note)}" for note in item.notes]
        _scatter(on, item.ends, item.at, mode="text", text=texts, textposition="middle right", cliponaxis=False,
                 hoverinfo="skip", showlegend=False)  # fmt: skip


@add_item.register
def _add_spans(item: Spans, on: Place) -> None:
    x, y = on.axes
    on.figure.add_bar(
        orientation="h", base=item.begins, x=item.ends - item.begins, y=_values(item.at, on.panel.y), xaxis=x, yaxis=y,
        customdata=item.ends, hovertemplate="%{y}: %{base:.4f} to %{customdata:.4f} s",
        marker={"color": _color(item.color), "line": {"width": 0}}, **on.entry,
    )  # fmt: skip


@add_item.register
def _add_map(item: HeatMap, on: Place) -> None:
    bar: dict[str, Any] = {"title": {"text": plain(item.label)}, "outlinewidth": 0}
    if item.form.endswith("%"):
        bar["tickformat"] = item.form
    x, y = (
        f"%{{{name}{'' if axis.words else f':{axis.form}'}}}" for name, axis in (("x", on.panel.x), ("y", on.panel.y))
    )
    hover = f"%{{z:{item.form}}}"
    look: dict[str, Any] = {"colorscale": style.MAP, "colorbar": bar}
    if len(item.hover):
        look["customdata"], hover = [[plain(text) for text in row] for row in item.hover], "%{customdata}"
    if len(item.texts):
        look["text"] = [[plain(text).replace("\n", "<br>") for text in row] for row in item.texts]
        look["texttemplate"] = "%{text}"
    if on.panel.x.words and on.panel.y.words:
        look |= {"xgap": 1, "ygap": 1}
    on.figure.add_heatmap(
        x=_values(item.x, on.panel.x), y=_values(item.y, on.panel.y), z=item.z, zmin=item.low, zmax=item.high,
        hovertemplate=f"{x}, {y}: {hover}<extra></extra>", xaxis=f"x{on.number}", yaxis=f"y{on.number}", **look,
    )  # fmt: skip
