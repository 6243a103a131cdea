"""Trials of a sweep, grouped by varied values, and the proportion of successes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from biped.runs.verdict import RECOVERED, STEPPED, VERDICTS
from experiments.catalogue.parameters.parameter import parameter_named
from experiments.studies.counting import USUAL_LOSSES, WITHSTOOD, withstood
from experiments.studies.proportion import Proportion, proportion_of
from experiments.studies.sweep.sweep import Sweep
from experiments.studies.trial import OUTCOME

if TYPE_CHECKING:
    import pandas as pd

#: Metrics to show if the sweep names none: the first one that has values is used.
SHOWN = ("settling_time", "peak_position_error", "position_error", "simulated_time")
#: Largest number of different values that are not grouped into bins, and number of bins.
MOST_VALUES = 15
BINS = 8
#: A label names up to this many parameters that are varied together with another one, and counts more.
MOST_NAMES = 2


def proportion(verdicts: Iterable[str], losses: Sequence[str] = USUAL_LOSSES) -> Proportion:
    """Return the proportion of verdicts that are successes; verdicts that are neither success nor loss are left out."""
    judged = [success for success in (withstood(verdict, losses) for verdict in verdicts) if success is not None]
    return proportion_of(sum(judged), len(judged))


def successes_in(frame: "pd.DataFrame", counts: tuple[str, ...] = ()) -> Mapping[str, tuple[str, ...]]:
    """Return losses by the label of the success: those in ``counts``, or the usual ones with and without steps."""
    if counts:
        return {WITHSTOOD: counts}
    usual = {RECOVERED: USUAL_LOSSES}
    if not (frame["verdict"] == STEPPED).any():
        return usual
    return {**usual, f"{RECOVERED} or {STEPPED}": tuple(word for word in USUAL_LOSSES if word != STEPPED)}


def verdicts_in(frame: "pd.DataFrame") -> list[str]:
    """Return the verdicts that occur in the table, in the order of ``VERDICTS``."""
    return [word for word in VERDICTS if (frame["verdict"] == word).any()]


@dataclass(frozen=True)
class Factor:
    """A varied parameter, by whose values trials are grouped."""

    column: str  # name of the parameter
    label: str  # name, followed by the names of parameters that are varied together with it
    sampled: bool  # True for random samples
    is_log: bool  # True for a log scale
    unit: str  # unit of the values as given: ° or °/s for angles in degrees


def factors_of(plan: Sweep) -> list[Factor]:
    factors = []
    for axis in plan.axes:
        sampled = axis.kind == "sample"
        rest = () if sampled else axis.names[1:]
        ending = f" (with {', '.join(rest) if len(rest) <= MOST_NAMES else f'{len(rest)} others'})" if rest else ""
        for name in axis.names if sampled else axis.names[:1]:
            unit = parameter_named(name, plan.experiment.parameters).unit
            written = unit.replace("rad", "°") if name in axis.degrees else unit
            factors.append(Factor(name, name + ending, sampled, name in axis.logs, written))
    return factors


def as_written(plan: Sweep, frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return a table of trials in which varied angles are in degrees if the sweep gives them in degrees."""
    degrees = [factor.column for factor in factors_of(plan) if "°" in factor.unit]
    return frame.assign(**{column: np.degrees(frame[column].astype(float)).round(9) for column in degrees})


@dataclass(frozen=True)
class Group:
    """Trials with equal values of a factor, or with values in one bin."""

    value: Any  # the value, or the median of the bin
    label: str  # the value, or the range of the bin, as text
    trials: "pd.DataFrame"


def groups(frame: "pd.DataFrame", column: str) -> list[Group]:
    """Return the trials grouped by a column's value; many different numbers are grouped into bins of equal counts."""
    import pandas as pd

    values = frame[column]
    numeric = pd.api.types.is_numeric_dtype(values)
    if values.nunique() <= MOST_VALUES or not numeric:
        # Texts stay in the plan's order, numbers are sorted.
        parts = frame.groupby(column, sort=numeric)
        return [Group(value, f"{value:g}" if numeric else str(value), part) for value, part in parts]
    bins = pd.qcut(values, BINS, duplicates="drop")
    return [
        Group(float(part[column].median()), f"{part[column].min():.3g} … {part[column].max():.3g}", part)
        for _, part in frame.groupby(bins, observed=True)
    ]


def shown_metrics(plan: Sweep, frame: "pd.DataFrame") -> list[str]:
    """Return the numeric metrics to show with success rates: those that the sweep names, or the first of ``SHOWN``."""
    candidates: Sequence[str] = plan.metrics if plan.metrics is not None else SHOWN
    metrics = [name for name in with_numbers(frame, candidates) if frame[name].notna().any()]
    return metrics if plan.metrics is not None else metrics[:1]


def with_numbers(frame: "pd.DataFrame", metrics: Iterable[str]) -> list[str]:
    """Return those of the metrics that are columns of numbers; others have texts, such as the foot that stepped."""
    import pandas as pd

    columns = (name for name in metrics if name in frame and name not in OUTCOME)
    return [name for name in columns if pd.api.types.is_numeric_dtype(frame[name])]


def shown_metric(plan: Sweep, frame: "pd.DataFrame") -> str | None:
    """Return the first metric of ``shown_metrics``; None if it is empty."""
    return next(iter(shown_metrics(plan, frame)), None)
