"""Summary of a sweep: shares of verdicts and means of metrics for each combination, with intervals."""

from typing import TYPE_CHECKING, Any

from biped.runs.verdict import FELL
from experiments.studies.mean import mean_of
from experiments.studies.proportion import proportion_of
from experiments.studies.store.measured import metric_units
from experiments.studies.sweep.groups import as_written, factors_of, verdicts_in, with_numbers
from experiments.studies.sweep.sweep import Sweep

if TYPE_CHECKING:
    import pandas as pd

#: Columns of the summary after the varied values.
COLUMNS = ("quantity", "unit", "trials", "estimate", "low", "high")


def summary(plan: Sweep, frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return a row for each combination of varied values and each quantity, with 95 % intervals.

    Quantities are the share of each verdict that occurs in the sweep, and of falls, with Wilson's interval, and the
    mean of each metric that the sweep names, with Student's. ``trials`` is the number of trials that have the quantity.
    Replicas of a combination are taken as independent.
    """
    import pandas as pd

    frame, names = as_written(plan, frame), [factor.column for factor in factors_of(plan)]
    units = metric_units(plan.experiment, plan.fixed)
    metrics = with_numbers(frame, plan.metrics or ())
    words = list(dict.fromkeys((*verdicts_in(frame), FELL)))
    rows: list[dict[str, Any]] = []
    for _, trials in frame.groupby("point", sort=True):
        where = {name: trials[name].iloc[0] for name in names}
        for word in words:
            share = proportion_of(int((trials["verdict"] == word).sum()), len(trials))
            numbers = (f"share {word}", "1", share.of, share.value, share.low, share.high)
            rows.append(where | dict(zip(COLUMNS, numbers, strict=True)))
        for name in metrics:
            mean = mean_of(trials[name])
            numbers = (name, units.get(name, ""), mean.of, mean.value, mean.low, mean.high)
            rows.append(where | dict(zip(COLUMNS, numbers, strict=True)))
    return pd.DataFrame(rows, columns=[*names, *COLUMNS])
