"""Groups: subjects who are identified one by one are those who were drawn, and what differs between groups is found."""

import numpy as np
import pandas as pd
import pytest

from biped.errors import InputError
from biped.identification import IndependentChannels
from experiments.studies import Study, run_trial
from experiments.studies.identification.groups import GroupIdentification
from experiments.studies.rerun import rerun
from experiments.studies.run import open_study, recall, run_study
from experiments.visualization.document import write_document
from experiments.visualization.report.study_page import study_page
from experiments.visualization.studies import groups as shown
from tests.refusals import refuses

PERIOD, RATE, FREQUENCIES = 4.0, 25.0, np.array([0.25, 0.75, 1.25])
MODEL = {
    "name": "independent-channels", "error": "relative",
    "parameter": [{"name": "weight", "from": 0.0, "to": 1.0}, {"name": "stiffness", "from": 0.6, "to": 2.5}],
}  # fmt: skip
SIMULATED = {
    "experiment": "balance", "controller": "postural", "seed": 1,
    "set": {
        "platform.motion": "sum-of-sines", "platform.axis": "pitch", "platform.frequencies": "0.25 0.75",
        "platform.size": 0.004, "platform.rise": 1.0, "run.step": 0.004, "controller.period": 0.004,
        "initial.stance": "upright", "controller.weight": 0.5, "controller.stiffness": 1.2,
        "controller.passive_stiffness": 0.15, "sensors.proprioceptive.joint_noise": 1e-5, "initial.settle": 1.0,
    },
    "identify": {"cycles": 1, "trials": 2},
    "model": MODEL | {"set": {"passive_stiffness": 0.15, "delay": 0.0}},
    "groups": {"young": {"subjects": 2}, "old": {"subjects": 2, "set": {"controller.weight": 0.4}}},
    "spread": {"controller.weight": 0.05},
}  # fmt: skip


def record(weight, seed):
    subject = IndependentChannels(70.6, 634.0, stiffness=1.5, weight=weight, delay=0.14)
    random, time = np.random.default_rng(seed), np.arange(round(3 * PERIOD * RATE)) / RATE
    turned = 0.01 * np.exp(1j * (2.0 * np.pi * np.outer(time, FREQUENCIES) + random.uniform(0.0, 6.0, 3)))
    sway = (turned @ subject.response(FREQUENCIES)).real
    return pd.DataFrame({"time [s]": time, "tilt [rad]": turned.sum(axis=1).real, "sway [rad]": sway})


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    folder, random = tmp_path_factory.mktemp("records"), np.random.default_rng(0)
    drawn = {
        f"{group} {k}": random.normal(mean, 0.05) for group, mean in (("young", 0.6), ("old", 0.3)) for k in range(3)
    }
    for seed, (name, weight) in enumerate(drawn.items()):
        group, k = name.split()
        path = folder / group / k
        paths = [path / "a.csv", path / "b.csv"] if name == "old 0" else [path.with_suffix(".csv")]
        for n, one in enumerate(paths):
            one.parent.mkdir(parents=True, exist_ok=True)
            record(weight, 100 * n + seed).to_csv(one, index=False, float_format="%.10g")
    data = {
        "identify": {
            "period": PERIOD, "frequencies": FREQUENCIES.tolist(), "stimulus": "tilt", "responses": {"sway": "sway"},
            "resamples": 0,
        },
        "record": {"begin": 0.0},
        "model": MODEL | {"about": "ankles", "set": {"inertia": 70.6, "toppling": 634.0, "delay": 0.14}},
        "groups": {group: {"files": str(folder / group / "*")} for group in ("young", "old")},
    }  # fmt: skip
    return data, drawn


def test_each_recorded_subject_is_found_and_so_is_the_difference(recorded, tmp_path):
    data, drawn = recorded
    plan = GroupIdentification.from_configuration(data)
    with open_study(plan, tmp_path / "study") as study:
        found = run_study(plan, study)
    table = found.table.set_index("subject")
    assert table["weight"].to_dict() == pytest.approx(drawn, rel=1e-5)
    assert table["cycles"].to_dict() == {name: 4 if name == "old 0" else 2 for name in drawn}
    differences = shown.differences_of(plan, found).set_index("parameter")
    truth = np.mean([drawn[f"old {k}"] - drawn[f"young {k}"] for k in range(3)])
    assert differences.loc["weight", "difference"] == pytest.approx(truth, rel=1e-5)
    assert differences.loc["weight", "chance"] == pytest.approx(0.1)  # apart altogether: 2 of 20 ways to divide them
    files = write_document(shown.document(plan, found, tmp_path), tmp_path, draw=True)
    assert {file.name for file in files} == {"subjects.csv", "differences.csv", "groups.png"}
    pd.testing.assert_frame_equal(recall(Study.read(tmp_path / "study"))[1].table, found.table)
    page = study_page(Study.read(tmp_path / "study"), "")
    assert [section.name for section in page.sections] == ["groups", "rerun"]


def test_simulated_subjects_are_drawn_each_with_noise_of_his_own():
    plan = GroupIdentification.from_configuration(SIMULATED)
    trials = [trial for one in plan.subjects for trial in one.trials]
    assert [trial.number for trial in trials] == list(range(8))
    assert [one.name for one in plan.subjects] == ["young 1", "young 2", "old 1", "old 2"]
    weights = [{trial.changes["controller.weight"] for trial in one.trials} for one in plan.subjects]
    assert all(len(own) == 1 for own in weights)
    assert len(set.union(*weights)) == 4
    for seed in ("sensors.seed", "initial.seed"):
        assert len({trial.changes[seed] for trial in trials}) == 8
    again = GroupIdentification.from_configuration(plan.configuration)
    assert [trial.changes for one in again.subjects for trial in one.trials] == [trial.changes for trial in trials]


def test_draws_are_normal_about_the_groups_own():
    """Of 30, the mean within four standard errors, and the deviation within four of its own, 1/√(2 n)."""
    groups = {"young": {"subjects": 30}, "old": {"subjects": 30, "set": {"controller.weight": 0.4}}}
    plan = GroupIdentification.from_configuration(SIMULATED | {"groups": groups})
    for group, mean in (("young", 0.5), ("old", 0.4)):
        drawn = [one.trials[0].changes["controller.weight"] for one in plan.subjects if one.group == group]
        assert np.mean(drawn) == pytest.approx(mean, abs=4.0 * 0.05 / np.sqrt(30))
        assert np.std(drawn) == pytest.approx(0.05, rel=4.0 / np.sqrt(60))


@pytest.mark.slow
def test_each_simulated_subject_is_found_in_his_own_trials(tmp_path):
    plan = GroupIdentification.from_configuration(SIMULATED)
    with open_study(plan, tmp_path) as study:
        found = run_study(plan, study)
    last = plan.subjects[-1]
    alone = last.plan.find(lambda _: {k: run_trial(plan.experiment, trial) for k, trial in enumerate(last.trials)})
    assert found.results["old 2"].fit.estimate.values == alone.fit.estimate.values
    assert found.table["weight"].nunique() == 4
    assert rerun(Study.read(tmp_path), 5).same


@refuses(
    ({"groups": {"young": {"subjects": 2}}}, "needs two or more groups"),
    ({"groups": {"a": {"subjects": 1}, "b": {"subjects": 2}}}, "groups.a.subjects = 1: it must be a whole number, 2"),
    ({"groups": {"a": {"subject": 2}, "b": {"subjects": 2}}}, "groups.a.subjects is missing"),
    ({"groups": {"a": {"subjects": 2, "size": 2}, "b": {"subjects": 2}}}, "unknown key 'groups.a.size'"),
    ({"spread": {"controller.wieght": 0.1}}, "controller.weight"),
    ({"spread": {"controller.weight": -0.1}}, "standard deviation, zero or above"),
    ({"spread": {"platform.motion": 0.1}}, "cannot be scattered: it must be a single real"),
    ({"model": None}, "groups are compared by fitted parameters: describe a"),
)  # fmt: skip
def test_what_makes_no_sense_is_said(tables):
    data = {name: value for name, value in (SIMULATED | tables).items() if value is not None}
    GroupIdentification.from_configuration(data)


def test_a_group_without_files_is_told(recorded):
    data, _ = recorded
    with pytest.raises(InputError, match="there is no file 'none/\\*'"):
        GroupIdentification.from_configuration(data | {"groups": data["groups"] | {"old": {"files": "none/*"}}})
    with pytest.raises(InputError, match="each group has files, in groups.NAME.files"):
        GroupIdentification.from_configuration(data | {"record": {"files": "a.csv"}})
