"""What counts as lost, what as withstood, and what as neither."""

import math

import pandas as pd
import pytest

from biped.errors import InputError
from biped.runs.verdict import VERDICTS
from experiments.studies import Config, Grid, sensitivity_from, tuning_from
from experiments.studies.counting import INCONCLUSIVE, checked_losses, shares, withstood
from experiments.studies.sweep.groups import as_written, factors_of, proportion, successes_in
from experiments.studies.sweep.sweep import sweep_from
from experiments.studies.threshold.search import bracket_of, next_values
from experiments.studies.threshold.statistics import half_recovers, recovery_curve
from experiments.studies.threshold.threshold import threshold_from
from experiments.studies.tuning.objective import Objective, Reading, Sample, Scorer, Term
from experiments.visualization.look.words import with_unit
from experiments.visualization.pages import Table
from experiments.visualization.studies.sweep import document
from experiments.visualization.studies.sweep_figure import Varied, share_map


def test_usually_all_but_recovered_is_lost_and_what_cannot_be_judged_is_neither():
    assert {word: withstood(word) for word in VERDICTS} == {
        "recovered": True, "completed": True, "stepped": False, "fell": False, "lost control": False, "failed": False,
        "undecided": None, "unreliable": None, "interrupted": None,
    }  # fmt: skip


def test_what_is_named_is_lost_and_what_cut_it_short_is_neither():
    losses = checked_losses(["fell"])
    assert [withstood(word, losses) for word in ("fell", "lost control", "stepped")] == [False, None, True]
    with pytest.raises(InputError, match=r"counts: no verdict 'fel': did you mean 'fell'\?"):
        checked_losses(["fel"])


def test_shares_are_columns():
    assert shares(["fell", "fell", "lost control"]) == {
        "recovered_trials": 0, "stepped_trials": 0, "fell_trials": 2, "lost_control_trials": 1, "undecided_trials": 0,
        "unreliable_trials": 0, "failed_trials": 0, "completed_trials": 0,
    }  # fmt: skip


def test_a_search_goes_on_without_what_tells_neither():
    grid = Grid(0.0, 4.0, 1.0, tolerance=0.25)
    known = {0.0: True, 1.0: None, 2.0: True, 3.0: False, 4.0: None}
    bracket = bracket_of(known)
    assert (bracket.low, bracket.high) == (2.0, 3.0)
    assert next_values(known, grid) == (2.5,)
    assert next_values(known | {2.5: None}, grid) == ()
    assert next_values(dict.fromkeys(grid.values), grid) == (6.0, 8.0)  # nothing is lost yet


def test_proportions_are_of_those_that_can_be_judged():
    curve = recovery_curve([{1.0: True, 2.0: None, 3.0: None}, {1.0: True, 2.0: False, 3.0: None}], (1.0, 2.0, 3.0))
    assert {value: (found.count, found.of) for value, found in curve.items()} == {1.0: (2, 2), 2.0: (0, 1)}
    assert math.isnan(half_recovers({}).value)
    found = proportion(pd.Series(["recovered", "fell", "undecided", "unreliable"]))
    assert (found.count, found.of) == (1, 2)
    assert math.isnan(proportion(pd.Series(["undecided"])).value)


@pytest.mark.parametrize("verdict", INCONCLUSIVE)
def test_a_candidate_gains_nothing_by_being_unreliable(verdict):
    sample = Sample("push", 0, 1.0, {"verdict": verdict, "peak_torque": 1.0})
    assert Reading("peak_torque", fell=9.0).value(sample) == 9.0
    assert Reading("recovered").value(sample) == 0.0
    lost = Sample("push", 0, 1.0, {"verdict": "lost control", "peak_torque": 1.0})
    assert Reading("peak_torque", fell=9.0).value(lost) == 9.0


def test_a_sweep_counts_what_it_names():
    frame = pd.DataFrame({"verdict": ["recovered", "stepped", "fell", "lost control"]})
    assert {name: proportion(frame["verdict"], losses).value for name, losses in successes_in(frame).items()} == {
        "recovered": 0.25, "recovered or stepped": 0.5
    }  # fmt: skip
    ((name, losses),) = successes_in(frame, ("fell",)).items()
    found = proportion(frame["verdict"], losses)
    assert (name, found.count, found.of) == ("withstood", 2, 3)
    assert proportion(frame["verdict"], ("stepped",)).of == 2


@pytest.mark.parametrize(("counts", "worth"), [((), [1, 0, 0, 0, 0]), (("fell",), [1, 1, 0, 0, 0])], ids=str)
def test_a_tuning_counts_what_it_names(counts, worth):
    words = ("recovered", "stepped", "fell", "lost control", "unreliable")
    samples = [Sample("push", 0, 1.0, {"verdict": word}) for word in words]
    reading = Reading("withstood", counts=counts) if counts else Reading("withstood")
    assert [reading.value(sample) for sample in samples] == worth
    score = Scorer((Objective("withstood", (Term(reading),), "maximize"),)).score(samples, {})
    assert score.verdicts == shares(words)


PARAMETER = {"name": "stiffness", "sets": ["controller.kp_position[0]"], "from": 10.0, "to": 100.0}
SWEEP = {"vary": {"push.impulse": [1.0, 2.0]}}
TUNING = {"parameter": [PARAMETER], "scenario": [{"name": "push"}], "tune": {"optimizer": "sobol"}}


@pytest.mark.parametrize(("read", "data"), [(sweep_from, SWEEP), (tuning_from, TUNING)], ids=["sweep", "tune"])
def test_what_no_verdict_is_cannot_be_counted(read, data):
    with pytest.raises(InputError, match=r"counts: no verdict 'fel': did you mean 'fell'\?"):
        read(Config({"experiment": "balance", "counts": ["fel"]} | data))


def test_a_tuning_without_objectives_seeks_what_it_counts():
    data = {"experiment": "balance", "counts": ["fell"]} | TUNING
    (objective,) = tuning_from(Config(data)).scorer.objectives
    assert (objective.name, objective.terms[0].reading.counts) == ("withstood", ("fell",))


AZIMUTH, HALF = "push.azimuth", math.pi / 2


def range_of_sweep(low, high):
    vary = {AZIMUTH: {"from": low, "to": high, "count": 2}}
    (axis,) = sweep_from(Config({"experiment": "balance", "vary": vary})).axes
    return axis.points[0][0], axis.points[-1][0]


def range_of_list(low, high):
    (axis,) = sweep_from(Config({"experiment": "balance", "vary": {AZIMUTH: [low, high]}})).axes
    return axis.points[0][0], axis.points[-1][0]


def range_of_threshold(low, high, **more):
    data = {"swept": {"parameter": AZIMUTH} | more, "grid": {"from": low, "to": high, "by": "10deg"}}
    grid = threshold_from(Config({"experiment": "balance"} | data)).grid
    assert grid.by == pytest.approx(math.pi / 18)
    return grid.start, grid.stop


def range_of_design(read, low, high, parameter=AZIMUTH):
    data = {"experiment": "balance", "parameter": [{"sets": parameter, "from": low, "to": high}]}
    (variable,) = read(Config(data)).space.variables
    return variable.low, variable.high


def tuned(config):
    return tuning_from(config.but(scenario=[{"name": "push"}], tune={"optimizer": "sobol"}))


def range_of_tuning(low, high):
    return range_of_design(tuned, low, high)


def range_of_sensitivity(low, high):
    metrics = {"metric": [{"name": "recovered"}], "sensitivity": {"method": "morris"}}
    return range_of_design(lambda config: sensitivity_from(config.but(**metrics)), low, high)


READERS = [range_of_sweep, range_of_list, range_of_threshold, range_of_tuning, range_of_sensitivity]


@pytest.mark.parametrize("read", READERS)
def test_ranges_may_be_in_degrees(read):
    assert read("-90deg", "90\N{DEGREE SIGN}") == pytest.approx((-HALF, HALF), rel=1e-11)


@pytest.mark.parametrize("read", READERS)
def test_what_is_no_angle_is_refused(read):
    with pytest.raises(InputError, match=r"push.azimuth|from"):
        read("-90 degrees", "90deg")


def test_what_has_another_unit_takes_no_degrees():
    with pytest.raises(InputError, match=r"from = '1deg': it must be a finite number"):
        range_of_design(tuned, "1deg", "2deg", "push.impulse")
    with pytest.raises(InputError, match=r"grid.from = '0deg': it must be a finite number"):
        range_of_threshold("0deg", "1deg", unit="%")


def trials_of(plan):
    """All of them recovered."""
    rows = [{"trial": trial.number, "point": trial.labels["point"], "verdict": "recovered"} | trial.changes
            for trial in plan.trials()]  # fmt: skip
    return pd.DataFrame(rows)


def test_each_combination_of_two_parameters_has_its_interval(tmp_path):
    """Wilson's: of 10 that all recover its lower end is 10 / (10 + 1.96²)."""
    vary = {"push.impulse": [1.0, 2.0], "fall.tilt": [1.0, 1.2]}
    plan = sweep_from(Config({"experiment": "balance", "replicas": 10, "vary": vary}))
    frame = trials_of(plan)
    (table,) = document(plan, frame, tmp_path).sections[0].blocks
    assert [row[1:] for row in table.rows] == [("100% (72% … 100%)",) * 2] * 2
    varied = (Varied(factor.column, factor.column, frame[factor.column]) for factor in factors_of(plan))
    (cells,) = share_map(frame, *varied, ("fell",)).items
    assert cells.texts == [["1\n0.72…1"] * 2] * 2


def test_tables_and_figures_of_sweeps_have_angles_as_they_were_written(tmp_path):
    vary = {AZIMUTH: ["0deg", "45\N{DEGREE SIGN}"], "push.impulse": [1.0, 2.0], "fall.tilt": [1.0, 1.2]}
    plan = sweep_from(Config({"experiment": "balance", "vary": vary}))
    frame = trials_of(plan)
    tables = [block for block in document(plan, frame, tmp_path).sections[0].blocks if isinstance(block, Table)]
    assert [table.headings[0] for table in tables] == ["push.azimuth [°]", "push.impulse [N·s]", "fall.tilt [rad]"]
    assert [[row[:2] for row in table.rows] for table in tables] == [
        [("0", "4"), ("45", "4")], [("1", "4"), ("2", "4")], [("1", "4"), ("1.2", "4")],
    ]  # fmt: skip
    (azimuth, *_), written = factors_of(plan), as_written(plan, frame)
    assert with_unit(azimuth.column, azimuth.unit) == "push azimuth [°]"
    assert sorted(set(written[AZIMUTH].round(9))) == [0.0, 45.0]
