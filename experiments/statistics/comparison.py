"""Comparisons between groups or conditions, with subjects, not trials, as independent samples."""

from typing import TYPE_CHECKING, Any

import numpy as np
from pandas.api.types import is_bool_dtype

from biped.errors import InputError, MissingExtraError
from contact.arrays import Floats
from experiments.statistics.mixed import NotConvergedError, mixed_effects, ordered_levels
from experiments.statistics.table import measured_trials
from experiments.studies.resampling import RESAMPLES, chance, interval

if TYPE_CHECKING:
    import pandas as pd

#: Columns of ``mixed_effects`` that a comparison takes over, with the prefix ``mixed_``.
MIXED = ("difference", "low", "high", "chance")


def compare(
    table: "pd.DataFrame",
    metric: str,
    *,
    between: str | None = None,
    within: str | None = None,
    subject: str,
    reference: Any = None,
    mixed: bool = True,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> "pd.DataFrame":
    """Compare a metric between groups of subjects, or between conditions of the same subjects.

    Each subject is represented by the mean of its trials, so that trials do not count as independent. There is no
    correction for multiple comparisons.

    Args:
        table: table with a row for each trial, as from a sweep.
        metric: column of numbers, or of booleans, whose means are the shares of True.
        between: column of the groups, if each subject is in a single group. Give either ``between`` or ``within``.
        within: column of the conditions, for paired differences of the subjects that are in both conditions.
        subject: column that names the subject of a trial.
        reference: group or condition with which the others are compared; None: the first in sorted order.
        mixed: True to also fit ``mixed_effects`` to all trials (needs the extra ``statistics``).
        seed: seed of the resampling.
        resamples: number of resamples of bootstrap and permutations.

    Returns:
        A row for each group or condition, ``level``, except the reference, ``against``. ``subjects`` and
        ``subjects_against``: numbers of subjects; ``left_out``: number of trials without the metric. ``mean`` and
        ``mean_against``: means over subjects. ``difference``: ``mean`` minus ``mean_against``, with ``low`` and
        ``high`` (95 %, BCa bootstrap over subjects). ``chance``: two-sided p-value from permutations of the subjects,
        or, if paired, of signs. ``effect_size``: Hedges' g, the difference divided by the pooled standard deviation of
        the subjects, or, if paired, of the differences, and corrected for bias. ``mixed``: "converged", with
        remarks, or the reason why ``mixed_difference``, ``mixed_low``, ``mixed_high`` and ``mixed_chance`` are missing.

    Raises:
        InputError: not exactly one of ``between`` and ``within`` is given, a column is missing, a subject is in two
            groups, a trial has no group, condition or subject, or there are fewer than two subjects to compare.
        MissingExtraError: ``mixed`` is True, and statsmodels is not installed.
    """
    import pandas as pd

    if between is None and within is not None:
        factor, is_paired = within, True
    elif between is not None and within is None:
        factor, is_paired = between, False
    else:
        raise InputError("compare: give either between, the column of groups, or within, the column of conditions")
    if factor == subject:
        raise InputError(f"{factor!r} is both factor and subject: as subject, give the column that names the subjects")
    trials = measured_trials(table, metric, [factor, subject])
    first, *rest = ordered_levels(trials, factor, reference)
    means = trials.groupby([factor, subject])[metric].mean()
    if not is_paired:
        _check_apart(means, factor, subject)
    rows = []
    for level in rest:
        samples = _samples(means, level, first, is_paired)
        left_out = int(table.loc[table[factor].isin([level, first]), metric].isna().sum())
        difference = _difference(*samples, is_paired, seed, resamples)
        rows.append({"level": level, "against": first, "left_out": left_out, **difference})
    comparison = pd.DataFrame(rows)
    if mixed:
        comparison = comparison.assign(**_mixed(table, metric, factor, subject, first, is_paired))
    return comparison


def _check_apart(means: "pd.Series[float]", factor: str, subject: str) -> None:
    groups = means.reset_index().groupby(subject)[factor].nunique()
    if (groups > 1).any():
        who = groups.index[groups > 1][0]
        raise InputError(
            f"{subject} '{who}' is in {groups[who]} groups of {factor}: give within={factor!r} instead of between if "
            "it is one subject, or give different subjects different names"
        )


def _samples(means: "pd.Series[float]", level: Any, first: Any, is_paired: bool) -> tuple[Floats, Floats]:
    """Return the subjects' means in the reference and in a level; if paired, of the same subjects in equal order."""
    sample, against = means.loc[level], means.loc[first]
    if is_paired:
        both = sample.index.intersection(against.index)
        sample, against = sample.loc[both], against.loc[both]
    for name, values in ((level, sample), (first, against)):
        if len(values) < 2:
            raise InputError(
                f"{name!r} has {len(values)} subjects{' in both conditions' * is_paired}: a comparison needs at least 2"
            )
    return against.to_numpy(dtype=np.float64), sample.to_numpy(dtype=np.float64)


def _difference(against: Floats, sample: Floats, is_paired: bool, seed: int, resamples: int) -> dict[str, float]:
    samples = (sample - against,) if is_paired else (against, sample)
    low, high = interval(*samples, seed=seed, resamples=resamples)
    return {
        "subjects": len(sample),
        "subjects_against": len(against),
        "mean": float(sample.mean()),
        "mean_against": float(against.mean()),
        "difference": float(sample.mean() - against.mean()),
        "low": low,
        "high": high,
        "chance": chance(*samples, seed=seed, resamples=resamples),
        "effect_size": _hedges(*samples),
    }


def _hedges(*samples: Floats) -> float:
    """Return Hedges' g of one sample against zero, or of two samples; infinite for a difference without scatter.

    It is Cohen's d, times 1 − 3 / (4 f − 1) to remove the bias, with f degrees of freedom (Hedges 1981).
    """
    freedom = sum(map(len, samples)) - len(samples)
    variance = sum(float(((values - values.mean()) ** 2).sum()) for values in samples) / freedom
    difference = float(samples[-1].mean() - (samples[0].mean() if len(samples) == 2 else 0.0))
    if variance == 0.0:
        return 0.0 if difference == 0.0 else float(np.copysign(np.inf, difference))
    return difference / np.sqrt(variance) * (1.0 - 3.0 / (4.0 * freedom - 1.0))


def _mixed(
    table: "pd.DataFrame", metric: str, factor: str, subject: str, first: Any, is_paired: bool
) -> dict[str, Any]:
    """Return the columns of the mixed model: numbers and "converged", or only the reason why there are none."""
    if is_bool_dtype(table[metric]):
        return {"mixed": "none: a linear model does not apply to shares"}
    try:
        effects = mixed_effects(table, metric, factor, subject, first, is_paired)
    except MissingExtraError:
        raise
    except (NotConvergedError, InputError) as error:
        return {"mixed": f"none: {error}"}
    numbers = {f"mixed_{name}": effects[name].to_numpy() for name in MIXED}
    is_at_boundary = bool(effects["at_boundary"].any())
    return {
        "mixed": "converged, at the boundary: a variance between subjects is zero" if is_at_boundary else "converged",
        **numbers,
    }
