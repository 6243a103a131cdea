"""Angles with their unit in the files of studies: the same study as in radians."""

import math

import pandas as pd
import pytest

from biped.errors import InputError
from experiments.studies.config import Config
from experiments.studies.sensitivity.sensitivity import sensitivity_from
from experiments.studies.sweep.groups import as_written, factors_of
from experiments.studies.sweep.sweep import sweep_from
from experiments.studies.threshold.threshold import threshold_from
from experiments.studies.tuning.tuning import tuning_from
from experiments.visualization.figures.words import with_unit
from experiments.visualization.pages import Table
from experiments.visualization.studies.sweep import document
from experiments.visualization.studies.sweep_figure import Varied, share_map

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
