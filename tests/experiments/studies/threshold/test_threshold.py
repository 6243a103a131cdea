"""Plans: replicas are the same for all conditions, trials depend on the plan alone, and a plan can be asked again."""

import json
from dataclasses import replace

import pytest

from biped import InputError, population
from contact import FloorError
from experiments.catalogue.registry import experiment_named
from experiments.studies.config import Config, read_config
from experiments.studies.grid import Grid
from experiments.studies.randomization import Randomization, replica_changes
from experiments.studies.threshold.findings import Finding
from experiments.studies.threshold.search import Query
from experiments.studies.threshold.threshold import Condition, SweptParameter, Threshold, threshold_from
from experiments.visualization.studies.threshold_text import median_text
from experiments.visualization.studies.toml import as_toml
from tests.refusals import refuses

RANDOMIZATIONS = (
    Randomization(("initial.seed",), "seed"),
    Randomization(("floor.mu_s", "floor.mu_d"), "factor", 0.05),
    Randomization(("block.position[0]",), "uniform", 0.01),
    Randomization(("block.size",), "normal", 0.001),
)
PLAN = Threshold(
    experiment=experiment_named("thrown-block"), swept=SweptParameter("block.velocity[0]", -1.0, "speed", "m/s"),
    grid=Grid(4.0, 6.0, 1.0),
    conditions=(Condition(labels={"floor": "as published"}),
        Condition({"floor.mu_s": 0.5, "floor.mu_d": 0.4}, {"floor": "low"})),
    changes={"initial.jitter": 0.005, "controller.kp_position": (50.0, 50.0, 1.0 / 3.0)}, randomizations=RANDOMIZATIONS,
    replicas=5, seed=3,
)  # fmt: skip


def changes(condition, replica, value=5.0, plan=PLAN):
    return plan.trial(Query(condition, replica, 0, value)).changes


def test_a_replica_has_the_same_draws_under_all_conditions():
    for replica in range(PLAN.replicas):
        one, other = changes(0, replica), changes(1, replica)
        for name in ("initial.seed", "block.position[0]", "block.size"):
            assert one[name] == other[name]
        defaults = experiment_named("thrown-block").values()
        factor = one["floor.mu_s"] / defaults["floor.mu_s"]
        assert other["floor.mu_s"] / 0.5 == pytest.approx(factor)
        assert one["floor.mu_d"] / defaults["floor.mu_d"] == pytest.approx(factor)


def test_replicas_differ_and_do_not_depend_on_how_many_there_are():
    for name in ("initial.seed", "floor.mu_s", "block.position[0]", "block.size"):
        assert len({changes(0, replica)[name] for replica in range(PLAN.replicas)}) == PLAN.replicas
    more = replace(PLAN, replicas=9)
    assert all(changes(0, replica) == changes(0, replica, plan=more) for replica in range(PLAN.replicas))
    assert changes(0, 0, plan=replace(PLAN, seed=4))["initial.seed"] != changes(0, 0)["initial.seed"]


def test_scatter_is_as_wide_as_it_says():
    experiment = experiment_named("thrown-block")
    drawn = [replica_changes(RANDOMIZATIONS, experiment, {}, 0, replica) for replica in range(400)]
    default = experiment.values()
    position = [found["block.position[0]"] - default["block.position"][0] for found in drawn]
    assert 0.0 <= min(position) < 1e-4
    assert 0.0099 < max(position) <= 0.01
    edges = [edge - default["block.size"][0] for found in drawn for edge in found["block.size"]]
    assert (sum(edge**2 for edge in edges) / len(edges)) ** 0.5 == pytest.approx(0.001, rel=0.1)


def test_the_swept_parameter_is_one_number_and_leaves_the_others():
    setup = experiment_named("thrown-block").build(changes(0, 0, 5.5))
    assert setup.disturbances[0].velocity == (-5.5, 0.0, 0.2)


def test_no_two_queries_have_one_number():
    most = PLAN.grid.most_trials
    asked = [Query(c, r, turn, 0.0) for c in range(2) for r in range(5) for turn in (0, 1, most - 1)]
    assert len({PLAN.number(question) for question in asked}) == len(asked)


def test_a_plan_survives_json_and_its_own_file(tmp_path):
    assert threshold_from(Config(json.loads(json.dumps(PLAN.as_json())))) == PLAN
    file = tmp_path / "plan.toml"
    file.write_text(as_toml(PLAN.as_json()), encoding="utf-8")
    assert threshold_from(read_config(file)) == PLAN


@pytest.mark.parametrize(
    ("allowed", "found", "ended"),
    [
        ({}, 4.5, "stepped"), ({"most_steps": 1}, 5.0, "more than 1 step"), ({"count_stepping": True}, 5.5, "fell"),
        ({"most_steps": 2}, 5.5, "fell"),
    ],
)  # fmt: skip
def test_a_threshold_is_of_the_first_step_the_second_or_the_fall_as_one_names_them(allowed, found, ended):
    """Of who recovers in place up to 4.5, with one step up to 5, with two up to 5.5, and falls then."""
    plan = replace(PLAN, grid=Grid(4.0, 6.0, 0.5, tolerance=0.5), **allowed)

    def evaluate(trials):
        speeds = {trial.number: float(trial.labels["value"]) for trial in trials}
        return {
            number: {
                "verdict": "fell" if speed > 5.5 else "stepped" if speed > 4.5 else "recovered",
                "footsteps": 3.0 if speed > 5.5 else 2.0 if speed > 5.0 else 1.0 if speed > 4.5 else 0.0,
            }
            for number, speed in speeds.items()
        }

    for finding in plan.find(evaluate).conditions:
        assert finding.estimate.median.value == found
        assert finding.limited_by == ended
        assert sum(finding.shares.values()) == finding.trials
    assert threshold_from(Config(json.loads(json.dumps(plan.as_json())))) == plan


SUBJECTS = {
    "experiment": "balance", "replicas": 5, "seed": 4, "swept": {"parameter": "push.impulse", "per_kg": True},
    "grid": {"from": 0.0, "to": 0.6, "by": 0.2, "tolerance": 0.05}, "set": {"initial.stance": "upright"},
    "subjects": {"count": 2, "sex": "female"},
    "condition": [{"labels": {"push": way}, "set": {"push.azimuth": at}}
                  for way, at in (("front", 0.0), ("left", 1.5))],
}  # fmt: skip


def test_each_subject_is_pushed_by_so_much_per_kilogram_under_each_condition():
    plan = threshold_from(Config(SUBJECTS))
    people = population(2, 4, sex="female")
    assert [c.labels["subject"] for c in plan.conditions] == 2 * [one.name.removeprefix("subject:") for one in people]
    for number, (condition, who) in enumerate(zip(plan.conditions, 2 * people, strict=True)):
        given = plan.trial(Query(number, 0, 0, 0.4)).changes
        scene = plan.experiment.build(given)
        assert given["push.impulse"] == pytest.approx(0.4 * scene.model.total_mass, rel=1e-12)
        assert scene.model.total_mass == pytest.approx(who.mass, rel=1e-6)  # a name has four digits of a decimal
        assert given["push.azimuth"] == condition.changes["push.azimuth"]
    assert plan.unit == "N·s/kg"
    assert threshold_from(Config(json.loads(json.dumps(plan.as_json())))) == plan


def test_the_limit_is_per_kilogram_too():
    plan = threshold_from(Config(SUBJECTS))
    whole = replace(plan, swept=SweptParameter("push.impulse"), grid=Grid(0.0, 40.0, 10.0))
    for condition in plan.conditions:
        mass = plan.experiment.build({**plan.changes, **condition.changes}).model.total_mass
        per_kg, own = (Finding(condition, one, [], []).limit for one in (plan, whole))
        assert per_kg.pendulum == pytest.approx(own.pendulum / mass, rel=1e-12)
        assert per_kg.hips == pytest.approx(own.hips / mass, rel=1e-12)


@refuses(
    ({"replicas": 2}, "at least 3"),
    ({"seed": -1}, "zero or above"),
    ({"conditions": ()}, "at least one condition"),
    ({"swept": SweptParameter("block.velocity")}, "one real number"),
    ({"swept": SweptParameter("block.speed")}, "unknown parameter"),
    ({"swept": SweptParameter("block.position[0]")}, "cannot also be set or randomized"),
    ({"randomizations": (Randomization(("floor.mu_s",), "seed"),)}, "not an integer"),
    ({"randomizations": (*RANDOMIZATIONS, Randomization(("floor.mu_d",), "normal", 0.1))}, "twice"),
    ({"conditions": (Condition(labels={"replica": 1}),)}, "column of the study has this name"),
    ({"conditions": (Condition(labels={"trial": 1}),)}, "column of the study has this name"),
    ({"conditions": (Condition(labels={"verdict": "x"}),)}, "column of the study has this name"),
    ({"conditions": (Condition(labels={"settling_time": 1.0}),)}, "column of the study has this name"),
    ({"conditions": (Condition(labels={"block.velocity[0]": 1.0}),)}, "column of the study has this name"),
    ({"conditions": (Condition(labels={"floor": "low"}), Condition(labels={"floor": 0.4}))}, "choose one"),
    ({"conditions": (Condition(labels={"floor": [1, 2]}),)}, "text or a finite number"),
    ({"conditions": (Condition(labels={"floor": float("nan")}),)}, "text or a finite number"),
    ({"changes": {"floor.mu_s": 0.1}}, "mu_d"),
    ({"most_steps": 1, "counts": ("fell",)}, "most_steps cannot be given with counts"),
    ({"most_steps": -1}, "most_steps = -1"),
    error=(InputError, FloorError),
)
def test_plans_that_do_not_fit_together_are_refused(wrong):
    replace(PLAN, **wrong)


@pytest.mark.parametrize(("limit", "told"), [(3.0, "< 4"), (4.5, "4.5"), (99.0, "≥ 10")])
def test_a_median_out_of_range_is_not_told_as_one_that_was_found(limit, told):
    plan = replace(PLAN, grid=Grid(4.0, 6.0, 1.0, 0.5, 10.0))
    findings = plan.find(
        lambda trials: {t.number: {"verdict": "recovered" if t.labels["value"] <= limit else "fell"} for t in trials}
    )
    assert [median_text(finding) for finding in findings.conditions] == [told, told]


@refuses(
    ("factor", 0.0, "width"), ("normal", -1.0, "width"), ("uniform", 0.0, "width"), ("seed", 0.1, "width"),
    ("wild", 0.1, "one of factor"),
)  # fmt: skip
def test_a_scatter_scatters_by_its_width_and_a_seed_has_none(kind, width):
    Randomization(("floor.mu_s",), kind, width)
