"""What was measured, by group or condition: means, spreads and intervals over subjects."""

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
    """Means of metrics over subjects, each by the mean of its trials, with 95 % intervals.

    Args:
        table: a row for each trial, as a sweep's.
        metrics: columns of numbers, or of true and false, of which the mean is a share.
        by: columns whose values are told apart.
        subject: the column that says whose trial it is; each trial is taken for another subject's, if None.
        seed: of the bootstrap.
        resamples: of the bootstrap.

    Returns:
        A row for each combination of values of ``by`` and metric: ``metric``, ``subjects``, ``trials`` and ``left_out``
        (trials without it), ``mean`` and ``sd`` over subjects; ``low`` and ``high``, by the ``method`` Student, or
        Wilson of a share where each subject is all true or all false; ``bootstrap_low`` and ``bootstrap_high``,
        over subjects (BCa). What one subject alone cannot tell is missing: its sd and intervals.

    Raises:
        InputError: a column is not there, a trial has no label, a metric is no number, or no trial has it.
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
    found: dict[str, Any] = {"subjects": len(means), "trials": len(there), "left_out": len(part) - len(there)}
    if not len(means):
        return found
    if is_bool_dtype(part[metric]) and np.isin(means, (0.0, 1.0)).all():
        share = proportion_of(int(means.sum()), len(means))
        method, low, high = "Wilson", share.low, share.high
    else:
        mean = mean_of(means)
        method, low, high = "Student", mean.low, mean.high
    found |= {"mean": float(means.mean())}
    if len(means) == 1:
        return found | ({"low": low, "high": high, "method": method} if method == "Wilson" else {})
    resampled = interval(means, seed=seed, resamples=resamples)
    found |= {"sd": float(np.std(means, ddof=1)), "low": low, "high": high, "method": method}
    return found | {"bootstrap_low": resampled[0], "bootstrap_high": resampled[1]}
