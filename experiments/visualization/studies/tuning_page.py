"""What a tuning's page says: the winner and whether it is confirmed, how it was found, and what it depended on."""

from collections.abc import Sequence

import numpy as np

from experiments.studies.store.folder import Study
from experiments.studies.tuning.config import Tuning
from experiments.studies.tuning.design_variable import LOG
from experiments.studies.tuning.importance import GOOD, importances
from experiments.studies.tuning.session import Outcome, recall, trials_of
from experiments.studies.tuning.tuner import Confirmation, Tried
from experiments.visualization.figures import style
from experiments.visualization.pages import Block, Code, Prose, Section, Table
from experiments.visualization.pages.blocks import Mood
from experiments.visualization.report import theme
from experiments.visualization.report.drawing import Drawing, plain
from experiments.visualization.report.grid import add_choice, grid_of_panels, panel
from experiments.visualization.report.toml import as_toml
from experiments.visualization.studies.tuning_figures import best_so_far, label_of

#: Candidates that the table has at most.
MOST_ROWS = 200
_HOVER = "candidate %{customdata}: %{x:.5g}, %{y:.5g}<extra></extra>"


def page_lead(study: Study) -> list[Block]:
    """The winner, and whether fresh replicas confirm it."""
    tuning, outcome = recall(study)
    winner, confirmation = outcome.winner, outcome.confirmation
    if winner is None:
        front = f" {len(outcome.tuned.front)} candidates are on the front." if tuning.is_front else ""
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
    """The winner, the search, and the candidates."""
    tuning, outcome = recall(study)
    found: list[Block] = [_knobs(tuning, outcome)]
    if outcome.confirmation is not None:
        found.append(_confirmation(outcome.confirmation))
    sections = [Section("winner", "What was found", blocks=tuple(found))]
    if outcome.tuned.tried:
        drawings = [_history(tuning, outcome), _slices(tuning, outcome), *_importance(tuning, outcome.tuned.tried)]
        if tuning.is_front:
            drawings.insert(0, _front(tuning, outcome))
        blocks: list[Block] = [drawing.chart for drawing in drawings]
        blocks.append(_candidates(tuning, outcome))
        sections.append(Section("search", "The search", f"by {tuning.optimizer}", blocks=tuple(blocks)))
    return sections


def page_again(study: Study) -> list[Block]:
    """The file, and the command."""
    name = study.configuration["name"]
    storage = study.configuration["storage"]
    options = f" --storage {storage}" if storage else ""
    return [
        Prose(f"The tuning, with this file as {name}.toml:"),
        Code(as_toml(study.configuration["tuning"])),
        Code(f"biped tune {name}.toml{options}"),
    ]


def planned_trials(study: Study) -> int:
    """How many trials there are, if there is a winner to confirm."""
    tuning, outcome = recall(study)
    total = trials_of(tuning)
    is_done = len(outcome.tuned.tried) >= tuning.candidates
    fresh = 2 * tuning.confirm * len(tuning.plan.scenarios)
    return total - fresh if is_done and outcome.winner is None else total


def _knobs(tuning: Tuning, outcome: Outcome) -> Table:
    """The values of the baseline and of the winner, or of the front's members."""
    baseline = outcome.tuned.baseline
    chosen = [outcome.winner] if outcome.winner is not None else outcome.tuned.front[:6]
    headings = ("", "unit", "from", "to", "baseline", *(f"candidate {tried.number}" for tried in chosen))
    rows = [
        (
            knob.name,
            tuning.plan.units[knob.name],
            f"{knob.low:g}",
            f"{knob.high:g}",
            f"{baseline.candidate.point[knob.name]:.6g}" if knob.name in baseline.candidate.point else "–",
            *(f"{tried.candidate.point[knob.name]:.6g}" for tried in chosen),
        )
        for knob in tuning.plan.knobs
    ]
    rows += [
        (
            label_of(objective), "", "", "", f"{baseline.score.values[objective.name]:.5g}",
            *(f"{tried.score.values[objective.name]:.5g}" for tried in chosen),
        )
        for objective in tuning.judge.objectives
    ]  # fmt: skip
    return Table("Values, and what they come to in the search", headings, tuple(rows), fold=False)


def _confirmation(found: Confirmation) -> Table:
    """Baseline against winner, on replicas that the search has not seen."""
    rows: list[tuple[str, ...]] = []
    moods: list[Mood] = []
    for comparison in (*found.objectives, *found.limits):
        mark, mood = _judged(found, comparison.name)
        moods.append(mood)
        rows.append(
            (
                comparison.name,
                f"{comparison.baseline:.5g} ± {comparison.baseline_spread:.2g}",
                f"{comparison.winner:.5g} ± {comparison.winner_spread:.2g}",
                f"{comparison.difference:+.4g}",
                f"{comparison.low:+.4g} … {comparison.high:+.4g}",
                f"{comparison.chance:.2g}",
                mark,
            )
        )
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
    return (f"within {bound}", "good") if found.kept[name] else (f"beyond {bound}", "bad")


def _history(tuning: Tuning, outcome: Outcome) -> Drawing:
    """Each candidate's objectives, the best so far, and the baseline."""
    tried, objectives = outcome.tuned.tried, tuning.judge.objectives
    numbers = np.arange(1, len(tried) + 1)
    kept = np.array([one.score.keeps_limits for one in tried])
    figure = grid_of_panels(["candidate"] * len(objectives), [label_of(o) for o in objectives], columns=1)
    for k, objective in enumerate(objectives):
        values = np.array([one.score.values[objective.name] for one in tried])
        shown = {"legendgroup": "", "showlegend": k == 0}
        for mask, label, color, symbol in (
            (kept, "candidate", style.SKY, "circle"),
            (~kept, "beyond a limit", style.ORANGE, "x"),
        ):
            if mask.any():
                look = {"color": color, "symbol": symbol, "size": 5}
                figure.add_scatter(x=numbers[mask], y=values[mask], mode="markers", marker=look, name=label,
                                   **panel(k), **(shown | {"legendgroup": label}))  # fmt: skip
        figure.add_scatter(x=numbers, y=best_so_far(tried, objective), mode="lines", name="best so far",
                           line={"color": style.BLUE, "shape": "hv"}, **panel(k),
                           **(shown | {"legendgroup": "best"}))  # fmt: skip
        at = outcome.tuned.baseline.score.values[objective.name]
        figure.add_scatter(x=[1, len(tried)], y=[at, at], mode="lines", name="baseline",
                           line={"color": theme.NEUTRAL, "dash": "dash"}, **panel(k),
                           **(shown | {"legendgroup": "baseline"}))  # fmt: skip
    return Drawing("history", "Every candidate in the order in which it was asked for, and the best so far.", figure)


def _slices(tuning: Tuning, outcome: Outcome) -> Drawing:
    """Each candidate over each knob, for one objective at a time."""
    tried, knobs, objectives = outcome.tuned.tried, tuning.plan.knobs, tuning.judge.objectives
    labels = [_with_unit(knob.name, tuning.plan.units[knob.name]) for knob in knobs]
    logarithmic = [knob.scale == LOG for knob in knobs]
    figure = grid_of_panels(labels, [objectives[0].name if len(objectives) == 1 else ""] * len(knobs), logarithmic,
                            top=70 if len(objectives) > 1 else 34)  # fmt: skip
    numbers = np.array([one.number for one in tried])
    marked = [
        (one, label, color, symbol)
        for one, label, color, symbol in (
            (outcome.tuned.baseline, "baseline", theme.NEUTRAL, "diamond"),
            (outcome.winner, "winner", style.RED, "star"),
        )
        if one is not None and one.candidate.point
    ]
    for place, objective in enumerate(objectives):
        values = np.array([one.score.values[objective.name] for one in tried])
        for k, knob in enumerate(knobs):
            at = np.array([one.candidate.point[knob.name] for one in tried])
            look = {"color": numbers, "colorscale": theme.SCALE, "reversescale": True, "size": 5, "showscale": False}
            figure.add_scatter(x=at, y=values, mode="markers", marker=look, customdata=numbers, showlegend=False,
                               visible=place == 0, hovertemplate=_HOVER, **panel(k))  # fmt: skip
            for one, label, color, symbol in marked:
                look = {"color": color, "symbol": symbol, "size": 12}
                figure.add_scatter(x=[one.candidate.point[knob.name]], y=[one.score.values[objective.name]],
                                   mode="markers", marker=look, name=label, legendgroup=label, showlegend=k == 0,
                                   visible=place == 0, **panel(k))  # fmt: skip
    if len(objectives) > 1:
        add_choice(figure, [label_of(o) for o in objectives], len(knobs) * (1 + len(marked)), 0)
    return Drawing("slices", "Every candidate over each value that was tuned; the later, the darker.", figure)


def _importance(tuning: Tuning, tried: Sequence[Tried]) -> list[Drawing]:
    """What sets the best candidates apart, where there are enough of them to say."""
    found = [(o, importances(tuning.plan.knobs, tried, k)) for k, o in enumerate(tuning.judge.objectives)]
    shown = [(objective, shares) for objective, shares in found if shares]
    if not shown:
        return []
    figure = theme.new_figure(120 + 34 * len(tuning.plan.knobs) * len(shown), barmode="group", margin={"l": 170})
    for (objective, shares), color in zip(shown, theme.LINES, strict=False):
        names = sorted(shares, key=lambda name: shares[name])
        figure.add_bar(
            orientation="h", x=[shares[name] for name in names], y=[plain(name) for name in names],
            name=plain(objective.name), marker={"color": color}, hovertemplate="%{y}: %{x:.3f}<extra></extra>",
        )  # fmt: skip
    figure.update_layout(xaxis={"title": {"text": "share (PED-ANOVA)"}}, yaxis={"showgrid": False})
    text = f"What sets the best {GOOD:.0%} of the candidates apart (PED-ANOVA, Watanabe, Bansal and Hutter 2023)."
    return [Drawing("importance", text, figure)]


def _front(tuning: Tuning, outcome: Outcome) -> Drawing:
    """Each pair of objectives."""
    objectives = tuning.judge.objectives
    pairs = [(a, b) for k, a in enumerate(objectives) for b in objectives[k + 1 :]]
    figure = grid_of_panels([label_of(a) for a, _ in pairs], [label_of(b) for _, b in pairs], columns=2)
    groups = (
        (outcome.tuned.tried, "candidate", style.SKY, "circle", 5),
        (outcome.tuned.front, "front", style.BLUE, "circle", 9),
        ([outcome.tuned.baseline], "baseline", theme.NEUTRAL, "diamond", 10),
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
    """The best candidates first."""
    ordered = sorted(outcome.tuned.tried, key=lambda tried: tried.score.costs[0])[:MOST_ROWS]
    knobs = [knob.name for knob in tuning.plan.knobs]
    objectives = [objective.name for objective in tuning.judge.objectives]
    rows = tuple(
        (
            str(tried.number),
            *(f"{tried.score.values[name]:.5g}" for name in objectives),
            "yes" if tried.score.keeps_limits else "no",
            *(f"{tried.candidate.point[name]:.5g}" for name in knobs),
        )
        for tried in ordered
    )
    title = f"The best {len(rows)} of {len(outcome.tuned.tried)} candidates"
    return Table(title, ("candidate", *objectives, "keeps limits", *knobs), rows).folded()


def _with_unit(name: str, unit: str) -> str:
    return f"{name} [{unit}]" if unit else name
