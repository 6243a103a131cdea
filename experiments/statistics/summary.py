"""Summaries of metrics by group or condition: means, standard deviations and intervals over subjects."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from pandas.api.types import is_bool_dtype

from experiments.statistics.table import check_columns, measured_trials
from experiments.studies.mean import mean_of
from experiments.studies.proportion import proportion_of
from experiments.studies.resampling import RESAMPLES, interval

if TYPE_CHECKING:
    import pandas as pd


def summarise(
    table: "pd.DataFrame",
    metrics: str | Sequence[str],
    by: str | Sequence[str] = (),
    subject: str | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> "pd.DataFrame":
    """Return means of metrics over subjects, with 95 % intervals; each subject counts with the mean of its trials.

    Args:
        table: table with a row for each trial, as from a sweep.
        metrics: columns of numbers, or of booleans, whose means are the shares of True.
        by: columns by whose values trials are grouped; empty: a single group.
        subject: column that names the subject of a trial; None if each trial is from another subject.
        seed: seed of the bootstrap.
        resamples: number of resamples of the bootstrap.

    Returns:
        A row for each group and metric: the columns ``by``; ``metric``; the numbers ``subjects``, ``trials``, and
        ``left_out`` (trials without the metric); ``mean`` and ``sd`` over subjects; ``low`` and ``high``: 95 % interval
        by ``method``: "Student", or "Wilson" for shares if no subject has True and False; ``bootstrap_low`` and
        ``bootstrap_high`` (BCa, over subjects). With a single subject, sd and intervals are missing.

    Raises:
        InputError: a column is missing, a trial has no value in ``by`` or ``subject``, a metric is not numeric, or no
            trial has it.
    """
    import pandas as pd

    names = [by] if isinstance(by, str) else list(by)
    labels = [*names, *([subject] if subject is not None else [])]
    check_columns(table, labels)
    rows: list[dict[str, Any]] = []
    groups = table.groupby(names, sort=True) if names else [((), table)]
    for metric in [metrics] if isinstance(metrics, str) else metrics:
        measured_trials(table, metric, labels)
        for values, part in groups:
            where = dict(zip(names, values, strict=True))
            rows.append(where | {"metric": metric} | _of_group(part, metric, subject, seed, resamples))
    return pd.DataFrame(rows)


def _of_group(part: "pd.DataFrame", metric: str, subject: str | None, seed: int, resamples: int) -> dict[str, Any]:
    there = part[part[metric].notna()]
    numbers = there[metric].astype("float64")
    per_subject = numbers if subject is None else numbers.groupby(there[subject]).mean()
    means = np.asarray(per_subject, dtype=np.float64)
    row: dict[str, Any] = {"subjects": len(means), "trials": len(there), "left_out": len(part) - len(there)}
    if not len(means):
        return row
    if is_bool_dtype(part[metric]) and np.isin(means, (0.0, 1.0)).all():
        share = proportion_of(int(means.sum()), len(means))
        method, low, high = "Wilson", share.low, share.high
    else:
        mean = mean_of(means)
        method, low, high = "Student", mean.low, mean.high
    row |= {"mean": float(means.mean())}
    if len(means) == 1:
        return row | ({"low": low, "high": high, "method": method} if method == "Wilson" else {})
    resampled = interval(means, seed=seed, resamples=resamples)
    row |= {"sd": float(np.std(means, ddof=1)), "low": low, "high": high, "method": method}
    return row | {"bootstrap_low": resampled[0], "bootstrap_high": resampled[1]}
