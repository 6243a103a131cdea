"""A replica's search: its grid, its bracket, and replicas that recover above a fall."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.studies.grid import Grid
from experiments.studies.threshold.search import bracket_of, next_values, search
from tests.refusals import refuses

GRID = Grid(0.0, 10.0, 1.0, tolerance=0.05)


def searched(recovers, grid=GRID):
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
    assert bracket.high - bracket.low <= GRID.tolerance * (1.0 + 1e-6)
    assert bracket.monotone
    assert len(outcomes) <= GRID.most_trials


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
    assert sorted(outcomes) == list(GRID.values)
    assert bracket_of(outcomes).low == -math.inf
    assert bracket_of(outcomes).high == 0.0


def test_a_replica_that_never_falls_is_asked_up_to_the_limit():
    outcomes = searched(lambda _: True)
    assert max(outcomes) == GRID.limit == 160.0
    assert bracket_of(outcomes).high == math.inf
    assert len(outcomes) <= GRID.most_trials


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
    ((1.0, 1.0, 0.1), "from < to"),
    ((0.0, 1.0, 0.0), "by above zero"),
    ((0.0, 1.0, 2.0), "at most to"),
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

        search(GRID, 1, 2, answer)
        return found

    assert asked(0.0) == asked(7.7) == asked(1e3)


def test_turns_number_the_queries_about_a_replica_without_gaps():
    turns = {}

    def answer(queries):
        for query in queries:
            turns.setdefault((query.condition, query.replica), []).append(query.turn)
        return [query.value < 2.0 + 3.0 * query.condition + query.replica for query in queries]

    search(GRID, 2, 3, answer)
    assert len(turns) == 6
    assert all(found == list(range(len(found))) for found in turns.values())
