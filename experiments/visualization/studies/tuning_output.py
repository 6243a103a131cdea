"""What a tuning leaves behind: files in its folder, and lines on the terminal."""

from pathlib import Path

from rich.console import Console
from rich.text import Text

from experiments.cli.terminal import print_table, terminal
from experiments.studies.tuning.confirm import Comparison
from experiments.studies.tuning.output import write_results
from experiments.studies.tuning.tuner import Confirmation, Evaluation
from experiments.studies.tuning.tuning import Outcome, Tuning
from experiments.visualization.figures.words import with_unit
from experiments.visualization.studies.tuning_figures import draw_tuning, endings

#: Members of a front that are printed.
MOST = 12


def show_tuning(tuning: Tuning, outcome: Outcome, folder: Path, draw: bool) -> list[Path]:
    files = write_results(tuning, outcome, folder)
    if draw:
        files += draw_tuning(tuning, outcome, folder)
    print_tuning(tuning, outcome, terminal())
    return files


def print_tuning(tuning: Tuning, outcome: Outcome, console: Console) -> None:
    history = outcome.history
    beyond = sum(not one.score.keeps_limits for one in history.evaluations)
    text = f"{tuning.name}: {len(history.evaluations)} candidates by {tuning.settings.optimizer}"
    limits = f"; {beyond} beyond a limit" if beyond else ""
    console.print(Text(f"{text}, {tuning.space.size} trials each{limits}", style="bold"))
    if tuning.is_front:
        _print_front(tuning, outcome, console)
    if outcome.winner is not None:
        _print_variables(tuning, history.baseline, outcome.winner, console)
    elif tuning.is_front and history.front:
        console.print(Text("No winner was chosen: [choice] in the file says how, by a weight for each objective."))
    else:
        console.print(Text("No candidate keeps all limits: there is no winner.", style="bold yellow"))
    if outcome.confirmation is not None:
        _print_confirmation(outcome.confirmation, console)


def _print_front(tuning: Tuning, outcome: Outcome, console: Console) -> None:
    front = outcome.history.front
    headings = ["member", "candidate", *(objective.name for objective in tuning.scorer.objectives)]
    rows = [
        [str(place), str(one.number), *(f"{value:.5g}" for value in one.score.values.values())]
        for place, one in enumerate(front[:MOST], start=1)
    ]
    print_table(console, headings, rows)
    if len(front) > MOST:
        console.print(f"… and {len(front) - MOST} more")


def _print_variables(tuning: Tuning, baseline: Evaluation, winner: Evaluation, console: Console) -> None:
    rows = []
    for variable in tuning.space.variables:
        before = baseline.candidate.point.get(variable.name)
        name = with_unit(variable.name, tuning.space.units[variable.name])
        rows.append([name, "–" if before is None else f"{before:.5g}", f"{winner.candidate.point[variable.name]:.5g}"])
    rows += [[name, *parts] for name, parts in ending_rows(baseline, winner)]
    print_table(console, ["", "baseline", f"candidate {winner.number}"], rows)


def ending_rows(*evaluations: Evaluation) -> list[tuple[str, list[str]]]:
    """For each verdict that occurs, the part of each candidate's trials that ended so."""
    return [(f"trials: {word}", [f"{part:.0%}" for part in parts]) for word, parts in endings(evaluations).items()]


def _print_confirmation(found: Confirmation, console: Console) -> None:
    replicas = found.objectives[0].replicas
    console.print(Text(f"\nOn {replicas} fresh replicas, the same for both:", style="bold"))
    rows = []
    for comparison in found.objectives:
        mark = "better" if found.better[comparison.name] else "worse" if comparison.name in found.worse else "?"
        rows.append([*comparison_cells(comparison), mark])
    for comparison in found.limits:
        bound = f"{'within' if found.within[comparison.name] else 'BEYOND'} {found.bounds[comparison.name]:.5g}"
        rows.append([*comparison_cells(comparison), bound])
    print_table(console, ["", "baseline", "winner", "difference", "95 % interval", "p", ""], rows)
    if found.holds:
        console.print(Text("Confirmed: better than the baseline.", style="bold green"))
    else:
        console.print(Text(f"NOT confirmed: {'; '.join(found.reasons)}.", style="bold yellow"))


def comparison_cells(comparison: Comparison) -> list[str]:
    """Name, baseline, winner, difference, its interval, and the chance."""
    return [
        comparison.name,
        f"{comparison.baseline:.5g} ± {comparison.baseline_spread:.2g}",
        f"{comparison.winner:.5g} ± {comparison.winner_spread:.2g}",
        f"{comparison.difference:+.4g}",
        f"{comparison.low:+.4g} … {comparison.high:+.4g}",
        f"{comparison.chance:.2g}",
    ]
