"""Trials that tell neither: no median is taken of them, and an undisturbed trial comes before the search."""

import math
from dataclasses import replace

import numpy as np
import pytest

from biped.errors import InputError
from experiments.catalogue.registry import experiment_named
from experiments.studies import Condition, Grid, SweptParameter, Threshold
from experiments.studies.threshold.search import bracket_of
from experiments.studies.threshold.statistics import estimate, paired_difference
from experiments.visualization.panels.panel import Axis, Panel, Points
from experiments.visualization.panels.with_matplotlib import draw
from experiments.visualization.studies.push_map_figure import map_panel, proportions_panel, rings_of
from experiments.visualization.studies.threshold import by_strength
from experiments.visualization.studies.threshold_figure import findings_panel
from experiments.visualization.studies.threshold_text import estimate_texts, limit_texts, reached_text, remarks

PLAN = Threshold(
    experiment_named("balance"), swept=SweptParameter("push.impulse", label="impulse"),
    grid=Grid(0.0, 20.0, 10.0, 10.0, 20.0),
    conditions=tuple(Condition({"push.azimuth": math.radians(a)}, {"direction": a}) for a in (0.0, 90.0, 180.0, 270.0)),
    replicas=3, kind="push-map",
)  # fmt: skip
FIELDS = {"footsteps": 0.0, "reason": "why", "message": ""}


def found(verdict, plan=PLAN):
    """Findings where trials end as ``verdict(direction, replica, value)`` says."""

    def evaluate(trials):
        labels = {trial.number: trial.labels for trial in trials}
        return {n: {"verdict": verdict(one["direction"], one["replica"], one["value"]), **FIELDS}
                for n, one in labels.items()}  # fmt: skip

    return plan.find(evaluate)


@pytest.mark.parametrize("word", ["undecided", "unreliable"])
def test_where_nothing_was_judged_there_is_no_median_and_no_fall(word):
    findings = found(lambda *_: word)
    for finding in findings.conditions:
        assert math.isnan(finding.estimate.median.value)
        assert (finding.estimate.below, finding.estimate.above, finding.estimate.unknown) == (0, 0, 3)
        assert estimate_texts(finding) == ["none", "–", "–", "–"]
        assert finding.share is None
    (told,) = (line for line in remarks(findings) if "no value" in line)
    assert "recovered from no value tried" in told
    assert f"12 {word}" in told
    assert "fell" not in told
    assert by_strength(findings) == []
    assert findings.frame()["median"].isna().all()


def test_one_that_is_undecided_at_the_least_value_is_no_threshold_below_it():
    brackets = [
        bracket_of(one) for one in ({0.0: True, 10.0: False}, {0.0: True, 10.0: False}, {0.0: None, 10.0: False})
    ]
    both = estimate(brackets, 0.75)
    assert (both.median.value, both.median.low, both.median.high) == (0.0, -math.inf, 10.0)
    assert (both.below, both.unknown) == (0, 1)
    change = paired_difference(brackets, brackets, 0.0, 0.75)
    assert (change.value, change.low) == (0.0, -math.inf)
    assert bracket_of({0.0: False, 10.0: None}).is_judged
    assert not bracket_of({0.0: None}).is_judged
    assert not bracket_of({}).is_judged


@pytest.mark.parametrize(("word", "beyond"), [("fell", 15.0), ("lost control", math.inf)])
def test_thresholds_below_trials_that_tell_neither_are_told_of(word, beyond):
    """All recover at 0, and from 10 on nothing is known up to a loss at 20, or to the end of what is tried."""
    plan = replace(PLAN, grid=Grid(0.0, 20.0, 10.0, 1.0, 20.0), counts=("fell",))
    findings = found(lambda *query: "recovered" if query[2] < 5 else word if query[2] > beyond else "undecided", plan)
    told = " ".join(remarks(findings))
    assert "12 thresholds may be far above the value given" in told
    assert "undecided); a longer run.duration may decide" in told
    assert "above the largest value tried" not in told


def test_who_is_lost_at_zero_has_no_threshold_below_zero():
    findings = found(lambda *_: "fell")
    assert {estimate_texts(finding)[0] for finding in findings.conditions} == {"none"}
    assert "12 fell. Of their thresholds, 0 are unknown" in " ".join(remarks(findings))


@pytest.mark.parametrize(("count_stepping", "word", "has"), [(True, "stepped", False), (True, "recovered", True),
                                                             (False, "recovered", True)])  # fmt: skip
def test_a_share_of_the_limit_in_place_is_of_those_who_stood_in_place(count_stepping, word, has):
    plan = replace(PLAN, count_stepping=count_stepping)
    findings = found(lambda *query: word if query[2] < 15.0 else "fell", plan)
    for finding in findings.conditions:
        assert (finding.share is not None) == has
        assert (limit_texts(finding)[1] != "–") == has
        assert limit_texts(finding)[0] != "–"
    assert bool(reached_text(findings.conditions)) == has


def test_who_steps_on_has_taken_more_steps_than_any_number():
    plan = replace(PLAN, most_steps=3)
    ended = {"verdict": "stepped", "reason": "stepping on", "footsteps": 0.0}
    assert plan.ended(ended) == "more than 3 steps"
    assert plan.ended({**ended, "reason": "2 steps", "footsteps": 2.0}) == "stepped"
    assert replace(PLAN, count_stepping=True).ended(ended) == "stepped"


def undisturbed(word, plan=PLAN, message=""):
    asked = []

    def evaluate(trials):
        asked.extend(trials)
        return {trial.number: {"verdict": word, **FIELDS, "message": message} for trial in trials}

    plan.check_first(evaluate)
    return asked


def test_an_undisturbed_trial_of_each_law_comes_first():
    (trial,) = undisturbed("recovered")
    assert trial.changes["push.impulse"] == 0.0
    laws = tuple(Condition({"controller.name": law}, {"law": law}) for law in ("workspace", "lqr"))
    assert len(undisturbed("recovered", replace(PLAN, conditions=laws, kind="threshold"))) == 2
    block = Threshold(experiment_named("thrown-block"), SweptParameter("block.velocity[0]", -1.0), Grid(4.0, 6.0, 1.0))
    assert not undisturbed("fell", block)


@pytest.mark.parametrize(
    ("word", "told"),
    [("fell", "fell: why; check gains"), ("undecided", "undecided: why"), ("lost control", "lost control: why"),
     ("stepped", "recovered, why; to count steps, give --count-stepping"), ("failed", "order of joints first")],
)  # fmt: skip
def test_who_does_not_stand_undisturbed_is_not_pushed(word, told):
    with pytest.raises(InputError, match=rf"the human does not stand undisturbed, with push.impulse = 0: .*{told}"):
        undisturbed(word)
    assert undisturbed("stepped", replace(PLAN, count_stepping=True))


def test_figures_of_what_is_unknown_can_be_drawn_and_end_at_what_was_tried():
    ends = {0.0: "recovered", 90.0: "undecided"}
    findings = found(lambda *query: ends.get(query[0], "recovered" if query[2] < 5.0 else "fell"))
    (ring,) = rings_of(findings)
    assert ring.numbers("ci_high").tolist() == [20.0, 20.0, 10.0, 10.0]
    assert map_panel([ring]).y.high <= 1.08 * 60.0
    assert np.isfinite(proportions_panel(ring).y.high)
    assert np.isfinite(findings_panel(replace(findings, conditions=findings.conditions[:2])).x.high)


def test_an_interval_is_not_drawn_beyond_the_axis():
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    points = Points([0.0, 1.0], [1.0, 1.5], "", marker="circle", interval=([0.5, 1.0], [1.5, 40.0]))
    draw(axes, Panel((points,), y=Axis(low=0.0, high=2.0)))
    assert all(bars.get_clip_on() for bars in axes.collections)
    assert axes.get_ylim()[1] == 2.0
