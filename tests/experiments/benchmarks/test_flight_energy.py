"""Energy in free flight: a composition of order 6 against MuJoCo's RK4, on the motions of the benchmark."""

import numpy as np
import pytest

from experiments.benchmarks.flight_energy import RK4, flown
from experiments.catalogue.registry import experiment_named
from experiments.comparison.flight import start_of

ORDER_SIX = "sofroniou-spaletta-6"


def test_at_ten_milliseconds_energy_stays_and_momentum_is_round_off():
    flight = flown(start_of("gentle"), ORDER_SIX, 1e-2, 5.0)
    second = flown(start_of("gentle"), "recursive", 1e-2, 5.0)
    assert flight.worst < 1e-10
    assert flight.worst < 1e-6 * second.worst
    assert flight.spin < 1e-11


@pytest.mark.slow
@pytest.mark.parametrize(("step", "duration"), [(4e-3, 60.0), (1e-2, 16.0)])
def test_energy_has_no_trend_where_that_of_rk4_has_one(step, duration):
    """RK4 at 1 ms: its angular momentum goes along; ours comes and goes with how fast it tumbles.

    At 10 ms a fast moment decides the worst error, and after 16 s chaos, that is round-off, decides when one comes.
    """
    pytest.importorskip("mujoco")
    start = start_of("gentle")
    theirs, ours = flown(start, RK4, 1e-3, duration), flown(start, ORDER_SIX, step, duration)
    assert ours.worst < 0.1 * theirs.worst
    assert abs(ours.drift) < 0.1 * abs(theirs.drift)
    assert ours.spin < 0.1 * theirs.spin


def test_energies_of_both_engines_are_the_same_quantity():
    pytest.importorskip("mujoco")
    start = start_of("fast")
    theirs, ours = flown(start, RK4, 1e-3, 0.5), flown(start, "kahan-li-8", 5e-3, 0.5)
    assert np.allclose(theirs.time, ours.time)
    assert theirs.worst < 1e-9
    assert ours.worst < 1e-11


def test_tumble_runs_under_a_composition_and_under_gravity():
    """Gravity does work that the ledger knows, and turns nothing."""
    run = experiment_named("tumble").run(
        {"integrator.name": "kahan-li-6", "run.step": 5e-3, "run.duration": 1.0, "flight.gravity": 9.81}
    )
    frame = run.frame
    spin = frame[["momentum_lx", "momentum_ly", "momentum_lz"]].to_numpy()
    assert run.parameters["integrator.tolerance"] == 1e-12
    assert run.summary["ledger_residual"] < 1e-9
    assert np.abs(spin - spin[0]).max() < 1e-10
    fallen = frame["com_z"].iloc[-1] - frame["com_z"].iloc[0]
    assert fallen == pytest.approx(0.5 * -9.81 + frame["momentum_pz"].iloc[0] / run.state.model.total_mass, abs=1e-9)
