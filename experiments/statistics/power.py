"""How many subjects a difference needs to be found, and how likely so many find it: of Student's two-sided tests."""

import math

from biped.errors import InputError

#: More subjects than these no laboratory has.
MOST = 1_000_000


def effect_of(difference: float, sd: float, trial_sd: float = 0.0, trials: int = 1, paired: bool = False) -> float:
    """The standardized effect d of a difference, of subjects whose trials are averaged.

    Args:
        difference: of the means, in the metric's unit.
        sd: between subjects: of their true values in one group; paired, of their true differences between conditions.
        trial_sd: from trial to trial of one subject in one condition.
        trials: of each subject, in each condition.
        paired: whether each subject is in both conditions.

    Raises:
        InputError: a deviation is below zero, both are zero, or there is no trial.
    """
    if not (sd >= 0.0 and trial_sd >= 0.0 and sd + trial_sd > 0.0 and trials >= 1):
        raise InputError(
            f"sd = {sd!r}, trial_sd = {trial_sd!r}, trials = {trials!r}: deviations must be zero or above, not both "
            "zero, and trials 1 or more"
        )
    return difference / math.sqrt(sd**2 + (2.0 if paired else 1.0) * trial_sd**2 / trials)


def power(effect: float, subjects: int, paired: bool = False, level: float = 0.05) -> float:
    """The probability that a difference is found at a level, by Student's two-sided test (Cohen 1988).

    Args:
        effect: difference over standard deviation (``effect_of``).
        subjects: in each of two groups; paired, in all.
        paired: whether each subject is in both conditions.
        level: of significance.

    Raises:
        InputError: fewer than two subjects, or a level beyond 0 and 1.
    """
    from scipy.stats import ncf
    from scipy.stats import t as student

    if not (subjects >= 2 and 0.0 < level < 1.0 and math.isfinite(effect)):
        raise InputError(
            f"effect = {effect!r}, subjects = {subjects!r}, level = {level!r}: the effect must be finite, subjects "
            "2 or more, and the level between 0 and 1"
        )
    freedom = subjects - 1 if paired else 2 * (subjects - 1)
    shift = abs(effect) * math.sqrt(subjects if paired else subjects / 2.0)
    critical = student.ppf(1.0 - level / 2.0, freedom)
    # t² is F with one degree of freedom: of noncentral t, scipy has no value where the shift is large.
    return float(ncf.sf(critical**2, 1, freedom, shift**2)) if shift else level


def sample_size(effect: float, wanted: float = 0.8, paired: bool = False, level: float = 0.05) -> int:
    """The fewest subjects, in each group or, paired, in all, that find an effect with a power.

    Raises:
        InputError: as ``power``, the power is not between the level and 1, or a million subjects do not suffice.
    """
    if not level < wanted < 1.0:
        raise InputError(f"wanted = {wanted!r}: the power must be between the level, {level!r}, and 1")
    enough = 2
    while power(effect, enough, paired, level) < wanted:
        enough *= 2
        if enough > MOST:
            raise InputError(f"effect = {effect!r}: it is too small to be found with {MOST} subjects")
    few = enough // 2
    while enough - few > 1:
        middle = (enough + few) // 2
        few, enough = (few, middle) if power(effect, middle, paired, level) >= wanted else (middle, enough)
    return enough
