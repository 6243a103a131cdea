"""Panels beside and below one another, each with axes of its own, and a menu that chooses what they show."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from experiments.visualization.report import theme
from experiments.visualization.report.drawing import plain

#: Panels in a row.
COLUMNS = 3
#: [px] of a panel, of one alone, and below it; part of the width between two.
_PANEL, _ALONE, _BELOW, _GAP = 230, 300, 70, 0.085


def grid_of_panels(
    x_titles: Sequence[str],
    y_titles: Sequence[str],
    logarithmic: Sequence[bool] = (),
    *,
    columns: int = COLUMNS,
    top: int = 34,
) -> go.Figure:
    """Empty panels, row by row, ``top`` [px] from the figure's edge.

    A title along y is shown where it differs from that of the panel on the left.
    """
    count = len(x_titles)
    columns = min(columns, count)
    rows = -(-count // columns)
    height = _PANEL if count > 1 else _ALONE
    inner = rows * height + (rows - 1) * _BELOW
    there: list[list[dict[str, Any] | None]] = [
        [{} if row * columns + column < count else None for column in range(columns)] for row in range(rows)
    ]
    figure = make_subplots(rows, columns, specs=there, horizontal_spacing=_GAP, vertical_spacing=_BELOW / inner)
    figure.update_layout(theme.new_figure(inner + top + 60, margin={"t": top, "b": 60}).layout)
    for k in range(count):
        kind = {"type": "log"} if logarithmic and logarithmic[k] else {}
        is_new = k % columns == 0 or y_titles[k] != y_titles[k - 1]
        y = {"title": {"text": plain(y_titles[k])}} if is_new else {}
        update_panel(figure, k, x={"title": {"text": plain(x_titles[k])}} | kind, y=y)
    return figure


def panel(k: int) -> dict[str, str]:
    return {"xaxis": f"x{_number(k)}", "yaxis": f"y{_number(k)}"}


def update_panel(
    figure: go.Figure, k: int, *, x: dict[str, Any] | None = None, y: dict[str, Any] | None = None
) -> None:
    figure.update_layout({f"xaxis{_number(k)}": x or {}, f"yaxis{_number(k)}": y or {}})


def _number(k: int) -> str:
    return "" if k == 0 else str(k + 1)


def add_choice(figure: go.Figure, labels: Sequence[str], each: int, always: int) -> None:
    """A menu that shows some traces at a time: after ``always`` shared ones, ``each`` for every label."""
    total = len(labels) * each
    buttons = [
        {
            "label": plain(label),
            "method": "restyle",
            "args": [{"visible": [True] * always + [place * each <= k < (place + 1) * each for k in range(total)]}],
        }
        for place, label in enumerate(labels)
    ]
    menu = {"buttons": buttons, "x": 0, "xanchor": "left", "y": 1, "yanchor": "bottom", "pad": {"b": 12}}
    look = {"bgcolor": "rgba(128,128,128,0.12)", "bordercolor": theme.FAINT, "showactive": True}
    figure.update_layout(updatemenus=[menu | look])
