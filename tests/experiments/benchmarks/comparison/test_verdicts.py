"""Verdicts from invented numbers: whoever has the better ones wins, whatever it is called."""

import math
from dataclasses import replace
from types import SimpleNamespace

import pytest

from experiments.benchmarks.comparison.budget import FULL, QUICK
from experiments.benchmarks.comparison.cost import Cost, Taken, costs_of, coverage, interval
from experiments.benchmarks.comparison.flight import FlightRow
from experiments.benchmarks.comparison.outcome import Outcome
from experiments.benchmarks.comparison.precision import Traits
from experiments.benchmarks.comparison.standing import Creep
from experiments.benchmarks.comparison.step_refinement import Convergence, Rung
from experiments.benchmarks.comparison.verdict import (
    agreement_verdict,
    books_verdicts,
    convergence_verdict,
    cost_verdict,
    creep_verdict,
    flight_verdicts,
    precision_verdict,
    scientific,
    standing_verdict,
)
from experiments.benchmarks.timing import Spread
from experiments.benchmarks.work_precision.case import TREE
from experiments.benchmarks.work_precision.case import Rung as LadderRung
from experiments.benchmarks.work_precision.step_sizes import Curve, Measurement

TITLES = {"recursive": "ours", "alpha": "Alpha", "beta": "Beta"}
NAMES = tuple(TITLES)


def outcome(name, outcome="stood", **numbers):
    return Outcome(
        **{
            "engine": name, "outcome": outcome, "step": 5e-4, "period": 2e-3, "simulated": 3.0, "settling_time": 0.7,
            "position_error": 1e-6, "orientation_error": 1e-5, "block_impulse": 9.7, "foot_slip": 1e-3,
            "foot_creep": 1e-8, "penetration": 1e-3, "peak_knee_torque": 200.0, "peak_torque": 200.0,
            "energy_residual": 1e-3, "momentum_defect": 1e-12, "angular_momentum_defect": 1e-12, "apart": None,
            "steps": 6000,
        } | numbers
    )  # fmt: skip


def creep(name, metres, outcome="stood"):
    return Creep(name, "equal", outcome, 5e-4, 20.0, metres)


def flight(name, energy, spin=1e-12, **rest):
    return FlightRow(name, "gentle", 1e-3, 60.0, energy, energy, energy, energy, spin, spin, **rest)


@pytest.mark.parametrize("best", NAMES)
def test_the_least_creep_wins_whoever_has_it(best):
    found = creep_verdict([creep(name, 1e-4 if name == best else 3e-2) for name in NAMES], TITLES, "equal settings")
    assert found.winners == (best,)
    head = f"{TITLES[best][0].upper()}{TITLES[best][1:]}"
    assert found.sentence.startswith(f"{head} wins: 100 µm in 20 s under 30 N; ")
    assert found.sentence.count("30 mm (300 times as much)") == 2


def test_creep_below_a_micrometre_is_a_tie():
    found = creep_verdict([creep("recursive", 5e-7), creep("alpha", 2e-12), creep("beta", 1e-4)], TITLES, "x")
    assert found.winners == ("recursive", "alpha")
    assert (
        found.sentence == "Ours and Alpha tie: below 1 µm in 20 s under 30 N; Beta 100 µm (at least 100 times as much)."
    )


def test_numbers_within_noise_are_a_tie():
    found = creep_verdict([creep("recursive", 1.1e-3), creep("alpha", 1.0e-3), creep("beta", 1.2e-3)], TITLES, "x")
    assert found.winners == ("recursive", "alpha")


def test_who_fell_does_not_win_creep():
    rows = [creep("recursive", 1e-3), creep("alpha", None, "fell")]
    found = creep_verdict(rows, TITLES, "x")
    assert found.winners == ("recursive",)
    assert found.sentence.endswith("; Alpha fell.")
    nobody = creep_verdict([creep("alpha", None, "fell")], TITLES, "x")
    assert nobody.winners == ()
    assert nobody.sentence == "No engine stood; Alpha fell."


def test_who_fell_does_not_win_the_books():
    rows = [
        outcome("recursive", "fell", energy_residual=1e-9, momentum_defect=0.0),
        outcome("alpha", energy_residual=5.0),
    ]
    energy, momentum = books_verdicts(rows, TITLES)
    assert energy.winners == momentum.winners == ("alpha",)
    assert "ours fell" in energy.sentence


def test_outcomes_and_agreement_are_told():
    rows = [outcome("recursive"), outcome("alpha", "fell", simulated=0.5), outcome("beta", apart=2e-3)]
    found = standing_verdict(rows, TITLES, "equal settings")
    assert found.winners == ("recursive", "beta")
    assert found.sentence == "Ours and Beta get to the end; Alpha falls at 0.5 s."
    agreement = agreement_verdict(rows, TITLES, "crate")
    assert agreement.winners == ()
    assert agreement.sentence == "Greatest distance of the crate's path from that of ours: Beta 2 mm."


def test_energy_in_flight_goes_to_whoever_keeps_it():
    rows = [flight("recursive", 1e-6), flight("alpha", 1e-9, spin=1e-3), flight("beta", 1e-13, lost_after=3.0)]
    error, drift, spin = flight_verdicts(rows, "gentle", TITLES)
    assert error.winners == drift.winners == ("alpha",)
    assert spin.winners == ("recursive",)
    assert "Beta is off by more than all its energy from 3 s on" in error.sentence
    assert flight_verdicts(rows, "fast", TITLES) == []


def test_the_sign_of_a_drift_does_not_matter():
    rows = [flight("recursive", -1e-3), flight("alpha", 1e-6)]
    assert flight_verdicts(rows, "gentle", TITLES)[1].winners == ("alpha",)


def rung(name, error):
    return Rung(name, 5e-4, "stood", 3.0, error, error)


def test_the_least_error_wins_convergence_and_orders_are_told_apart_from_it():
    orders = [
        Convergence("recursive", None, None, "comes closer, but not steadily"),
        Convergence("alpha", 1.0, 1.1, "converges with order 1.00"),
        Convergence("beta", 2.0, 1.1, "converges with order 2.00"),
    ]
    rungs = [rung("recursive", 1e-9), rung("alpha", 1e-3), rung("beta", 1e-5)]
    found = convergence_verdict(orders, rungs, 5e-4, TITLES)
    assert found.winners == ("recursive",)
    first, order = found.sentence.split(" Order: ")
    assert "1 nm" in first
    assert "Alpha 1 mm" in first
    assert "Beta 10 µm" in first
    assert order == (
        "ours: comes closer, but not steadily; Alpha: converges with order 1.00; Beta: converges with order 2.00."
    )


def test_errors_of_rounding_win_convergence():
    orders = [
        Convergence("recursive", None, None, "exact to rounding at all steps"),
        Convergence("alpha", 1.0, 1.1, "converges with order 1.00"),
        Convergence("beta", None, None, "exact to rounding at all steps"),
    ]
    found = convergence_verdict(
        orders, [rung("recursive", 3e-16), rung("alpha", 74e-6), rung("beta", 0.0)], 5e-4, TITLES
    )
    assert found.winners == ("recursive", "beta")
    assert found.sentence.startswith(
        "Ours and Beta tie: exact to rounding, less than 1×10⁻¹² m from its own finest step"
    )
    assert "Alpha 74 µm" in found.sentence


def test_only_who_did_not_stand_is_out_of_convergence():
    orders = [Convergence(name, None, None, "x") for name in NAMES]
    rungs = [rung("recursive", 1e-3), Rung("alpha", 5e-4, "fell", 0.4, None, None), rung("beta", None)]
    found = convergence_verdict(orders, rungs, 5e-4, TITLES)
    assert found.winners == ("recursive",)
    assert "Alpha falls there" in found.sentence
    assert "Beta has no number" in found.sentence


@pytest.mark.parametrize("number", [None, math.nan])
def test_who_has_no_number_is_told(number):
    found = books_verdicts([outcome("recursive"), outcome("alpha", energy_residual=number), outcome("beta")], TITLES)[0]
    assert found.winners == ("recursive", "beta")
    assert found.sentence.endswith("; Alpha has no number.")
    untimed = cost_verdict([cost("recursive", [1e-6])], TITLES, {"alpha": "is not timed: it cannot"})
    assert untimed.winners == ("recursive",)
    assert "Alpha is not timed: it cannot" in untimed.sentence


def test_who_is_alone_wins_nothing():
    alone = Convergence("alpha", 1.0, 1.1, "converges with order 1.00")
    found = [
        standing_verdict([outcome("alpha")], TITLES, "x"),
        *books_verdicts([outcome("alpha")], TITLES),
        creep_verdict([creep("alpha", 1e-3)], TITLES, "x"),
        *flight_verdicts([flight("alpha", 1e-9)], "gentle", TITLES),
        convergence_verdict([alone], [rung("alpha", 1e-3)], 5e-4, TITLES),
        cost_verdict([cost("alpha", [1e-6, 2e-6])], TITLES),
        precision_verdict(SimpleNamespace(curves=[curve("alpha", [1e-3, 1e-2])], refusals={}), TITLES),
    ]
    for verdict in found:
        assert verdict.winners == ()
        assert "win" not in verdict.sentence
    assert found[3].sentence == "Alpha alone: 1 mm in 20 s under 30 N."


def test_creep_is_told_for_the_time_that_was_measured():
    rows = [replace(creep(name, 1e-3), measured=10.0) for name in NAMES]
    assert "in 10 s under 30 N" in creep_verdict(rows, TITLES, "x").sentence


def cost(name, times, outcome="stood"):
    middle = Spread.of(times).median
    return Cost(
        name, outcome, 5e-4, middle, min(times), max(times), middle, 1.0, 1.0, 1.0, 50.0, "x", len(times), tuple(times)
    )


@pytest.mark.parametrize("best", NAMES)
def test_the_cheapest_step_wins_whoever_takes_it(best):
    found = cost_verdict([cost(name, [1e-6, 1.1e-6] if name == best else [3e-6, 3.1e-6]) for name in NAMES], TITLES)
    assert found.winners == (best,)


def test_costs_that_take_turns_are_a_tie():
    """Alpha is the cheaper by the median, but not always."""
    found = cost_verdict([cost("recursive", [2e-6, 2e-6, 2e-6]), cost("alpha", [1.9e-6, 2.2e-6, 1.8e-6])], TITLES)
    assert found.winners == ("recursive", "alpha")
    assert "tie within noise" in found.sentence


def test_who_fell_does_not_win_cost():
    found = cost_verdict([cost("recursive", [1e-6], "fell"), cost("alpha", [1e-5])], TITLES)
    assert found.winners == ("alpha",)
    assert "ours fell" in found.sentence


def test_ratios_are_of_pairs():
    """While the machine was slow, both were: the ratio is that of neighbours."""
    first, second = (SimpleNamespace(label=name, foreign=name == "alpha" or None) for name in ("recursive", "alpha"))
    taken = {
        "recursive": Taken("stood", [1e-6, 8e-6, 1e-6], [1e-6] * 3, [1.0] * 3),
        "alpha": Taken("stood", [3e-6, 24e-6, 3e-6], [4e-6, 5e-6, 9e-6], [1.0] * 3),
    }
    rows = costs_of([first, second], taken, 5e-4)
    assert (rows[1].ratio, rows[1].ratio_low, rows[1].ratio_high) == pytest.approx((3.0, 3.0, 3.0))
    assert rows[1].in_run == pytest.approx(5e-6)


def test_the_interval_of_a_median_leaves_out_what_chance_does():
    assert interval([3.0, 1.0, 2.0]) == (1.0, 3.0)
    assert interval(range(1, 12)) == (2, 10)  # a coin: 2 (1 + 11) / 2^11 = 1.2 %; with the third 6.5 %
    assert interval(range(1, 16)) == (4, 12)  # 3.5 %
    assert interval([5.0]) == (5.0, 5.0)


def test_the_coverage_of_the_interval_is_that_of_a_coin():
    assert coverage(3) == pytest.approx(0.75)
    assert coverage(6) == pytest.approx(1.0 - 2.0 / 64.0)
    assert coverage(11) == pytest.approx(1.0 - 24.0 / 2048.0)
    assert all(coverage(effort.repeats) >= 0.95 for effort in (FULL, QUICK))


def test_one_slow_repeat_of_many_makes_no_tie():
    slow = [1e-6] * 10 + [9e-6]
    found = cost_verdict([cost("recursive", slow), cost("alpha", [3e-6] * 11)], TITLES)
    assert found.winners == ("recursive",)


def curve(name, costs):
    """Errors of 1e-2 … 1e-6 m at these costs."""
    points = tuple(
        Measurement(LadderRung(1e-2 / 2**k), 10.0 ** -(2 + k), 0.0, 0.0, cost=Spread(c, c, c, 1))
        for k, c in enumerate(costs)
    )
    return Curve(name, TREE, Traits(), 1e-12, points)


@pytest.mark.parametrize("best", NAMES)
def test_work_and_precision_go_to_the_cheapest(best):
    costs = [1e-3, 2e-3, 4e-3, 8e-3, 16e-3]
    curves = [curve(name, [c * (1.0 if name == best else 5.0) for c in costs]) for name in NAMES]
    found = precision_verdict(SimpleNamespace(curves=curves, refusals={}), TITLES)
    assert found.winners == (best,)
    assert found.sentence.startswith(f"Take {TITLES[best]} down to an error of 1e-06 m")


def test_accuracies_may_have_different_winners():
    curves = [curve("recursive", [1e-3, 1e-2, 1e-1]), curve("beta", [5e-3, 6e-3, 7e-3])]
    assert precision_verdict(SimpleNamespace(curves=curves, refusals={}), TITLES).winners == ("recursive", "beta")


def test_numbers_are_written_as_people_do():
    assert scientific(-2.14e-9) == "−2.1×10⁻⁹"
    assert scientific(3.2e7, 0) == "3×10⁷"


def test_an_unfinished_outcome_is_not_standing():
    assert outcome("alpha").stood
    assert not replace(outcome("alpha"), outcome="failed").stood
