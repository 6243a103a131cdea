"""People's numbers beside ours: the pendulum's region has a closed form, and every statement can differ."""

import pytest

from experiments.papers.people import PAPER
from experiments.papers.people.region import PART, PUBLISHED, findings

from .conftest import check_items, check_statements

#: Far behind the heel, where a pendulum at constant height is not one that turns about its ankles.
MAY_DIFFER = {"feasible-region": ("upper boundary 2.4", "lower boundary 2.7")}


def test_statements_hold_but_for_those_that_are_explained(outcomes):
    assert set(outcomes) == {item.name for item in PAPER.items}
    check_items(outcomes)
    check_statements(outcomes, MAY_DIFFER)


class Unlike:
    """A person whose boundaries are the published ones times a factor."""

    sex = "male"

    def __init__(self, factor):
        self.factor = factor

    def velocity(self, boundary, place):
        return self.factor * next(v for name, x, v in PUBLISHED if (name, x) == (boundary, place))


@pytest.mark.parametrize("factor", [1.0 - 2.0 * PART, 1.0, 1.0 + 2.0 * PART])
def test_every_statement_of_the_region_agrees_just_where_it_is_near(factor):
    assert all(found.agrees == (factor == 1.0) for found in findings(Unlike(factor)))
