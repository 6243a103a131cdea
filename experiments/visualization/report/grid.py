"""Panels beside and below one another, each with axes of its own, and a menu that chooses what they show."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

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
    """Empty panels, row by row.

    Args:
        x_titles: of each panel.
        y_titles: of each panel; shown where it differs from that of the panel on the left.
        logarithmic: whether the axis along x is; none is, if not given.
        columns: panels in a row at most.
        top: [px] above them.
    """
    count = len(x_titles)
    columns = min(columns, count)
    rows = -(-count // columns)
    height = _PANEL if count > 1 else _ALONE
    inner = rows * height + (rows - 1) * _BELOW
    width = (1.0 - _GAP * (columns - 1)) / columns
    figure = theme.new_figure(inner + top + 60, margin={"t": top, "b": 60})
    for k in range(count):
        row, column = divmod(k, columns)
        left, above = column * (width + _GAP), 1.0 - row * (height + _BELOW) / inner
        x: dict[str, Any] = {
            "domain": [left, min(1.0, left + width)],
            "anchor": panel(k)["yaxis"],
            "title": {"text": plain(x_titles[k])},
        }
        if logarithmic and logarithmic[k]:
            x["type"] = "log"
        y: dict[str, Any] = {"domain": [max(0.0, above - height / inner), above], "anchor": panel(k)["xaxis"]}
        if column == 0 or y_titles[k] != y_titles[k - 1]:
            y["title"] = {"text": plain(y_titles[k])}
        figure.update_layout({f"xaxis{_number(k)}": x, f"yaxis{_number(k)}": y})
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
