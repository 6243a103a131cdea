"""The findings of a sweep: verdicts and metrics over what was varied, on the terminal, in files, and on its page."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
from rich.text import Text

from biped.inputs.files import in_place_of
from experiments.cli.quantities import unit_text
from experiments.cli.terminal import print_table, say, terminal
from experiments.studies.counting import USUAL_LOSSES, shares, success_text
from experiments.studies.proportion import CONFIDENCE
from experiments.studies.run import plan_of
from experiments.studies.store.folder import Study
from experiments.studies.sweep.ensemble import ensemble
from experiments.studies.sweep.groups import (
    Factor,
    as_written,
    factors_of,
    groups,
    proportion,
    shown_metric,
    successes_in,
    verdicts_in,
)
from experiments.studies.sweep.summary import summary
from experiments.studies.sweep.sweep import Sweep
from experiments.visualization.figures.words import with_unit
from experiments.visualization.pages import Block, Chart, Section
from experiments.visualization.panels.with_plotly import figure_of
from experiments.visualization.report.responses import response_sections
from experiments.visualization.report.toml import file_and_command
from experiments.visualization.report.trials import Axis, Trials
from experiments.visualization.studies.ensemble_figure import draw_ensemble, ensemble_panels
from experiments.visualization.studies.sweep_figure import besides, draw_sweep, metric_label

FIGURE, SUMMARY, OVER_TIME, ENSEMBLE = "sweep.png", "summary.csv", "ensemble.png", "ensemble.csv"
_STYLES = {"recovered": "green", "stepped": "cyan", "failed": "red", "unreliable": "red"}
#: A table across two factors is printed up to so many values of the second.
MOST_COLUMNS = 12


def show(plan: Sweep, frame: pd.DataFrame, folder: Path, draw: bool) -> list[Path]:
    """Draw the figure, print a summary of a sweep's trials and write that of its replicas as a table; the files."""
    files = draw_sweep(plan, frame, folder / FIGURE) if draw else []
    print_summary(plan, frame)
    if plan.replicas > 1:
        _write(summary(plan, frame), folder / SUMMARY)
        files.append(folder / SUMMARY)
    if plan.traces:
        if not (folder / ENSEMBLE).is_file():
            say("\nrunning all trials once more for their means over time", "dim")
            _write(ensemble(plan), folder / ENSEMBLE)
        files.append(folder / ENSEMBLE)
        files += draw_ensemble(plan, pd.read_csv(folder / ENSEMBLE), folder / OVER_TIME) if draw else []
    return files


def _write(table: pd.DataFrame, path: Path) -> None:
    with in_place_of(path) as part:
        table.to_csv(part, index=False, float_format="%.6g")


def as_json(plan: Sweep, frame: pd.DataFrame) -> list[dict[str, Any]]:
    """For each factor, and each of its values, the proportions of successes, and the trials of each verdict."""
    successes = successes_in(frame, plan.counts)
    return [
        {
            "parameter": factor.column,
            "value": group.value,
            "trials": len(group.trials),
            **{kind: proportion(group.trials["verdict"], losses).value for kind, losses in successes.items()},
            **shares(group.trials["verdict"].tolist()),
        }
        for factor in factors_of(plan)
        for group in groups(frame, factor.column)
    ]


def page_sections(study: Study) -> list[Section]:
    trials, plan = Trials(study), plan_of(study)
    written = as_written(plan, trials.frame)
    axes = [_axis(trials, factor, written) for factor in factors_of(plan)]
    sections = response_sections(trials, [axis for axis in axes if len(axis.points) > 1], plan.counts)
    return [*sections, *_over_time(plan, study.folder / ENSEMBLE)]


def _over_time(plan: Sweep, file: Path) -> list[Section]:
    if not (plan.traces and file.is_file()):
        return []
    panels = ensemble_panels(plan, pd.read_csv(file))
    text = "Mean and standard deviation of the replicas of each combination; dashed: the disturbance begins."
    return [Section("over-time", "Over time", blocks=(Chart.of(figure_of(panels, columns=1), text, "ensemble"),))]


def page_rerun(study: Study) -> list[Block]:
    return file_and_command("The sweep", study.configuration, "sweep.toml", "biped sweep sweep.toml")


def _axis(trials: Trials, factor: Factor, written: pd.DataFrame) -> Axis:
    """The axis of a factor; its angles are in degrees where the sweep has them so."""
    axis = trials.axis(factor.column, besides(factor))
    if "°" not in factor.unit:
        return axis
    label = with_unit(factor.column, factor.unit) + besides(factor)
    return replace(axis, label=label, values=written[factor.column])


def print_summary(plan: Sweep, frame: pd.DataFrame) -> None:
    frame, factors = as_written(plan, frame), factors_of(plan)
    say(f"{plan.experiment.name}: {plan.title}", "bold")
    terminal().print(_counts(plan, frame))
    if len(factors) == 2 and frame[factors[1].column].nunique() <= MOST_COLUMNS and not factors[0].sampled:
        interval = f", with its {CONFIDENCE:.0%} interval" if plan.replicas > 1 else ""
        say(f"\nProportion that {success_text(plan.counts)}, of {plan.replicas} each{interval}", "bold")
        _print_across(plan, frame, *factors)
        return
    for factor in factors:
        say(f"\nBy {factor.label}{'' if len(factors) == 1 else ', whatever the others'}", "bold")
        _print_by(plan, frame, factor, intervals=plan.replicas == 1 or len(factors) == 1)
    if plan.replicas > 1 and len(factors) > 1:
        say("no intervals: the same replicas are in all combinations that are taken together", "dim")


def _counts(plan: Sweep, frame: pd.DataFrame) -> Text:
    text = Text(f"{len(frame)} trials: {plan.points} combinations")
    if plan.replicas > 1:
        text.append(f" × {plan.replicas} replicas")
    counts = frame["verdict"].value_counts()
    for verdict in verdicts_in(frame):
        text.append("   ").append(f"{counts[verdict]} {verdict}", style=_STYLES.get(verdict, "yellow"))
    return text


def _print_by(plan: Sweep, frame: pd.DataFrame, factor: Factor, *, intervals: bool) -> None:
    metric, successes = shown_metric(plan, frame), successes_in(frame, plan.counts)
    others = [verdict for verdict in verdicts_in(frame) if verdict not in successes]
    headings = [_heading(factor), "trials"]
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
    print_table(headings, rows, "right")


def _print_across(plan: Sweep, frame: pd.DataFrame, by: Factor, columns: Factor) -> None:
    of_columns = groups(frame, columns.column)
    headings = [f"{_heading(by)} \\ {_heading(columns)}", *(group.label for group in of_columns)]
    rows = []
    for group in groups(frame, by.column):
        cells = [group.label]
        for other in of_columns:
            both = group.trials[group.trials["trial"].isin(other.trials["trial"])]
            found = proportion(both["verdict"], plan.counts or USUAL_LOSSES)
            interval = f" ({_percent(found.low)} … {_percent(found.high)})" if plan.replicas > 1 else ""
            cells.append(f"{_percent(found.value)}{interval}" if len(both) else "·")
        rows.append(cells)
    print_table(headings, rows, "right")


def _heading(factor: Factor) -> str:
    unit = unit_text(factor.unit)
    return f"{factor.column} [{unit}]" if unit else factor.column


def _percent(share: float) -> str:
    """A share in percent; a dash where no trial counts."""
    return "–" if math.isnan(share) else f"{share:.0%}"
