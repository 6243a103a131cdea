"""What is measured: creep, penetration, distances, flights; and who can be compared."""

import numpy as np
import pandas as pd
import pyarrow.parquet
import pytest

from experiments.catalogue.registry import experiment_named
from experiments.comparison import outcome, precision
from experiments.comparison.backends import Backend, backends_of, case_of
from experiments.comparison.flight import Flight, Glider, flight_row, fly, start_of
from experiments.comparison.outcome import Creep, apart, penetration
from experiments.comparison.stages import EQUAL
from experiments.comparison.table import table_of, write_table
from experiments.engines.engine import Engine, Simulation
from experiments.work_precision.step_sizes import Budget

SILENT = [].append
BRIEF = {"run.duration": 0.1}


@pytest.fixture(scope="module")
def ours():
    return Backend("recursive", "ours (recursive)", "recursive")


def test_an_engine_that_is_missing_is_named_with_its_command():
    found, missing = backends_of(["recursive", "absent", "statue"])
    assert [one.label for one in found] == ["recursive", "statue"]
    assert missing == ("Absent is not installed here; to install it: pip install no-such-engine",)


def test_what_an_engine_has_for_smooth_motion_is_named_after_its_settings(engines, monkeypatch):
    kind = type(engines["statue"])
    monkeypatch.setattr(kind, "smooth", property(lambda _: (kind(3.0),)))
    (other,) = Backend("statue", "Statue", kind()).smooth
    assert (other.label, other.title) == ("statue-3.0", "Statue 3.0")
    row, flown = flight_row(other, "fast", 1.0, lambda: fly(other, "fast", 1e-6, {}, SILENT))
    assert flown is None
    assert "it must divide the time between two samples" in row.failure
    assert row.energy_worst is None


def test_the_case_carries_loads_and_throws():
    case = case_of(experiment_named("balance").build({"load.mass": 10.0}))
    assert case.model.total_mass == pytest.approx(experiment_named("balance").build().model.total_mass + 10.0)
    assert case_of(experiment_named("thrown-block").build()).throw.mass == 1.8


def test_standing_feet_of_ours_do_not_creep(ours):
    row, drift, _ = outcome.stand(ours, EQUAL, {}, 1.0, SILENT)
    assert row.verdict == "recovered"
    assert row.creep < 1e-6
    assert row.measured == pytest.approx(1.0, abs=0.05)
    assert drift[1][0] == 0.0


def test_creep_is_the_farthest_point_since_it_leans():
    time = np.arange(0.0, 3.0, 0.5)
    model = experiment_named("balance").build().model
    frame = pd.DataFrame({"time": time})
    for k, point in enumerate(model.contact_names):
        frame[f"contact_{point}_x"] = 5.0 + (1e-3 * time if k == 3 else 0.0)
        frame[f"contact_{point}_y"] = np.where(time < 1.0, -9.0, 2.0)
    run = type("Run", (), {"frame": frame, "state": type("State", (), {"model": model})})
    since, distance = outcome.drift_of(run, since=1.0)
    np.testing.assert_allclose(since, [0.0, 0.5, 1.0, 1.5])
    np.testing.assert_allclose(distance, 1e-3 * since)


def test_the_standing_human_shares_floor_and_step_but_not_the_set_point():
    changes = {"floor.mu_s": 0.7, "run.step": 1e-3, "controller.target_position": (0.0, 0.0, 1.0), "block.mass": 3.0}
    every = outcome.standing_changes(changes, 1e-3, 5.0)
    assert every["floor.mu_s"] == 0.7
    assert every["run.step"] == 1e-3
    assert "block.mass" not in every
    assert "controller.target_position" not in every
    assert experiment_named(outcome.STANDING).build(every).duration == 5.0 + outcome.SETTLED


def test_penetration_is_what_the_springs_need(ours):
    """At rest the points' springs carry the weight: their mean depth is weight over stiffness."""
    made = ours.run(experiment_named("balance"), {"run.duration": 3.0})
    run, model = made.run, made.run.state.model
    mean = -np.mean([run.frame[f"contact_{point}_z"].iloc[-1] for point in model.contact_names])
    floor = experiment_named("balance").build().floor
    assert mean == pytest.approx(model.total_mass * 9.81 / (model.nc * floor.k_n), rel=2e-2)
    assert penetration(run) >= mean


def test_paths_are_compared_at_their_own_times(ours):
    experiment = experiment_named("thrown-block")
    one = ours.run(experiment, BRIEF).run
    other = ours.run(experiment, BRIEF | {"run.record_every": 5e-4}).run
    assert apart(one, other) < 1e-12
    shifted = ours.run(experiment, BRIEF | {"initial.body_x": -0.01}).run
    assert apart(one, shifted) > 1e-3


def test_a_coarse_tolerance_is_felt_in_flight_and_on_the_grid_of_steps(ours):
    coarse = {"integrator.tolerance": 1e-2}
    fine, rough = (fly(ours, "gentle", 0.2, changes, SILENT) for changes in ({}, coarse))
    assert rough.spin > 100.0 * fine.spin
    assert fine.spin < 1e-10
    assert fine.worst < 1e-5
    errors = []
    for changes in ({}, coarse):
        (curve,) = precision.measure((ours,), changes, Budget(2, 2, 0.05), SILENT).curves
        errors.append(curve.measurements[-1].error)
    assert errors[1] != pytest.approx(errors[0], rel=1e-6)


def test_who_fell_is_not_compared(engines):
    made = Backend("sinker", "Sinker", engines["sinker"]).run(experiment_named("balance"), {"run.duration": 0.3})
    assert made.run.summary["verdict"] == "unreliable"  # it sinks into the floor
    assert penetration(made.run) is None
    assert apart(made.run, made.run) is None


class Clock(Simulation):
    """Not an engine: its positions are those of a sine, its velocities lag by half a step."""

    rate = 3.0

    def __init__(self, case):
        super().__init__(case)
        self.h, self.k = case.step, 0

    def place(self, q, v, projectile):
        self.q, self.k = q, 0

    def step(self, torque, forces):
        self.k += 1

    def read(self, arrival):
        arrival.q[:] = self.q
        arrival.v[:] = self.rate * np.cos(self.rate * (self.k - 0.5) * self.h)


@pytest.mark.parametrize(("offset", "order"), [(0.0, 1), (0.5, 2)])
def test_velocities_in_phase_are_those_of_the_positions_times(offset, order):
    errors = []
    for step in (1e-2, 5e-3):
        members = {"velocity_offset": offset, "start": lambda _, case: Clock(case)}
        engine = type("Ticking", (Engine,), members)()
        found = Glider(engine, start_of("gentle"), step).samples(0.5, 0.1, SILENT)
        true = Clock.rate * np.cos(Clock.rate * found.time[1:])
        errors.append(np.abs(found.v[1:, 0] - true).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.1)


def test_mujoco_flies_as_we_do_where_it_is_installed():
    pytest.importorskip("mujoco")
    (one,) = backends_of(["mujoco"])[0]
    near = fly(one, "gentle", 0.2, {}, SILENT)
    assert near.worst < 1e-2
    assert one.smooth
    assert fly(one.smooth[0], "gentle", 0.2, {}, SILENT).worst < 1e-8


def test_a_flight_that_blows_up_says_when():
    time = np.array([0.0, 1.0, 2.0, 3.0])
    blown = Flight.of(time, np.array([1.0, 1.5, 2.5, 9.0]), np.ones((4, 3)))
    assert blown.lost_after == 2.0
    assert Flight.of(time, np.ones(4), np.ones((4, 3))).lost_after is None


def test_tables_are_written_with_their_units(tmp_path):
    rows = [Creep("alpha", "equal", "recovered", 5e-4, 20.0, 1e-3), Creep("beta", "equal", "fell", 5e-4, 0.0, None)]
    frame = table_of(Creep, rows)
    write_table(frame, tmp_path, "creep")
    csv = pd.read_csv(tmp_path / "creep.csv")
    assert " ".join(csv.columns) == "engine settings verdict step [s] measured [s] creep [m] failure"
    np.testing.assert_array_equal(csv["creep [m]"], [1e-3, np.nan])
    table = pyarrow.parquet.read_table(tmp_path / "creep.parquet")
    assert table.schema.field("creep").metadata[b"unit"] == b"m"
    assert table.to_pandas()["engine"].tolist() == ["alpha", "beta"]
