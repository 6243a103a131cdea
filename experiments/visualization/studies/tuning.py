"""Findings of a tuning: the winner and its confirmation, for the terminal, files and its page."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from experiments.studies.tuning.confirm import Comparison
from experiments.studies.tuning.importance import GOOD
from experiments.studies.tuning.output import summary, write_results
from experiments.studies.tuning.tuner import Confirmation, Evaluation
from experiments.studies.tuning.tuning import Outcome, Tuning
from experiments.visualization.document import Document
from experiments.visualization.pages import Block, Chart, Prose, Section, Table
from experiments.visualization.pages.blocks import Mood
from experiments.visualization.studies import tuning_figures as figures

#: Most members of a front and candidates in tables; panels in a row.
MOST, MOST_ROWS, COLUMNS = 12, 200, 3
_HEADINGS = ("", "baseline", "winner", "difference", "95 % interval", "p", "")


def document(tuning: Tuning, outcome: Outcome, _: Path) -> Document:
    """Return a document: winner, its confirmation on fresh replicas, and the course of the search."""
    history, winner, confirmation = outcome.history, outcome.winner, outcome.confirmation
    evaluations = history.evaluations
    tables: list[Block] = [_variables(tuning, outcome)]
    if confirmation is not None:
        tables.append(_confirmation(confirmation))
    sections = [Section("winner", "Results", blocks=tuple(tables))]
    beyond = sum(not e.score.keeps_limits for e in evaluations)
    limits = f"; {beyond} violate a constraint" if beyond else ""
    text = f"{len(evaluations)} candidates by {tuning.settings.optimizer}, {tuning.space.size} trials each{limits}"
    if evaluations:
        blocks: tuple[Block, ...] = (*_charts(tuning, outcome), _candidates(tuning, outcome))
        sections.append(Section("search", "The search", text, blocks=blocks))
    lead = [Prose(f"{tuning.name}: {text}.")]
    if winner is None:
        front = tuning.is_front and history.front
        reason = f"{len(history.front)} candidates are on the Pareto front; add [choice] to weigh the objectives"
        lead.append(Prose(f"There is no winner: {reason if front else 'no candidate meets all constraints'}.", "bad"))
    else:
        values = ", ".join(f"{name} {value:.5g}" for name, value in winner.score.values.items())
        lead.append(Prose(f"The winner is candidate {winner.number}: {values}."))
    if confirmation is None:
        lead.append(Prose("The comparison with the baseline on fresh replicas is not done yet."))
    else:
        reasons, many = "; ".join(confirmation.reasons), f"on {confirmation.objectives[0].replicas} fresh replicas"
        worse = Prose(f"NOT confirmed {many}: {reasons}.", "bad")
        holds = Prose(f"Confirmed {many}: better than the baseline.", "good")
        lead.append(holds if confirmation.holds else worse)
    drawings, more = figures.drawings(tuning, outcome), partial(write_results, tuning, outcome)
    return Document(lead, sections, summary(tuning, outcome), drawings=drawings, more=more)


def _value(evaluation: Evaluation, variable: str) -> str:
    point = evaluation.candidate.point
    return f"{point[variable]:.6g}" if variable in point else "–"


def _cells(comparison: Comparison) -> list[str]:
    """Return name, baseline, winner, difference, its interval, and p-value."""
    return [
        comparison.name,
        f"{comparison.baseline:.5g} ± {comparison.baseline_spread:.2g}",
        f"{comparison.winner:.5g} ± {comparison.winner_spread:.2g}",
        f"{comparison.difference:+.4g}",
        f"{comparison.low:+.4g} … {comparison.high:+.4g}",
        f"{comparison.chance:.2g}",
    ]


def _variables(tuning: Tuning, outcome: Outcome) -> Table:
    """Return a table: range of each variable; values and scores of the baseline and the chosen candidates."""
    baseline, front = outcome.history.baseline, outcome.history.front
    chosen = [outcome.winner] if outcome.winner is not None else front[:MOST]
    headings = ("", "unit", "from", "to", "baseline", *(f"candidate {e.number}" for e in chosen))
    shown = (baseline, *chosen)
    rows = []
    for variable in tuning.space.variables:
        span = tuning.space.units[variable.name], f"{variable.low:g}", f"{variable.high:g}"
        rows.append((variable.name, *span, *(_value(e, variable.name) for e in shown)))
    for objective in tuning.scorer.objectives:
        scores = (f"{e.score.values[objective.name]:.5g}" for e in shown)
        rows.append((figures.label_of(objective), "", "", "", *scores))
    for word, parts in figures.endings(shown).items():
        rows.append((f"trials: {word}", "", "", "", *(f"{part:.0%}" for part in parts)))
    return Table("", headings, tuple(rows), fold=False)


def _confirmation(confirmation: Confirmation) -> Table:
    judged = [(c, *_judged(confirmation, c.name)) for c in (*confirmation.objectives, *confirmation.limits)]
    rows = tuple((*_cells(comparison), mark) for comparison, mark, _ in judged)
    title = f"Baseline and winner on the same {confirmation.objectives[0].replicas} fresh replicas"
    return Table(title, _HEADINGS, rows, tuple(mood for *_, mood in judged), fold=False)


def _judged(confirmation: Confirmation, name: str) -> tuple[str, Mood]:
    """Return the verdict on an objective or a constraint, and its mood."""
    if name in confirmation.better:
        if confirmation.better[name]:
            return "better", "good"
        return ("worse", "bad") if name in confirmation.worse else ("", "")
    bound = f"{confirmation.bounds[name]:.5g}"
    return (f"within {bound}", "good") if confirmation.within[name] else (f"beyond {bound}", "bad")


def _charts(tuning: Tuning, outcome: Outcome) -> Iterator[Chart]:
    if tuning.is_front:
        text = "All candidates and the Pareto front."
        yield Chart(figures.front_panels(tuning, outcome), text, "front", columns=2)
    text = "All candidates in order, the best so far, and the verdicts of the trials."
    yield Chart(figures.history_panels(tuning, outcome), text, "history")
    objectives = tuning.scorer.objectives
    slices = {
        figures.label_of(objective): figures.slices_panels(tuning, outcome, objective) for objective in objectives
    }
    text = "All candidates over each tuned parameter; later ones are darker."
    yield Chart(slices, text, "slices", columns=COLUMNS)
    if panels := figures.importance_panels(tuning, outcome.history.evaluations):
        text = f"Importance for the best {GOOD:.0%} of the candidates (PED-ANOVA, Watanabe, Bansal and Hutter 2023)."
        yield Chart(panels, text, "importance")


def _candidates(tuning: Tuning, outcome: Outcome) -> Table:
    ordered = sorted(outcome.history.evaluations, key=lambda e: e.score.costs[0])[:MOST_ROWS]
    variables = [variable.name for variable in tuning.space.variables]
    objectives = [objective.name for objective in tuning.scorer.objectives]
    ended = figures.endings(ordered)
    rows = tuple(
        (
            str(e.number),
            *(f"{e.score.values[name]:.5g}" for name in objectives),
            "yes" if e.score.keeps_limits else "no",
            *(f"{parts[place]:.0%}" for parts in ended.values()),
            *(f"{e.candidate.point[name]:.5g}" for name in variables),
        )
        for place, e in enumerate(ordered)
    )
    title = f"The best {len(rows)} of {len(outcome.history.evaluations)} candidates"
    return Table(title, ("candidate", *objectives, "keeps limits", *ended, *variables), rows, fold=True)
