"""``biped sweep``: which trials a file asks for, what is wrong with it, and what comes out."""

import json
import math
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, binomtest, ttest_1samp

from biped import InputError, population
from biped.metrics import series
from experiments.catalogue.registry import experiment_named
from experiments.cli import main
from experiments.studies import Config, Study, open_study, sweep
from experiments.studies.mean import mean_of
from experiments.studies.sweep.ensemble import ensemble
from experiments.studies.sweep.groups import proportion, with_numbers
from experiments.studies.sweep.summary import COLUMNS
from experiments.studies.sweep.sweep import sweep_from
from tests.refusals import refuses

SHORT = {"run.duration": 0.05}
SPAN = {"from": 1, "to": 2}


def plan_of(vary, **more):
    return sweep_from(Config({"experiment": "thrown-block", "set": SHORT, "vary": vary} | more))


def test_grids_and_lists_that_go_together_are_combined():
    plan = plan_of({
        "floor.mu_s": [0.6, 0.8],
        "block.velocity[0]": {"from": -6, "to": -4, "count": 3},
        "together": {"block.mass": [1, 2], "block.size": [0.1, [0.1, 0.1, 0.2]]},
    }, replicas=2, seed=5)  # fmt: skip
    trials = plan.trials()
    assert [trial.number for trial in trials] == list(range(2 * 3 * 2 * 2)) == list(range(plan.likely_trials))
    sizes = ((0.1, 0.1, 0.1), (0.1, 0.1, 0.2))
    wanted = list(product((0.6, 0.8), (-6.0, -5.0, -4.0), zip((1.0, 2.0), sizes, strict=True)))
    for trial, (friction, speed, (mass, size)) in zip(trials[::2], wanted, strict=True):
        assert trial.changes["floor.mu_s"] == friction
        assert trial.changes["block.velocity[0]"] == speed
        assert (trial.changes["block.mass"], trial.changes["block.size"]) == (mass, size)
    seeds = {(trial.labels["replica"], trial.changes["initial.seed"]) for trial in trials}
    assert len(seeds) == 2  # the same starts for every combination
    assert all(trial.changes["initial.jitter"] > 0.0 for trial in trials)


def test_ranges_have_both_ends_and_neat_values():
    plan = plan_of({
        "floor.mu_s": {"from": 0.6, "to": 1.0, "step": 0.1},
        "floor.k_n": {"from": 1e4, "to": 1e6, "count": 3, "scale": "log"},
        "integrator.max_iterations": {"from": 1, "to": 1000, "count": 4, "scale": "log"},
    })  # fmt: skip
    assert [axis.points for axis in plan.axes] == [
        ((0.6,), (0.7,), (0.8,), (0.9,), (1.0,)),
        ((1e4,), (1e5,), (1e6,)),
        ((1,), (10,), (100,), (1000,)),
    ]


@pytest.mark.parametrize("method", ["sobol", "latin-hypercube"])
def test_samples_fill_their_ranges_evenly(method):
    def sample(seed):
        axis = plan_of({"sample": {"method": method, "count": 64, "floor.k_n": {"from": 1e3, "to": 1e6, "scale": "log"},
                                   "block.velocity[0]": {"from": -4, "to": -6},
                                   "integrator.max_halvings": {"from": 2, "to": 5}}}, seed=seed).axes[0]  # fmt: skip
        assert axis.names == ("floor.k_n", "block.velocity[0]", "integrator.max_halvings")
        return [np.array(column) for column in zip(*axis.points, strict=True)]

    stiffness, speed, halvings = sample(0)
    # One-dimensional projections of both: one point in each of 64 equal parts of the range.
    assert sorted(np.floor(64 * np.log10(stiffness / 1e3) / 3)) == list(range(64))
    assert sorted(np.floor(64 * (-4 - speed) / 2)) == list(range(64))
    assert [int((halvings == k).sum()) for k in (2, 3, 4, 5)] == [16] * 4
    assert all(map(np.array_equal, sample(0), (stiffness, speed, halvings)))
    assert not np.array_equal(sample(1)[0], stiffness)


def test_names_with_dots_need_no_quotes_however_many_they_have():
    named = {"controller.lateral.shortest_swing": [0.2, 0.25], "controller.shortest_swing": [0.3]}
    changes = {"controller.lateral.bearing": 1.1, "initial.jitter": 0.0}
    whole = plan_of(named, experiment="balance", controller="stepping", set=changes)
    tables = {"controller": {"lateral": {"shortest_swing": [0.2, 0.25]}, "shortest_swing": [0.3]}}
    nested = {"controller": {"lateral": {"bearing": 1.1}}, "initial.jitter": 0.0}
    found = plan_of(tables, experiment="balance", controller="stepping", set=nested)
    assert found.trials() == whole.trials()
    assert dict(found.fixed) == changes
    config = Config({"experiment": "balance", "controller": "stepping", "set": nested, "groups": {}})
    config.experiment()
    assert config.without("groups").but(seed=1).table("set").parameters() == changes  # as groups are merged
    with pytest.raises(InputError, match=r"unknown parameter 'controller.lateral.bear'"):
        plan_of(tables, experiment="balance", controller="stepping", set={"controller": {"lateral": {"bear": 1.1}}})


def test_of_lists_side_by_side_the_first_tells_points_apart():
    together = {"floor.mu_s": [0.6, 0.8, 1.0], "block.mass": [1.0, 2.0, 2.0]}
    (axis,) = plan_of({"together": together}).axes
    assert axis.points == ((0.6, 1.0), (0.8, 2.0), (1.0, 2.0))
    with pytest.raises(InputError, match=r"block.mass: a value is given twice"):
        plan_of({"together": dict(reversed(together.items()))})


def test_subjects_are_an_axis_pushed_by_their_mass():
    vary = {"subjects": {"count": 3, "sex": "female", "age": 70, "impulse_per_kg": 0.1}}
    plan = plan_of(vary, experiment="balance", seed=4, set={"run.duration": 1.0})
    people = population(3, 4, sex="female", age=70.0)
    (axis,) = plan.axes
    assert axis.names == ("robot.name", "push.impulse")
    assert axis.points == tuple((who.name, pytest.approx(0.1 * who.mass)) for who in people)
    scenes = [plan.experiment.build(trial.changes) for trial in plan.trials()]
    assert [scene.model.total_mass for scene in scenes] == pytest.approx([who.mass for who in people])
    falls = [scene.fall.height / who.stature for scene, who in zip(scenes, people, strict=True)]
    assert falls == pytest.approx([falls[0]] * 3)  # a share of the stature


def test_without_a_count_each_replica_is_another_subject():
    vary = {"subjects": {"sex": "male", "impulse_per_kg": 0.1}, "sensors.delay": [0.0, 0.1]}
    plan = plan_of(vary, experiment="balance", seed=4, replicas=3, set={"run.duration": 1.0})
    people = population(3, 4, sex="male")
    assert plan.varied == ("sensors.delay",)
    assert plan.title.startswith("each of several bodies stands")
    for trial in plan.trials():  # the same people in both combinations
        who = people[trial.labels["replica"]]
        assert trial.changes["robot.name"] == who.name
        assert trial.changes["push.impulse"] == pytest.approx(0.1 * who.mass)
    with pytest.raises(InputError, match="robot.name is varied twice"):
        plan_of({**vary, "robot.name": [people[0].name]}, experiment="balance", replicas=3)
    with pytest.raises(InputError, match=r"\[vary\] is empty"):
        plan_of({"subjects": {}}, experiment="balance", replicas=3)


@refuses(
    ("balance", {"count": 0}, "count = 0: it must be a whole number, 1 or above"),
    ("balance", {"count": 2, "sex": "men"}, "sex = 'men': .*it must be one of male, female"),
    ("balance", {"count": 2, "age": 50}, "age = 50: muscle strength is known only below 40 and from 65 years on"),
    ("balance", {"count": 2, "mass": 50.0}, "unknown key 'vary.subjects.mass'"),
    ("thrown-block", {"count": 2}, "the robot of thrown-block cannot be changed"),
)
def test_subjects_that_there_are_not_are_refused(experiment, table):
    plan_of({"subjects": table}, experiment=experiment)


FILE = """\
experiment = "thrown-block"
replicas = 2

[set]
run.duration = 0.05

[vary]
floor.mu_s = [0.6, 0.8]
"""


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("thrown-block", "thrown-blok", "line 1: unknown experiment 'thrown-blok'; did you mean 'thrown-block'"),
        ("replicas", "replica", "line 2: unknown key 'replica'; did you mean 'replicas'"),
        ("= 2", "= 0", "line 2: replicas = 0: it must be a whole number, 1 or above"),
        ("duration = 0.05", "duraton = 0.05", "line 5: unknown parameter 'run.duraton'; did you mean 'run.duration'"),
        ("0.05", "nan", "line 5: run.duration = nan: it must be one number"),
        ("0.05", "-1.0", "duration"),
        ("mu_s", "mu_z", "line 8: unknown parameter 'floor.mu_z'; did you mean"),
        ("[0.6, 0.8]", "0.6", "line 8: floor.mu_s = 0.6: it must be a list of values or"),
        ("[0.6, 0.8]", "[0.6, 0.6]", "line 8: floor.mu_s: a value is given twice"),
        ("[0.6, 0.8]", '[0.6, "x"]', "line 8: floor.mu_s = x: it must be one number"),
        ("[0.6, 0.8]", "{ from = 1, to = 2 }", "line 8: floor.mu_s: a range needs either count or step"),
        ("[0.6, 0.8]", "{ from = 1, to = 2, cont = 3 }", "line 8: floor.mu_s: unknown key 'cont'"),
        ("[0.6, 0.8]", "{ from = 0, to = 2, count = 3, scale = 'log' }", "line 8: floor.mu_s: a log scale needs"),
        ("[0.6, 0.8]", "{ from = 0, to = 1, step = 0.3 }", "line 8: floor.mu_s: steps of 0.3 from 0 do not end at 1"),
        ("[0.6, 0.8]", "[0.6, -0.8]", "1 of 2 combinations cannot be run; the first is floor.mu_s = -0.8: "),
        ("floor.mu_s", "run.duration", "run.duration is both set and varied"),
        ("floor.mu_s = [0.6, 0.8]", "initial.seed = [1, 2]", "line 2: replicas set initial.seed"),
        ("[vary]", "[vary.sample]\ncount = 3", "line 8: count = 3: Sobol's sequence needs a power of two: 2 or 4"),
        ("[vary]", "[vary.together]\nblock.mass = [1]", "lists of the same length: block.mass has 1, floor.mu_s has 2"),
        ("replicas = 2", 'metrics = ["setling_*"]', "line 2: metrics: no metric 'setling_*'; metrics are"),
        ("floor.mu_s = [0.6, 0.8]", "", r"[vary] is empty"),
        ("[vary]", "[vary", "not TOML"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_file_is_told_before_anything_runs(in_tmp, refusal, old, new, told):
    (in_tmp / "bad.toml").write_text(FILE.replace(old, new), encoding="utf-8")
    line = refusal("sweep", "bad.toml")
    assert line.startswith("biped: error: bad.toml")
    assert told in line
    assert not (in_tmp / "results").exists()


def test_the_command_leaves_its_files_and_says_what_was_found(in_tmp, capsys):
    (in_tmp / "mine.toml").write_text(
        'metrics = ["position_error", "peak_torque_*_knee_pitch"]\n' + FILE, encoding="utf-8"
    )
    assert main(["sweep", "mine.toml"]) == 0
    folder = in_tmp / "results" / "sweep" / "mine"
    assert {path.name for path in folder.iterdir()} == {
        "study.json", "study.lock", "trials.parquet", "trials.sqlite", "sweep.png", "summary.csv"
    }  # fmt: skip
    printed = capsys.readouterr().out
    assert "4 undecided" in printed
    assert "median position error [m]" in printed
    header = json.loads((folder / "study.json").read_text(encoding="utf-8"))
    assert header["configuration"]["vary"] == {"floor": {"mu_s": [0.6, 0.8]}}
    assert main(["sweep", "mine.toml"]) == 0
    assert "4 of 4 trials are in results/sweep/mine already" in capsys.readouterr().err


def test_the_summary_has_shares_and_means_with_intervals_of_each_combination(in_tmp):
    """By SciPy's own intervals; angles in degrees, as they were written."""
    text = FILE.replace("replicas = 2", "replicas = 5").replace("[0.6, 0.8]", "[0.6, 0.8]\n[vary.together]\n{}")
    vary = 'block.mass = [1, 2]\n"block.friction" = [0.1, 0.2]'
    (in_tmp / "mine.toml").write_text('metrics = ["position_error"]\n' + text.format(vary), encoding="utf-8")
    assert main(["sweep", "mine.toml", "--no-figures"]) == 0
    folder = in_tmp / "results" / "sweep" / "mine"
    table, trials = pd.read_csv(folder / "summary.csv"), pd.read_parquet(folder / "trials.parquet")
    assert list(table.columns) == ["floor.mu_s", "block.mass", *COLUMNS]
    assert len(table) == 4 * 3
    for (friction, mass), rows in table.groupby(["floor.mu_s", "block.mass"]):
        own = trials[(trials["floor.mu_s"] == friction) & (trials["block.mass"] == mass)]["position_error"]
        row = rows.set_index("quantity").loc["position_error"]
        interval = ttest_1samp(own, 0.0).confidence_interval(0.95)
        assert (row["unit"], row["trials"]) == ("m", 5)
        assert [row["estimate"], row["low"], row["high"]] == pytest.approx([own.mean(), *interval], rel=1e-5)
        fell = rows.set_index("quantity").loc["share fell"]
        wilson = binomtest(0, 5).proportion_ci(method="wilson")
        assert [fell["estimate"], fell["low"], fell["high"]] == pytest.approx([0.0, *wilson], rel=1e-5)


def test_the_ensemble_is_the_mean_and_the_deviation_of_its_runs(in_tmp):
    """By NumPy, of each trial run by itself; and it is on the study's page."""
    text = FILE.replace("replicas = 2", 'replicas = 3\ntraces = ["com_z", "trunk_pitch"]')
    (in_tmp / "mine.toml").write_text(text, encoding="utf-8")
    assert main(["sweep", "mine.toml"]) == 0
    folder = in_tmp / "results" / "sweep" / "mine"
    table = pd.read_csv(folder / "ensemble.csv")
    study = Study.read(folder)
    for friction, rows in table.groupby("floor.mu_s"):
        own = [study.trial(number) for number in study.finished]
        runs = [study.experiment.run(t.changes) for t in own if t.changes["floor.mu_s"] == friction]
        assert len(runs) == 3
        for column in ("com_z", "trunk_pitch"):
            values = np.array([series(run)[column].to_numpy() for run in runs])
            assert rows["time"].to_numpy() == pytest.approx(runs[0].frame["time"].to_numpy(), abs=1e-6)
            assert rows[f"{column}_mean"].to_numpy() == pytest.approx(values.mean(axis=0), rel=1e-5)
            assert rows[f"{column}_sd"].to_numpy() == pytest.approx(values.std(axis=0, ddof=1), rel=1e-4, abs=1e-9)
    assert main(["report", str(folder)]) == 0
    assert "Over time" in (folder / "report.html").read_text(encoding="utf-8")


def test_a_replica_that_has_ended_is_in_the_ensemble_no_more():
    """At 40 N·s and more all fall; the longest is alone at its end, where there is a mean and no deviation."""
    data = {"experiment": "balance", "set": {"run.duration": 2.0, "initial.jitter": 0.05}, "replicas": 3,
            "vary": {"push.impulse": [60.0]}, "traces": ["com_z"]}  # fmt: skip
    table = ensemble(sweep_from(Config(data)))
    count = table["com_z_n"].to_numpy()
    assert (count[0], count[-1]) == (3, 1)
    assert (np.diff(count) <= 0).all()
    assert np.isfinite(table["com_z_mean"]).all()
    assert np.isfinite(table["com_z_sd"]).tolist() == (count > 1).tolist()


def test_the_ensemble_names_combinations_as_they_were_written():
    vary = {"block.size": [0.1, [0.1, 0.1, 0.2]], "initial.jitter": ["1deg"]}
    table = ensemble(plan_of(vary, replicas=2, traces=["com_z"]))
    assert table["block.size"].nunique() == 2
    assert table["initial.jitter"].unique().tolist() == [1.0]


@refuses(({"traces": ["cop_app"], "replicas": 2}, "did you mean 'cop_ap'"), ({"traces": ["cop_ap"]}, "set replicas"))
def test_traces_that_there_are_not_are_refused(more):
    plan_of({"floor.mu_s": [0.6]}, **more)


def test_what_cannot_have_an_interval_has_none():
    assert (mean_of([2.0, None, math.nan]).of, mean_of([2.0, None]).value) == (1, 2.0)
    assert math.isnan(mean_of([2.0]).low)
    assert (mean_of([]).of, math.isnan(mean_of([]).value)) == (0, True)


def test_replicas_have_noise_of_their_own_and_combinations_share_it():
    noise = {"run.duration": 0.05, "sensors.proprioceptive.joint_noise": 1e-3}
    data = {"experiment": "balance", "set": noise, "vary": {"floor.mu_s": [0.6, 0.8]}, "replicas": 2}
    trials = sweep_from(Config(data)).trials()
    seeds = [trial.changes["sensors.seed"] for trial in trials]
    assert seeds[:2] == seeds[2:]
    assert len({*seeds, *(trial.changes["initial.seed"] for trial in trials)}) == 4
    assert "actuators.seed" not in trials[0].changes
    given = sweep_from(Config({**data, "set": {**noise, "sensors.seed": 7}})).trials()
    assert {trial.changes["sensors.seed"] for trial in given} == {7}
    alone = {**noise, "initial.jitter": 0.0}
    assert "initial.seed" not in sweep_from(Config({**data, "set": alone})).trials()[0].changes
    frame = sweep("balance", {"floor.mu_s": [0.6]}, alone, replicas=2)
    assert (frame["verdict"] != "failed").all()
    assert frame["rms_torque"].nunique() == 2


def test_trials_that_cannot_be_computed_are_told_at_the_end(in_tmp, capsys):
    text = FILE + "[vary.together]\nintegrator.max_iterations = [1, 20]\nintegrator.max_halvings = [0, 6]\n"
    (in_tmp / "hard.toml").write_text(text, encoding="utf-8")
    assert main(["sweep", "hard.toml", "--no-figures"]) == 1
    caught = capsys.readouterr()
    assert "4 undecided, 4 failed" in caught.out
    assert "nan" not in caught.out
    assert "4 of 8 trials could not be computed; the first is 0: IntegrationError: no solution" in caught.err


def test_the_table_from_python_is_that_of_the_runs():
    frame = sweep("thrown-block", {"floor.mu_s": [0.6, 0.9]}, SHORT, replicas=2, seed=3)
    assert frame["floor.mu_s"].tolist() == [0.6, 0.6, 0.9, 0.9]
    for _, row in frame.iterrows():
        summary = experiment_named("thrown-block").run(json.loads(row["changes"])).summary
        assert row["position_error"] == summary["position_error"]
        assert row["peak_torque_left_knee_pitch"] == summary["peak_torque_left_knee_pitch"]


@pytest.mark.parametrize("vary", [
    {"block.velocity[0]": [-4.0, -6.0]},
    {"block.size": [0.1, [0.1, 0.1, 0.2]]},
    {"block.velocity[0]": [-4.0, -6.0], "block.size": [0.1, [0.1, 0.1, 0.2]]},
    {"block.velocity[0]": [-4.0, -6.0], "floor.mu_s": [0.6, 0.7],
     "together": {"block.mass": [1, 2], "block.friction": [0.1, 0.2]}},
    {"sample": {"count": 16, "floor.k_n": {"from": 1e4, "to": 1e5, "scale": "log"}, "block.mass": SPAN}},
    {"sample": {"count": 32, "block.mass": SPAN}},
], ids=["one", "words", "map", "many", "points", "bins"])  # fmt: skip
def test_every_kind_of_sweep_has_a_figure_and_tables(vary, tmp_path):
    from experiments.studies.run import open_study, run_study
    from experiments.visualization.document import write_document
    from experiments.visualization.pages import Table
    from experiments.visualization.studies.sweep import document

    plan = plan_of(vary)
    with open_study(plan, tmp_path) as study:
        frame = run_study(plan, study)
    frame.loc[frame.index[::3], ["verdict", "settling_time"]] = ["fell", None]
    found = document(plan, frame, tmp_path)
    assert [row["trials"] for row in found.data if row["parameter"] == found.data[0]["parameter"]]
    tables = [block for block in found.sections[0].blocks if isinstance(block, Table)]
    assert all(table.rows for table in tables)
    assert write_document(found, tmp_path, draw=True)[-1].stat().st_size > 5000


def test_metrics_that_are_words_are_not_averaged():
    """Such as which foot stepped first; as pandas keeps words, with trials that have none."""
    words, lengths = pd.array(["left_foot", None], dtype="str"), [0.3, None]
    frame = pd.DataFrame(
        {"verdict": ["stepped", "recovered"], "first_step_foot": words, "first_step_length_ap": lengths}
    )
    assert with_numbers(frame, [*frame, "footsteps"]) == ["first_step_length_ap"]


def test_wilsons_interval_holds_as_often_as_it_says():
    """On average over probabilities, in 95 % of all samples."""
    of = 12
    found = [proportion(pd.Series(["recovered"] * k + ["fell"] * (of - k))) for k in range(of + 1)]
    assert [s.value for s in found] == [k / of for k in range(of + 1)]
    probabilities = np.linspace(0.01, 0.99, 99)
    held = [sum(binom.pmf(k, of, p) for k, s in enumerate(found) if s.low <= p <= s.high) for p in probabilities]
    assert 0.94 < np.mean(held) < 0.97
    assert min(held) > 0.80


@pytest.mark.parametrize(("count", "slanted"), [(2, False), (10, True)])
def test_long_words_below_a_figure_are_slanted(count, slanted):
    """Ten names of 30 letters do not fit side by side below a figure as wide as 75."""
    from experiments.visualization.studies.sweep_figure import share_panel
    from experiments.visualization.studies.trials import Axis as Varied

    names = pd.Series([f"subject:1.65{k},60.123,female,70" for k in range(count)])
    panel = share_panel(
        pd.DataFrame({"verdict": "recovered", "robot.name": names}), Varied("robot.name", "robot", names)
    )
    assert panel.x.slanted is slanted


def test_a_sweep_of_too_many_trials_is_refused_before_there_is_a_folder(tmp_path):
    with pytest.raises(InputError, match=r"10,000,002 trials are more than 10,000,000"):
        open_study(plan_of({"floor.mu_s": [0.6, 0.8]}, replicas=5_000_001), tmp_path / "study")
    assert not (tmp_path / "study").exists()
