"""Rankings of invented numbers: the best is who has the better ones, whatever it is called."""

import math
from dataclasses import fields
from types import SimpleNamespace

import pytest

from experiments.catalogue.registry import experiment_named
from experiments.comparison.flight import FlightRow
from experiments.comparison.measures import ranking, ranking_lines, ranking_table
from experiments.comparison.outcome import Creep, Outcome
from experiments.comparison.stages import EQUAL, REFINEMENT, VENDOR, Results
from experiments.comparison.step_refinement import Refinement
from experiments.comparison.table import scientific
from experiments.timing import Spread
from experiments.work_precision.case import TREE, StepSize
from experiments.work_precision.step_sizes import Curve, Measurement

NAMES = ("recursive", "alpha", "beta")
CREEP = "creep in stance under 30 N, equal settings"
ENERGY, MOMENTUM = "error of the energy balance", "error of the momentum balance"
DISTANCE = "distance from its own finest step, at 0.0005 s"


def outcome(name, verdict="recovered", **numbers):
    usual = {"step": 5e-4, "simulated": 3.0, "energy_residual": 1e-3, "momentum_defect": 1e-12, "steps": 6000}
    nothing = dict.fromkeys(field.name for field in fields(Outcome))
    return Outcome(**nothing | usual | {"engine": name, "verdict": verdict} | numbers)


def creep(name, metres, verdict="recovered"):
    return Creep(name, EQUAL, verdict, 5e-4, 20.0, metres)


def flight(name, energy, spin=1e-12, **rest):
    return FlightRow(name, "gentle", 1e-3, 60.0, energy, energy, spin, **rest)


def refinement(name, error):
    """At the common step, and the finest."""
    return [
        Refinement(name, 5e-4, "recovered", 3.0, error, error),
        Refinement(name, 2.5e-4, "recovered", 3.0, None, None),
    ]


@pytest.fixture
def results():
    """Nothing yet."""
    return Results(experiment_named("thrown-block"), {}, ())


def entries(results, measure):
    """Of a measure, by label."""
    found = {name: {one.label: one for one in listed} for name, _, listed in ranking(results)}
    return found[measure]


def best(results, measure):
    return [one.label for one in entries(results, measure).values() if one.best]


@pytest.mark.parametrize(
    ("creeps", "winners", "notes"),
    [
        ({"recursive": 3e-2, "alpha": 1e-4, "beta": 3e-2}, ["alpha"], {}),
        ({"recursive": 1e-4, "alpha": 3e-2, "beta": 2e-2}, ["recursive"], {}),
        ({"recursive": 1.1e-3, "alpha": 1.0e-3, "beta": 1.2e-3}, ["recursive", "alpha"], {}),  # within noise
        ({"recursive": 5e-7, "alpha": 2e-12, "beta": 1e-4}, ["recursive", "alpha"],
         {"recursive": "below 1e-06", "alpha": "below 1e-06"}),
        ({"recursive": 1e-3, "alpha": None}, ["recursive"], {"alpha": "fell"}),
        ({"alpha": None}, [], {"alpha": "fell"}),
    ],
)  # fmt: skip
def test_small_creeps_are_ties_and_who_fell_has_none(results, creeps, winners, notes):
    results.creeps = [creep(name, metres, "recovered" if metres else "fell") for name, metres in creeps.items()]
    found = entries(results, CREEP)
    assert best(results, CREEP) == winners
    assert {name: one.note for name, one in found.items() if one.note} == notes
    if "beta" in creeps:
        assert found["beta"].at_least == bool(notes)
        least = min(creeps.values())
        assert found["beta"].ratio == pytest.approx(creeps["beta"] / max(least, 1e-6))


def test_who_fell_is_the_best_at_no_outcome(results):
    results.outcomes[EQUAL] = [
        outcome("recursive"), outcome("beta", apart=2e-3),
        outcome("alpha", "fell", energy_residual=1e-9, momentum_defect=0.0, simulated=0.5),
    ]  # fmt: skip
    for measure in ("completes the run, equal settings", ENERGY, MOMENTUM):
        assert best(results, measure) == ["recursive", "beta"]
        assert entries(results, measure)["alpha"].note == "fell at 0.5 s"
    apart = entries(results, "greatest distance of the trunk's path from the first engine's")
    assert {label: one.value for label, one in apart.items()} == {"beta": 2e-3}
    assert not any(one.best for one in apart.values())


def test_energy_in_flight_goes_to_whoever_conserves_it(results):
    results.flights = [flight("recursive", 1e-6), flight("alpha", 1e-9, 1e-3), flight("beta", 1e-13, lost_after=3.0)]
    for measure in ("energy error, gentle flight", "energy drift, gentle flight"):
        assert best(results, measure) == ["alpha"]
    assert best(results, "angular momentum error, gentle flight") == ["recursive"]
    note = entries(results, "energy error, gentle flight")["beta"].note
    assert note == "energy error above 100 % from 3 s on"
    assert not any("fast flight" in name for name, _, _ in ranking(results))
    results.flights = [flight("recursive", -1e-3), flight("alpha", 1e-6)]  # a drift's sign does not matter
    assert best(results, "energy drift, gentle flight") == ["alpha"]


@pytest.mark.parametrize(
    ("errors", "winners", "notes"),
    [
        ([1e-9, 1e-3, 1e-5], ["recursive"], {}),  # whatever order they have
        ([3e-16, 74e-6, 0.0], ["recursive", "beta"], {"recursive": "below 1e-12", "beta": "below 1e-12"}),
        ([1e-3, "fell", None], ["recursive"], {"alpha": "fell", "beta": "has no number"}),
    ],
)
def test_the_least_error_at_the_common_step_is_the_best(results, errors, winners, notes):
    for name, error in zip(NAMES, errors, strict=True):
        fell = Refinement(name, 5e-4, "fell", 0.4, None, None)
        results.refinements += [fell] if error == "fell" else refinement(name, error)
    found = entries(results, DISTANCE)
    assert best(results, DISTANCE) == winners
    assert {name: one.note for name, one in found.items() if one.note} == notes
    assert [found[name].value for name in NAMES] == [None if error == "fell" else error for error in errors]


@pytest.mark.parametrize("number", [None, math.nan])
def test_who_has_no_number_is_named(results, number):
    results.outcomes[EQUAL] = [outcome("recursive"), outcome("alpha", energy_residual=number), outcome("beta")]
    assert best(results, ENERGY) == ["recursive", "beta"]
    assert entries(results, ENERGY)["alpha"].note == "has no number"


def test_who_is_alone_is_not_the_best(results):
    results.outcomes = {EQUAL: [outcome("alpha")], VENDOR: [outcome("alpha")]}
    results.creeps = [creep("alpha", 1e-3)]
    results.flights = [flight("alpha", 1e-9)]
    results.refinements = refinement("alpha", 1e-3)
    results.precision = SimpleNamespace(curves=[curve("alpha", [1e-3, 1e-2])], refusals={})
    found = list(ranking(results))
    assert len(found) >= 10
    assert not any(one.best for _, _, listed in found for one in listed)
    assert entries(results, CREEP)["alpha"].value == 1e-3


def test_nothing_is_said_of_a_stage_that_is_not_complete(results):
    results.creeps = [creep(name, 1e-3) for name in NAMES]
    results.refinements = [row for name in NAMES for row in refinement(name, 1e-3)]
    results.undone = [REFINEMENT]
    assert [name for name, _, _ in ranking(results)] == [CREEP]


def test_the_table_has_all_numbers_and_the_readers_a_star(results):
    results.backends = tuple(SimpleNamespace(label=name, title=name.title(), smooth=()) for name in NAMES)
    results.creeps = [creep("recursive", 5e-7), creep("alpha", 3e-2), creep("beta", None, "fell")]
    table = ranking_table(results).set_index("engine")
    assert table["best"].to_dict() == {"recursive": "best", "alpha": "", "beta": ""}
    assert table.loc["alpha", "ratio"] == pytest.approx(3e4)
    assert table.loc["alpha", "note"] == "at least this ratio"
    assert set(table["unit"]) == {"m"}
    headings, ((name, unit, *cells),) = ranking_lines(results)
    assert headings == ("measure", "unit", "Recursive", "Alpha", "Beta")
    assert (name, unit) == (CREEP, "m")
    assert cells == ["★ below 1e-06", "0.03 (× ≥ 3e+04)", "fell"]
    assert (scientific(-2.14e-9), scientific(3.2e7, 0)) == ("−2.1×10⁻⁹", "3×10⁷")


def curve(name, costs):
    """Errors of 1e-2 … 1e-6 m at these costs."""
    points = tuple(
        Measurement(StepSize(1e-2 / 2**k), 10.0 ** -(2 + k), 0.0, 0.0, cost=Spread(c, c, c))
        for k, c in enumerate(costs)
    )
    return Curve(name, TREE, SimpleNamespace(order=None), 1e-12, points)


@pytest.mark.parametrize("winner", NAMES)
def test_work_and_precision_go_to_the_cheapest(results, winner):
    costs = [1e-3, 2e-3, 4e-3, 8e-3, 16e-3]
    curves = [curve(name, [c * (1.0 if name == winner else 5.0) for c in costs]) for name in NAMES]
    results.precision = SimpleNamespace(curves=curves, refusals={})
    found = {name: [one.label for one in listed if one.best] for name, _, listed in ranking(results)}
    assert found == {f"cost of a second of flight to 1e-0{k} m": [winner] for k in range(2, 7)}
