"""What actuators give by a law's impedance: late, within limits and rates, apart from what is passive."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from biped import Actuators, Controller, Impedance, InputError, Scene, human, simulate
from biped.derivatives.linearization import Linearizer
from controllers import JointImpedance
from tests.conftest import assert_goes_back

KNEE = "left_knee_pitch"
PERIOD = 2e-3
STEP = 1e-3


class Held(Controller):
    """A joint by a spring and a damper, and a torque that is asked for from a time on."""

    period = PERIOD

    def __init__(self, stiffness=500.0, damping=5.0, rest=0.1, passive=(), torque=0.0, since=0.0):
        self.spring = Impedance({KNEE: stiffness}, {KNEE: damping}, {KNEE: rest}, passive)
        self.torque, self.since = torque, since

    def torques(self, observation):
        asked = np.zeros(12)
        asked[human().joint_names.index(KNEE)] = self.torque if observation.time >= self.since else 0.0
        return asked

    def impedance(self, model):
        return self.spring


@cache
def floating():
    return human().without_contacts()


def run_of(law, *acting, **options):
    settings = {"duration": 0.1, "step": STEP, "record_every": STEP} | options
    return simulate(floating(), law, disturbances=acting, **settings)


def torque_in(run):
    return run.frame[f"torque_{KNEE}"].to_numpy()


def residual(*acting, step):
    return np.abs(run_of(Held(), *acting, step=step).frame["ledger_residual"]).max()


@pytest.mark.parametrize(
    "muscles", [Actuators(limit=5.0), Actuators(rate_limit=1000.0), Actuators(limit=20.0, time_constant=0.02)]
)
def test_the_budget_closes_to_the_integrators_error(muscles):
    """Which is of second order: a work that was missed would stay at any step."""
    coarse, fine = residual(muscles, step=STEP), residual(muscles, step=0.5 * STEP)
    assert coarse / fine == pytest.approx(4.0, rel=0.1)


def test_what_is_passive_is_not_bounded_and_has_its_own_energy():
    run = run_of(Held(passive=(KNEE,)), Actuators(limit=5.0))
    free = run_of(Held())
    assert np.abs(torque_in(run)).max() == 0.0
    assert np.abs(run.frame[f"angle_{KNEE}"] - free.frame[f"angle_{KNEE}"]).max() < 1e-9
    work = run.frame["ledger_joints"].to_numpy()
    stored = run.frame["ledger_stops_stored"].to_numpy()
    assert stored[0] == pytest.approx(0.5 * 500.0 * 0.1**2)
    assert work == pytest.approx(free.frame["ledger_actuators"].to_numpy(), abs=1e-9)
    assert np.abs(run.frame["ledger_actuators"]).max() == 0.0
    assert work + stored + run.frame["ledger_joints_dissipated"].to_numpy() == pytest.approx(stored[0], abs=1e-12)


def fixed(stiffness=0.0, torque=0.0, **actuators):
    """A spring that is too slack to matter beside a torque of 10 N·m, asked for from the start on."""
    return run_of(Held(stiffness, 1e-9, 0.0, (), torque), Actuators(**actuators))


def test_a_lag_is_of_first_order():
    constant = 0.04
    run = fixed(torque=10.0, time_constant=constant)
    torque = torque_in(run)[:-1]  # each row behind its tick, but the last
    ticks = np.arange(len(torque)) // 2 + 1
    assert torque == pytest.approx(10.0 * (1.0 - np.exp(-ticks * PERIOD / constant)), abs=1e-6)


def test_a_rate_limit_is_a_ramp():
    run = fixed(torque=10.0, rate_limit=200.0)
    torque = torque_in(run)[:-1]  # each row behind its tick, but the last
    ticks = np.arange(len(torque)) // 2 + 1
    assert torque == pytest.approx(np.minimum(10.0, 200.0 * PERIOD * ticks), abs=1e-6)
    assert run.metrics[f"saturation_time_{KNEE}"] == pytest.approx(10.0 / 200.0, abs=1.5 * PERIOD)


def test_what_an_impedance_exerts_is_let_go_of_at_the_rate_limit():
    """Spring and damper would let go of 50 N·m in a few hundredths of a second; a tick's torques are one rise apart."""
    rate = 300.0
    free, slow = (torque_in(run_of(Held(), *acting))[:-1:2] for acting in ((), (Actuators(rate_limit=rate),)))
    most = rate * PERIOD * (np.arange(len(free)) + 1.0) * (1.0 + 1e-12)
    assert (np.abs(slow - slow[0]) <= most).all()
    assert not (np.abs(free - free[0]) <= most).all()


def test_a_session_that_is_put_back_goes_on_as_it_did():
    law, acting = Held(), (Actuators(strength="old-women", rate_limit=400.0, time_constant=0.02),)
    assert_goes_back(Scene(floating(), law, disturbances=acting, step=STEP, duration=0.1), 10, 10)


def test_a_run_that_is_continued_within_a_tick_goes_on_as_it_did():
    law, acting = Held(), (Actuators(strength="old-women", rate_limit=400.0, time_constant=0.02),)
    whole = run_of(law, *acting, duration=0.03)
    begun = run_of(law, *acting, duration=0.015)
    rest = run_of(law, *acting, duration=0.015, state=begun.state)
    assert np.array_equal(whole.state.q, rest.state.q)


def test_what_is_not_differentiated_is_refused():
    scene = Scene(floating(), JointImpedance(), disturbances=(Actuators(limit=30.0),), step=STEP, duration=0.1)
    assert Linearizer(scene, closed_loop=False)
    for varying in (Actuators(rate_limit=30.0), Actuators(time_constant=0.02)):
        with pytest.raises(InputError, match="not linearized"):
            Linearizer(replace(scene, disturbances=(varying,)), closed_loop=False)
