"""Limits, damping and dry friction of joints in other engines: what they do is what it is in ours."""

import numpy as np
import pytest

from biped import InputError, State, simulate
from experiments.engines.engine_integrator import EngineIntegrator
from experiments.engines.registry import engine_named

from ...conftest import MASS, Constant, sledge


def slid(model, rate=0.0, duration=1.0, force=0.0):
    run = simulate(
        model, Constant(force), state=State.at(model, np.zeros(1), np.array([rate])), duration=duration, step=1e-3,
        record_every=1e-3, integrator=EngineIntegrator(engine_named("mujoco")),
    )  # fmt: skip
    books = run.frame
    assert books["ledger_residual"].abs().max() < 2e-3 * books["ledger_kinetic"].max()
    return books


def test_dry_friction_brakes_evenly_and_its_work_is_in_the_books():
    books = slid(sledge(friction=2.0), rate=1.0, duration=0.9)
    assert books["rate_rail"].to_numpy() == pytest.approx(1.0 - 2.0 / MASS * books["time"].to_numpy(), abs=1e-3)
    assert books["ledger_joints_dissipated"].iloc[-1] == pytest.approx(0.5 * MASS * (1.0 - 0.1**2), rel=5e-3)


def test_damping_is_not_taken_for_the_actuators_work():
    books = slid(sledge(damping=0.8), rate=3.0)
    assert books["rate_rail"].iloc[-1] == pytest.approx(3.0 * np.exp(-0.8 / MASS), rel=1e-3)
    assert books["ledger_actuators"].iloc[-1] == 0.0
    assert books["ledger_joints"].iloc[-1] == pytest.approx(books["ledger_kinetic"].diff().sum(), rel=2e-3)


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_stop_yields_as_ours_under_the_greatest_effort(side):
    books = slid(sledge(lower=-0.1, upper=0.1, max_effort=5.0), force=side * 5.0, duration=4.0)
    assert books["position_rail"].iloc[-1] == pytest.approx(side * 0.101, rel=1e-5)


def test_who_has_none_refuses_them():
    pytest.importorskip("pybullet")
    with pytest.raises(InputError, match="'pybullet' simulates no .* these do: mujoco, recursive, maximal"):
        simulate(sledge(damping=1.0), duration=0.1, integrator=EngineIntegrator(engine_named("pybullet")))
