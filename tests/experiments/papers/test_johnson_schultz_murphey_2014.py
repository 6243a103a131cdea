"""The short versions of what is recomputed of Johnson, Schultz and Murphey 2014, but for times of the marionette."""

import numpy as np
import pytest

from experiments.papers.johnson_schultz_murphey_2014 import (
    PAPER,  # noqa: F401 # of the outcomes
    convergence,
    puppet,
)
from experiments.papers.johnson_schultz_murphey_2014.convergence import slopes
from experiments.papers.johnson_schultz_murphey_2014.feedback import back_after
from experiments.papers.johnson_schultz_murphey_2014.pendulum import (
    last_digit,
    pendulum,
    same_digits,
    second_differences,
)
from experiments.papers.johnson_schultz_murphey_2014.run_times import differences

from .conftest import check_items, check_kinds, check_statements

#: Of this machine's times, or of a process of its own: not asked for here.
APART = ("run-times",)
#: How statements begin that a machine decides …
OF_TIMES = ("time of",)
#: … and those that differ on any, by item; why is in their notes.
MAY_DIFFER = {"singularities": ("det M where θ + θ' = π",)}
#: Items that are lists, or tables, alone.
LISTS, WITHOUT_FIGURE = ("misprints",), ("pendulum",)


def test_every_item_has_statements_tables_and_a_figure(outcomes):
    check_items(outcomes, LISTS, WITHOUT_FIGURE)


def test_only_these_statements_differ_and_say_why(outcomes):
    check_statements(outcomes, MAY_DIFFER, OF_TIMES)


def test_what_is_not_in_the_paper_is_ours(outcomes):
    check_kinds(outcomes)


def test_second_derivatives_of_the_discrete_lagrangian_are_those_by_hand():
    """L_d = (θ' − θ)²/2Δt + Δt g cos((θ + θ')/2), of unit mass and length."""
    now, then, step, g = 0.2, 0.5, 0.1, 9.8
    bend = 0.25 * step * g * np.cos(0.5 * (now + then))
    expected = np.array([[1.0, -1.0], [-1.0, 1.0]]) / step - bend
    assert second_differences(pendulum().mechanism, now, then) == pytest.approx(expected, abs=1e-6)


def test_forward_differences_are_of_the_same_linearization():
    system = pendulum()
    x, u = np.array([0.2, 0.5]), np.array([0.8])
    exact = system.linearize(x, u)
    assert differences(system, x, u) == pytest.approx(np.hstack([exact.A, exact.B]), abs=1e-6)


def test_digits_that_are_printed():
    assert last_digit("0.2471") == pytest.approx(1e-4)
    assert last_digit("-1.01e-2") == pytest.approx(1e-4)
    assert same_digits("0.2471", 0.24706)
    assert same_digits("0.0976", 0.097667)  # cut off
    assert same_digits("-10.2389", -10.23890)
    assert not same_digits("0.2471", 0.24721)
    assert not same_digits("0.2471", 0.24704)
    assert not same_digits("0.2471", -0.2471)


def test_back_is_when_an_error_stays_small():
    time = np.arange(5.0)
    assert back_after(time, np.array([1.0, 0.01, 0.5, 0.01, 0.01]), 0.1) == 3.0
    assert back_after(time, np.array([1.0, 0.01, 0.5, 0.01, 0.2]), 0.1) == np.inf


def test_slopes_of_a_search_end_below_its_tolerance():
    found = convergence.search(pendulum(), "newton")
    assert len(slopes(found)) == len(found.history) + 1
    assert slopes(found)[-1] < convergence.TOLERANCE < slopes(found)[-2]


def test_strings_are_let_out_and_pulled_in_as_printed():
    system = puppet.puppet()
    names = system.mechanism.kinematic_coordinates
    u = puppet.inputs(system, 84)  # ¼ of a period is at 0.83 s
    moved = u - puppet.start(system)[22:40]
    for k, name in enumerate(names):
        string = name.removesuffix("_length")
        expected = 0.1 * puppet.MOVED[string] if string in puppet.MOVED else 0.0
        assert moved[82, k] == pytest.approx(expected, abs=1e-4)
