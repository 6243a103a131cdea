"""People's numbers beside ours: what has a closed form is held against it, and every statement can differ."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from biped.signals import Signal
from experiments.catalogue.registry import experiment_named
from experiments.papers.item import Outcome
from experiments.papers.people import PAPER, displacement, person, quiet, sampling, steps, tilts, torques
from experiments.papers.people.person import compared, conditions, divided, mean_ratio, median, ratio, thresholds
from experiments.papers.people.region import PART, PUBLISHED, findings
from experiments.papers.report import findings_table, halves
from experiments.studies import Grid, SweptParameter
from experiments.studies.mean import Mean, mean_of
from experiments.studies.threshold.search import Bracket

from .conftest import check_items, check_statements, finding

#: Far behind the heel, where a pendulum at constant height is not one that turns about its ankles.
MAY_DIFFER = {"feasible-region": ("upper boundary 2.4", "lower boundary 2.7")}
#: Whose short versions take several seconds: tested apart, in one slow test.
APART = ("displacement", "sampling", "step-torques", "steps")
#: What differs by far more than noise moves it in the short versions of what is simulated.
DIFFERS = {
    # One law with one weight cannot sway as people do at all amplitudes.
    "quiet-stance": ["short-term exponent ML, young, eyes open, foam"],
    "tilts": [f"gain at {frequency:g} Hz for a tilt of {tilt:g}°" for tilt in (4.0, 8.0) for frequency in (0.05, 0.15)],
}


def test_there_are_all_items(outcomes):
    assert {*outcomes, *APART} == {item.name for item in PAPER.items}
    check_items(outcomes)


@pytest.mark.slow
@pytest.mark.parametrize("name", APART)
def test_what_takes_longer_says_why_it_differs(name):
    outcome = next(item for item in PAPER.items if item.name == name).produce(True, lambda _: None)
    check_items({name: outcome})
    assert all(found.agrees or found.note or found.kind == "ours" for found in outcome.findings)


def test_statements_hold_but_for_those_that_are_explained(outcomes):
    check_statements({name: one for name, one in outcomes.items() if name not in DIFFERS}, MAY_DIFFER)


@pytest.mark.parametrize("name", DIFFERS)
def test_what_is_simulated_says_why_it_differs(outcomes, name):
    assert all(found.agrees or found.note for found in outcomes[name].findings)
    for begin in DIFFERS[name]:
        assert not finding(outcomes[name], begin).agrees


class Unlike:
    sex = "male"

    def __init__(self, factor):
        self.factor = factor

    def velocity(self, boundary, place):
        return self.factor * next(v for name, x, v in PUBLISHED if (name, x) == (boundary, place))


@pytest.mark.parametrize("factor", [1.0 - 2.0 * PART, 1.0, 1.0 + 2.0 * PART])
def test_every_statement_of_the_region_agrees_just_where_it_is_near(factor):
    assert all(found.agrees == (factor == 1.0) for found in findings(Unlike(factor)))


@pytest.mark.parametrize(
    ("values", "lost", "agrees"),
    [([1.0, 1.2], 0, True), ([1.0, 1.2], 1, False), ([1.3, 1.5], 0, False), ([], 2, False)],
)
def test_a_mean_agrees_just_where_it_is_within_the_margin_and_nobody_fell(values, lost, agrees):
    found = compared("gain", 1.0, 0.2, mean_of(values), "because", lost=lost)
    assert found.agrees == agrees
    assert found.note == ("" if agrees else "because")
    assert (f"{lost} of {lost + len(values)} fall" in found.ours) == (lost > 0)


def test_a_phase_is_the_mean_direction_in_the_published_turn():
    angles = np.radians([179.0, -177.0])  # about −179° = 181°
    assert tilts.phase_near(angles, -160.0).value == pytest.approx(-179.0)
    assert tilts.phase_near(angles, 200.0).value == pytest.approx(181.0)


def as_people(gain, turn):
    """Two trials at each amplitude of those who sway as people do, times a factor, and farther on by an angle [rad]."""
    trials = []
    for tilt in tilts.FITTED:
        response = gain * np.exp(1j * turn) * tilts.fitted(tilt)
        one = {f"sway_gain_{k}": abs(value) for k, value in enumerate(response, 1)}
        one |= {f"sway_phase_{k}": np.angle(value) for k, value in enumerate(response, 1)}
        trials += 2 * [{"tilt": tilt, "verdict": "recovered", **one}]
    return pd.DataFrame(trials)


def test_who_sways_as_people_do_agrees_at_all_tilts_and_others_at_none():
    apart = math.radians(1.1 * tilts.TURN)
    for gain, turn in ((1.0, 0.0), (1.0 + 1.1 * tilts.PART, apart), (1.0 - 1.1 * tilts.PART, -apart)):
        found = tilts.findings(tilts.responses(as_people(gain, turn)))
        assert len(found) == 50
        assert all(one.agrees == (gain == 1.0) for one in found)
        assert all(one.note or one.agrees for one in found)


def test_the_model_that_was_fitted_to_people_has_the_gains_that_are_known_of_it():
    assert np.abs(tilts.fitted(0.5)) == pytest.approx([2.00, 2.20, 3.52, 3.53, 0.71], abs=0.015)
    assert np.abs(tilts.fitted(8.0)) == pytest.approx([0.46, 0.50, 0.64, 0.65, 0.25], abs=0.015)


def brackets(*lows, width=0.0):
    return [Bracket(low, low + width, monotone=True, island=-math.inf, trials=1) for low in lows]


def test_a_ratio_of_thresholds_is_of_each_replicas_own_and_its_interval_has_the_searchs_resolution():
    theirs, ours = brackets(10.0, 20.0, 40.0), brackets(9.0, 18.0, 36.0)
    assert ratio(ours, theirs) == Mean(pytest.approx(0.9), 3, pytest.approx(0.9), pytest.approx(0.9))
    wide = ratio(brackets(9.0, 9.0, 9.0, width=1.0), brackets(10.0, 10.0, 10.0, width=2.0))
    assert (wide.low, wide.high) == (pytest.approx(9.0 / 12.0), pytest.approx(1.0))
    assert median(ours, 100.0).value == 1800.0


def test_the_mean_ratio_turned_round_is_one_over_it():
    one, other = mean_ratio([1.0, 8.0, 3.0], [2.0, 2.0, 3.0]), mean_ratio([2.0, 2.0, 3.0], [1.0, 8.0, 3.0])
    assert one.value == pytest.approx(1.0 / other.value)
    assert (one.low, one.high) == (pytest.approx(1.0 / other.high), pytest.approx(1.0 / other.low))


@pytest.mark.parametrize("factor", [0.9, 1.0, 1.1])
def test_pushes_of_seldom_decisions_agree_just_where_nothing_is_lost(factor):
    late = {0.002: brackets(10.0, 20.0, 30.0), 0.1: brackets(*(factor * one for one in (10.0, 20.0, 30.0)))}
    found = sampling.findings(late, late, Mean(factor, 3, factor, factor))
    assert [one.agrees for one in found] == 3 * [factor == 1.0]


@pytest.mark.parametrize(("gain", "period"), [(1.5, 0.05), (2.0, 0.2), (3.0, 0.2)])
def test_the_pendulums_bound_is_reached_by_the_worst_senses(gain, period):
    rate = 3.2
    grown = math.exp(rate * period)
    kept = grown - (grown - 1.0) * gain
    worst = sum((grown - 1.0) * gain * abs(kept) ** k for k in range(10_000))
    assert sampling.error_bound(gain, period, rate) == pytest.approx(worst)
    if kept >= 0.0:
        assert worst == pytest.approx(gain / (gain - 1.0))
    assert math.isinf(sampling.error_bound(gain, 0.5, rate)) == (gain > 1.5)


@pytest.mark.parametrize(
    ("value", "lost", "agrees", "near"),
    [(10.9, 0, True, True), (11.9, 0, True, False), (12.1, 0, False, False), (10.0, 1, False, False)],
)
def test_a_mean_is_judged_by_the_deviation_and_by_two_standard_errors(value, lost, agrees, near):
    found = compared("sway", 10.0, 2.0, mean_of([value]), "because", lost=lost, error=0.5)
    assert (found.agrees, found.within_two_errors) == (agrees, near)
    assert found.criterion == "10 ± 2 (2 SE: 1)"
    assert compared("sway", 10.0, 2.0, mean_of([value]), "because").within_two_errors is None


def test_the_first_and_the_fourth_of_each_four_statements_of_the_source_are_for_training():
    found = [compared(str(k), 1.0, 0.25, mean_of([1.0 + 0.1 * k]), "because", error=0.06) for k in range(6)]
    found.insert(1, replace(found[0], kind="ours"))
    outcome = divided(lambda *_: Outcome(tuple(found)))(True, lambda _: None)
    assert [one.half for one in outcome.findings] == [
        "training", "", "held-out", "held-out", "training", "training", "held-out"
    ]  # fmt: skip
    assert halves(outcome.findings) == (
        "Training half: 1 of 3 agree, 1 of 3 within 2 SE; held-out half: 2 of 3 agree, 1 of 3 within 2 SE"
    )
    assert not halves(found)
    assert findings_table(outcome.findings).headings[-3:] == ("within 2 SE", "half", "reason or assumption")


def test_measures_of_an_ellipse_and_of_a_line_are_those_of_the_formulas():
    time, wide, narrow, rate = np.arange(6000) / 100.0, 4.0, 2.0, 0.35  # [mm], [Hz]
    phase = 2.0 * math.pi * rate * time
    ellipse = quiet.measures(time, 1e-3 * wide * np.sin(phase), 1e-3 * narrow * np.cos(phase))
    assert set(ellipse) == set(quiet.QUANTITIES)
    for axis, amplitude in (("AP", wide), ("ML", narrow)):
        assert ellipse[f"RMS distance {axis} [mm]"] == pytest.approx(amplitude / math.sqrt(2.0), rel=5e-3)
        assert ellipse[f"range {axis} [mm]"] == pytest.approx(2.0 * amplitude, rel=5e-3)
        for name in ("mean velocity", "unfiltered mean velocity"):
            assert ellipse[f"{name} {axis} [mm/s]"] == pytest.approx(4.0 * amplitude * rate, rel=5e-3)
        assert ellipse[f"50 % power frequency {axis} [Hz]"] == pytest.approx(rate, abs=0.02)
        lag = np.arange(1, 101) / 100.0  # mean square displacement A² (1 − cos ωτ), up to 1 % for the broken cycle
        slope = np.polyfit(np.log(lag), np.log(1.0 - np.cos(2.0 * math.pi * rate * lag)), 1)[0]
        assert ellipse[f"short-term exponent {axis}"] == pytest.approx(slope / 2.0, rel=5e-3)
    assert ellipse["area [mm²]"] == pytest.approx(math.pi * -2.0 * math.log(0.05) * wide * narrow / 2.0, rel=5e-3)
    assert ellipse["mean power frequency [Hz]"] == pytest.approx(rate, abs=1e-3)
    line = quiet.measures(time, 1e-3 * wide * np.sin(phase), 1e-12 * np.cos(phase))
    assert line["area [mm²]"] == line["range ML [mm]"] == 0.0
    assert {"sample entropy ML", "short-term exponent ML", "50 % power frequency ML [Hz]"}.isdisjoint(line)


def as_people_stand(apart):
    """Trials that differ from people's means by so many standard deviations, in all conditions that are simulated."""
    table = quiet.people()
    values = table.assign(value=table["mean"] + apart * table["sd"])
    trials = values.pivot_table(index=["group", "eyes", "surface"], columns="quantity", values="value").reset_index()
    simulated = [
        condition in conditions() for condition in trials[["group", "eyes", "surface"]].itertuples(index=False)
    ]
    return pd.concat(2 * [trials[simulated].assign(stood=True)], ignore_index=True)


def test_the_table_of_people_has_every_measure_of_the_simulated_conditions_once():
    table = quiet.people()
    assert not table.duplicated(["group", "eyes", "surface", "quantity"]).any()
    assert (table["sd"] > 0.0).all()
    assert table["people"].between(14, 87).all()
    for condition, rows in table.groupby(["group", "eyes", "surface"], sort=False):
        expected = list(quiet.QUANTITIES)[0 if condition[0] == "young" else -3 :]
        assert rows["quantity"].tolist() == expected
    assert len(quiet.rows_of(as_people_stand(0.0))) == 4 * len(quiet.QUANTITIES) + 3


def test_who_sways_as_people_do_agrees_and_who_falls_or_stands_still_does_not(monkeypatch):
    for apart, agrees, near in ((0.0, True, True), (0.9, True, False), (1.1, False, False)):
        found = quiet.findings(quiet.rows_of(as_people_stand(apart)))
        assert {(one.agrees, one.within_two_errors) for one in found} == {(agrees, near)}
        monkeypatch.setattr(quiet, "simulated", lambda *_, apart=apart: as_people_stand(apart))
        assert quiet.misfit({}) == pytest.approx(apart)
    trials = as_people_stand(0.0)
    trials.loc[0, "stood"], trials["sample entropy ML"] = False, np.nan
    fallen = trials.loc[0, ["group", "eyes", "surface"]].tolist()
    for row, one in zip(quiet.rows_of(trials), quiet.findings(quiet.rows_of(trials)), strict=True):
        still = row.quantity == "sample entropy ML"
        assert row.lost == (row.condition == "{}, eyes {}, {}".format(*fallen))
        assert one.agrees == (not still and not row.lost)
        assert one.ours.startswith("undefined") == still
    monkeypatch.setattr(quiet, "simulated", lambda *_: trials)
    assert quiet.misfit({}) == math.inf


def test_ages_are_the_presets_and_each_part_alone_changes_one_thing():
    ages = person.ages()
    young, old = ages["young"], ages["old"]
    assert {young[name] == old[name] for name in young} == {False}
    for part, names in {
        "strength": {"actuators.strength"},
        "delay": {"sensors.delay", "sensors.force.delay"},
        "noise": {"sensors.preset"},
    }.items():
        assert {name for name in young if ages[part][name] != young[name]} == names
        assert all(ages[part][name] == old[name] for name in names)


@pytest.mark.parametrize(("old", "agree"), [(0.118, True), (0.162, False)])
def test_the_old_agree_where_they_withstand_as_much_less_as_the_published(old, agree):
    found = {name: brackets(0.162, 0.162, 0.162) for name in person.ages()}
    found |= {"old": brackets(old, old, old), "strength": brackets(old, old, old)}
    young, aged, less, strength, delay, noise = displacement.findings(found)
    assert young.agrees
    assert aged.agrees == less.agrees == strength.agrees == agree
    assert not delay.agrees
    assert not noise.agrees
    assert {one.kind for one in (strength, delay, noise)} == {"ours"}


@pytest.mark.parametrize(
    ("beyond", "count", "late", "agree"),
    [
        ([0.05, 0.05, 0.07, 0.07], 2, 0.2, [True, True, True, True]),
        ([0.01, 0.01, 0.07, 0.07], 2, 0.2, [True, False, True, True]),  # outward, but by the push
        ([-0.05, -0.05, -0.05, -0.05], 3, 0.09, [False, False, False, True]),  # constant, but inward
    ],
)
def test_steps_agree_where_they_are_late_enough_few_and_as_far_outward_after_all_pushes(beyond, count, late, agree):
    table = pd.DataFrame({
        "push.impulse": [50.0, 50.0, 60.0, 60.0], "verdict": "stepped", "footsteps": [1, count, 1, 1],
        "first_step_onset": late, "first_step_duration": 0.2, "first_step_beyond_xcom": beyond,
    })  # fmt: skip
    assert [one.agrees for one in steps.findings(table)] == agree


def as_torques(changes):
    """Thresholds [m] of who steps at people's torques times a factor by step and way, however fast the floor moves."""
    return {
        (rise, steps, way): brackets(
            *3 * [changes.get((steps, way), 1.0) * mean * rise**2 / torques.PEAK / torques.lever()]
        )
        for rise in torques.RISES
        for steps, published in ((1, torques.FIRST), (2, torques.SECOND))
        for way, (mean, _) in published.items()
    }


def test_who_steps_at_peoples_torques_agrees_and_others_do_not():
    assert all(one.agrees for one in torques.findings(as_torques({})))
    found = torques.findings(as_torques({(2, "forwards"): 2.0}))
    assert [one.quantity for one in found if not one.agrees] == [
        "torque before a second step, forwards [N·m]", "torque before a second / before a first step forwards"
    ]  # fmt: skip
    weak = torques.findings(as_torques({(1, "forwards"): 0.5}))
    assert sum(not one.agrees for one in weak) == 1 + 3 + 1
    assert all(one.note or one.agrees for one in weak)


def test_a_torque_is_of_the_floors_greatest_acceleration():
    time = np.linspace(0.0, 0.4, 4001)
    way = Signal.step(0.1, rise=0.4)(time)
    peak = np.diff(way, 2).max() / (time[1] - time[0]) ** 2
    assert torques.torque(brackets(0.1, 0.1, 0.1), 0.4).value == pytest.approx(torques.lever() * peak, rel=1e-5)
    assert torques.lever() == pytest.approx(70.0, rel=0.1)  # kg·m, of 75 kg whose centre is 0.9 m above its ankles


def test_who_takes_the_one_step_that_is_allowed_has_withstood_it():
    law, changes = torques._LAW[2]
    floor = {
        "platform.motion": "step", "platform.axis": "x", "platform.start": 0.5, "platform.rise": 0.4,
        "run.duration": 5.0,
    }  # fmt: skip
    balance = experiment_named("balance").driven_by(law)
    runs = [balance.run({**changes, **floor, "platform.size": 0.22, "initial.seed": seed}) for seed in (1, 2)]
    assert [run.summary["verdict"] for run in runs] == ["stepped", "stepped"]
    assert not runs[0].frame.equals(runs[1].frame)
    (found,) = thresholds(
        law, SweptParameter("platform.size"), Grid(0.17, 0.8, 0.4, 0.3), {"one": {}}, {**changes, **floor}, replicas=3,
        progress=lambda _: None, scattered="initial.seed", count_stepping=True,
    ).values()  # fmt: skip
    assert all(one.low >= 0.17 for one in found)
