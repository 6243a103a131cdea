"""Comparisons between groups or conditions: differences over subjects, never over trials."""

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

#: Columns of the mixed model in addition to ``mixed``.
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
    """Compare a metric between groups of subjects, or between conditions of each subject.

    Each subject counts by the mean of its trials, so that trials are not counted as subjects. There is no correction
    for multiple comparisons.

    Args:
        table: a row for each trial, as from a sweep.
        metric: column of numbers, or of booleans, whose means are shares.
        between: column of the groups; each subject is in one. Give either it or ``within``.
        within: column of the conditions, for paired differences of subjects that are in both.
        subject: column that names the subject of a trial.
        reference: group or condition from which the others differ; by default the first in order.
        mixed: True to fit ``mixed_effects`` of all trials, too (needs the extra ``statistics``).
        seed: seed of the resampling.
        resamples: number of resamples of bootstrap and permutations.

    Returns:
        A row for each other group or condition: ``level``, ``against``; ``subjects`` and ``subjects_against``, equal
        if paired; ``left_out``, the number of trials without the metric; ``mean`` and ``mean_against`` of the subjects;
        ``difference``, the first less the second, with ``low`` and ``high`` (95 %, BCa bootstrap over subjects);
        ``chance``, the two-sided p-value (permutations of subjects; if paired, of signs); ``effect_size``, Hedges' g:
        the difference divided by the pooled deviation of subjects, or if paired by that of differences, less its bias.
        ``mixed`` is "converged", with remarks, or the reason for no mixed result; ``mixed_difference``, ``mixed_low``,
        ``mixed_high`` and ``mixed_chance`` are missing without a mixed result.

    Raises:
        InputError: not exactly one of ``between`` and ``within`` is given, a column is missing, a subject is in two
            groups, a trial has no label, or a group or pair has fewer than two subjects.
        MissingExtraError: a mixed model is requested, and statsmodels is not installed.
    """
    import pandas as pd

    if between is None and within is not None:
        factor, is_paired = within, True
    elif between is not None and within is None:
        factor, is_paired = between, False
    else:
        raise InputError("compare: give either between, the column of groups, or within, the column of conditions")
    if factor == subject:
        raise InputError(f"{factor!r} is both factor and subject: subject must be the column that names the subjects")
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
            f"{subject} '{who}' is in {groups[who]} groups of {factor}: compare within={factor!r}, or rename them"
        )


def _samples(means: "pd.Series[float]", level: Any, first: Any, is_paired: bool) -> tuple[Floats, Floats]:
    """Return the subjects' means in the reference and in a level; if paired, in the same order of subjects."""
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
    """Return Hedges' g of one sample against zero, or of two; infinite for a difference without scatter.

    The bias of Cohen's d is removed by 1 − 3 / (4 f − 1), f the degrees of freedom (Hedges 1981).
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
    """Return the columns of the mixed model: numbers and "converged", or only the reason for a failure."""
    if is_bool_dtype(table[metric]):
        return {"mixed": "none: a linear model does not apply to shares"}
    try:
        found = mixed_effects(table, metric, factor, subject, first, is_paired)
    except MissingExtraError:
        raise
    except (NotConvergedError, InputError) as error:
        return {"mixed": f"none: {error}"}
    numbers = {f"mixed_{name}": found[name].to_numpy() for name in MIXED}
    is_at_boundary = bool(found["at_boundary"].any())
    return {
        "mixed": "converged, at the boundary: a variance between subjects is zero" if is_at_boundary else "converged",
        **numbers,
    }
