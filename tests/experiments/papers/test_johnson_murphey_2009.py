"""The short versions of what is recomputed of Johnson and Murphey 2009, but for times, which hang on a machine."""

import math

import numpy as np
import pytest

from experiments.papers.johnson_murphey_2009 import PAPER  # noqa: F401 # of the outcomes
from experiments.papers.johnson_murphey_2009.energy import _closed, available
from experiments.papers.johnson_murphey_2009.motions import BULLET, BULLET_DIRECT, OURS, START, Motion, OneDegreeLift
from experiments.papers.johnson_murphey_2009.scissor import _dissipation, crossing_times, exact_crossing, released
from experiments.papers.johnson_murphey_2009.segments import DESIRED, DURATION, errors, reached, tuned
from formulations.mechanism.examples import CLOSED_CHAIN_START, closed_chain_device, n_link_pendulum

from .conftest import check_items, check_kinds, check_statements, finding

pytest.importorskip("pybullet")

#: How statements begin that may differ: those of times, which a machine and what else it does decide, …
TIMED = ("run time", "power of the number of links", "time of the matrix")
#: … and those that do not hang on a machine, by item; why is in the item's notes.
MAY_DIFFER = {"figure-11": ("kinetic energy by the Lagrangian as printed", "energy lost in 10 s")}
#: Items that have no statements.
LISTS = ("misprints",)


def test_every_item_has_statements_tables_and_a_figure(outcomes):
    check_items(outcomes, LISTS)


def test_only_these_statements_differ_and_say_why(outcomes):
    check_statements(outcomes, MAY_DIFFER, TIMED)


def test_what_is_not_in_the_paper_is_ours(outcomes):
    check_kinds(outcomes)


def losing(share, by):
    """Five periods of a lift that has lost a share of what is released by a time [s]."""
    lift, time = OneDegreeLift(2), np.linspace(0.0, 10.0, 1001)
    gone = share * released(lift) * np.minimum(time / by, 1.0)
    return Motion(time, np.full_like(time, np.pi / 2.0), -gone, 0.0, 1.0)


@pytest.mark.parametrize(("shares", "agrees"), [((0.9, 0.5), True), ((0.9612, 0.9973), False)])
def test_a_smaller_step_that_loses_more_differs_however_late(shares, agrees):
    bullets = {(step, direct): losing(share, 1.0 / step)
               for step, share in zip((0.5, 0.25), shares, strict=True) for direct in (False, True)}  # fmt: skip
    (found,) = (one for one in _dissipation(bullets, OneDegreeLift(2)) if one.quantity.startswith("energy lost"))
    assert found.agrees == agrees


def device(lost):
    time = np.linspace(0.0, 12.0, 121)
    kept, falling = (Motion(time, 0.0 * time, -98.0 - gone * time / 12.0, 0.0, 1.0) for gone in (0.0, lost))
    return {OURS: kept, BULLET: falling}, [kept], [kept]


@pytest.mark.parametrize(("lost", "agrees"), [(11.0, True), (5.0, False), (1e-3, False)])
def test_a_loss_is_damping_as_a_part_of_what_the_device_can_lose(lost, agrees):
    (found,) = (one for one in _closed(*device(lost), span=12.0) if one.quantity.startswith("energy lost"))
    assert found.ours == pytest.approx(lost / 12.0)
    assert found.agrees == agrees


def test_what_a_device_can_lose_is_its_height_over_its_lowest_equilibrium():
    assert available(n_link_pendulum(1), {"J1": math.pi / 3.0}) == pytest.approx(9.81 * 0.5, rel=1e-9)
    mechanism, shifts = closed_chain_device(), np.random.default_rng(0).normal(size=(20, 7))
    q = mechanism.satisfy_constraints(CLOSED_CHAIN_START)
    least = mechanism.potential_energy(q) - available(mechanism, dict(zip(mechanism.coordinates, q, strict=True)))
    others = [mechanism.potential_energy(mechanism.satisfy_constraints(q + shift)) for shift in shifts]
    assert min(others) >= least - 1e-9


def test_points_that_are_one_stay_so(outcomes):
    for name in ("figure-8", "figure-11", "figure-12"):
        assert finding(outcomes[name], "largest gap").ours < 1e-10, name


def test_a_direct_solver_loses_far_less_than_one_that_iterates(outcomes):
    table = outcomes["figure-11"].tables["Trajectories of 10 s"].set_index(["method", "h [s]"])
    lost = table["energy lost, of what is released"]
    assert lost[BULLET_DIRECT, 0.001] < 1e-3 < 0.5 < lost[BULLET, 0.001]
    assert abs(lost[OURS, 0.01]) < 1e-5


def swinging(duration, slower):
    lift, time = OneDegreeLift(2), np.linspace(0.0, duration, 2001)
    return lift, Motion(time, lift.angle(time * (1.0 - slower)), np.zeros_like(time), 0.0, 1.0)


def test_crossings_tell_the_phase():
    lift, motion = swinging(40.0, 1e-3)
    crossings = crossing_times(motion)
    late = crossings * (1.0 - 1e-3) - [exact_crossing(lift, k) for k in range(len(crossings))]
    assert len(crossings) == 16
    assert np.abs(late).max() < 1e-5


def test_the_error_of_equation_47():
    lift = OneDegreeLift(2)
    time = np.linspace(0.0, 20.0, 500)
    motion = Motion(time, lift.angle(time) + 0.1, np.zeros_like(time), 0.0, 1.0)
    assert errors(motion, lift)[-1] == pytest.approx(0.2)
    assert reached(motion, lift) == pytest.approx(10.0)
    assert reached(Motion(time, lift.angle(time), time, 0.0, 1.0), lift) == math.inf


def test_the_search_finds_the_step_that_errs_when_wanted():
    lift = OneDegreeLift(3)

    def run(step):
        time = np.linspace(0.0, DURATION, 3001)
        return Motion(time, lift.angle(time * (1.0 - 0.3 * step**2)), np.zeros_like(time), 0.0, 1.0)

    for first in (1e-3, 0.1, 2.0):
        found = tuned(run, lift, first, 1e-6)
        assert found.reached_end
        assert found.reached == pytest.approx(DESIRED, rel=0.01)
    given_up = tuned(run, lift, 2.0, 1.0)
    assert not given_up.reached_end
    assert given_up.step == 1.0


def test_the_lift_starts_where_the_authors_do(outcomes):
    assert pytest.approx(math.radians(9.0)) == START
    assert finding(outcomes["figure-11"], "kinetic energy by the Lagrangian as derived").agrees
