"""Findings of a sweep: verdicts and metrics over the varied parameters, for the terminal, files and its page."""

import math
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import pandas as pd

from biped.inputs.files import replacing
from experiments.cli.quantities import unit_text
from experiments.cli.terminal import say
from experiments.studies.counting import USUAL_LOSSES, shares, success_text
from experiments.studies.proportion import CONFIDENCE, Proportion
from experiments.studies.run import plan_of
from experiments.studies.store.folder import Study
from experiments.studies.sweep import groups as sweeps
from experiments.studies.sweep.ensemble import ensemble
from experiments.studies.sweep.summary import summary
from experiments.studies.sweep.sweep import Sweep
from experiments.visualization.document import Document
from experiments.visualization.pages import Block, Chart, Prose, Section, Table
from experiments.visualization.studies.ensemble_figure import ensemble_panels
from experiments.visualization.studies.responses import response_sections
from experiments.visualization.studies.sweep_figure import axis_of, draw_sweep, metric_label
from experiments.visualization.studies.trials import Trials

FIGURE, SUMMARY, ENSEMBLE = "sweep.png", "summary.csv", "ensemble.csv"
#: Most values of the second factor in a table across two factors.
MOST_COLUMNS = 12


def so_far(study: Study) -> tuple[Sweep, pd.DataFrame]:
    """Return the plan of a study and the table of its finished trials."""
    return plan_of(study), study.frame()


def document(plan: Sweep, frame: pd.DataFrame, _: Path) -> Document:
    """Return a document: proportion of successes, and a metric, over the varied parameters."""
    written, factors = sweeps.as_written(plan, frame), sweeps.factors_of(plan)
    successes = sweeps.successes_in(frame, plan.counts)
    data = [
        {
            "parameter": factor.column,
            "value": group.value,
            "trials": len(group.trials),
            **{kind: sweeps.proportion(group.trials["verdict"], losses).value for kind, losses in successes.items()},
            **shares(group.trials["verdict"].tolist()),
        }
        for factor in factors
        for group in sweeps.groups(frame, factor.column)
    ]
    tables = {SUMMARY: summary(plan, frame)} if plan.replicas > 1 else {}
    section = Section("proportions", "Over the varied parameters", blocks=tuple(_tables(plan, written, factors)))
    drawings = {FIGURE: partial(draw_sweep, plan, frame)}
    lead = [Prose(f"{plan.experiment.name}: {plan.title}."), Prose(_counts(plan, written))]
    return Document(lead, [section], data, tables, drawings, partial(_over_time_file, plan), digits="%.6g")


def finish(plan: Sweep, folder: Path) -> None:
    """Run all trials of a sweep with traces again, and write their means over time, unless these exist."""
    if plan.traces and not (folder / ENSEMBLE).is_file():
        say("\nrunning all trials again for their means over time", "dim")
        with replacing(folder / ENSEMBLE) as part:
            ensemble(plan).to_csv(part, index=False, float_format="%.6g")


def _over_time_file(plan: Sweep, folder: Path) -> list[Path]:
    return [folder / ENSEMBLE] if plan.traces else []


def page_sections(trials: Trials) -> list[Section]:
    """Return sections of charts over each factor, and of traced columns over time."""
    plan = plan_of(trials.study)
    written = sweeps.as_written(plan, trials.frame)
    axes = [axis_of(factor, written) for factor in sweeps.factors_of(plan)]
    sections = response_sections(trials, [axis for axis in axes if len(axis.points) > 1], plan.counts)
    return [*sections, *_over_time(plan, trials.study.folder / ENSEMBLE)]


def _over_time(plan: Sweep, file: Path) -> list[Section]:
    if not (plan.traces and file.is_file()):
        return []
    panels = ensemble_panels(plan, pd.read_csv(file))
    text = "Mean and standard deviation of the replicas of each combination; dashed: the disturbance begins."
    return [Section("over-time", "Over time", blocks=(Chart(panels, text, "ensemble"),))]


def _tables(plan: Sweep, frame: pd.DataFrame, factors: Sequence[sweeps.Factor]) -> Iterator[Block]:
    """Yield a table for each factor, or a single table of two factors with few values."""
    if len(factors) == 2 and frame[factors[1].column].nunique() <= MOST_COLUMNS and not factors[0].sampled:
        yield _across(plan, frame, *factors)
        return
    for factor in factors:
        yield _by(plan, frame, factor, alone=len(factors) == 1)
    if plan.replicas > 1 and len(factors) > 1:
        yield Prose("No intervals, because the same replicas occur in all combinations of a row.", "muted")


def _counts(plan: Sweep, frame: pd.DataFrame) -> str:
    replicas = f" × {plan.replicas} replicas" if plan.replicas > 1 else ""
    counts = frame["verdict"].value_counts()
    ended = ", ".join(f"{counts[verdict]} {verdict}" for verdict in sweeps.verdicts_in(frame))
    return f"{len(frame)} trials, {plan.points} combinations{replicas}: {ended}."


def _by(plan: Sweep, frame: pd.DataFrame, factor: sweeps.Factor, *, alone: bool) -> Table:
    metric, successes = sweeps.shown_metric(plan, frame), sweeps.successes_in(frame, plan.counts)
    remaining = [verdict for verdict in sweeps.verdicts_in(frame) if verdict not in successes]
    headings, intervals = [_heading(factor), "trials"], alone or plan.replicas == 1
    for kind in successes:
        headings += [kind, f"{CONFIDENCE:.0%} interval"] if intervals else [kind]
    headings += [*remaining, *([] if metric is None else [f"median {metric_label(plan, metric)}"])]
    rows = []
    for group in sweeps.groups(frame, factor.column):
        cells = [group.label, str(len(group.trials))]
        for losses in successes.values():
            share = sweeps.proportion(group.trials["verdict"], losses)
            cells += [_percent(share.value), *([_interval(share)] if intervals else [])]
        cells += [_percent(float((group.trials["verdict"] == verdict).mean())) for verdict in remaining]
        if metric is not None:
            median = group.trials[metric].median()
            cells.append(f"{median:.4g}" if group.trials[metric].notna().any() else "none")
        rows.append(tuple(cells))
    caption = f"By {factor.label}{'' if alone else ', for all values of the others'}"
    return Table(caption, tuple(headings), tuple(rows))


def _across(plan: Sweep, frame: pd.DataFrame, by: sweeps.Factor, columns: sweeps.Factor) -> Table:
    of_columns = sweeps.groups(frame, columns.column)
    headings = (f"{_heading(by)} \\ {_heading(columns)}", *(group.label for group in of_columns))
    rows = []
    for group in sweeps.groups(frame, by.column):
        cells = [group.label]
        for other in of_columns:
            both = group.trials[group.trials["trial"].isin(other.trials["trial"])]
            share = sweeps.proportion(both["verdict"], plan.counts or USUAL_LOSSES)
            interval = f" ({_interval(share)})" if plan.replicas > 1 else ""
            cells.append(f"{_percent(share.value)}{interval}" if len(both) else "·")
        rows.append(tuple(cells))
    interval = f", with its {CONFIDENCE:.0%} interval" if plan.replicas > 1 else ""
    caption = f"Proportion of {plan.replicas} trials each that {success_text(plan.counts)}{interval}"
    return Table(caption, headings, tuple(rows))


def _interval(share: Proportion) -> str:
    return f"{_percent(share.low)} … {_percent(share.high)}"


def _heading(factor: sweeps.Factor) -> str:
    unit = unit_text(factor.unit)
    return f"{factor.column} [{unit}]" if unit else factor.column


def _percent(share: float) -> str:
    """Return a share in percent; a dash if no trial counts."""
    return "–" if math.isnan(share) else f"{share:.0%}"
