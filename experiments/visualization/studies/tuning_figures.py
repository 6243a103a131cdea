"""Figures of a tuning: progress, importance and values of the variables, and the Pareto front."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from biped.runs.verdict import VERDICTS
from contact.arrays import Floats
from experiments.studies.counting import column_of
from experiments.studies.grid import LOG
from experiments.studies.tuning.importance import GOOD, importances
from experiments.studies.tuning.objective import Objective
from experiments.studies.tuning.tuner import Evaluation
from experiments.studies.tuning.tuning import Outcome, Tuning
from experiments.visualization.look import style
from experiments.visualization.look.words import with_unit, words_of
from experiments.visualization.look.writing import styled, write_figure
from experiments.visualization.panels.panel import Area, Axis, Bars, Item, Panel, Points, Rule
from experiments.visualization.panels.with_matplotlib import figure_of

HISTORY, IMPORTANCE, SLICES, FRONT = "history.png", "importance.png", "slices.png", "front.png"
FILES = (HISTORY, IMPORTANCE, SLICES, FRONT)


def drawings(tuning: Tuning, outcome: Outcome) -> dict[str, Callable[[Path], list[Path]] | None]:
    """Return the functions that draw the figures, by file name; None for a figure without data."""
    functions: dict[str, Callable[[], Figure]] = {}
    if outcome.history.evaluations:
        functions = {HISTORY: partial(_history, tuning, outcome), SLICES: partial(_slices, tuning, outcome)}
        if important := importance_panels(tuning, outcome.history.evaluations):
            height = (0.9 + 0.26 * len(tuning.space.variables)) * len(important)
            functions[IMPORTANCE] = partial(figure_of, important, (style.SIZE[0], height))
        if tuning.is_front:
            front = front_panels(tuning, outcome)
            functions[FRONT] = partial(figure_of, front, (4.6 * len(front) + 1.6, 4.0), columns=len(front))
    return {name: partial(_write, functions[name]) if name in functions else None for name in FILES}


def _write(draw: Callable[[], Figure], path: Path) -> list[Path]:
    with styled():
        return write_figure(draw(), path)


def label_of(objective: Objective) -> str:
    return f"{words_of(objective.name)} ({'lower' if objective.sign > 0.0 else 'higher'} is better)"


def endings(evaluations: Sequence[Evaluation]) -> dict[str, Floats]:
    """Return, for each verdict that occurs, its share (candidates,) of each candidate's trials."""
    counts = {word: np.array([e.score.verdicts.get(column_of(word), 0) for e in evaluations]) for word in VERDICTS}
    trials = sum(counts.values())
    return {word: count / trials for word, count in counts.items() if count.any()}


#: Markers of the special candidates.
_BASELINE = Points((), (), "baseline", style.BLACK, "diamond", 4.0)
_WINNER = Points((), (), "winner", style.RED, "star", 9.0)


def _marked(outcome: Outcome) -> list[tuple[Points, Evaluation]]:
    pairs = ((_BASELINE, outcome.history.baseline), (_WINNER, outcome.winner))
    return [(mark, evaluation) for mark, evaluation in pairs if evaluation is not None]


def history_panels(tuning: Tuning, outcome: Outcome) -> list[Panel]:
    """Return all candidates and the best so far for each objective; last, the shares of verdicts."""
    evaluations = outcome.history.evaluations
    numbers = np.arange(1, len(evaluations) + 1)
    within = np.array([e.score.keeps_limits for e in evaluations])
    x, panels = Axis(low=0.0, high=len(evaluations) + 1.0), []
    for objective in tuning.scorer.objectives:
        values = _values(evaluations, objective)
        items: list[Item] = []
        if not within.all():
            items.append(Points(numbers[~within], values[~within], "not feasible", style.ORANGE, "x-thin", 3.5))
        best = np.minimum.accumulate(np.where(within, objective.sign * values, np.inf))
        items += [
            Points(numbers[within], values[within], "candidate", style.SKY, "circle", 2.5),
            Points(numbers, np.where(np.isfinite(best), objective.sign * best, np.nan), "best so far", dash="solid",
                   is_step=True),
            Rule(outcome.history.baseline.score.values[objective.name], style.BLACK, "baseline", "y", "dash", 0.9),
        ]  # fmt: skip
        panels.append(Panel(tuple(items), x, Axis(label_of(objective)), legend="right"))
    sides, layers = np.repeat(np.arange(len(evaluations) + 1.0) + 0.5, 2)[1:-1], list[Item]()
    below = np.zeros(len(sides))
    for word, part in endings(evaluations).items():
        above = below + np.repeat(part, 2)
        layers.append(Area.between(sides, below, above, style.VERDICTS[word], word, alpha=1.0))
        below = above
    y = Axis("share of the trials", 0.0, 1.0)
    return [*panels, Panel(tuple(layers), replace(x, label="candidate"), y, legend="right")]


def _values(evaluations: Sequence[Evaluation], objective: Objective) -> Floats:
    return np.array([e.score.values[objective.name] for e in evaluations])


def _history(tuning: Tuning, outcome: Outcome) -> Figure:
    heights = [3.0] * len(tuning.scorer.objectives) + [2.0]
    panels, size = history_panels(tuning, outcome), (style.SIZE[0], sum(heights) + 0.4)
    figure = figure_of(panels, size, sharex=True, height_ratios=heights)
    figure.suptitle(f"{tuning.name}: candidates by {tuning.settings.optimizer}", fontsize=10.0, fontweight="bold")
    return figure


def importance_panels(tuning: Tuning, evaluations: Sequence[Evaluation]) -> list[Panel]:
    """Return the importance of the variables, the largest on top, for each objective with enough candidates."""
    panels = []
    for k, objective in enumerate(tuning.scorer.objectives):
        importance = importances(tuning.space.variables, evaluations, k)
        if not importance:
            continue
        parts = dict(sorted(importance.items(), key=lambda item: item[1]))
        values = list(parts.values())
        notes = [f"{value:.2f}" for value in values]
        bars = Bars(range(len(parts)), values, style.BLUE, words_of(objective.name), 0.7, notes=notes)
        y = Axis(words=tuple(words_of(name) for name in parts), grid=False)
        title = f"Importance for the best {GOOD:.0%} in {words_of(objective.name)}"
        panels.append(Panel((bars,), Axis("importance (PED-ANOVA) [–]", 0.0, 1.12 * max(values)), y, title))
    return panels


def slices_panels(tuning: Tuning, outcome: Outcome, objective: Objective) -> list[Panel]:
    """Return each candidate's value of an objective over each variable; later ones are darker."""
    evaluations, panels = outcome.history.evaluations, []
    values, numbers = _values(evaluations, objective), np.array([e.number for e in evaluations])
    for variable in tuning.space.variables:
        at = np.array([e.candidate.point[variable.name] for e in evaluations])
        items = [Points(at, values, marker="circle", size=2.0, shades=numbers, numbered=("candidate", numbers))]
        for mark, e in _marked(outcome):
            if variable.name in e.candidate.point:
                items.append(replace(mark, x=[e.candidate.point[variable.name]], y=_values([e], objective)))
        label = with_unit(variable.name, tuning.space.units[variable.name])
        x = Axis(label, variable.low, variable.high, log=variable.scale == LOG)
        panels.append(Panel(tuple(items), x, Axis(words_of(objective.name))))
    return panels


def _slices(tuning: Tuning, outcome: Outcome) -> Figure:
    """Draw rows of panels for each objective."""
    count, panels = len(tuning.space.variables), list[Panel | None]()
    columns = min(count, 3 if count % 4 else 4)
    for objective in tuning.scorer.objectives:
        for k, panel in enumerate(slices_panels(tuning, outcome, objective)):
            panels.append(panel if k % columns == 0 else replace(panel, y=Axis()))
        panels += [None] * (-count % columns)
    figure = figure_of(panels, (2.6 * columns + 0.6, 2.3 * (len(panels) // columns) + 0.4), columns)
    for axes in figure.axes:
        if axes.get_xscale() == "log":  # little space
            axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
            axes.xaxis.set_minor_formatter(NullFormatter())
    figure.colorbar(figure.axes[0].collections[0], ax=figure.axes, label="candidate", fraction=0.03, pad=0.01)
    figure.suptitle("Each candidate, by variable; diamond: baseline, star: winner", fontsize=10.0, fontweight="bold")
    return figure


def front_panels(tuning: Tuning, outcome: Outcome) -> list[Panel]:
    """Return the candidates over each pair of objectives, and the Pareto front."""
    groups: list[tuple[Points, Sequence[Evaluation]]] = [
        (Points((), (), "candidate", style.SKY, "circle", 2.5), outcome.history.evaluations),
        (Points((), (), "front", style.BLUE, "circle", 5.0), outcome.history.front),
        *((replace(mark, size=mark.size + 2.0), [e]) for mark, e in _marked(outcome)),
    ]
    pairs, panels = list(combinations(tuning.scorer.objectives, 2)), []
    for first, second in pairs:
        items = []
        for mark, members in groups:
            numbers = "candidate", [e.number for e in members]
            items.append(replace(mark, x=_values(members, first), y=_values(members, second), numbered=numbers))
        x, y = (Axis(label_of(objective), margin=0.05) for objective in (first, second))
        panels.append(Panel(tuple(items), x, y, legend="right" if (first, second) == pairs[-1] else ""))
    return panels
