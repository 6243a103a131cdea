"""The boundary against what a held torque does to a damped spring, against differences, and against simulations."""

import numpy as np
import pytest

from experiments import experiment_named
from experiments.cli.main import main
from experiments.studies.stability.loop import GROWN, NO_EQUILIBRIUM, RECOVERED, Range, StabilityField
from experiments.studies.stability.stability_map import stability_map

KP, KD = "controller.kp_position[2]", "controller.kd_position[2]"


@pytest.fixture(scope="module")
def field():
    return StabilityField(experiment_named("balance"), {}, Range(KP, 500.0, 4000.0), Range(KD, 0.0, 8.0))


@pytest.fixture(scope="module")
def found(field):
    return stability_map(field, grid=4, size=0.1, seconds=1.5)


def test_the_boundary_is_that_of_a_spring_whose_force_is_held(found):
    """A torque that is held for T is late by T/2: of a damping K_d, K_p T/2 is lost."""
    assert len(found.branches) == 1
    assert len(found.boundary) >= 10
    assert np.abs(found.boundary["excess"]).max() < 1e-9
    damping, stiffness = (found.boundary[name].to_numpy() for name in (KD, KP))
    assert np.abs(damping - 0.5 * 2e-3 * stiffness).max() < 0.04  # 1/s, of 0.5 to 4: what floor and legs do besides


def test_it_goes_from_end_to_end(found):
    ends = found.boundary.iloc[[0, -1]]
    assert list(ends["note"]) == ["leaves the range"] * 2
    assert sorted(ends[KP]) == pytest.approx([500.0, 4000.0])
    assert found.corners == 0


def test_slopes_are_those_of_the_eigenvalue_and_the_curve_is_across_them(field, found):
    rows = found.boundary
    along = rows[[KP, KD]].diff().iloc[1:].to_numpy()
    slopes = rows[[f"slope by {KP}", f"slope by {KD}"]].to_numpy()
    middle = 0.5 * (slopes[1:] + slopes[:-1])
    across = np.abs((along * middle).sum(axis=1)) / np.abs(along * middle).sum(axis=1)
    assert across.max() < 5e-3
    u = np.array([0.5, 0.3])
    for axis, e in enumerate(1e-3 * np.eye(2)):
        difference = (field.value(u + e) - field.value(u - e)) / 2e-3
        assert field.slope(u)[axis] == pytest.approx(difference, rel=1e-3)


def test_simulations_agree(found):
    told = found.grid["simulated"].value_counts()
    assert told[RECOVERED] >= 4
    assert told[GROWN] >= 2
    assert found.compared >= 8
    assert found.disagreements.empty


def test_its_own_values_are_marked_where_they_are_within(found):
    assert found.home is None  # 200 /s² is below the range
    wide = StabilityField(experiment_named("balance"), {}, Range(KP, 100.0, 300.0), Range(KD, 1.0, 20.0))
    inside = stability_map(wide, grid=2, simulate=False)
    assert inside.home == (200.0, 14.142)
    assert inside.branches == []
    assert (inside.grid["size"] < 1.0).all()


def test_where_there_is_no_equilibrium_it_is_said():
    high = "controller.target_position[2]"
    field = StabilityField(experiment_named("balance"), {}, Range(high, 1.05, 1.5), Range(KD, 5.0, 15.0))
    found = stability_map(field, grid=2, seconds=0.2)
    lost = found.without_equilibrium
    assert list(lost[high]) == [1.5, 1.5]
    assert (lost["simulated"] == NO_EQUILIBRIUM).all()
    assert lost["reason"].str.len().min() > 10


@pytest.mark.parametrize(("arguments", "told"), [
    (["--x", "floor.k_n=1..2", "--y", "floor.k_n=1..2"], "different parameters"),
    (["--x", "floor.k_n=2..1", "--y", "floor.b_n=1..2"], "LOW..HIGH"),
    (["--x", "floor.k_n", "--y", "floor.b_n=1..2"], "NAME=LOW..HIGH"),
    (["--x", "floor.k_n=a..b", "--y", "floor.b_n=1..2"], "NAME=LOW..HIGH"),
    (["--x", "floor.k_m=1..2", "--y", "floor.b_n=1..2"], "unknown parameter"),
    (["--x", "floor.k_n=0..2", "--log-x", "--y", "floor.b_n=1..2"], "log scale"),
    (["--x", "floor.mu_s=-1..2", "--y", "floor.b_n=1..2"], "floor.mu_s"),
    (["--x", "controller.name=1..2", "--y", "floor.b_n=1..2"], "unknown controller"),
    (["--x", "floor.k_n=1e4..2e4", "--y", "floor.b_n=1..2", "--grid", "1"], "grid of 2"),
])  # fmt: skip
def test_bad_ranges_are_refused(arguments, told, tmp_path, capsys):
    assert main(["stability-map", "balance", *arguments, "--out", str(tmp_path)]) == 2
    assert told in capsys.readouterr().err


def test_the_command_writes_its_files(tmp_path, capsys):
    arguments = ["--x", f"{KP}=1000..3000", "--y", f"{KD}=0..5", "--grid", "2", "--size", "0.3", "--no-simulation"]
    assert main(["stability-map", "balance", *arguments, "--out", str(tmp_path)]) == 0
    assert "component 0" in capsys.readouterr().out
    assert {file.name for file in tmp_path.iterdir()} == {"boundary.csv", "grid.csv", "stability-map.png"}
