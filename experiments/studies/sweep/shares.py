"""How many of some trials recovered, and between what the probability of it is."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from experiments.studies.shares import Share, share_of
from experiments.studies.sweep.plan import Plan
from experiments.studies.trial import OUTCOME, RECOVERED, STEPPED

if TYPE_CHECKING:
    import pandas as pd

#: Of these the first that has numbers is shown, unless the sweep names its metrics.
SHOWN = ("settling_time", "peak_position_error", "position_error", "simulated_time")
#: More values than these are put into bins.
MOST_VALUES = 15
BINS = 8
#: What counts as success, by its name.
KINDS = {"recovered": (RECOVERED,), "recovered or stepped": (RECOVERED, STEPPED)}


def share(verdicts: "pd.Series[str]", kind: str = RECOVERED) -> Share:
    """The share of these verdicts that is a success; ``failed`` ones count as none."""
    return share_of(int(verdicts.isin(KINDS[kind]).sum()), len(verdicts))


def kinds_in(frame: "pd.DataFrame") -> list[str]:
    """What is worth telling apart: stepping only where a trial stepped."""
    return list(KINDS) if (frame["verdict"] == STEPPED).any() else [RECOVERED]


@dataclass(frozen=True)
class Factor:
    """Something that is varied: a column, and what it is called.

    Attributes:
        column: of the table of trials.
        label: with the names of what goes together with it.
        sampled: whether its values are random.
    """

    column: str
    label: str
    sampled: bool


def factors_of(plan: Plan) -> list[Factor]:
    """All that is varied independently."""
    found = []
    for axis in plan.axes:
        if axis.kind == "sample":
            found += [Factor(name, name, sampled=True) for name in axis.names]
        else:
            others = f" (with {', '.join(axis.names[1:])})" if len(axis.names) > 1 else ""
            found.append(Factor(axis.names[0], axis.names[0] + others, sampled=False))
    return found


@dataclass(frozen=True)
class Group:
    """Trials with the same value of a factor, or with values in the same bin."""

    value: Any
    label: str
    trials: "pd.DataFrame"


def groups(frame: "pd.DataFrame", column: str) -> list[Group]:
    """The trials by a column's value; of very many numbers, by bins of equally many trials."""
    from pandas.api.types import is_numeric_dtype

    values = frame[column]
    if values.nunique() <= MOST_VALUES or not is_numeric_dtype(values):
        # In the order of the plan for words, by size for numbers.
        found = frame.groupby(column, sort=is_numeric_dtype(values))
        return [Group(value, f"{value:g}" if is_numeric_dtype(values) else str(value), part) for value, part in found]
    import pandas as pd

    bins = pd.qcut(values, BINS, duplicates="drop")
    return [
        Group(float(part[column].median()), f"{part[column].min():.3g} … {part[column].max():.3g}", part)
        for _, part in frame.groupby(bins, observed=True)
    ]


def shown_metric(plan: Plan, frame: "pd.DataFrame") -> str | None:
    """The metric that is shown beside the shares: the first that was asked for, or a usual one, that has numbers."""
    wanted: Sequence[str] = plan.metrics if plan.metrics is not None else SHOWN
    for name in wanted:
        if name in frame and name not in OUTCOME and frame[name].dtype != object and frame[name].notna().any():
            return name
    return None
