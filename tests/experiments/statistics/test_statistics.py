"""Means and differences of made-up subjects, against what is known: Student's tests, tables, simulations."""

import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, chi2, t, ttest_1samp, ttest_ind

from experiments.statistics import NotConvergedError, compare, mixed_effects, summarise
from experiments.studies.proportion import proportion_of
from tests.refusals import refuses

SUBJECTS, TRIALS = 12, 5


def groups(rng, means, sd, trial_sd, subjects=SUBJECTS, trials=TRIALS):
    rows = []
    for group, mean in means.items():
        for k in range(subjects):
            true = rng.normal(mean, sd)
            rows += [(group, f"{group}{k}", x) for x in rng.normal(true, trial_sd, trials)]
    return pd.DataFrame(rows, columns=["group", "subject", "weight"])


def conditions(rng, effect, sd, effect_sd, trial_sd, subjects=SUBJECTS, trials=TRIALS):
    """Trials of subjects in two conditions, each with a true value and a true effect of its own."""
    rows = []
    for k in range(subjects):
        true, own = rng.normal(0.0, sd), rng.normal(effect, effect_sd)
        for condition, mean in (("closed", true + own), ("open", true)):
            rows += [(condition, k, x) for x in rng.normal(mean, trial_sd, trials)]
    return pd.DataFrame(rows, columns=["eyes", "subject", "sway"])


def test_a_summary_is_over_subjects():
    table = groups(np.random.default_rng(1), {"old": 0.4, "young": 0.5}, 0.075, 0.05)
    found = summarise(table, "weight", "group", "subject").set_index("group")
    for group, part in table.groupby("group"):
        means = part.groupby("subject")["weight"].mean()
        row = found.loc[group]
        expected = t.interval(0.95, len(means) - 1, means.mean(), means.std() / math.sqrt(len(means)))
        assert (row["low"], row["high"]) == pytest.approx(expected)
        assert (row["mean"], row["sd"]) == pytest.approx((means.mean(), means.std()))
        assert (row["subjects"], row["trials"], row["left_out"], row["method"]) == (12, 60, 0, "Student")
        # The bootstrap's spread is that of n degrees of freedom, and its scatter by 9,999 resamples is far below.
        wide = math.sqrt(11 / 12) * 2.0 * 1.96 * means.std() / math.sqrt(12)
        assert row["bootstrap_high"] - row["bootstrap_low"] == pytest.approx(wide, rel=0.1)
    whole = summarise(table, "weight")
    assert whole["subjects"].item() == 120  # each trial its own


def test_a_share_has_wilsons_interval():
    table = pd.DataFrame({"who": range(20), "fell": [True] * 5 + [False] * 15, "x": [np.nan] * 3 + [1.0] * 17})
    row = summarise(table, ["fell", "x"], subject="who", resamples=99).iloc[0]
    wilson = proportion_of(5, 20)
    assert (row["mean"], row["low"], row["high"], row["method"]) == (0.25, wilson.low, wilson.high, "Wilson")
    assert summarise(table, "x", resamples=99)["left_out"].item() == 3
    twice = pd.concat([table, table])  # two trials of each, alike: they do not count for two people
    again = summarise(twice, "fell", subject="who", resamples=99).iloc[0]
    assert (again["low"], again["high"], again["method"]) == (wilson.low, wilson.high, "Wilson")
    unlike = pd.concat([table, table.assign(fell=False)])
    assert summarise(unlike, "fell", subject="who", resamples=99)["method"].item() == "Student"


def test_of_groups_the_mixed_model_is_students_test_of_subjects():
    """As it is in theory where all have as many trials; REML is found to 1e-5 of its gradient."""
    table = groups(np.random.default_rng(2), {"old": 0.4, "young": 0.5}, 0.075, 0.05)
    old, young = (part.groupby("subject")["weight"].mean() for _, part in table.groupby("group"))
    test = ttest_ind(young, old)
    row = compare(table, "weight", between="group", subject="subject").iloc[0]
    assert (row["level"], row["against"], row["mixed"]) == ("young", "old", "converged")
    assert row["difference"] == pytest.approx(young.mean() - old.mean())
    assert row["mixed_difference"] == pytest.approx(row["difference"], rel=1e-6)
    interval = test.confidence_interval()
    assert (row["mixed_low"], row["mixed_high"]) == pytest.approx((interval.low, interval.high), rel=1e-2)
    assert row["mixed_chance"] == pytest.approx(test.pvalue, rel=0.05)
    assert row["low"] == pytest.approx(interval.low, abs=0.2 * (interval.high - interval.low))
    # Of n random permutations the share scatters by √(p (1 − p) / n).
    assert row["chance"] == pytest.approx(test.pvalue, abs=0.02)
    pooled = math.sqrt((old.var() + young.var()) / 2.0)
    assert row["effect_size"] == pytest.approx((young.mean() - old.mean()) / pooled * (1.0 - 3.0 / (4 * 22 - 1)))


def test_of_conditions_it_is_students_paired_test():
    table = conditions(np.random.default_rng(3), -0.8, 2.0, 0.6, 0.5)
    means = table.groupby(["eyes", "subject"])["sway"].mean()
    differences = means["open"] - means["closed"]
    test = ttest_1samp(differences, 0.0)
    row = compare(table, "sway", within="eyes", subject="subject", reference="closed").iloc[0]
    assert row["mixed"] == "converged"
    interval = test.confidence_interval()
    assert (row["mixed_low"], row["mixed_high"]) == pytest.approx((interval.low, interval.high), rel=1e-2)
    assert row["effect_size"] == pytest.approx(
        differences.mean() / differences.std() * (1.0 - 3.0 / (4 * 11 - 1)), rel=1e-9
    )
    assert (row["subjects"], row["subjects_against"]) == (12, 12)
    swapped = compare(table, "sway", within="eyes", subject="subject", reference="open").iloc[0]
    assert swapped["difference"] == pytest.approx(-row["difference"])


def test_many_trials_are_not_many_subjects():
    """Of 20 trials each, intervals are as wide as the scatter of twelve subjects asks, not of 240 trials."""
    table = groups(np.random.default_rng(4), {"a": 0.0, "b": 0.0}, 1.0, 0.1, trials=20)
    row = compare(table, "weight", between="group", subject="subject", resamples=999).iloc[0]
    # One in a thousand draws has a deviation as small as that of χ²; the bootstrap's has n degrees of freedom.
    least = math.sqrt(chi2.ppf(1e-3, 22) / 22) * 2.0 * 1.96 * math.sqrt(2 / 12)
    assert least > 2.0 * (2.0 * 1.96 * math.sqrt(2 / 240))
    assert row["high"] - row["low"] > math.sqrt(11 / 12) * least
    assert row["mixed_high"] - row["mixed_low"] > least


def test_what_is_missing_is_counted_and_pairs_are_complete():
    table = conditions(np.random.default_rng(5), 0.5, 1.0, 0.3, 0.2)
    table.loc[(table["subject"] == 0) & (table["eyes"] == "open"), "sway"] = np.nan
    row = compare(table, "sway", within="eyes", subject="subject", resamples=99).iloc[0]
    assert (row["left_out"], row["subjects"]) == (TRIALS, 11)
    rest = table[table["subject"] != 0]
    again = compare(rest, "sway", within="eyes", subject="subject", resamples=99).iloc[0]
    assert row["difference"] == pytest.approx(again["difference"])


def test_a_fit_that_does_not_converge_is_told(monkeypatch):
    from statsmodels.regression.mixed_linear_model import MixedLM

    table = groups(np.random.default_rng(6), {"a": 0.0, "b": 1.0}, 1.0, 1.0)
    monkeypatch.setattr(MixedLM, "fit", lambda *_, **__: SimpleNamespace(converged=False))
    with pytest.raises(NotConvergedError, match="more subjects or trials"):
        mixed_effects(table, "weight", "group", "subject")
    row = compare(table, "weight", between="group", subject="subject", resamples=99).iloc[0]
    assert row["mixed"].startswith("none: the mixed model did not converge")
    assert "mixed_low" not in row


def test_one_trial_a_subject_is_no_mixed_model():
    table = groups(np.random.default_rng(7), {"a": 0.0, "b": 1.0}, 1.0, 1.0, trials=1)
    row = compare(table, "weight", between="group", subject="subject", resamples=99).iloc[0]
    assert "or more trials of each" in row["mixed"]
    share = table.assign(fell=table["weight"] > 0.5)
    assert "to shares" in compare(share, "fell", between="group", subject="subject", resamples=99)["mixed"].item()


def found_share(studies, seed, means):
    """How often ``compare`` finds a difference at 5 %, and the power by statsmodels."""
    from statsmodels.stats.power import TTestIndPower

    rng, found = np.random.default_rng(seed), 0
    for _ in range(studies):
        table = groups(rng, means, 0.075, 0.05)
        row = compare(table, "weight", between="group", subject="subject", mixed=False, resamples=499).iloc[0]
        found += row["chance"] <= 0.05
    effect = (max(means.values()) - min(means.values())) / math.sqrt(0.075**2 + 0.05**2 / TRIALS)
    return found, TTestIndPower().power(effect, SUBJECTS, 0.05)


def beyond(found, studies, told):
    """The probability of a count as far from the power that was told, either way."""
    return 2.0 * min(binom.cdf(found, studies, told), binom.sf(found - 1, studies, told))


def test_a_fifth_less_of_one_weight_is_found_with_twelve_against_twelve():
    """0.5 of the young, 0.4 of the old, 0.075 between subjects (15 %), 0.05 between five trials: found as was told."""
    studies = 60
    found, told = found_share(studies, 8, {"old": 0.4, "young": 0.5})
    assert told == pytest.approx(0.85, abs=0.02)
    assert beyond(found, studies, told) > 1e-3  # a bound of 3.3 standard errors of a normal count


@pytest.mark.slow
def test_it_is_found_as_often_as_told_and_nothing_is_found_where_nothing_is():
    """Permutations of subjects stand for Student's test: their powers differ by less than these counts tell."""
    for studies, means in ((500, {"old": 0.4, "young": 0.5}), (500, {"old": 0.5, "young": 0.5})):
        found, told = found_share(studies, 9, means)
        assert beyond(found, studies, told) > 1e-3


@pytest.mark.slow
def test_mixed_intervals_hold_the_truth_where_subjects_have_unlike_many_trials():
    """In 95 % of 300 studies, by the binomial; of trials taken for subjects it would be far fewer."""
    rng, covered, studies = np.random.default_rng(11), 0, 300
    for _ in range(studies):
        table = groups(rng, {"old": 0.4, "young": 0.5}, 0.075, 0.1, trials=8)
        kept = rng.integers(1, 9, 2 * SUBJECTS)  # trials of each
        table = table[np.tile(np.arange(8), 2 * SUBJECTS) < np.repeat(kept, 8)]
        row = mixed_effects(table, "weight", "group", "subject").iloc[0]
        covered += row["low"] <= 0.1 <= row["high"]
    assert beyond(covered, studies, 0.95) > 1e-3


TABLE = groups(np.random.default_rng(10), {"a": 0.0, "b": 1.0}, 1.0, 1.0, 3, 2)


@refuses(
    (lambda: compare(TABLE, "weigt", between="group", subject="subject"), "did you mean 'weight'"),
    (lambda: compare(TABLE, "group", between="group", subject="subject"), "a column of texts"),
    (lambda: compare(TABLE, "weight", subject="subject"), "either between"),
    (lambda: compare(TABLE, "weight", between="group", within="group", subject="subject"), "either between"),
    (lambda: compare(TABLE.assign(subject=1), "weight", between="group", subject="subject"), "is in 2 groups"),
    (lambda: compare(TABLE, "weight", between="group", subject="group"), "'group' is both factor and subject"),
    (lambda: compare(TABLE, "weight", within="group", subject="subject"), "0 subjects in both"),
    (lambda: compare(TABLE, "weight", between="group", subject="subject", reference="c"), "levels are a, b"),
    (lambda: compare(TABLE.assign(group="a"), "weight", between="group", subject="subject"), "two or more levels"),
    (lambda: compare(TABLE.assign(subject=None), "weight", between="group", subject="subject"), "missing in 12 trials"),
    (lambda: summarise(TABLE.assign(weight=np.inf), "weight"), "infinite"),
    (lambda: summarise(TABLE.assign(weight=np.nan), "weight"), "no trial has a value"),
    (lambda: mixed_effects(TABLE.assign(weight=1.0), "weight", "group", "subject"), "is the same in all trials"),
)
def test_what_cannot_be_answered_is_refused(call):
    call()
