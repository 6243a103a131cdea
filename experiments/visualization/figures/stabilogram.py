"""Where the centres of mass and pressure are, along each axis and from above, within the base of support."""

from typing import Any

from matplotlib.axes import Axes

from experiments.visualization.figures import style
from experiments.visualization.figures.labels import along, who
from experiments.visualization.figures.quantities import XYZ, Curve, Panel
from experiments.visualization.figures.support import COLORS, COM, COP, XCOM, Support, ahead_of

SHORT = {COM: "CoM", XCOM: "xCoM", COP: "CoP"}
#: The longer side of the view from above over the shorter one, at most.
SLIMMEST = 2.0
_BASE = "#E9EEF2"


def path_panel(support: Support, axis: int) -> Panel:
    """[mm] along x (0) or y (1); the centre of mass on top."""
    title = along(XYZ[axis], support.subject.model)
    curves = tuple(Curve(SHORT[name], 1e3 * support.paths[name][:, axis], COLORS[name]) for name in COLORS)
    return Panel(title, f"{XYZ[axis]} [mm]", curves)


def shade_base(axes: Axes, support: Support, axis: int) -> None:
    """From where to where the base of support goes over time [mm]."""
    low, high = support.reach(axis)
    look: Any = {"color": _BASE, "linewidth": 0.0, "label": "base of support", "zorder": 0.5}
    axes.fill_between(support.subject.time, 1e3 * low, 1e3 * high, **look)


def draw_stabilogram(axes: Axes, support: Support) -> None:
    """From above, the model looks up: paths that end in dots, soles and base of support in the first row."""
    model = support.subject.model
    ahead = ahead_of(model)
    aside = 1 - ahead
    base = 1e3 * support.base(0)
    axes.fill(base[:, aside], base[:, ahead], facecolor=_BASE, linewidth=0.0)
    for ring in support.soles.values():
        axes.plot(1e3 * ring[:, aside], 1e3 * ring[:, ahead], color=style.GREY, linewidth=0.8)
    for name, color in COLORS.items():
        path = 1e3 * support.paths[name]
        axes.plot(path[:, aside], path[:, ahead], color=color, linewidth=1.1)
        axes.plot(path[-1:, aside], path[-1:, ahead], "o", color=color, markersize=4.0, markeredgecolor="white")
    axes.set_aspect("equal", anchor="W")
    limits = [support.limits(axis, 1e3) for axis in (0, 1)]
    least = max(high - low for low, high in limits) / SLIMMEST
    limits = [_widened(low, high, least) for low, high in limits]
    axes.set_xlim(*_turned(limits[aside], model.left[aside] < 0.0))
    axes.set_ylim(*_turned(limits[ahead], model.facing[ahead] > 0.0))
    axes.set_xlabel(f"{XYZ[aside]} [mm]")
    axes.set_ylabel(f"{XYZ[ahead]} [mm]")
    axes.set_title(f"From above; {who(model)} faces up")


def _widened(low: float, high: float, least: float) -> tuple[float, float]:
    more = max(least - (high - low), 0.0) / 2.0
    return low - more, high + more


def _turned(limits: tuple[float, float], grows: bool) -> tuple[float, float]:
    return limits if grows else (limits[1], limits[0])
