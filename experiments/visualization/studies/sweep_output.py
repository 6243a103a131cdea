"""What a sweep amounts to: a figure, and lines on the terminal."""

import math
from pathlib import Path

import pandas as pd
from rich.console import Console
from rich.text import Text

from experiments.cli.terminal import print_table, terminal
from experiments.studies.counting import USUAL_LOSSES, success_text
from experiments.studies.proportion import CONFIDENCE
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
from experiments.visualization.studies.sweep_figure import draw_sweep, metric_label

FIGURE = "sweep.png"
_STYLES = {"recovered": "green", "stepped": "cyan", "failed": "red", "unreliable": "red"}
#: A table across two factors is printed up to so many values of the second.
MOST_COLUMNS = 12


def show_sweep(plan: Sweep, frame: pd.DataFrame, folder: Path, draw: bool) -> list[Path]:
    files = draw_sweep(plan, frame, folder / FIGURE) if draw else []
    print_summary(plan, frame)
    return files


def print_summary(plan: Sweep, frame: pd.DataFrame) -> None:
    console = terminal()
    experiment = plan.experiment
    console.print(Text(f"{experiment.name}: {experiment.title}", style="bold"))
    console.print(_counts(plan, frame))
    factors = factors_of(plan)
    if len(factors) == 2 and frame[factors[1].column].nunique() <= MOST_COLUMNS and not factors[0].sampled:
        console.print(Text(f"\nProportion that {success_text(plan.counts)}, of {plan.replicas} each", style="bold"))
        _print_across(console, plan, frame, *factors)
        return
    for factor in factors:
        others = "" if len(factors) == 1 else ", whatever the others"
        console.print(Text(f"\nBy {factor.label}{others}", style="bold"))
        _print_by(console, plan, frame, factor, intervals=plan.replicas == 1 or len(factors) == 1)
    if plan.replicas > 1 and len(factors) > 1:
        console.print(
            Text("no intervals: the same replicas are in all combinations that are taken together", style="dim")
        )


def _counts(plan: Sweep, frame: pd.DataFrame) -> Text:
    text = Text(f"{len(frame)} trials: {plan.points} combinations")
    if plan.replicas > 1:
        text.append(f" × {plan.replicas} replicas")
    counts = frame["verdict"].value_counts()
    for verdict in verdicts_in(frame):
        text.append("   ").append(f"{counts[verdict]} {verdict}", style=_STYLES.get(verdict, "yellow"))
    return text


def _print_by(console: Console, plan: Sweep, frame: pd.DataFrame, factor: Factor, *, intervals: bool) -> None:
    metric, successes = shown_metric(plan, frame), successes_in(frame, plan.counts)
    others = [verdict for verdict in verdicts_in(frame) if verdict not in successes]
    headings = [factor.column, "trials"]
    for kind in successes:
        headings += [kind, f"{CONFIDENCE:.0%} interval"] if intervals else [kind]
    headings += [*others, *([] if metric is None else [f"median {metric_label(plan, metric)}"])]
    rows = []
    for group in groups(frame, factor.column):
        cells = [group.label, str(len(group.trials))]
        for losses in successes.values():
            found = proportion(group.trials["verdict"], losses)
            interval = f"{_percent(found.low)} … {_percent(found.high)}"
            cells += [_percent(found.value), *([interval] if intervals else [])]
        cells += [_percent(float((group.trials["verdict"] == verdict).mean())) for verdict in others]
        if metric is not None:
            median = group.trials[metric].median()
            cells.append(f"{median:.4g}" if group.trials[metric].notna().any() else "none")
        rows.append(cells)
    print_table(console, headings, rows, "right")


def _print_across(console: Console, plan: Sweep, frame: pd.DataFrame, by: Factor, columns: Factor) -> None:
    of_columns = groups(frame, columns.column)
    headings = [f"{by.column} \\ {columns.column}", *(group.label for group in of_columns)]
    rows = []
    for group in groups(frame, by.column):
        cells = [group.label]
        for other in of_columns:
            both = group.trials[group.trials["trial"].isin(other.trials["trial"])]
            cells.append(_percent(proportion(both["verdict"], plan.counts or USUAL_LOSSES).value) if len(both) else "·")
        rows.append(cells)
    print_table(console, headings, rows, "right")


def _percent(share: float) -> str:
    """None of no trials that tell."""
    return "–" if math.isnan(share) else f"{share:.0%}"
