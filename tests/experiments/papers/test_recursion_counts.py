"""What the paper's cache saves, against counting by hand."""

import pytest

from experiments.papers.johnson_murphey_2009.links import evaluations, needs, requests


def counted(links, cached):
    """By asking for each value in turn, as a program would."""
    known, count = set(), 0

    def ask(key):
        nonlocal count
        if cached and key in known:
            return
        known.add(key)
        count += 1
        for other in needs(key):
            ask(other)

    for key in requests(links):
        ask(key)
    return count


@pytest.mark.parametrize("links", [1, 2, 4])
@pytest.mark.parametrize("cached", [True, False])
def test_counts_are_those_of_a_program_that_asks(links, cached):
    assert evaluations(links, cached=cached) == counted(links, cached)


def test_a_velocity_without_a_cache_goes_up_to_the_root_each_time():
    """(5) has one velocity; (6) of its own variable has the parent's twice; (7) of its own twice has it three times."""
    assert needs(("v", 3, ())) == (("v", 2, ()),)
    assert needs(("v_q", 3, (3,))) == (("v", 2, ()),) * 2
    assert needs(("v_q", 3, (1,))) == (("v_q", 2, (1,)),)
    assert needs(("v_qq", 3, (3, 3))) == (("v", 2, ()),) * 3
    assert needs(("v_qq", 3, (3, 1))) == needs(("v_qq", 3, (1, 3))) == (("v_q", 2, (1,)),) * 2
    assert needs(("v_qq", 3, (0, 1))) == (("v_qq", 2, (0, 1)),)
    assert needs(("g_qq", 3, (3, 3))) == (("g", 2, ()),)
    assert needs(("v_qq", 0, (0, 0))) == needs(("v_q", 2, (3,))) == ()
