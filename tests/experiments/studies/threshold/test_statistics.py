"""The median and its interval: no single trajectory decides, and the interval covers what it says."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from biped.errors import InputError
from experiments.studies.grid import Grid
from experiments.studies.threshold import statistics
from experiments.studies.threshold.search import bracket_of, next_values, search
from tests.refusals import refuses

GRID = Grid(0.0, 4.0, 1.0, tolerance=0.25, limit=8.0)


def estimated(recovers, replicas, confidence=0.95, grid=GRID):
    ensemble = search(grid, 1, replicas, lambda queries: [recovers(q.value, q.replica) for q in queries])[0]
    return ensemble, statistics.estimate([bracket_of(outcomes) for outcomes in ensemble], confidence)


@given(
    thresholds=st.lists(st.floats(-1.0, 9.0), min_size=3, max_size=25),
    odd=st.sets(st.tuples(st.integers(0, 24), st.floats(0.0, 8.0)), max_size=10),
    confidence=st.floats(0.05, 0.99),
    data=st.data(),
)
def test_flipping_any_single_outcome_leaves_the_median_in_the_stated_interval(thresholds, odd, confidence, data):
    def recovers(value, replica):
        away = any(replica == r and abs(value - v) < 0.3 for r, v in odd)
        return (value <= thresholds[replica]) != away

    ensemble, before = estimated(recovers, len(thresholds), confidence)
    replica = data.draw(st.integers(0, len(thresholds) - 1))
    value = data.draw(st.sampled_from(sorted(ensemble[replica])))
    _, after = estimated(lambda v, r: recovers(v, r) != ((v, r) == (value, replica)), len(thresholds), confidence)
    assert before.median.low <= after.median.value <= before.median.high


@given(
    values=st.lists(st.floats(-10.0, 10.0), min_size=3, max_size=30), confidence=st.floats(0.01, 0.999), data=st.data(),
)  # fmt: skip
def test_one_replica_however_wild_leaves_the_median_in_the_interval(values, confidence, data):
    before = statistics.median_interval(values, values, values, confidence)
    values[data.draw(st.integers(0, len(values) - 1))] = data.draw(st.floats(allow_nan=False))
    assert before.low <= statistics.median_interval(values, values, values, confidence).value <= before.high


@pytest.mark.parametrize("count", [6, 9, 15, 21, 40])
def test_the_interval_of_synthetic_ensembles_covers_the_true_median_as_often_as_it_says(count):
    """Lognormal thresholds with a known median; 400 ensembles; the share that covers is binomial itself."""
    rng, ensembles, true = np.random.default_rng(count), 400, 2.3
    held, stated = 0, statistics.coverage(count, statistics.rank(count))
    assert stated >= 0.95
    for _ in range(ensembles):
        thresholds = true * np.exp(0.3 * rng.normal(size=count))
        _, found = estimated(lambda value, replica, t=thresholds: value <= t[replica], count)
        held += found.median.low <= true <= found.median.high
        assert found.median.confidence == stated
    assert held >= binom.ppf(1e-4, ensembles, stated)


@pytest.mark.parametrize("count", [8, 15, 24])
def test_the_rank_is_the_greatest_with_that_confidence(count):
    r = statistics.rank(count, 0.9)
    assert statistics.coverage(count, r) >= 0.9 > statistics.coverage(count, r + 1)


@given(st.integers(3, 60))
def test_coverage_is_that_of_fair_coins(count):
    r = statistics.rank(count)
    heads = np.array([math.comb(count, k) for k in range(count + 1)], dtype=float) / 2.0**count
    assert statistics.coverage(count, r) == pytest.approx(heads[r : count - r + 1].sum())


def test_few_replicas_say_what_confidence_they_reach():
    interval = statistics.median_interval([1.0, 2.0, 4.0], [1.0, 2.0, 4.0], [1.0, 2.0, 4.0])
    assert (interval.low, interval.value, interval.high, interval.confidence) == (1.0, 2.0, 4.0, 0.75)


@pytest.mark.parametrize(("count", "confidence"), [(2, 0.95), (9, 0.0), (9, 1.0)])
def test_impossible_wishes_are_refused(count, confidence):
    with pytest.raises(InputError):
        statistics.rank(count, confidence)


def test_those_that_fall_or_stand_throughout_are_counted_and_no_nan_comes_out():
    _, all_fall = estimated(lambda *_: False, 6)
    assert (all_fall.below, all_fall.above) == (6, 0)
    assert (all_fall.median.value, all_fall.median.high, all_fall.high) == (-math.inf, 0.0, -math.inf)
    _, all_stand = estimated(lambda *_: True, 6)
    assert (all_stand.below, all_stand.above) == (0, 6)
    assert (all_stand.median.value, all_stand.median.high, all_stand.low) == (8.0, math.inf, 8.0)
    _, mixed = estimated(lambda _, replica: replica < 3, 6)
    assert (mixed.median.value, mixed.median.low, mixed.median.high) == (-math.inf, -math.inf, math.inf)


def test_spread_is_that_of_the_sorted_thresholds():
    _, found = estimated(lambda value, replica: value <= 0.1 + 0.25 * replica, 20)
    assert found.low == pytest.approx(0.25 * 1, abs=0.26)
    assert found.high == pytest.approx(0.25 * 18, abs=0.26)


def test_replicas_in_pairs_tell_a_difference_that_medians_apart_cannot():
    """A gain of 0.5 on every replica, among thresholds that scatter over 6."""
    base = np.linspace(0.5, 6.5, 15)
    first, before = estimated(lambda value, replica: value <= base[replica], 15)
    second, after = estimated(lambda value, replica: value <= base[replica] + 0.5, 15)
    difference = statistics.paired_difference(
        [bracket_of(o) for o in first], [bracket_of(o) for o in second], GRID.start
    )
    assert after.median.low < before.median.high
    assert difference.low <= 0.5 <= difference.high
    assert difference.low >= 0.5 - 2 * GRID.tolerance
    assert difference.excludes_zero


def test_pairs_that_are_out_of_range_make_no_claim():
    fall, _ = estimated(lambda *_: False, 6)
    stand, _ = estimated(lambda *_: True, 6)
    nothing, everything = [bracket_of(o) for o in fall], [bracket_of(o) for o in stand]
    assert statistics.paired_difference(nothing, everything, 0.0).low == 8.0
    same = statistics.paired_difference(everything, everything, 0.0)
    assert (same.low, same.value, same.high) == (-math.inf, 0.0, math.inf)
    assert not statistics.paired_difference(nothing, nothing, 0.0).excludes_zero


def test_the_curve_of_recovery_has_exact_intervals():
    ensemble, _ = estimated(lambda value, replica: value <= 0.1 + 0.25 * replica, 12)
    curve = statistics.recovery_curve(ensemble, GRID.values)
    assert list(curve) == list(GRID.values)
    found = list(curve.values())
    assert [proportion.count for proportion in found] == [12, 8, 4, 0, 0]
    assert found[0].high == 1.0
    # Clopper and Pearson: none of n at 95 %: 1 − (0.025)^(1/n).
    assert found[3].high == pytest.approx(1.0 - 0.025 ** (1.0 / 12.0))
    for proportion in found:
        interval = binomtest(proportion.count, proportion.of).proportion_ci(0.95, method="exact")
        assert (proportion.low, proportion.high) == pytest.approx((interval.low, interval.high))


@given(st.lists(st.integers(0, 30), min_size=2, max_size=15))
def test_the_crossing_lies_in_its_interval_however_ragged_the_curve(counts):
    asked = [{float(value): replica < count for value, count in enumerate(counts)} for replica in range(30)]
    half = statistics.half_recovers(statistics.recovery_curve(asked, map(float, range(len(counts)))))
    assert half.low <= half.value <= half.high


def test_the_interval_of_the_crossing_covers_it_as_often_as_it_says():
    rng, true, ensembles, held = np.random.default_rng(8), 2.3, 400, 0
    rungs = [0.25 * k for k in range(17)]
    for _ in range(ensembles):
        thresholds = true + 0.6 * rng.normal(size=20)
        flips = rng.uniform(size=(20, len(rungs))) < 0.1
        asked = [
            {value: (value <= t) != flip for value, flip in zip(rungs, row, strict=True)}
            for t, row in zip(thresholds, flips, strict=True)
        ]
        half = statistics.half_recovers(statistics.recovery_curve(asked, rungs))
        held += half.low <= true <= half.high
    assert held >= binom.ppf(1e-4, ensembles, 0.95)


def test_a_crossing_out_of_reach_is_infinite():
    def curve(count):
        asked = [dict.fromkeys(GRID.values, replica < count) for replica in range(20)]
        return statistics.half_recovers(statistics.recovery_curve(asked, GRID.values))

    assert (curve(0).value, curve(0).low) == (-math.inf, -math.inf)
    assert (curve(20).value, curve(20).high) == (math.inf, math.inf)


def test_a_crossing_is_where_the_pooled_curve_is_one_half():
    counts = {0.0: 10, 1.0: 6, 2.0: 8, 3.0: 3, 4.0: 0}
    asked = [{value: replica < count for value, count in counts.items()} for replica in range(10)]
    assert statistics.half_recovers(statistics.recovery_curve(asked, counts)).value == pytest.approx(
        2.0 + (0.7 - 0.5) / (0.7 - 0.3)
    )


WIDE_GRID = Grid(0.0, 10.0, 1.0, tolerance=0.05)


def searched(recovers, grid=WIDE_GRID):
    outcomes = {}
    while values := next_values(outcomes, grid):
        assert not set(values) & set(outcomes), "tried twice"
        outcomes |= {value: recovers(value) for value in values}
    return outcomes


@given(st.floats(0.0, 159.0))
def test_the_bracket_of_a_monotone_replica_holds_its_threshold(threshold):
    outcomes = searched(lambda value: value <= threshold)
    bracket = bracket_of(outcomes)
    assert bracket.low <= threshold < bracket.high
    assert bracket.high - bracket.low <= WIDE_GRID.tolerance * (1.0 + 1e-6)
    assert bracket.monotone
    assert len(outcomes) <= WIDE_GRID.most_trials


@given(st.floats(0.1, 9.0), st.floats(0.1, 5.0), st.floats(1.0, 5.0))
def test_an_island_wider_than_the_steps_is_seen_and_does_not_count(threshold, gap, width):
    begin, end = threshold + gap, threshold + gap + width

    def recovers(value):
        return value < threshold or begin <= value < end

    outcomes = searched(recovers)
    bracket = bracket_of(outcomes)
    fell = [value for value in outcomes if threshold <= value < begin]
    seen = [value for value in outcomes if begin <= value < end]
    if fell:
        assert all(outcomes[value] for value in outcomes if value <= bracket.low)
        assert bracket.high == min(fell)
        assert bracket.monotone == (not seen)
        assert bracket.island == max(seen, default=-math.inf)


def test_a_replica_that_falls_at_the_least_value_is_below():
    outcomes = searched(lambda _: False)
    assert sorted(outcomes) == list(WIDE_GRID.values)
    assert bracket_of(outcomes).low == -math.inf
    assert bracket_of(outcomes).high == 0.0


def test_a_replica_that_never_falls_is_asked_up_to_the_limit():
    outcomes = searched(lambda _: True)
    assert max(outcomes) == WIDE_GRID.limit == 160.0
    assert bracket_of(outcomes).high == math.inf
    assert len(outcomes) <= WIDE_GRID.most_trials


@given(st.floats(-5.0, 5.0), st.floats(0.5, 30.0), st.floats(0.03, 1.0), st.floats(0.01, 1.0), st.floats(1.0, 40.0))
def test_values_grow_and_end_where_they_should(start, height, by, tolerance, growth):
    grid = Grid(start, start + height, by * height, tolerance * by * height, start + growth * height)
    values = list(grid.values)
    assert values[0] == pytest.approx(start)
    assert values[-1] == pytest.approx(start + height)
    steps = [b - a for a, b in pairwise(values)]
    assert all(0.0 < step <= grid.by * (1.0 + 1e-5) for step in steps)
    top = grid.stop
    while above := grid.above(top):
        assert top < above[0]
        assert sorted(set(above)) == list(above)
        top = above[-1]
    assert top == pytest.approx(grid.limit)


@refuses(
    ((1.0, 1.0, 0.1), "'from' must be below 'to'"),
    ((0.0, 1.0, 0.0), "'by' above zero"),
    ((0.0, 1.0, 2.0), "at most 'to'"),
    ((0.0, 1.0, 0.5, 0.6), "tolerance"),
    ((0.0, 1.0, 0.5, 0.1, 0.9), "limit"),
    ((0.0, math.inf, 0.5), "finite"),
)
def test_a_grid_without_values_is_refused(values):
    Grid(*values)


def test_what_one_replica_is_asked_depends_on_its_own_answers_alone():
    def asked(other):
        found = []

        def answer(queries):
            found.extend(query for query in queries if query.replica == 0)
            return [q.value < (3.3 if q.replica == 0 else other) for q in queries]

        search(WIDE_GRID, 1, 2, answer)
        return found

    assert asked(0.0) == asked(7.7) == asked(1e3)


def test_turns_number_the_queries_about_a_replica_without_gaps():
    turns = {}

    def answer(queries):
        for query in queries:
            turns.setdefault((query.condition, query.replica), []).append(query.turn)
        return [query.value < 2.0 + 3.0 * query.condition + query.replica for query in queries]

    search(WIDE_GRID, 2, 3, answer)
    assert len(turns) == 6
    assert all(found == list(range(len(found))) for found in turns.values())
