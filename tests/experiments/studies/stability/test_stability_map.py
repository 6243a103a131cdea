"""The boundary against what a held torque does to a damped spring, against differences, and against simulations."""

import numpy as np
import pytest

from experiments import experiment_named
from experiments.cli.main import main
from experiments.studies.stability.continuation import ON_CURVE, branch_through, components, grid_places, seeds
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
    (["--x", "floor.k_n=1e4..2e4", "--y", "floor.b_n=1..2", "--grid", "1"], "grid and most must be 2"),
])  # fmt: skip
def test_bad_ranges_are_refused(arguments, told, tmp_path, capsys):
    assert main(["stability-map", "balance", *arguments, "--out", str(tmp_path)]) == 2
    assert told in capsys.readouterr().err


def test_the_command_writes_its_files(tmp_path, capsys):
    arguments = ["--x", f"{KP}=1000..3000", "--y", f"{KD}=0..5", "--grid", "2", "--size", "0.3", "--no-simulation"]
    assert main(["stability-map", "balance", *arguments, "--out", str(tmp_path)]) == 0
    assert "component 0" in capsys.readouterr().out
    assert {file.name for file in tmp_path.iterdir()} == {"boundary.csv", "grid.csv", "stability-map.png"}


SIZE = 0.04


class Known:
    def __init__(self, formula, hole=None):
        self.formula, self.hole = formula, hole

    def value(self, u):
        return np.nan if self.hole is not None and self.hole(u) else float(self.formula(*u))

    def slope(self, u):
        h = 1e-7
        return np.array([(self.formula(*(u + h * e)) - self.formula(*(u - h * e))) / (2 * h) for e in np.eye(2)])

    def reason(self, u):
        return "" if np.isfinite(self.value(u)) else "a hole"


def circle(x, y, centre, radius):
    return np.hypot(x - centre[0], y - centre[1]) - radius


def found_in(field, count=9):
    places = grid_places(count)
    values = np.array([[field.value(u) for u in row] for row in places])
    return components(field, seeds(field, places, values), SIZE, 400)


def test_two_circles_are_two_closed_components():
    centres, radii = ((0.3, 0.35), (0.75, 0.7)), (0.22, 0.15)
    field = Known(lambda x, y: min(circle(x, y, c, r) for c, r in zip(centres, radii, strict=True)))
    found = found_in(field)
    assert len(found) == 2
    for branch, centre, radius in zip(found, centres, radii, strict=True):
        assert branch.closed
        assert branch.corners == []
        off = np.linalg.norm(np.array(branch.places) - centre, axis=1) - radius
        assert np.abs(off).max() <= ON_CURVE
        around = np.unwrap(np.arctan2(*(np.array(branch.places) - centre).T[::-1]))
        assert abs(around[-1] - around[0]) == pytest.approx(2.0 * np.pi, abs=1.5 * SIZE / radius)
        assert np.all(np.diff(around) * np.sign(around[-1] - around[0]) > 0.0)


def test_greater_values_are_to_the_left():
    branch = branch_through(Known(lambda x, y: y - 0.4 + 0.0 * x), np.array([0.5, 0.4]), SIZE, 100)
    along = np.array(branch.places)[-1] - np.array(branch.places)[0]
    assert along == pytest.approx([1.0, 0.0], abs=1e-9)


def test_a_curve_that_leaves_ends_on_the_border():
    field = Known(lambda x, y: y - 0.2 - 0.5 * x * x)
    (branch,) = found_in(field)
    assert not branch.closed
    assert branch.ends == ("leaves the range", "leaves the range")
    assert sorted(u[0] for u in (branch.places[0], branch.places[-1])) == pytest.approx([0.0, 1.0], abs=1e-8)
    assert max(abs(field.value(u)) for u in branch.places) <= ON_CURVE


@pytest.mark.parametrize("sharp", [0.5, 3.0])
def test_a_corner_is_passed_and_told(sharp):
    field = Known(lambda x, y: max(y - 0.5 - sharp * (x - 0.5), y - 0.5 + sharp * (x - 0.5)))
    (branch,) = found_in(field, 8)
    assert branch.ends == ("leaves the range", "leaves the range")
    assert len(branch.corners) == 1
    near = np.array(branch.places)[branch.corners[0] : branch.corners[0] + 2]
    assert np.linalg.norm(near - 0.5, axis=1).max() < SIZE
    xs = np.array(branch.places)[:, 0]
    assert (xs.min() < 0.4) & (xs.max() > 0.6)


def test_where_the_field_ends_the_curve_does_and_says_why():
    field = Known(lambda x, y: y - 0.45 + 0.0 * x, hole=lambda u: u[0] > 0.63)
    (branch,) = found_in(field)
    assert sorted(branch.ends) == ["a hole", "leaves the range"]
    assert max(u[0] for u in branch.places) == pytest.approx(0.63, abs=SIZE / 16)


def test_a_jump_is_no_root():
    field = Known(lambda x, y: np.sign(x - 0.53) + 0.0 * y)
    assert found_in(field) == []
