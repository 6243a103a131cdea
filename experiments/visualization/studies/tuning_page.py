"""What a tuning's page says: the winner and whether it is confirmed, how it was found, and what it depended on."""

from collections.abc import Sequence

import numpy as np

from experiments.studies.grid import LOG
from experiments.studies.run import recall
from experiments.studies.store.folder import Study
from experiments.studies.tuning.importance import GOOD
from experiments.studies.tuning.tuner import Confirmation, Evaluation
from experiments.studies.tuning.tuning import Outcome, Tuning
from experiments.visualization.figures import style
from experiments.visualization.figures.words import with_unit
from experiments.visualization.pages import Block, Prose, Section, Table
from experiments.visualization.pages.blocks import Mood
from experiments.visualization.report import theme
from experiments.visualization.report.drawing import Drawing, plain
from experiments.visualization.report.grid import add_choice, grid_of_panels, panel
from experiments.visualization.report.toml import file_and_command
from experiments.visualization.studies.tuning_figures import best_so_far, endings, important, label_of, pairs_of
from experiments.visualization.studies.tuning_output import comparison_cells, ending_rows

#: Candidates that the table has at most.
MOST_ROWS = 200
_HOVER = "candidate %{customdata}: %{x:.5g}, %{y:.5g}<extra></extra>"


def page_lead(study: Study) -> list[Block]:
    tuning, outcome = recall(study)
    winner, confirmation = outcome.winner, outcome.confirmation
    if winner is None:
        front = f" {len(outcome.history.front)} candidates are on the front." if tuning.is_front else ""
        return [Prose(f"There is no winner.{front}", "bad")]
    values = ", ".join(f"{name} {value:.5g}" for name, value in winner.score.values.items())
    text = f"The winner is candidate {winner.number}: {values}."
    if confirmation is None:
        return [Prose(f"{text} It is not compared with the baseline on fresh replicas yet.")]
    replicas = confirmation.objectives[0].replicas
    if confirmation.holds:
        return [Prose(f"{text} Better than the baseline on {replicas} fresh replicas: confirmed.", "good")]
    return [Prose(f"{text} Not confirmed on {replicas} fresh replicas: {'; '.join(confirmation.reasons)}.", "bad")]


def page_sections(study: Study) -> list[Section]:
    tuning, outcome = recall(study)
    found: list[Block] = [_variables(tuning, outcome)]
    if outcome.confirmation is not None:
        found.append(_confirmation(outcome.confirmation))
    sections = [Section("winner", "What was found", blocks=tuple(found))]
    if outcome.history.evaluations:
        drawings = [
            _history(tuning, outcome),
            _slices(tuning, outcome),
            *_importance(tuning, outcome.history.evaluations),
        ]
        if tuning.is_front:
            drawings.insert(0, _front(tuning, outcome))
        blocks: list[Block] = [drawing.chart for drawing in drawings]
        blocks.append(_candidates(tuning, outcome))
        sections.append(Section("search", "The search", f"by {tuning.settings.optimizer}", blocks=tuple(blocks)))
    return sections


def page_rerun(study: Study) -> list[Block]:
    name = study.configuration["name"]
    storage = study.configuration["storage"]
    options = f" --storage {storage}" if storage else ""
    data = study.configuration["tuning"]
    return file_and_command("The tuning", data, f"{name}.toml", f"biped tune {name}.toml{options}")


def _variables(tuning: Tuning, outcome: Outcome) -> Table:
    baseline = outcome.history.baseline
    chosen = [outcome.winner] if outcome.winner is not None else outcome.history.front[:6]
    headings = ("", "unit", "from", "to", "baseline", *(f"candidate {one.number}" for one in chosen))
    rows = [
        (
            variable.name,
            tuning.space.units[variable.name],
            f"{variable.low:g}",
            f"{variable.high:g}",
            f"{baseline.candidate.point[variable.name]:.6g}" if variable.name in baseline.candidate.point else "–",
            *(f"{one.candidate.point[variable.name]:.6g}" for one in chosen),
        )
        for variable in tuning.space.variables
    ]
    rows += [
        (
            label_of(objective), "", "", "", f"{baseline.score.values[objective.name]:.5g}",
            *(f"{one.score.values[objective.name]:.5g}" for one in chosen),
        )
        for objective in tuning.scorer.objectives
    ]  # fmt: skip
    rows += [(name, "", "", "", *parts) for name, parts in ending_rows(baseline, *chosen)]
    return Table("Values, and what they come to in the search", headings, tuple(rows), fold=False)


def _confirmation(found: Confirmation) -> Table:
    rows: list[tuple[str, ...]] = []
    moods: list[Mood] = []
    for comparison in (*found.objectives, *found.limits):
        mark, mood = _judged(found, comparison.name)
        moods.append(mood)
        rows.append((*comparison_cells(comparison), mark))
    headings = ("", "baseline", "winner", "difference", "95 % interval", "p", "")
    title = f"On {found.objectives[0].replicas} fresh replicas, the same for both"
    return Table(title, headings, tuple(rows), tuple(moods), fold=False)


def _judged(found: Confirmation, name: str) -> tuple[str, Mood]:
    """What is said of an objective or a limit, and how it is coloured."""
    if name in found.better:
        if found.better[name]:
            return "better", "good"
        return ("worse", "bad") if name in found.worse else ("", "")
    bound = f"{found.bounds[name]:.5g}"
    return (f"within {bound}", "good") if found.within[name] else (f"beyond {bound}", "bad")


def _history(tuning: Tuning, outcome: Outcome) -> Drawing:
    evaluations, objectives = outcome.history.evaluations, tuning.scorer.objectives
    numbers = np.arange(1, len(evaluations) + 1)
    within = np.array([one.score.keeps_limits for one in evaluations])
    figure = grid_of_panels(["candidate"] * len(objectives), [label_of(o) for o in objectives], columns=1)
    for k, objective in enumerate(objectives):
        values = np.array([one.score.values[objective.name] for one in evaluations])
        best, at = best_so_far(evaluations, objective), outcome.history.baseline.score.values[objective.name]
        for x, y, name, look in (
            (numbers[within], values[within], "candidate", {"marker": {"color": style.SKY, "size": 5}}),
            (numbers[~within], values[~within], "beyond a limit",
             {"marker": {"color": style.ORANGE, "symbol": "x", "size": 5}}),
            (numbers, best, "best so far", {"line": {"color": style.BLUE, "shape": "hv"}}),
            (numbers[[0, -1]], [at, at], "baseline", {"line": {"color": theme.NEUTRAL, "dash": "dash"}}),
        ):  # fmt: skip
            if len(x):
                mode = "lines" if "line" in look else "markers"
                figure.add_scatter(
                    x=x, y=y, mode=mode, name=name, legendgroup=name, showlegend=k == 0, **look, **panel(k)
                )
    return Drawing("history", "Every candidate in the order in which it was asked for, and the best so far.", figure)


def _slices(tuning: Tuning, outcome: Outcome) -> Drawing:
    evaluations, variables, objectives = outcome.history.evaluations, tuning.space.variables, tuning.scorer.objectives
    labels = [with_unit(variable.name, tuning.space.units[variable.name]) for variable in variables]
    logarithmic = [variable.scale == LOG for variable in variables]
    figure = grid_of_panels(labels, [objectives[0].name if len(objectives) == 1 else ""] * len(variables), logarithmic,
                            top=70 if len(objectives) > 1 else 34)  # fmt: skip
    numbers = np.array([one.number for one in evaluations])
    marked = [
        (one, label, color, symbol)
        for one, label, color, symbol in (
            (outcome.history.baseline, "baseline", theme.NEUTRAL, "diamond"),
            (outcome.winner, "winner", style.RED, "star"),
        )
        if one is not None and one.candidate.point
    ]
    for place, objective in enumerate(objectives):
        values = np.array([one.score.values[objective.name] for one in evaluations])
        for k, variable in enumerate(variables):
            at = np.array([one.candidate.point[variable.name] for one in evaluations])
            look = {"color": numbers, "colorscale": theme.SCALE, "reversescale": True, "size": 5, "showscale": False}
            figure.add_scatter(x=at, y=values, mode="markers", marker=look, customdata=numbers, showlegend=False,
                               visible=place == 0, hovertemplate=_HOVER, **panel(k))  # fmt: skip
            for one, label, color, symbol in marked:
                look = {"color": color, "symbol": symbol, "size": 12}
                figure.add_scatter(x=[one.candidate.point[variable.name]], y=[one.score.values[objective.name]],
                                   mode="markers", marker=look, name=label, legendgroup=label, showlegend=k == 0,
                                   visible=place == 0, **panel(k))  # fmt: skip
    if len(objectives) > 1:
        add_choice(figure, [label_of(o) for o in objectives], len(variables) * (1 + len(marked)), 0)
    return Drawing("slices", "Every candidate over each value that was tuned; the later, the darker.", figure)


def _importance(tuning: Tuning, evaluations: Sequence[Evaluation]) -> list[Drawing]:
    """What sets the best candidates apart, where there are enough of them to say."""
    shown = important(tuning, evaluations)
    if not shown:
        return []
    figure = theme.new_figure(120 + 34 * len(tuning.space.variables) * len(shown), barmode="group", margin={"l": 170})
    for (objective, parts), color in zip(shown, theme.LINES, strict=False):
        figure.add_bar(
            orientation="h", x=list(parts.values()), y=[plain(name) for name in parts],
            name=plain(objective.name), marker={"color": color}, hovertemplate="%{y}: %{x:.3f}<extra></extra>",
        )  # fmt: skip
    figure.update_layout(xaxis={"title": {"text": "part (PED-ANOVA)"}}, yaxis={"showgrid": False})
    text = f"What sets the best {GOOD:.0%} of the candidates apart (PED-ANOVA, Watanabe, Bansal and Hutter 2023)."
    return [Drawing("importance", text, figure)]


def _front(tuning: Tuning, outcome: Outcome) -> Drawing:
    pairs = pairs_of(tuning)
    figure = grid_of_panels([label_of(a) for a, _ in pairs], [label_of(b) for _, b in pairs], columns=2)
    groups = (
        (outcome.history.evaluations, "candidate", style.SKY, "circle", 5),
        (outcome.history.front, "front", style.BLUE, "circle", 9),
        ([outcome.history.baseline], "baseline", theme.NEUTRAL, "diamond", 10),
        ([outcome.winner] if outcome.winner else [], "winner", style.RED, "star", 14),
    )
    for k, (first, second) in enumerate(pairs):
        for members, label, color, symbol, size in groups:
            figure.add_scatter(
                x=[one.score.values[first.name] for one in members],
                y=[one.score.values[second.name] for one in members],
                customdata=[one.number for one in members], mode="markers", name=label, legendgroup=label,
                showlegend=k == 0 and bool(members), marker={"color": color, "symbol": symbol, "size": size},
                hovertemplate=_HOVER, **panel(k),
            )  # fmt: skip
    return Drawing("front", "The candidates, and those that no other beats in everything.", figure)


def _candidates(tuning: Tuning, outcome: Outcome) -> Table:
    ordered = sorted(outcome.history.evaluations, key=lambda one: one.score.costs[0])[:MOST_ROWS]
    variables = [variable.name for variable in tuning.space.variables]
    objectives = [objective.name for objective in tuning.scorer.objectives]
    ended = endings(ordered)
    rows = tuple(
        (
            str(one.number),
            *(f"{one.score.values[name]:.5g}" for name in objectives),
            "yes" if one.score.keeps_limits else "no",
            *(f"{parts[place]:.0%}" for parts in ended.values()),
            *(f"{one.candidate.point[name]:.5g}" for name in variables),
        )
        for place, one in enumerate(ordered)
    )
    title = f"The best {len(rows)} of {len(outcome.history.evaluations)} candidates"
    return Table(title, ("candidate", *objectives, "keeps limits", *ended, *variables), rows).folded()
