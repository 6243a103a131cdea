"""The findings of a tuning: the winner and whether it is confirmed, on the terminal, in files, and on its page."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from experiments.cli.terminal import print_table, say
from experiments.studies.run import recall
from experiments.studies.store.folder import Study
from experiments.studies.tuning.confirm import Comparison
from experiments.studies.tuning.importance import GOOD
from experiments.studies.tuning.output import summary, write_results
from experiments.studies.tuning.tuner import Confirmation, Evaluation
from experiments.studies.tuning.tuning import Outcome, Tuning
from experiments.visualization.figures.words import with_unit
from experiments.visualization.pages import Block, Chart, Prose, Section, Table
from experiments.visualization.pages.blocks import Mood
from experiments.visualization.panels.with_plotly import figure_of, figure_of_choices
from experiments.visualization.report.toml import file_and_command
from experiments.visualization.studies import tuning_figures as figures

#: Members of a front that are printed, and candidates in the page's table, at most.
MOST, MOST_ROWS = 12, 200
_HEADINGS = ("", "baseline", "winner", "difference", "95 % interval", "p", "")


def show(tuning: Tuning, outcome: Outcome, folder: Path, draw: bool) -> list[Path]:
    """Write the results and figures of a tuning, and print its findings; the files."""
    files = [*write_results(tuning, outcome, folder), *(figures.draw_tuning(tuning, outcome, folder) if draw else ())]
    history = outcome.history
    beyond = sum(not one.score.keeps_limits for one in history.evaluations)
    text = f"{tuning.name}: {len(history.evaluations)} candidates by {tuning.settings.optimizer}"
    limits = f"; {beyond} beyond a limit" if beyond else ""
    say(f"{text}, {tuning.space.size} trials each{limits}", "bold")
    if tuning.is_front:
        _print_front(tuning, history.front)
    if outcome.winner is not None:
        _print_variables(tuning, history.baseline, outcome.winner)
    elif tuning.is_front and history.front:
        say("No winner was chosen: [choice] in the file says how, by a weight for each objective.")
    else:
        say("No candidate keeps all limits: there is no winner.", "bold yellow")
    if outcome.confirmation is not None:
        _print_confirmation(outcome.confirmation)
    return files


def as_json(tuning: Tuning, outcome: Outcome) -> dict[str, Any]:
    return summary(tuning, outcome)


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
        blocks: list[Block] = [*_charts(tuning, outcome), _candidates(tuning, outcome)]
        sections.append(Section("search", "The search", f"by {tuning.settings.optimizer}", blocks=tuple(blocks)))
    return sections


def page_rerun(study: Study) -> list[Block]:
    name = study.configuration["name"]
    data = study.configuration["tuning"]
    return file_and_command("The tuning", data, f"{name}.toml", f"biped tune {name}.toml")


def _print_front(tuning: Tuning, front: Sequence[Evaluation]) -> None:
    headings = ["member", "candidate", *(objective.name for objective in tuning.scorer.objectives)]
    rows = [
        [str(place), str(one.number), *(f"{value:.5g}" for value in one.score.values.values())]
        for place, one in enumerate(front[:MOST], start=1)
    ]
    print_table(headings, rows)
    if len(front) > MOST:
        say(f"… and {len(front) - MOST} more")


def _print_variables(tuning: Tuning, baseline: Evaluation, winner: Evaluation) -> None:
    rows = []
    for variable in tuning.space.variables:
        name = with_unit(variable.name, tuning.space.units[variable.name])
        rows.append([name, _value(baseline, variable.name, ".5g"), _value(winner, variable.name, ".5g")])
    rows += [[name, *parts] for name, parts in _ending_rows(baseline, winner)]
    print_table(["", "baseline", f"candidate {winner.number}"], rows)


def _value(one: Evaluation, variable: str, form: str) -> str:
    point = one.candidate.point
    return f"{point[variable]:{form}}" if variable in point else "–"


def _ending_rows(*evaluations: Evaluation) -> list[tuple[str, list[str]]]:
    """For each verdict that occurs, the part of each candidate's trials that ended so."""
    return [
        (f"trials: {word}", [f"{part:.0%}" for part in parts]) for word, parts in figures.endings(evaluations).items()
    ]


def _print_confirmation(found: Confirmation) -> None:
    say(f"\nOn {found.objectives[0].replicas} fresh replicas, the same for both:", "bold")
    rows = []
    for comparison in found.objectives:
        mark = "better" if found.better[comparison.name] else "worse" if comparison.name in found.worse else "?"
        rows.append([*_cells(comparison), mark])
    for comparison in found.limits:
        bound = f"{'within' if found.within[comparison.name] else 'BEYOND'} {found.bounds[comparison.name]:.5g}"
        rows.append([*_cells(comparison), bound])
    print_table(_HEADINGS, rows)
    if found.holds:
        say("Confirmed: better than the baseline.", "bold green")
    else:
        say(f"NOT confirmed: {'; '.join(found.reasons)}.", "bold yellow")


def _cells(comparison: Comparison) -> list[str]:
    """Name, baseline, winner, difference, its interval, and the chance."""
    return [
        comparison.name,
        f"{comparison.baseline:.5g} ± {comparison.baseline_spread:.2g}",
        f"{comparison.winner:.5g} ± {comparison.winner_spread:.2g}",
        f"{comparison.difference:+.4g}",
        f"{comparison.low:+.4g} … {comparison.high:+.4g}",
        f"{comparison.chance:.2g}",
    ]


def _variables(tuning: Tuning, outcome: Outcome) -> Table:
    """The range of each variable, and its values and what they come to in the baseline and in what was chosen."""
    baseline = outcome.history.baseline
    chosen = [outcome.winner] if outcome.winner is not None else outcome.history.front[:6]
    headings = ("", "unit", "from", "to", "baseline", *(f"candidate {one.number}" for one in chosen))
    shown = (baseline, *chosen)
    rows = []
    for variable in tuning.space.variables:
        span = tuning.space.units[variable.name], f"{variable.low:g}", f"{variable.high:g}"
        rows.append((variable.name, *span, *(_value(one, variable.name, ".6g") for one in shown)))
    for objective in tuning.scorer.objectives:
        scores = (f"{one.score.values[objective.name]:.5g}" for one in shown)
        rows.append((figures.label_of(objective), "", "", "", *scores))
    rows += [(name, "", "", "", *parts) for name, parts in _ending_rows(*shown)]
    return Table("Values, and what they come to in the search", headings, tuple(rows), fold=False)


def _confirmation(found: Confirmation) -> Table:
    judged = [(one, *_judged(found, one.name)) for one in (*found.objectives, *found.limits)]
    rows = tuple((*_cells(comparison), mark) for comparison, mark, _ in judged)
    title = f"On {found.objectives[0].replicas} fresh replicas, the same for both"
    return Table(title, _HEADINGS, rows, tuple(mood for *_, mood in judged), fold=False)


def _judged(found: Confirmation, name: str) -> tuple[str, Mood]:
    """The words about an objective or a limit, and how they are coloured."""
    if name in found.better:
        if found.better[name]:
            return "better", "good"
        return ("worse", "bad") if name in found.worse else ("", "")
    bound = f"{found.bounds[name]:.5g}"
    return (f"within {bound}", "good") if found.within[name] else (f"beyond {bound}", "bad")


def _charts(tuning: Tuning, outcome: Outcome) -> Iterator[Chart]:
    if tuning.is_front:
        text = "The candidates, and those that no other beats in everything."
        yield Chart.of(figure_of(figures.front_panels(tuning, outcome), columns=2), text, "front")
    text = "Every candidate in the order in which it was asked for, the best so far, and how the trials ended."
    yield Chart.of(figure_of(figures.history_panels(tuning, outcome), columns=1), text, "history")
    objectives = tuning.scorer.objectives
    slices = {
        figures.label_of(objective): figures.slices_panels(tuning, outcome, objective) for objective in objectives
    }
    text = "Every candidate over each value that was tuned; the later, the darker."
    yield Chart.of(figure_of_choices(slices), text, "slices")
    if panels := figures.importance_panels(tuning, outcome.history.evaluations):
        text = f"What sets the best {GOOD:.0%} of the candidates apart (PED-ANOVA, Watanabe, Bansal and Hutter 2023)."
        yield Chart.of(figure_of(panels, columns=1), text, "importance")


def _candidates(tuning: Tuning, outcome: Outcome) -> Table:
    ordered = sorted(outcome.history.evaluations, key=lambda one: one.score.costs[0])[:MOST_ROWS]
    variables = [variable.name for variable in tuning.space.variables]
    objectives = [objective.name for objective in tuning.scorer.objectives]
    ended = figures.endings(ordered)
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
