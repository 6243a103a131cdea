"""Trials of a sweep by the values of what was varied, and how many of them recovered."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from biped.runs.verdict import RECOVERED, STEPPED, VERDICTS
from experiments.studies.counting import USUAL_LOSSES, WITHSTOOD, withstood
from experiments.studies.proportion import Proportion, proportion_of
from experiments.studies.sweep.sweep import Sweep
from experiments.studies.trial import OUTCOME

if TYPE_CHECKING:
    import pandas as pd

#: Of these the first that has numbers is shown, unless the sweep names its metrics.
SHOWN = ("settling_time", "peak_position_error", "position_error", "simulated_time")
#: More values than these are put into bins.
MOST_VALUES = 15
BINS = 8


def proportion(verdicts: Iterable[str], losses: Sequence[str] = USUAL_LOSSES) -> Proportion:
    """How many of these verdicts are no losses; those that tell neither are left out."""
    told = [found for found in (withstood(verdict, losses) for verdict in verdicts) if found is not None]
    return proportion_of(sum(told), len(told))


def successes_in(frame: "pd.DataFrame", counts: tuple[str, ...] = ()) -> Mapping[str, tuple[str, ...]]:
    """What is worth telling apart, and the losses of each: what was named, or stepping where a trial stepped."""
    if counts:
        return {WITHSTOOD: counts}
    usual = {RECOVERED: USUAL_LOSSES}
    if not (frame["verdict"] == STEPPED).any():
        return usual
    return {**usual, f"{RECOVERED} or {STEPPED}": tuple(word for word in USUAL_LOSSES if word != STEPPED)}


def verdicts_in(frame: "pd.DataFrame") -> list[str]:
    """Those that occur, in the usual order."""
    return [word for word in VERDICTS if (frame["verdict"] == word).any()]


@dataclass(frozen=True)
class Factor:
    """A column that is varied, its label with the names of what goes together with it, and how values are spread."""

    column: str
    label: str
    sampled: bool
    is_log: bool


def factors_of(plan: Sweep) -> list[Factor]:
    found = []
    for axis in plan.axes:
        if axis.kind == "sample":
            found += [Factor(name, name, True, name in axis.logs) for name in axis.names]
        else:
            others = f" (with {', '.join(axis.names[1:])})" if len(axis.names) > 1 else ""
            found.append(Factor(axis.names[0], axis.names[0] + others, False, axis.names[0] in axis.logs))
    return found


@dataclass(frozen=True)
class Group:
    """Trials with the same value of a factor, or with values in the same bin."""

    value: Any
    label: str
    trials: "pd.DataFrame"


def groups(frame: "pd.DataFrame", column: str) -> list[Group]:
    """The trials by a column's value; of very many numbers, by bins of equally many trials."""
    import pandas as pd

    values = frame[column]
    numeric = pd.api.types.is_numeric_dtype(values)
    if values.nunique() <= MOST_VALUES or not numeric:
        # In the order of the plan for words, by size for numbers.
        found = frame.groupby(column, sort=numeric)
        return [Group(value, f"{value:g}" if numeric else str(value), part) for value, part in found]
    bins = pd.qcut(values, BINS, duplicates="drop")
    return [
        Group(float(part[column].median()), f"{part[column].min():.3g} … {part[column].max():.3g}", part)
        for _, part in frame.groupby(bins, observed=True)
    ]


def shown_metric(plan: Sweep, frame: "pd.DataFrame") -> str | None:
    """The metric that is shown beside proportions: the first that was asked for, or a usual one, that has numbers."""
    wanted: Sequence[str] = plan.metrics if plan.metrics is not None else SHOWN
    for name in wanted:
        if name in frame and name not in OUTCOME and frame[name].dtype != object and frame[name].notna().any():
            return name
    return None
