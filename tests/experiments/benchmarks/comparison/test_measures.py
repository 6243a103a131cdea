"""What is measured: creep, penetration, distances, flights; and who can be compared."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow.parquet
import pytest

from biped.errors import InputError
from experiments.benchmarks.comparison import backends, flight, precision, standing
from experiments.benchmarks.comparison.backends import Backend, backends_of, case_of
from experiments.benchmarks.comparison.budget import Budget
from experiments.benchmarks.comparison.cost import Cost, Recorder, measure
from experiments.benchmarks.comparison.flight import flight_row, fly
from experiments.benchmarks.comparison.outcome import Outcome, apart, penetration
from experiments.benchmarks.comparison.results import EQUAL
from experiments.benchmarks.comparison.standing import Creep
from experiments.benchmarks.comparison.table import meanings_of, table_of, units_of, write_table
from experiments.benchmarks.free_flight import Flight, Glider, start_of
from experiments.catalogue.registry import experiment_named
from experiments.engines.engine import Engine, Simulation
from experiments.engines.kernels.external import new_floor_state

SILENT = [].append
BRIEF = {"run.duration": 0.1}


@pytest.fixture(scope="module")
def ours():
    return Backend("recursive", "ours (recursive)", "recursive")


def test_an_engine_that_is_missing_is_named_with_its_command():
    found, missing = backends_of(["recursive", "absent", "statue"])
    assert [one.label for one in found] == ["recursive", "statue"]
    assert missing == ("Absent is not installed here; to install it: pip install no-such-engine",)


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["absent"], "pip install no-such-engine"),
        (["recursiv"], "did you mean 'recursive'"),
        (["statue", "statue"], "stands there twice"),
        ([""], "names with commas"),
    ],
)
def test_who_cannot_be_compared_is_told(names, words):
    with pytest.raises(InputError, match=words):
        backends_of(names)


def test_what_an_engine_has_for_smooth_motion_is_named_after_its_settings(engines, monkeypatch):
    kind = type(engines["statue"])
    monkeypatch.setattr(kind, "smooth", property(lambda _: (kind(3.0),)))
    (other,) = Backend("statue", "Statue", kind()).smooth
    assert (other.label, other.title) == ("statue-3.0", "Statue 3.0")


def test_the_case_carries_loads_and_throws():
    case = case_of(experiment_named("balance").build({"load.mass": 10.0}))
    assert case.model.total_mass == pytest.approx(experiment_named("balance").build().model.total_mass + 10.0)
    assert case_of(experiment_named("thrown-block").build()).throw.mass == 1.8


def test_standing_feet_of_ours_do_not_creep(ours):
    row, drift, _ = standing.stand(ours, EQUAL, {}, 1.0, SILENT)
    assert row.verdict == "recovered"
    assert row.creep < 1e-6
    assert row.measured == pytest.approx(1.0, abs=0.05)
    assert drift.distance[0] == 0.0


def test_creep_is_the_farthest_point_since_it_leans():
    time = np.arange(0.0, 3.0, 0.5)
    model = experiment_named("balance").build().model
    frame = pd.DataFrame({"time": time})
    for k, point in enumerate(model.contact_names):
        frame[f"contact_{point}_x"] = 5.0 + (1e-3 * time if k == 3 else 0.0)
        frame[f"contact_{point}_y"] = np.where(time < 1.0, -9.0, 2.0)
    run = type("Run", (), {"frame": frame, "state": type("State", (), {"model": model})})
    drift = standing.drift_of(run, since=1.0)
    np.testing.assert_allclose(drift.time, [0.0, 0.5, 1.0, 1.5])
    np.testing.assert_allclose(drift.distance, 1e-3 * drift.time)


def test_the_standing_human_shares_floor_and_step_but_not_the_set_point():
    changes = {"floor.mu_s": 0.7, "run.step": 1e-3, "controller.target_position": (0.0, 0.0, 1.0), "block.mass": 3.0}
    every = standing.standing_changes(changes, 1e-3, 5.0)
    assert every["floor.mu_s"] == 0.7
    assert every["run.step"] == 1e-3
    assert "block.mass" not in every
    assert "controller.target_position" not in every
    assert experiment_named(standing.EXPERIMENT).build(every).duration == 5.0 + standing.SETTLED


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
    fine, rough = (fly(ours, "gentle", 0.2, changes, SILENT).in_phase for changes in ({}, coarse))
    assert rough.spin > 100.0 * fine.spin
    errors = []
    for changes in ({}, coarse):
        (curve,) = precision.measure((ours,), changes, Budget(0.3, 0.2, 3, 2, 0.1, 2, 0.05), SILENT).curves
        errors.append(curve.measurements[-1].error)
    assert errors[1] != pytest.approx(errors[0], rel=1e-6)


def test_a_setting_out_of_range_is_refused_in_flight(ours):
    with pytest.raises(InputError):
        fly(ours, "gentle", 0.2, {"integrator.tolerance": -1.0}, SILENT)


class Summing:
    """Not an engine: keeps all that it is asked for."""

    def __init__(self):
        self.asked = []

    def place(self, q, v, projectile):
        self.asked.append(("place", *q, *v, *projectile))

    def set_floor(self, floor):
        self.asked.append(("floor", *floor.velocity))

    def step(self, torque, forces):
        self.asked.append(("step", *torque, *forces))


def test_a_replay_asks_an_engine_for_what_the_run_asked():
    simulation = Summing()
    recorder = Recorder(SimpleNamespace(start=lambda _: simulation, title="Summing"))
    assert recorder.title == "Summing"
    run, torque, floor = recorder.start(None), np.zeros(2), new_floor_state(np.zeros(0, dtype=int))
    run.place(np.ones(3), np.zeros(2), np.zeros(1))
    for k in range(4):
        torque[:] = k, -k  # the loop's own, which it writes over
        floor.velocity[:] = k
        run.set_floor(floor)
        run.step(torque, ("push",) if k == 2 else ())
    asked, simulation.asked = simulation.asked, []
    assert recorder.replay() > 0.0
    assert simulation.asked == asked
    assert len(asked) == 9


def test_cost_is_that_of_the_replay_and_the_run_is_told_beside_it(ours, engines):
    both = ours, Backend("statue", "Statue", engines["statue"])
    (first, other), refused = measure(both, experiment_named("thrown-block"), {"run.duration": 0.05}, 2, SILENT)
    assert refused == {}
    assert first.per_step == first.in_run
    assert other.per_step > 0.0
    assert other.in_run > 0.0
    assert other.per_step != other.in_run
    assert (first.repeats, other.repeats) == (2, 2)


def test_who_cannot_be_timed_is_told(ours, engines, monkeypatch):
    def refuse(*_):
        raise InputError("it takes no blocks")

    monkeypatch.setattr(type(engines["statue"]), "start", refuse)
    both = ours, Backend("statue", "Statue", engines["statue"])
    rows, refused = measure(both, experiment_named("thrown-block"), {"run.duration": 0.05}, 1, SILENT)
    assert [row.engine for row in rows] == ["recursive"]
    assert refused == {"statue": "is not timed: it takes no blocks"}


def test_friction_holds_weight_times_its_coefficient():
    model = experiment_named("balance").build({}).model
    assert standing.friction_held({"floor.mu_s": 0.5}) == pytest.approx(0.5 * 9.81 * model.total_mass, rel=1e-3)
    assert standing.friction_held({"floor.mu_s": 0.5, "block.mass": 3.0}) == standing.friction_held({"floor.mu_s": 0.5})


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
        errors.append(np.abs(found.in_phase[1:, 0] - true).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.1)


def test_a_flight_of_ours_keeps_its_angular_momentum(ours):
    flown = fly(ours, "gentle", 0.5, {}, SILENT)
    assert flown.reported is flown.in_phase
    assert flown.in_phase.spin < 1e-10
    assert flown.in_phase.worst < 1e-5


def test_mujoco_flies_as_we_do_where_it_is_installed():
    pytest.importorskip("mujoco")
    (one,) = backends_of(["mujoco"])[0]
    near = fly(one, "gentle", 0.2, {}, SILENT)
    assert near.in_phase.worst < 1e-2
    assert one.smooth
    assert fly(one.smooth[0], "gentle", 0.2, {}, SILENT).in_phase.worst < 1e-8


def test_a_flight_that_fails_says_why(engines):
    row, flown = flight_row(Backend("x", "X", engines["statue"]), "fast", 1.0, lambda: _raise())
    assert flown is None
    assert row.failure == "it cannot"
    assert row.energy_worst is None


def _raise():
    raise InputError("it cannot")


def test_a_flight_that_blows_up_says_when():
    time = np.array([0.0, 1.0, 2.0, 3.0])
    blown = Flight.of(time, np.array([1.0, 1.5, 2.5, 9.0]), np.ones((4, 3)))
    assert flight.lost_after(blown) == 2.0
    assert flight.lost_after(Flight.of(time, np.ones(4), np.ones((4, 3)))) is None


@pytest.mark.parametrize("kind", [Outcome, Creep, Cost])
def test_every_column_has_a_unit_or_is_a_word_and_a_meaning(kind):
    units, meanings = units_of(kind), meanings_of(kind)
    assert list(units) == list(meanings)
    assert all(meanings.values())
    assert set(units.values()) <= {"", "1", "s", "m", "rad", "N*s", "N*m", "N*m*s", "J"}


def test_tables_are_written_with_their_units(tmp_path):
    rows = [Creep("alpha", "equal", "recovered", 5e-4, 20.0, 1e-3), Creep("beta", "equal", "fell", 5e-4, 0.0, None)]
    frame = table_of(Creep, rows)
    write_table(frame, tmp_path, "creep")
    csv = pd.read_csv(tmp_path / "creep.csv")
    assert list(csv.columns) == [
        "engine", "settings", "verdict", "step [s]", "measured [s]", "creep [m]", "failure",
    ]  # fmt: skip
    assert csv["creep [m]"].tolist()[0] == 1e-3
    assert np.isnan(csv["creep [m]"][1])
    table = pyarrow.parquet.read_table(tmp_path / "creep.parquet")
    assert table.schema.field("creep").metadata[b"unit"] == b"m"
    assert table.to_pandas()["engine"].tolist() == ["alpha", "beta"]


def test_ours_have_a_variant_for_smooth_motion_too(monkeypatch):
    monkeypatch.undo()
    (one,), _ = backends_of(["recursive"])
    assert [other.label for other in one.smooth] == list(backends.SMOOTH["recursive"])
