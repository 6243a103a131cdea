"""Groups and conditions against one another: differences over subjects, never over trials."""

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

#: What is told of the mixed model, beside ``mixed``.
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
    """How a metric differs between groups of subjects, or between conditions that each subject is in.

    Each subject counts by the mean of its trials, so that many trials do not stand for many subjects. There is no
    correction for several comparisons.

    Args:
        table: a row for each trial, as a sweep's.
        metric: a column of numbers, or of true and false, whose means are shares.
        between: the column of the groups: no subject is in two; or
        within: the column of the conditions: paired differences of the subjects that are in both.
        subject: the column that says whose trial it is.
        reference: the group or condition from which the others differ; the first in order, if None.
        mixed: whether ``mixed_effects`` of all trials are fitted too (of the extra ``statistics``).
        seed: of the resampling.
        resamples: of bootstrap and permutations.

    Returns:
        A row for each other group or condition: ``level``, ``against``; ``subjects`` and ``subjects_against``, paired
        both the same; ``left_out``, trials without the metric; ``mean`` and ``mean_against`` of those subjects,
        ``difference``, the first less the second, with ``low`` and ``high`` (95 %, BCa bootstrap over subjects);
        ``chance``, the probability of a difference as great either way where there is none (permutations of subjects;
        paired, of signs); ``effect_size``, Hedges' g: the difference by the pooled deviation of subjects, or paired by
        that of differences, less its bias. ``mixed`` is "converged", or says why there is no mixed result, or what is
        to be known of it; ``mixed_difference``, ``mixed_low``, ``mixed_high`` and ``mixed_chance`` are missing where
        there is none.

    Raises:
        InputError: not one of ``between`` and ``within`` is given, a column is not there, a subject is in two groups,
            a trial has no label, or there are fewer than two subjects in a group or pair.
        MissingExtraError: a mixed model is to be fitted, and statsmodels is not installed.
    """
    import pandas as pd

    if between is None and within is not None:
        factor, is_paired = within, True
    elif between is not None and within is None:
        factor, is_paired = between, False
    else:
        raise InputError("compare: give either between, the column of groups, or within, that of conditions")
    if factor == subject:
        raise InputError(f"{factor!r} is both factor and subject: name by subject the column of who was measured")
    trials = measured_trials(table, metric, [factor, subject])
    first, *others = ordered_levels(trials, factor, reference)
    means = trials.groupby([factor, subject])[metric].mean()
    if not is_paired:
        _check_apart(means, factor, subject)
    rows = []
    for level in others:
        samples = _samples(means, level, first, is_paired)
        left_out = int(table.loc[table[factor].isin([level, first]), metric].isna().sum())
        rows.append(
            {
                "level": level,
                "against": first,
                "left_out": left_out,
                **_difference(*samples, is_paired, seed, resamples),
            }
        )
    found = pd.DataFrame(rows)
    if mixed:
        found = found.assign(**_mixed(table, metric, factor, subject, first, is_paired))
    return found


def _check_apart(means: "pd.Series[float]", factor: str, subject: str) -> None:
    groups = means.reset_index().groupby(subject)[factor].nunique()
    if (groups > 1).any():
        who = groups.index[groups > 1][0]
        raise InputError(
            f"{subject} '{who}' is in {groups[who]} groups of {factor}: compare within={factor!r}, or name them apart"
        )


def _samples(means: "pd.Series[float]", level: Any, first: Any, is_paired: bool) -> tuple[Floats, Floats]:
    """Subjects' means in the reference and in a level; paired, of the same subjects in the same order."""
    sample, against = means.loc[level], means.loc[first]
    if is_paired:
        both = sample.index.intersection(against.index)
        sample, against = sample.loc[both], against.loc[both]
    for name, values in ((level, sample), (first, against)):
        if len(values) < 2:
            raise InputError(
                f"{name!r} has {len(values)} subjects{' in both' * is_paired}: a comparison needs two or more"
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
    """Hedges' g of one sample against zero, or of two; infinite where nothing scatters and something differs.

    The bias of Cohen's d is taken off by 1 − 3 / (4 f − 1), f the degrees of freedom (Hedges 1981).
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
    """The columns of the mixed model: numbers and "converged", or none and why."""
    if is_bool_dtype(table[metric]):
        return {"mixed": "none: of shares, a linear model has no meaning"}
    try:
        found = mixed_effects(table, metric, factor, subject, first, is_paired)
    except MissingExtraError:
        raise
    except (NotConvergedError, InputError) as error:
        return {"mixed": f"none: {error}"}
    numbers = {f"mixed_{name}": found[name].to_numpy() for name in MIXED}
    is_at_boundary = bool(found["at_boundary"].any())
    return {
        "mixed": "converged, at the boundary: of what subjects may differ in, they do not"
        if is_at_boundary
        else "converged",
        **numbers,
    }
