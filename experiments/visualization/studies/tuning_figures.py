"""Figures of a tuning: how the best rose, what it depended on, where it lies in each range, and the Pareto front."""

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from biped.runs.verdict import VERDICTS
from contact.arrays import Floats
from experiments.lookup.figure_look import remove_figure
from experiments.studies.counting import column_of
from experiments.studies.grid import LOG
from experiments.studies.tuning.importance import GOOD, importances
from experiments.studies.tuning.objective import Objective
from experiments.studies.tuning.tuner import Evaluation
from experiments.studies.tuning.tuning import Outcome, Tuning
from experiments.visualization.figures import style
from experiments.visualization.figures.words import with_unit, words_of
from experiments.visualization.figures.writing import styled, write_figure

HISTORY, IMPORTANCE, SLICES, FRONT = "history.png", "importance.png", "slices.png", "front.png"
FILES = (HISTORY, IMPORTANCE, SLICES, FRONT)


def draw_tuning(tuning: Tuning, outcome: Outcome, folder: Path) -> list[Path]:
    """All figures that there is something for; those of an earlier time are removed."""
    for name in FILES:
        remove_figure(folder / name)
    if not outcome.history.evaluations:
        return []
    with styled():
        figures = {HISTORY: _history(tuning, outcome), SLICES: _slices(tuning, outcome)}
        important = _importance(tuning, outcome.history.evaluations)
        if important is not None:
            figures[IMPORTANCE] = important
        if tuning.is_front:
            figures[FRONT] = _front(tuning, outcome)
        return [file for name in FILES if name in figures for file in write_figure(figures[name], folder / name)]


def label_of(objective: Objective) -> str:
    return f"{words_of(objective.name)} ({'lower' if objective.sign > 0.0 else 'higher'} is better)"


def best_so_far(evaluations: Sequence[Evaluation], objective: Objective) -> np.ndarray:
    """(candidates,) of the candidates that keep all limits, the best value up to each; NaN before the first."""
    values = [
        objective.sign * one.score.values[objective.name] if one.score.keeps_limits else np.inf for one in evaluations
    ]
    best = np.minimum.accumulate(values)
    return np.where(np.isfinite(best), objective.sign * best, np.nan)


def _history(tuning: Tuning, outcome: Outcome) -> Figure:
    objectives = tuning.scorer.objectives
    figure = Figure(figsize=(style.SIZE[0], 3.0 * len(objectives) + 2.4))
    evaluations = outcome.history.evaluations
    numbers = np.arange(1, len(evaluations) + 1)
    within = np.array([one.score.keeps_limits for one in evaluations])
    heights = [3.0] * len(objectives) + [2.0]
    *panels, last = figure.subplots(len(heights), 1, sharex=True, height_ratios=heights)
    for axes, objective in zip(panels, objectives, strict=True):
        values = np.array([one.score.values[objective.name] for one in evaluations])
        if not within.all():
            axes.plot(
                numbers[~within], values[~within], "x", color=style.ORANGE, markersize=3.5, label="beyond a limit"
            )
        axes.plot(numbers[within], values[within], "o", color=style.SKY, markersize=2.5, label="candidate")
        axes.step(numbers, best_so_far(evaluations, objective), where="post", color=style.BLUE, label="best so far")
        baseline = outcome.history.baseline.score.values[objective.name]
        axes.axhline(baseline, color=style.BLACK, linewidth=0.9, linestyle=(0, (5, 3)), label="baseline")
        axes.set_ylabel(label_of(objective))
        axes.set_xlim(0, len(evaluations) + 1)
        _beside(axes)
    _draw_endings(last, evaluations)
    last.set_xlabel("candidate")
    figure.suptitle(f"{tuning.name}: candidates by {tuning.settings.optimizer}", fontsize=10.0, fontweight="bold")
    return figure


def endings(evaluations: Sequence[Evaluation]) -> dict[str, Floats]:
    """(candidates,) for each verdict that occurs, the part of each candidate's trials that ended so."""
    counts = {word: np.array([one.score.verdicts.get(column_of(word), 0) for one in evaluations]) for word in VERDICTS}
    trials = sum(counts.values())
    return {word: count / trials for word, count in counts.items() if count.any()}


def _draw_endings(axes: Axes, evaluations: Sequence[Evaluation]) -> None:
    """How the trials of each candidate ended, one part over the other."""
    parts = endings(evaluations)
    numbers, colors = range(1, len(evaluations) + 1), [style.VERDICTS[word] for word in parts]
    axes.stackplot(numbers, list(parts.values()), labels=list(parts), colors=colors, step="mid")
    axes.set_ylim(0.0, 1.0)
    axes.set_ylabel("part of the trials")
    _beside(axes)


def _beside(axes: Axes) -> None:
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.02), borderaxespad=0.3, handlelength=1.6)


def important(tuning: Tuning, evaluations: Sequence[Evaluation]) -> list[tuple[Objective, dict[str, float]]]:
    """The parts of the variables, the least first, for each objective for which there are enough candidates to say."""
    found = [(o, importances(tuning.space.variables, evaluations, k)) for k, o in enumerate(tuning.scorer.objectives)]
    return [(objective, dict(sorted(parts.items(), key=lambda item: item[1]))) for objective, parts in found if parts]


def _importance(tuning: Tuning, evaluations: Sequence[Evaluation]) -> Figure | None:
    shown = important(tuning, evaluations)
    if not shown:
        return None
    figure = Figure(figsize=(style.SIZE[0], (0.9 + 0.26 * len(tuning.space.variables)) * len(shown)))
    for axes, (objective, parts) in zip(np.ravel(figure.subplots(len(shown), 1)), shown, strict=True):
        axes.barh([words_of(name) for name in parts], list(parts.values()), color=style.BLUE, height=0.7)
        for place, part in enumerate(parts.values()):
            axes.annotate(f"{part:.2f}", (part, place), (3, 0), textcoords="offset points", va="center")
        axes.set_xlim(0.0, 1.12 * max(parts.values()))
        axes.grid(visible=False, axis="y")
        axes.set_title(f"What sets the best {GOOD:.0%} in {words_of(objective.name)} apart")
    axes.set_xlabel("part (PED-ANOVA) [–]")
    return figure


def _slices(tuning: Tuning, outcome: Outcome) -> Figure:
    variables, objectives = tuning.space.variables, tuning.scorer.objectives
    evaluations = outcome.history.evaluations
    columns = min(len(variables), 3 if len(variables) % 4 else 4)
    rows = -(-len(variables) // columns)
    figure = Figure(figsize=(2.6 * columns + 0.6, 2.3 * rows * len(objectives) + 0.4))
    cells = figure.subplots(rows * len(objectives), columns, squeeze=False)
    points = None
    for block, objective in enumerate(objectives):
        values = np.array([one.score.values[objective.name] for one in evaluations])
        mine = cells[block * rows : (block + 1) * rows].ravel()
        for place, variable in enumerate(variables):
            axes = mine[place]
            at = [one.candidate.point[variable.name] for one in evaluations]
            points = axes.scatter(
                at, values, c=np.arange(1, len(evaluations) + 1), s=4.0, cmap=f"{style.MAP}_r", linewidths=0
            )
            for one, color, mark in ((outcome.history.baseline, style.BLACK, "D"), (outcome.winner, style.RED, "*")):
                if one is not None and one.candidate.point:
                    where = one.candidate.point[variable.name], one.score.values[objective.name]
                    axes.plot(*where, mark, color=color, markersize=9 if mark == "*" else 5, markeredgecolor="white")
            axes.set_xlim(variable.low, variable.high)
            if variable.scale == LOG:
                axes.set_xscale("log")
                axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
                axes.xaxis.set_major_formatter("{x:g}")
                axes.xaxis.set_minor_formatter(NullFormatter())
            axes.set_xlabel(with_unit(variable.name, tuning.space.units[variable.name]))
            if place % columns == 0:
                axes.set_ylabel(words_of(objective.name))
        for axes in mine[len(variables) :]:
            axes.set_visible(False)
    assert points is not None
    figure.colorbar(points, ax=cells.ravel().tolist(), label="candidate", fraction=0.03, pad=0.01)
    figure.suptitle("Each candidate, by variable; diamond: baseline, star: winner", fontsize=10.0, fontweight="bold")
    return figure


def pairs_of(tuning: Tuning) -> list[tuple[Objective, Objective]]:
    return list(combinations(tuning.scorer.objectives, 2))


def _front(tuning: Tuning, outcome: Outcome) -> Figure:
    pairs = pairs_of(tuning)
    figure = Figure(figsize=(4.6 * len(pairs) + 1.6, 4.0))
    for axes, (first, second) in zip(np.ravel(figure.subplots(1, len(pairs))), pairs, strict=True):
        for chosen, form in (
            (outcome.history.evaluations, {"color": style.SKY, "markersize": 2.5, "label": "candidate"}),
            (outcome.history.front, {"color": style.BLUE, "markersize": 5.0, "label": "front"}),
            ([outcome.history.baseline], {"color": style.BLACK, "marker": "D", "markersize": 6.0, "label": "baseline"}),
            ([outcome.winner] if outcome.winner else [], {"color": style.RED, "marker": "*", "markersize": 11.0}),
        ):
            at = [[one.score.values[item.name] for one in chosen] for item in (first, second)]
            axes.plot(*at, **{"linestyle": "none", "marker": "o", **form})
        axes.set_xlabel(label_of(first))
        axes.set_ylabel(label_of(second))
        axes.margins(0.05)
    _beside(axes)
    return figure
