"""Figures of a sweep, or of any trials over the varied parameters: proportions, metrics, maps, and trials as points.

For one parameter: the proportion that recovered, and metrics, over it. For two parameters on a grid: maps of both. For
two sampled parameters: a point for each trial. For more: the proportion over each one, for all values of the others.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from biped.runs.verdict import FELL, LOST_CONTROL, RECOVERED, STEPPED, VERDICTS
from experiments.studies.counting import USUAL_LOSSES, success_text, withstood
from experiments.studies.mean import mean_of
from experiments.studies.proportion import CONFIDENCE, Proportion
from experiments.studies.store.measured import metric_units
from experiments.studies.sweep import groups as sweeps
from experiments.studies.sweep.sweep import Sweep
from experiments.visualization.look import style
from experiments.visualization.look.words import with_unit, words_of
from experiments.visualization.look.writing import styled, write_figure
from experiments.visualization.panels.panel import Axis, Dash, HeatMap, Item, Marker, Panel, Points
from experiments.visualization.panels.with_matplotlib import figure_of
from experiments.visualization.studies.trials import Axis as Varied

_MARKERS: dict[str, Marker] = {RECOVERED: "circle", STEPPED: "square", FELL: "x-thin", LOST_CONTROL: "x"}
#: Most letters of a line in the title of a figure, and in the title of one of two maps.
WIDEST_TITLE, WIDEST_MAP_TITLE = 75, 45
#: Most panels of a figure; if there are more parameters, the first ones are shown.
MOST_PANELS = 12
#: Most metrics below the proportion over one parameter.
MOST_METRICS = 4
#: Most cells of a map with numbers in its cells, and of a map with words below the numbers.
MOST_WRITTEN, MOST_WORDS = 150, 40


def draw_sweep(plan: Sweep, frame: pd.DataFrame, path: Path) -> list[Path]:
    """Draw the figure of a sweep's trials; return the files."""
    frame, factors = sweeps.as_written(plan, frame), sweeps.factors_of(plan)
    sampled, varied = [factor.sampled for factor in factors], [axis_of(factor, frame) for factor in factors]
    with styled():
        if len(factors) == 1:
            panels = _one_factor(plan, frame, varied[0])
            height = (style.SIZE[1] if len(panels) < 3 else 3.0) - 0.8
            figure = figure_of(panels, (style.SIZE[0], height * len(panels)), sharex=True)
        elif len(factors) == 2 and not any(sampled):
            maps = _maps(plan, frame, *varied)
            figure = figure_of(maps, (1.5 * style.SIZE[0], 4.2), columns=len(maps))
        elif len(factors) == 2 and all(sampled):
            figure = figure_of(_points(frame, *varied), (style.SIZE[0], 4.8))
        else:
            figure = _each(plan, frame, varied)
        counts = frame["verdict"].value_counts()
        counted = ", ".join(f"{counts[verdict]} {verdict}" for verdict in sweeps.verdicts_in(frame))
        title = f"{plan.experiment.name}: {len(frame)} trials, {counted}"
        figure.suptitle(title, fontsize=11, fontweight="bold", x=0.01, ha="left")
        return write_figure(figure, path)


def axis_of(factor: sweeps.Factor, frame: pd.DataFrame) -> Varied:
    """Return the axis of a factor; ``frame`` has its values."""
    label = with_unit(factor.column, factor.unit) + _companions(factor)
    return Varied(factor.column, label, frame[factor.column], factor.is_log)


def _companions(factor: sweeps.Factor) -> str:
    """Return the names of the parameters that vary together with a factor."""
    names = factor.label.removeprefix(factor.column).removeprefix(" (with ").removesuffix(")")
    return f" (with {', '.join(map(words_of, names.split(', ')))})" if names else ""


def metric_label(plan: Sweep, metric: str) -> str:
    return with_unit(metric, metric_units(plan.experiment).get(metric, ""))


def _marker(verdict: str) -> Marker:
    return _MARKERS.get(verdict, "cross-thin" if verdict in VERDICTS else "diamond")


def _over(varied: Varied, words: Sequence[str]) -> Axis:
    if varied.is_numeric:
        return Axis(varied.label, log=varied.log, margin=0.03)
    slanted = len(words) * max(map(len, words)) > WIDEST_TITLE
    return Axis(varied.label, -0.5, len(words) - 0.5, words=tuple(words), slanted=slanted)


def share_panel(frame: pd.DataFrame, varied: Varied, counts: tuple[str, ...] = ()) -> Panel:
    """Return the proportion of successes with intervals, and the shares of the other verdicts.

    ``counts`` are the verdicts that the study counts as losses, if it specifies any.
    """
    groups = sweeps.groups(frame.assign(**{varied.name: varied.values}), varied.name)
    places = [group.value if varied.is_numeric else place for place, group in enumerate(groups)]
    successes, items, joined = sweeps.successes_in(frame, counts), list[Item](), varied.is_numeric
    for kind, losses in successes.items():
        shares = [sweeps.proportion(group.trials["verdict"], losses) for group in groups]
        texts = [f"{g.label}: {s.count} of {s.of}, {s.interval}" for g, s in zip(groups, shares, strict=True)]
        items.append(Points(
            places, [s.value for s in shares], kind, style.SUCCESSES[kind], _marker(kind),
            dash="solid" if joined else "", width=1.2, bar=0.8, hover=texts,
            interval=([s.low for s in shares], [s.high for s in shares]),
        ))  # fmt: skip
    for verdict in [word for word in sweeps.verdicts_in(frame) if word not in successes]:
        parts = [float((group.trials["verdict"] == verdict).mean()) for group in groups]
        items.append(Points(places, parts, verdict, style.VERDICTS[verdict], _marker(verdict), 3.0,
                            dash="dash" if joined else "", width=0.8))  # fmt: skip
    y = Axis("proportion of trials", -0.04, 1.04, form=".0%")
    return Panel(tuple(items), _over(varied, [group.label for group in groups]), y, legend="best")


def metric_panel(
    frame: pd.DataFrame,
    varied: Varied,
    metric: str,
    label: str,
    chosen: pd.DataFrame | None = None,
    *,
    means: bool = False,
) -> Panel:
    """Return a metric of each trial, or of the ``chosen`` ones, and its medians over all trials.

    With ``means`` add means with Student's intervals, which require independent trials.
    """
    groups = sweeps.groups(frame.assign(**{varied.name: varied.values.loc[frame.index]}), varied.name)
    shown, items = frame if chosen is None else chosen, list[Item]()
    numbers = {group.value: place for place, group in enumerate(groups)}
    for verdict in VERDICTS:
        part = shown[shown["verdict"] == verdict]
        if len(part):
            at = varied.values.loc[part.index]
            at = at if varied.is_numeric else at.map(numbers)
            numbered = "trial", part["trial"].to_numpy(dtype=np.int32)
            x, y = at.to_numpy(dtype=float), part[metric].to_numpy(dtype=float)
            color, marker = style.VERDICTS[verdict], _marker(verdict)
            items.append(Points(x, y, verdict, color, marker, 3.5, alpha=0.6, numbered=numbered))
    places = [group.value if varied.is_numeric else place for place, group in enumerate(groups)]
    medians = [float(group.trials[metric].median()) for group in groups]
    dash: Dash = "solid" if varied.is_numeric else ""
    items.append(Points(places, medians, "median", style.GREY, "line-ew", 6.0, dash=dash, width=1.0))
    group_means = [mean_of(group.trials[metric]) for group in groups] if means else []
    if any(mean.of > 1 for mean in group_means):
        ends = [mean.low for mean in group_means], [mean.high for mean in group_means]
        values, name = [mean.value for mean in group_means], f"mean, {CONFIDENCE:.0%} interval"
        items.append(Points(places, values, name, style.BLACK, "diamond", 4.0, interval=ends, bar=1.0))
    return Panel(tuple(items), _over(varied, [group.label for group in groups]), Axis(label), legend="best")


def share_map(frame: pd.DataFrame, first: Varied, second: Varied, losses: Sequence[str]) -> Panel:
    """Return the proportion of successes for each pair of values, with its interval and the most frequent loss."""
    cells = _cells(frame["verdict"], first, second)
    shares = [[sweeps.proportion(cell, losses) for cell in row] for row in cells]
    table = np.array([[s.value if s.of else np.nan for s in row] for row in shares])
    lost = [[_most_lost(cell, losses) for cell in row] for row in cells]
    words = [[f"{_interval(s)} {verdict}" for s, verdict in zip(*row, strict=True)]
             for row in zip(shares, lost, strict=True)] if table.size <= MOST_WORDS else []  # fmt: skip
    hover = [[f"{s.count} of {s.of}, {s.interval}{verdict and f'; {verdict}'}" if s.of else ""
              for s, verdict in zip(*row, strict=True)] for row in zip(shares, lost, strict=True)]  # fmt: skip
    return _map(first, second, HeatMap(
        range(len(first.points)), range(len(second.points)), table, "proportion", ".2g", 0.0, 1.0,
        _written(table, ".2g", words), hover,
    ))  # fmt: skip


def metric_map(frame: pd.DataFrame, first: Varied, second: Varied, metric: str, label: str) -> Panel:
    """Return the median of a metric for each pair of values; blank if no trial has the metric."""
    table = np.array([[cell.median() for cell in row] for row in _cells(frame[metric], first, second)], dtype=float)
    places = range(len(first.points)), range(len(second.points))
    return _map(first, second, HeatMap(*places, table, label, texts=_written(table, ".3g")))


def _cells(column: "pd.Series[Any]", first: Varied, second: Varied) -> "list[list[pd.Series[Any]]]":
    return [[column[(first.values == x) & (second.values == y)] for x in first.points] for y in second.points]


def _written(table: np.ndarray, form: str, words: Sequence[Sequence[str]] = ()) -> list[list[str]]:
    """Return the texts in the cells of a map, if there are few."""
    if table.size > MOST_WRITTEN:
        return []
    lines = words or [[""] * table.shape[1]] * table.shape[0]
    return [
        [
            "\n".join([f"{value:{form}}", *word.split()]) if np.isfinite(value) else ""
            for value, word in zip(*row, strict=True)
        ]
        for row in zip(table, lines, strict=True)
    ]


def _interval(share: Proportion) -> str:
    """Return an interval without blanks; empty for a single trial."""
    return f"{share.low:.2g}…{share.high:.2g}" if share.of > 1 else ""


def _most_lost(verdicts: "pd.Series[str]", losses: Sequence[str]) -> str:
    """Return the most frequent verdict that counts as a loss; empty if none does."""
    lost = verdicts[[not withstood(verdict, losses) for verdict in verdicts]]
    return str(lost.mode().iloc[0]) if len(lost) else ""


def _map(first: Varied, second: Varied, item: HeatMap) -> Panel:
    """Return a map with a cell for each pair of values; cells have equal sizes, values are labels."""
    x, y = (
        Axis(axis.label, words=tuple(f"{p:.6g}" if axis.is_numeric else str(p) for p in axis.points), grid=False)
        for axis in (first, second)
    )
    return Panel((item,), x, y)


def _one_factor(plan: Sweep, frame: pd.DataFrame, varied: Varied) -> list[Panel]:
    binned = " in bins of equal counts" if len(sweeps.groups(frame, varied.name)) < frame[varied.name].nunique() else ""
    title = f"proportion that {success_text(plan.counts)}{binned}, with Wilson's {CONFIDENCE:.0%} interval"
    panels = [replace(share_panel(frame, varied, plan.counts), title=fill(title, WIDEST_TITLE))]
    for metric in sweeps.shown_metrics(plan, frame)[:MOST_METRICS]:
        absent = int(frame[metric].isna().sum())
        title = words_of(metric) + (f" ({absent} trials have none)" if absent else "")
        label = metric_label(plan, metric)
        panels.append(replace(metric_panel(frame, varied, metric, label, means=plan.replicas > 1), title=title))
    return [*(replace(panel, x=replace(panel.x, label="")) for panel in panels[:-1]), panels[-1]]


def _maps(plan: Sweep, frame: pd.DataFrame, first: Varied, second: Varied) -> list[Panel]:
    each, interval = f"of {plan.replicas} trials each", f", its {CONFIDENCE:.0%} interval"
    if plan.replicas == 1:
        each, interval = "one trial each", ""
    title = f"proportion that {success_text(plan.counts)}, {each}{interval}, and the most frequent loss"
    shares = share_map(frame, first, second, plan.counts or USUAL_LOSSES)
    panels = [replace(shares, title=fill(title, WIDEST_MAP_TITLE))]
    if metric := sweeps.shown_metric(plan, frame):
        title = f"{'median ' if plan.replicas > 1 else ''}{words_of(metric)}; blank: no trial has it"
        panels.append(replace(metric_map(frame, first, second, metric, metric_label(plan, metric)), title=title))
    return panels


def _points(frame: pd.DataFrame, first: Varied, second: Varied) -> Panel:
    """Return a point for each trial, coloured by its verdict."""
    parts = {verdict: frame[frame["verdict"] == verdict] for verdict in VERDICTS}
    items = tuple(
        Points(part[first.name], part[second.name], verdict, style.VERDICTS[verdict], _marker(verdict), alpha=0.8)
        for verdict, part in parts.items()
        if len(part)
    )
    x, y = (Axis(axis.label, log=axis.log, margin=0.03) for axis in (first, second))
    return Panel(items, x, y, legend="right")


def _each(plan: Sweep, frame: pd.DataFrame, varied: Sequence[Varied]) -> Figure:
    """Return a figure with a panel for each factor: proportion of successes, for all values of the others."""
    shown = varied[:MOST_PANELS]
    columns = min(3, len(shown))
    panels = [share_panel(frame, factor, plan.counts) for factor in shown]
    panels = [p if k % columns == 0 else replace(p, y=replace(p.y, label="")) for k, p in enumerate(panels)]
    rows = -(-len(shown) // columns)
    figure = figure_of(panels, (3.6 * columns, 2.6 * rows + 0.6), columns, sharey=True)
    more = f"; the first {len(shown)} of {len(varied)} parameters" if len(shown) < len(varied) else ""
    figure.supxlabel(
        f"proportion that {success_text(plan.counts)} over each parameter, for all values of the others{more}; "
        f"bars: Wilson, {CONFIDENCE:.0%}",
        fontsize=8,
    )
    return figure
