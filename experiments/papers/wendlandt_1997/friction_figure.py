"""Item for the search for the friction of the box: published facts that hold at each coefficient."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

from experiments.catalogue.box_drop import FRICTION
from experiments.papers.criteria import stated, when
from experiments.papers.item import Item, Outcome, Progress
from experiments.papers.wendlandt_1997.friction_search import FACTS, Search, Trial, search
from experiments.visualization.look import style
from experiments.visualization.look.writing import styled

_COLORS = ListedColormap([style.ORANGE, "#8DBFE0"])


def produce(quick: bool, progress: Progress) -> Outcome:
    """Search all coefficients, or if ``quick``, those near the coefficient of the experiment box-drop."""
    result = search(FRICTION - 0.02, FRICTION + 0.02, 0.01, progress) if quick else search(progress=progress)
    text = ", ".join(f"{begin:g} … {end:g}" for begin, end in result.intervals) or "none"
    is_one = len(result.intervals) == 1 and result.intervals[0][0] < FRICTION < result.intervals[0][1]
    criterion = when(f"one interval, which contains the {FRICTION:g} of box-drop", is_one)
    finding = stated("coefficients with which all facts hold", "not printed", text, criterion, kind="ours")
    return Outcome((finding,), tables={"Facts that hold": table_of(result)}, figures={"search": draw_search(result)})


def table_of(result: Search) -> pd.DataFrame:
    """Return a row for each coefficient: the facts that hold, and the motion of the box."""
    return pd.DataFrame(
        {"friction": trial.friction, **{name: int(holds) for name, holds in trial.holds.items()},
         "all": int(trial.agrees), "at rest from [s]": trial.rest_at, "y rises by [m]": trial.rise,
         "y falls by [m]": trial.fall_of_y, "Newton iterations": trial.newton_max}
        for trial in sorted((*result.trials, *result.closer), key=lambda trial: trial.friction)
    )  # fmt: skip


def draw_search(search: Search) -> Figure:
    """Draw the facts that hold at each friction coefficient, in both passes, and the time of rest."""
    looks = [look for look in (search.trials, search.closer) if len(look) > 1]
    with styled():
        figure = Figure(figsize=(5.6 * len(looks), 6.2))
        cells = figure.subplots(2, len(looks), squeeze=False, sharex="col", gridspec_kw={"height_ratios": (2, 1.1)})
        for column, look in enumerate(looks):
            _draw_facts(cells[0, column], look, labels=column == 0)
            _draw_rest(cells[1, column], look)
            for axes in cells[:, column]:
                _shade(axes, search)
        cells[0, 0].set_title("Published facts: blue holds, orange does not")
        if len(looks) > 1:
            cells[0, 1].set_title("A closer look")
        return figure


def _edges(look: tuple[Trial, ...]) -> np.ndarray:
    friction = np.array([trial.friction for trial in look])
    middles = (friction[:-1] + friction[1:]) / 2.0
    return np.concatenate([[2 * friction[0] - middles[0]], middles, [2 * friction[-1] - middles[-1]]])


def _draw_facts(axes: Axes, look: tuple[Trial, ...], *, labels: bool) -> None:
    names = [*(fact.name for fact in FACTS), "all of them"]
    holds = np.array([[*trial.holds.values(), trial.agrees] for trial in look], dtype=float).T
    axes.pcolormesh(_edges(look), np.arange(len(names) + 1), holds, cmap=_COLORS, vmin=0, vmax=1, rasterized=True)
    axes.set_yticks(np.arange(len(names)) + 0.5, names if labels else [""] * len(names))
    axes.hlines(np.arange(1, len(names)), *_edges(look)[[0, -1]], color="white", linewidth=2.0)
    axes.invert_yaxis()
    axes.grid(visible=False)
    axes.tick_params(axis="y", length=0)


def _draw_rest(axes: Axes, look: tuple[Trial, ...]) -> None:
    friction = [trial.friction for trial in look]
    rest = [trial.rest_at if np.isfinite(trial.rest_at) else np.nan for trial in look]
    axes.plot(friction, rest, ".-", color=style.BLUE, markersize=3.0, linewidth=0.8)
    axes.axhline(1.3, color=style.GREY, linewidth=0.8, linestyle=(0, (4, 3)))
    axes.set_ylabel("at rest from [s]")
    axes.set_xlabel("coefficient of friction $\\mu_s = \\mu_d$ [–]")
    axes.set_ylim(0.8, 1.55)


def _shade(axes: Axes, search: Search) -> None:
    for begin, end in search.intervals:
        for edge in (begin, end):
            axes.axvline(edge, color=style.BLACK, linewidth=0.7, linestyle=(0, (1, 1.5)))


ITEM = Item("friction", "Friction of the floor, which is not printed", "Wendlandt 1997, section 5.3", produce)
