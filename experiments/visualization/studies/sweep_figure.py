"""One figure of a sweep, by how much was varied.

One parameter: the proportion that recovered, and a metric, against it. Two on a grid: maps of both. Two sampled ones:
every trial where it was. More: the proportion against each, over all values of the others, and the figure says so.
"""

from collections.abc import Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pandas.api.types import is_numeric_dtype

from biped.runs.verdict import FELL, LOST_CONTROL, RECOVERED, STEPPED, VERDICTS
from experiments.catalogue.parameters.parameter import parameter_named
from experiments.studies.counting import USUAL_LOSSES, success_text, withstood
from experiments.studies.proportion import CONFIDENCE
from experiments.studies.store.measured import metric_units
from experiments.studies.sweep.groups import (
    Factor,
    factors_of,
    groups,
    proportion,
    shown_metric,
    successes_in,
    verdicts_in,
)
from experiments.studies.sweep.sweep import Sweep
from experiments.visualization.figures.style import GREY, MAP, SIZE, SUCCESSES
from experiments.visualization.figures.style import VERDICTS as COLORS
from experiments.visualization.figures.ticks import plain_log_ticks
from experiments.visualization.figures.words import with_unit, words_of
from experiments.visualization.figures.writing import styled, write_figure

_MARKERS = dict.fromkeys(VERDICTS, "+") | {RECOVERED: "o", STEPPED: "s", FELL: "x", LOST_CONTROL: "X"}
#: A title above all of a figure's width has so many letters a line at most.
WIDEST_TITLE = 75
#: Panels of one figure at most; of more parameters the first are shown.
MOST_PANELS = 12
#: A map's cells have their number written in up to this many.
MOST_WRITTEN = 150
#: And the words below it up to this many.
MOST_WORDS = 40


def draw_sweep(plan: Sweep, frame: pd.DataFrame, path: Path) -> list[Path]:
    factors = factors_of(plan)
    sampled = [factor.sampled for factor in factors]
    with styled():
        if len(factors) == 1:
            figure = Figure(figsize=(SIZE[0], 2 * SIZE[1] - 1.6))
            _draw_one(figure, plan, frame, factors[0])
        elif len(factors) == 2 and not any(sampled):
            figure = Figure(figsize=(1.5 * SIZE[0], 4.2))
            _draw_maps(figure, plan, frame, *reversed(factors))
        elif len(factors) == 2 and all(sampled):
            figure = Figure(figsize=(SIZE[0], 4.8))
            _draw_points(figure.subplots(), plan, frame, *factors)
        else:
            figure = _draw_each(plan, frame, factors)
        figure.suptitle(_title(plan, frame), fontsize=11, fontweight="bold", x=0.01, ha="left")
        return write_figure(figure, path)


def _title(plan: Sweep, frame: pd.DataFrame) -> str:
    counts = frame["verdict"].value_counts()
    counted = ", ".join(f"{counts[verdict]} {verdict}" for verdict in verdicts_in(frame))
    return f"{plan.experiment.name}: {len(frame)} trials, {counted}"


def _with_unit(plan: Sweep, factor: Factor) -> str:
    unit = parameter_named(factor.column, plan.experiment.parameters).unit
    return with_unit(factor.column, unit) + besides(factor)


def besides(factor: Factor) -> str:
    """The names of what goes together with a factor, in words."""
    names = factor.label.removeprefix(factor.column).removeprefix(" (with ").removesuffix(")")
    return f" (with {', '.join(map(words_of, names.split(', ')))})" if names else ""


def metric_label(plan: Sweep, metric: str) -> str:
    return with_unit(metric, metric_units(plan.experiment).get(metric, ""))


def _is_number(frame: pd.DataFrame, column: str) -> bool:
    return bool(is_numeric_dtype(frame[column]))


def _scale(axes: Axes, frame: pd.DataFrame, factor: Factor) -> list[Any]:
    """The places along x of the groups of a factor, with ticks for words, and a log scale where the values have it."""
    found = groups(frame, factor.column)
    if not _is_number(frame, factor.column):
        axes.set_xticks(range(len(found)), [group.label for group in found])
        axes.set_xlim(-0.5, len(found) - 0.5)
        return list(range(len(found)))
    values = [group.value for group in found]
    if factor.is_log:
        _set_log(axes, "x")
    axes.margins(x=0.03)
    return values


def _set_log(axes: Axes, name: str) -> None:
    """A log scale whose ticks are plain numbers."""
    getattr(axes, f"set_{name}scale")("log")
    plain_log_ticks(getattr(axes, f"{name}axis"))


def _draw_proportion(axes: Axes, plan: Sweep, frame: pd.DataFrame, factor: Factor) -> None:
    places = _scale(axes, frame, factor)
    found = groups(frame, factor.column)
    line = "-" if _is_number(frame, factor.column) else "none"
    successes = successes_in(frame, plan.counts)
    for kind, losses in successes.items():
        proportions = [proportion(group.trials["verdict"], losses) for group in found]
        bars = [[s.value - s.low for s in proportions], [s.high - s.value for s in proportions]]
        axes.errorbar(
            places, [s.value for s in proportions], yerr=bars, color=SUCCESSES[kind], marker=_MARKERS.get(kind, "D"),
            markersize=4, capsize=2.5, linewidth=1.2, elinewidth=0.8, label=kind, linestyle=line,
        )  # fmt: skip
    for verdict in [word for word in verdicts_in(frame) if word not in successes]:
        shares = [float((group.trials["verdict"] == verdict).mean()) for group in found]
        axes.plot(places, shares, color=COLORS[verdict], marker=_MARKERS[verdict], markersize=3, linewidth=0.8,
                  linestyle=(0, (3, 2)) if line == "-" else line, label=verdict)  # fmt: skip
    axes.set_ylim(-0.04, 1.04)
    axes.set_ylabel("proportion of trials")
    axes.legend(loc="best")


def _draw_one(figure: Figure, plan: Sweep, frame: pd.DataFrame, factor: Factor) -> None:
    metric = shown_metric(plan, frame)
    rows: Any = figure.subplots(2 if metric else 1, 1, sharex=True, squeeze=False)[:, 0]
    binned = " in bins of equally many" if len(groups(frame, factor.column)) < frame[factor.column].nunique() else ""
    _draw_proportion(rows[0], plan, frame, factor)
    title = f"proportion that {success_text(plan.counts)}{binned}, with Wilson's {CONFIDENCE:.0%} interval"
    rows[0].set_title(fill(title, WIDEST_TITLE))
    if metric:
        _draw_metric(rows[1], plan, frame, factor, metric)
    rows[-1].set_xlabel(_with_unit(plan, factor))


def _draw_metric(axes: Axes, plan: Sweep, frame: pd.DataFrame, factor: Factor, metric: str) -> None:
    places = _scale(axes, frame, factor)
    found = groups(frame, factor.column)
    number = _is_number(frame, factor.column)
    for verdict in VERDICTS:
        xs: list[Any] = []
        ys: list[float] = []
        for place, group in zip(places, found, strict=True):
            part = group.trials[(group.trials["verdict"] == verdict) & group.trials[metric].notna()]
            xs += part[factor.column].tolist() if number else [place] * len(part)
            ys += part[metric].tolist()
        if ys:
            axes.scatter(xs, ys, s=12, color=COLORS[verdict], marker=_MARKERS[verdict], alpha=0.6, label=verdict,
                         linewidths=0.9)  # fmt: skip
    medians = [group.trials[metric].median() for group in found]
    axes.plot(
        places, medians, color=GREY, linewidth=1.0, linestyle="-" if number else "none", marker="_", label="median"
    )
    axes.set_ylabel(metric_label(plan, metric))
    absent = int(frame[metric].isna().sum())
    axes.set_title(words_of(metric) + (f" ({absent} trials have none)" if absent else ""))
    axes.legend(loc="best")


def _draw_maps(figure: Figure, plan: Sweep, frame: pd.DataFrame, first: Factor, second: Factor) -> None:
    """Of the proportion and of a metric: the first factor upwards, the second along x."""
    metric = shown_metric(plan, frame)
    columns: Any = figure.subplots(1, 2 if metric else 1, squeeze=False)[0]
    losses = plan.counts or USUAL_LOSSES
    proportions = _table(frame, first, second, lambda part: proportion(part["verdict"], losses).value)
    each = f"of {plan.replicas} trials each" if plan.replicas > 1 else "one trial each"
    look = {"cmap": MAP, "vmin": 0.0, "vmax": 1.0}
    lost = _table(frame, first, second, lambda part: _most_lost(part["verdict"], losses))
    _draw_map(columns[0], plan, proportions, first, second, "proportion", ".2g", lost, **look)
    columns[0].set_title(f"proportion that {success_text(plan.counts)}, {each}, and how most others ended")
    if metric:
        medians = _table(frame, first, second, lambda part: part[metric].median())
        _draw_map(columns[1], plan, medians, first, second, metric_label(plan, metric), ".3g", cmap=MAP)
        columns[1].set_title(f"{'median ' if plan.replicas > 1 else ''}{words_of(metric)}; blank: none has one")


def _most_lost(verdicts: "pd.Series[str]", losses: Sequence[str]) -> str:
    """The verdict of most of those that were not withstood; empty where all were."""
    others = verdicts[[not withstood(verdict, losses) for verdict in verdicts]]
    return str(others.mode().iloc[0]) if len(others) else ""


def _table(frame: pd.DataFrame, first: Factor, second: Factor, measure: Any) -> pd.DataFrame:
    """A number for each pair of values: rows by the first, columns by the second, in the plan's order."""
    found = {key: measure(part) for key, part in frame.groupby([first.column, second.column], sort=False)}
    rows, columns = (frame[factor.column].drop_duplicates().tolist() for factor in (first, second))
    for factor, values in ((first, rows), (second, columns)):
        if _is_number(frame, factor.column):
            values.sort()
    return pd.DataFrame([[found[row, column] for column in columns] for row in rows], index=rows, columns=columns)


def _draw_map(
    axes: Axes,
    plan: Sweep,
    table: pd.DataFrame,
    first: Factor,
    second: Factor,
    label: str,
    form: str,
    below: pd.DataFrame | None = None,
    **look: Any,
) -> None:
    """A map with a cell for each pair: cells are equally large, whatever the values' spacing, and ticks name them.

    Where cells are few, their numbers are written in them, and the words of ``below``.
    """
    image = axes.imshow(table.to_numpy(dtype=float), origin="lower", aspect="auto", **look)
    axes.grid(visible=False)
    for spots, factor, name in ((table.columns, second, "x"), (table.index, first, "y")):
        step = -(-len(spots) // 12)
        chosen = list(range(0, len(spots), step))
        labels = [f"{spots[k]:.4g}" if not isinstance(spots[k], str) else spots[k] for k in chosen]
        getattr(axes, f"set_{name}ticks")(chosen, labels)
        getattr(axes, f"set_{name}label")(_with_unit(plan, factor))
    axes.figure.colorbar(image, ax=axes, label=label)
    if table.size <= MOST_WRITTEN:
        for (row, column), value in np.ndenumerate(table.to_numpy(dtype=float)):
            if np.isfinite(value):
                dark = float(np.asarray(image.norm(value))) < 0.55
                word = "" if below is None or table.size > MOST_WORDS else str(below.iat[row, column])
                text = f"{value:{form}}\n{word}".rstrip()
                axes.text(column, row, text, ha="center", va="center", fontsize=7,
                          color="white" if dark else "black")  # fmt: skip


def _draw_points(axes: Axes, plan: Sweep, frame: pd.DataFrame, first: Factor, second: Factor) -> None:
    for verdict in VERDICTS:
        part = frame[frame["verdict"] == verdict]
        if len(part):
            axes.scatter(part[first.column], part[second.column], s=16, color=COLORS[verdict],
                         marker=_MARKERS[verdict], label=verdict, alpha=0.8, linewidths=1.0)  # fmt: skip
    for factor, name in ((first, "x"), (second, "y")):
        if factor.is_log:
            _set_log(axes, name)
        getattr(axes, f"set_{name}label")(_with_unit(plan, factor))
    axes.margins(0.03)
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _draw_each(plan: Sweep, frame: pd.DataFrame, factors: list[Factor]) -> Figure:
    """A panel for each factor: the proportion over all values of the others."""
    shown = factors[:MOST_PANELS]
    columns = min(3, len(shown))
    rows = -(-len(shown) // columns)
    figure = Figure(figsize=(3.6 * columns, 2.6 * rows + 0.6))
    panels: Any = figure.subplots(rows, columns, squeeze=False, sharey=True).ravel()
    for axes, factor in zip(panels, shown, strict=False):
        _draw_proportion(axes, plan, frame, factor)
        axes.set_xlabel(_with_unit(plan, factor))
    for axes in panels[len(shown) :]:
        axes.set_visible(False)
    for axes in panels[1 : len(shown)]:
        if axes.get_subplotspec().colspan.start:
            axes.set_ylabel("")
    more = f"; the first {len(shown)} of {len(factors)} parameters" if len(shown) < len(factors) else ""
    figure.supxlabel(
        f"proportion that {success_text(plan.counts)} against each, over all values of the others{more}; "
        f"bars: Wilson, {CONFIDENCE:.0%}",
        fontsize=8,
    )
    return figure
