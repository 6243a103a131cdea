"""The page of a tuning: the winner and whether it is confirmed, how it was found, and what it depended on."""

from collections.abc import Iterator

from experiments.studies.run import recall
from experiments.studies.store.folder import Study
from experiments.studies.tuning.importance import GOOD
from experiments.studies.tuning.tuner import Confirmation
from experiments.studies.tuning.tuning import Outcome, Tuning
from experiments.visualization.pages import Block, Prose, Section, Table
from experiments.visualization.pages.blocks import Mood
from experiments.visualization.panels.with_plotly import figure_of, figure_of_choices
from experiments.visualization.report.drawing import Drawing
from experiments.visualization.report.toml import file_and_command
from experiments.visualization.studies.tuning_figures import (
    endings,
    front_panels,
    history_panels,
    importance_panels,
    label_of,
    slices_panels,
)
from experiments.visualization.studies.tuning_output import comparison_cells, ending_rows

#: Candidates that the table has at most.
MOST_ROWS = 200


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
        blocks: list[Block] = [drawing.chart for drawing in _drawings(tuning, outcome)]
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


def _drawings(tuning: Tuning, outcome: Outcome) -> Iterator[Drawing]:
    objectives = tuning.scorer.objectives
    if tuning.is_front:
        text = "The candidates, and those that no other beats in everything."
        yield Drawing("front", text, figure_of(front_panels(tuning, outcome), columns=2))
    text = "Every candidate in the order in which it was asked for, the best so far, and how the trials ended."
    yield Drawing("history", text, figure_of(history_panels(tuning, outcome), columns=1))
    slices = {label_of(objective): slices_panels(tuning, outcome, objective) for objective in objectives}
    text = "Every candidate over each value that was tuned; the later, the darker."
    yield Drawing("slices", text, figure_of_choices(slices))
    if panels := importance_panels(tuning, outcome.history.evaluations):
        text = f"What sets the best {GOOD:.0%} of the candidates apart (PED-ANOVA, Watanabe, Bansal and Hutter 2023)."
        yield Drawing("importance", text, figure_of(panels, columns=1))


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
