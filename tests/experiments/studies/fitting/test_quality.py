"""How good fits are: R² and RMS error from their formulas, warnings, the number of runs, and targets; no simulation.

Trials are answered by closed forms, by the values that they set.
"""

import json

import numpy as np
import pandas as pd
import pytest

from biped.errors import InputError
from experiments.studies import Config, fit_from, open_study, run_study, run_trial, tuning_from
from experiments.studies.fitting.quality import r_squared
from experiments.studies.tuning.targets import Band
from experiments.visualization.studies.fit import as_json
from tests.refusals import refuses

TIME = np.arange(0.0, 2.0, 0.02)
RANGES = {
    "controller.damping": (0.1, 1.0), "controller.stiffness": (0.5, 2.0), "controller.passive_stiffness": (0.1, 1.0),
    "sensors.delay": (0.0, 0.2),
}  # fmt: skip
TRUE = {
    "controller.damping": 0.45, "controller.stiffness": 1.1, "controller.passive_stiffness": 0.6, "sensors.delay": 0.1,
}  # fmt: skip


def swayed(values, time=TIME):
    """[m] the answer of an oscillator to a pulse, late."""
    damping, stiffness, passive, delay = (values.get(name, TRUE[name]) for name in TRUE)
    late = np.maximum(time - 0.2 - delay, 0.0)
    return 0.02 * np.exp(-damping * 3.0 * late) * np.sin(3.0 * stiffness * late) + 0.005 * passive * time


def answered(value_of, verdict="recovered"):
    """What evaluates trials by a function of their changes, whose result is ``com_ap`` over time."""

    def evaluate(trials):
        return {
            one.number: {"verdict": verdict, "message": "", "com_ap over time": list(value_of(one.changes))}
            for one in trials
        }

    return evaluate


def fit_of(path, measured, names=("controller.damping",), column=None, **tables):
    pd.DataFrame({"time": TIME, "com_ap [m]": measured, "trunk [deg]": np.sin(TIME)}).to_csv(path, index=False)
    parameters = [{"sets": name, "from": low, "to": high} for name, (low, high) in RANGES.items() if name in names]
    for one in parameters:
        one |= {"by": 0.002} if one["sets"] == "sensors.delay" else {}
    columns = [{"model": "com_ap", "deviation": 1e-3, **(column or {})}]
    data = {"experiment": "balance", "controller": "postural", "parameter": parameters,
            "set": {"run.duration": 2.0, "run.step": 0.002},
            "record": [{"file": str(path), "column": columns}]} | tables  # fmt: skip
    return fit_from(Config(data))


def test_r_squared_is_its_formula():
    measured = np.array([1.0, 2.0, 3.0, 4.0])
    assert r_squared(measured, measured) == 1.0
    assert r_squared(measured, np.full(4, 2.5)) == 0.0  # the record's mean
    assert r_squared(measured, measured[::-1]) == 1.0 - 20.0 / 5.0  # squares 9, 1, 1, 9 over 5
    assert np.isnan(r_squared(np.ones(3), np.zeros(3)))


def test_four_parameters_take_few_runs(tmp_path):
    """All of them, for intervals and the question whether there is noise; a delay takes multiples of 2 ms only."""
    measured = swayed(TRUE | {"sensors.delay": 0.1008}) + np.random.default_rng(0).normal(0.0, 1e-4, len(TIME))
    plan = fit_of(tmp_path / "a.csv", measured, tuple(RANGES))
    found = plan.find(evaluate := answered(swayed))
    assert found.runs <= 150
    assert found.estimate.converged
    assert found.warnings == ()
    np.testing.assert_array_less(
        abs(found.table["value"] - list({**TRUE, "sensors.delay": 0.1008}.values())), 4.0 * found.table["sd"]
    )
    # against the least sum of squares by an exact search
    from scipy.optimize import least_squares

    exact = least_squares(
        lambda x: (measured - swayed(dict(zip(TRUE, x, strict=True)))) / 1e-3, list(TRUE.values()), xtol=1e-12
    )
    np.testing.assert_array_less(abs(found.table["value"] - exact.x), 0.05 * found.table["sd"])
    row = found.quality.loc[0]
    assert row["rms"] == pytest.approx(np.sqrt(2.0 * exact.cost / len(TIME)) * 1e-3, rel=1e-3)
    assert row["r_squared"] == pytest.approx(1.0 - row["rms"] ** 2 / measured.var(), rel=1e-9)
    profiled = fit_of(tmp_path / "a.csv", measured, tuple(RANGES), fit={"intervals": "profile"}).find(evaluate)
    assert profiled.runs <= 150
    told = json.loads(json.dumps(as_json(found), allow_nan=False))
    assert told["quality"][0]["r_squared"] == row["r_squared"]


def test_a_model_that_is_worse_than_the_mean_is_told_first(tmp_path):
    plan = fit_of(tmp_path / "a.csv", -swayed(TRUE))
    found = plan.find(answered(swayed))
    assert found.quality["r_squared"][0] < 0.0
    assert "the model is worse than the record's mean" in found.warnings[0]
    assert any("at the end of its range" in warning for warning in found.warnings)


def test_an_offset_that_is_free_does_not_count(tmp_path):
    """R² is then the variance accounted for: one of what differs by a constant."""
    free = fit_of(tmp_path / "a.csv", swayed(TRUE) + 0.3, column={"offset": "free"}).find(answered(swayed))
    assert free.quality["r_squared"][0] == pytest.approx(1.0, abs=1e-6)
    assert fit_of(tmp_path / "b.csv", swayed(TRUE) + 0.3).find(answered(swayed)).quality["r_squared"][0] < 0.0


def test_columns_that_are_not_fitted_are_judged_only(tmp_path):
    columns = [{"model": "com_ap", "deviation": 1e-3}, {"model": "trunk_pitch", "measured": "trunk", "fitted": False}]
    record = [{"file": str(tmp_path / "a.csv"), "column": columns}]
    plan = fit_of(tmp_path / "a.csv", swayed(TRUE), record=record)

    def evaluate(trials):
        still = [0.0] * len(TIME)
        return {k: one | {"trunk_pitch over time": still} for k, one in answered(swayed)(trials).items()}

    found = plan.find(evaluate)
    assert found.table["value"][0] == pytest.approx(TRUE["controller.damping"], rel=1e-4)
    assert len(found.estimate.residuals) == len(TIME)
    assert "trunk_pitch" in found.warnings[0]
    assert "the column was not fitted" in found.warnings[0]
    with pytest.raises(InputError, match="all columns have fitted = false"):
        fit_of(tmp_path / "a.csv", swayed(TRUE), column={"fitted": False})


def test_runs_that_fell_are_counted(tmp_path):
    found = fit_of(tmp_path / "a.csv", swayed(TRUE)).find(answered(swayed, "lost control"))
    first = found.warnings[0]
    assert first.startswith(
        f"{found.runs - 1} of {found.runs - 1} runs fell, lost control or failed, also with the est"
    )


def test_a_seed_that_decides_is_told(tmp_path):
    def noisy(changes):
        seed = int(changes.get("sensors.seed", 0))
        return swayed(changes | {"controller.damping": changes["controller.damping"] + 0.1 * np.sin(seed)})

    measured = swayed(TRUE) + np.random.default_rng(0).normal(0.0, 1e-4, len(TIME))
    found = fit_of(tmp_path / "a.csv", measured).find(answered(noisy))
    (told,) = [warning for warning in found.warnings if "depends on the noise seed" in warning]
    assert "3 seeds give" in told
    assert 0.01 < found.table["seeds_sd"][0] < 0.2
    assert found.table["value"][0] == pytest.approx(0.45, abs=0.01)  # by the seed of the file
    calm = fit_of(tmp_path / "a.csv", measured).find(answered(swayed))
    assert "seeds_sd" not in calm.table
    assert calm.warnings == ()


TARGETS = {
    "cop_rms_distance_ap": {"value": 5.2, "sd": 1.3, "unit": "mm"},
    "cop_mean_velocity_ap": {"value": 8.0, "sd": 2.0, "unit": "mm/s"},
}
SPECTRUM = {"column": "com_ap", "frequency": [0.5, 1.5, 2.5], "value": [3.0, 2.0, 1.0], "sd": [1.0, 1.0, 1.0],
            "unit": "mm**2/Hz"}  # fmt: skip


def of_targets(targets=TARGETS, seeds=5, **tables):
    parameters = [
        {"sets": name, "from": low, "to": high} for name, (low, high) in RANGES.items() if name in list(RANGES)[:2]
    ]
    return {
        "experiment": "balance", "controller": "postural", "parameter": parameters,
        "set": {"run.duration": 20.0, "run.step": 0.002}, "fit": {"seeds": seeds, "targets": targets} | tables,
    }  # fmt: skip


def statistics(changes):
    """[m], [m/s] of a run: what its parameters give, and its seed."""
    random = np.random.default_rng(int(changes["sensors.seed"]))
    damping, stiffness = (changes.get(name, TRUE[name]) for name in list(TRUE)[:2])
    return (
        6e-3 / (damping * (1.0 + stiffness)) * (1.0 + 0.1 * random.normal()),
        8e-3 * np.sqrt(stiffness / damping) * (1.0 + 0.1 * random.normal()),
    )


def measured_by(trials, verdict="recovered"):
    return {
        one.number: {"verdict": verdict, "message": "", **dict(zip(TARGETS, statistics(one.changes), strict=True))}
        for one in trials
    }


def test_parameters_are_found_from_statistics():
    plan = fit_from(Config(of_targets()))
    truth = {"controller.damping": 0.5, "controller.stiffness": 1.2}
    own = measured_by(plan.space.trials(plan.space.candidate(1, truth)))
    assert len(own) == 5
    means = np.mean([[result[name] for name in TARGETS] for result in own.values()], axis=0)
    deviations = {name: 0.1 * value for name, value in zip(TARGETS, means, strict=True)}
    targets = {
        name: {"value": value, "sd": deviations[name]} for name, value in zip(TARGETS, means.tolist(), strict=True)
    }
    found = fit_from(Config(of_targets(targets))).find(measured_by)
    np.testing.assert_allclose(found.table["value"], list(truth.values()), rtol=1e-3)
    assert found.quality["z"].abs().max() < 1e-2
    # dz/dp is known in closed form: the covariance of two that are as many as the targets is (JᵀJ)⁻¹ of z-scores
    damping, stiffness = truth.values()
    slopes = np.array([[-1.0 / damping, -1.0 / (1.0 + stiffness)], [-0.5 / damping, 0.5 / stiffness]]) / 0.1
    np.testing.assert_allclose(found.table["sd"], np.sqrt(np.diag(np.linalg.inv(slopes.T @ slopes))), rtol=0.02)
    assert found.warnings == ()


def test_targets_out_of_reach_and_runs_that_fall_are_told():
    far = TARGETS | {"cop_rms_distance_ap": {"value": 500.0, "sd": 1.0, "unit": "mm"}}
    found = fit_from(Config(of_targets(far))).find(measured_by)
    assert "cop_rms_distance_ap: the model misses it by" in found.warnings[0]
    fallen = fit_from(Config(of_targets())).find(lambda trials: measured_by(trials, "fell"))
    np.testing.assert_allclose(fallen.quality["z"], 1e3, rtol=1e-12)
    assert any("also with the estimated values" in warning for warning in fallen.warnings)


def test_a_tuning_has_the_mean_squared_z_score_as_its_objective():
    data = of_targets()
    tune = {
        "optimizer": "random", "candidates": 2, "replicas": 3, "confirm": 2, "targets": TARGETS, "spectrum": [SPECTRUM],
    }  # fmt: skip
    plan = tuning_from(Config({**{key: value for key, value in data.items() if key != "fit"}, "tune": tune}))
    (objective,) = plan.scorer.objectives
    samples = []

    def evaluate(trials):
        powers = dict.fromkeys((term.reading.metric for term in objective.terms[2:]), 1e-6)
        found = {k: one | powers for k, one in measured_by(trials).items()}
        samples.append(found)
        return found

    one, *_ = plan.space.evaluated([plan.space.trials(plan.space.baseline)], evaluate)
    means = np.array([np.mean([result[name] for result in samples[0].values()]) for name in TARGETS])
    z = np.concatenate([(1e3 * means - [5.2, 8.0]) / [1.3, 2.0], 1.0 - np.array([3.0, 2.0, 1.0])])
    assert objective.value(one) == pytest.approx((z**2).mean(), rel=1e-12)
    assert plan.space.trials(plan.space.baseline)[0].reads is not None


class Sine:
    """A run whose column is a sine of amplitude 2 at 1.5 Hz."""

    first = 0

    def __getitem__(self, column):
        time = np.arange(0.0, 60.0, 0.02)
        return time if column == "time" else 2.0 * np.sin(2.0 * np.pi * 1.5 * time) + 7.0


def test_a_bands_power_is_its_share_of_the_variance():
    """Half of the amplitude's square, over the band's width; eight tapers spread it over 4.5 / 60 s to both sides."""
    assert Band("x", 1.0, 2.0)(Sine()) == pytest.approx(2.0 / 1.0, rel=1e-3)
    assert Band("x", 3.0, 4.0)(Sine()) < 1e-3


@refuses(
    ({"targets": {"cop_rms": {"value": 1.0, "sd": 1.0}}}, "unknown metric 'cop_rms'; did you mean"),
    ({"targets": {"limit_hit": {"value": 1.0, "sd": 1.0}}}, "cannot be a target"),
    ({"targets": {"cop_area": {"value": 1.0, "sd": 0.0}}}, "cop_area: sd = 0.0: it must be a finite number above zero"),
    ({"targets": {"cop_area": {"value": 1.0, "sd": 1.0, "unit": "mm"}}}, r"its unit is mm: it must be m"),
    ({"targets": {"cop_area": {"value": 1.0}}}, "sd is missing"),
    ({"spectrum": [SPECTRUM | {"column": "com"}]}, "it must be one of"),
    ({"spectrum": [SPECTRUM | {"sd": [1.0]}]}, "lists of the same length"),
    ({"spectrum": [SPECTRUM | {"frequency": [1.5, 0.5, 2.5]}]}, "increasing numbers above zero"),
    ({"spectrum": [SPECTRUM | {"frequency": [0.5, 0.51, 0.52]}]}, "run.duration must be 100 s or more"),
    ({"spectrum": [SPECTRUM | {"frequency": [0.5, 100.0, 300.0]}]}, "must end at 250 Hz"),
    ({"spectrum": [SPECTRUM | {"value": [-1.0, 1.0, 1.0]}]}, "must not be below 0"),
    ({}, "targets and spectrum are empty"),
    ({"spectrum": [{"column": "com_ap", "file": "none.csv"}]}, "none.csv: it must be a CSV file with numeric"),
)  # fmt: skip
def test_targets_must_make_sense(tables):
    fit_from(Config(of_targets(**{"targets": {}} | tables)))


def test_a_fit_is_to_a_record_or_to_statistics():
    with pytest.raises(InputError, match="leave one of them out"):
        fit_from(Config(of_targets() | {"record": [{"file": "a.csv", "column": [{"model": "com_ap"}]}]}))


@pytest.mark.slow
def test_a_made_up_subject_is_found_from_its_own_statistics(tmp_path):
    """Sway of 20 s by sensor noise: statistics of 12 runs with other seeds than the fit's 6.

    Two means differ by the scatter between runs times √(1/12 + 1/6), half of ``sd`` as it is given here: within four of
    these the parameters are where the covariance by ``sd`` says.
    """
    given = {
        "initial.stance": "upright", "initial.settle": 5.0, "sensors.preset": "eyes-open", "run.duration": 20.0,
        "run.step": 0.002,
    }  # fmt: skip
    names = ("cop_rms_distance_ap", "cop_mean_frequency_ap")
    fitted = {"sets": "controller.damping", "from": 0.3, "to": 0.7, "start": 0.4}
    data = {"experiment": "balance", "controller": "postural", "set": given, "parameter": [fitted]}
    targets = {name: {"value": 1.0, "sd": 1.0} for name in names}
    plan = fit_from(Config(data | {"fit": {"seeds": 12, "targets": targets}, "seed": 7}))
    trials = plan.space.trials(plan.space.candidate(1, {"controller.damping": 0.5}))
    own = pd.DataFrame([run_trial(plan.experiment, one) for one in trials])[list(names)].astype(float)
    spread = own.std()
    targets = {name: {"value": float(own[name].mean()), "sd": float(spread[name])} for name in names}
    plan = fit_from(Config(data | {"fit": {"seeds": 6, "targets": targets}}))
    with open_study(plan, tmp_path / "fit") as study:
        found = run_study(plan, study)
    row = found.table.loc[0]
    assert abs(row["value"] - 0.5) < 4.0 * 0.5 * row["sd"]
    assert found.quality["z"].abs().max() < 2.0
