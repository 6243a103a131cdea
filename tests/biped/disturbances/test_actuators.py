"""Actuators limit, delay and rate-limit all muscle torques of a joint: of the controller and of an impedance."""

from dataclasses import replace

import numpy as np
import pytest

from biped import Actuators, Impedance, InputError, Scene, Sensors, Session, State, human, simulate, standing
from biped.control.controller import Controller
from biped.derivatives.linearization import Linearizer, linearize
from biped.kernels.loop.measurement import strength_at
from biped.model.strength import human_strength
from controllers import JointImpedance, WholeBodyController
from experiments.catalogue.registry import experiment_named
from experiments.engines.engine_integrator import EngineIntegrator
from experiments.engines.mujoco.adapter import Mujoco
from tests.conftest import assert_goes_back

KNEE = "left_knee_pitch"
LAWS = (
    "workspace", "cone-workspace", "whole-body", "lqr", "joint-pd", "joint-impedance", "computed-torque", "postural"
)  # fmt: skip
#: Controllers that know the limits and never exceed them.
HEEDING = ("cone-workspace", "whole-body")


class Held(Controller):
    """A knee held by a spring, with an additional controller torque after a time."""

    period = 2e-3

    def __init__(self, torque=0.0, stiffness=500.0, damping=2.0, rest=0.1, passive=()):
        self.torque, self.spring = torque, Impedance({KNEE: stiffness}, {KNEE: damping}, {KNEE: rest}, passive)

    def torques(self, observation):
        asked = np.zeros(12)
        asked[observation.model.joint_names.index(KNEE)] = self.torque
        return asked

    def impedance(self, model):
        return self.spring


def flying(law, acting, **changes):
    settings = {"duration": 0.1, "step": 1e-3} | changes
    return simulate(human().without_contacts(), law, disturbances=acting, **settings)


@pytest.mark.parametrize("law", LAWS)
def test_no_law_has_more_than_the_actuators_give(law):
    """5 N·m are too little for all of them; every joint that was at its limit is reported."""
    scene = experiment_named("balance").build({"controller.name": law})
    most = 5.0
    run = replace(scene, disturbances=(Actuators(limit=most),), duration=0.1, fall=None).run()
    torques = run.frame[[f"torque_{joint}" for joint in scene.model.joint_names]].abs()
    assert (torques <= most).all(axis=None)
    assert (torques.max() == most).any()
    if law not in HEEDING:
        at_limit = torques.columns[(torques.iloc[1:] == most).mean() > 0.1]
        saturated = run.by_joint("saturation_time")
        assert min(saturated[name.removeprefix("torque_")] for name in at_limit) > 0.0
    assert "impedance" not in {check.name for check in run.trust}


def test_what_a_spring_in_a_joint_would_exert_counts():
    """The torque is at the limit while the spring exceeds it, and the time counts the steps whose middle is beyond it.
    that it comes to the limit or leaves it: it counts where the middle of a step would be beyond."""
    run = flying(Held(), Actuators(limit=5.0), record_every=1e-3)
    torque = run.frame[f"torque_{KNEE}"].to_numpy()
    pulls = -500.0 * (run.frame[f"angle_{KNEE}"] - 0.1) - 2.0 * run.frame[f"rate_{KNEE}"]
    assert np.array_equal(torque, np.clip(pulls, -5.0, 5.0))
    beyond = np.abs(pulls.to_numpy()[:-1]) > 5.0
    crossings = np.count_nonzero(np.diff(beyond))
    assert run.metrics[f"saturation_time_{KNEE}"] == pytest.approx(1e-3 * beyond.sum(), abs=1e-3 * crossings + 1e-12)
    assert crossings


def test_the_law_and_the_spring_are_bounded_together():
    """A controller torque of 70 N·m against an equal spring torque hardly needs the actuator."""
    opposed = Held(torque=-70.0, stiffness=700.0)
    free, bound = (flying(opposed, acting) for acting in ((), Actuators(limit=5.0)))
    assert np.abs(bound.frame[f"torque_{KNEE}"]).max() < 5.0
    assert np.array_equal(free.frame.to_numpy(), bound.frame.to_numpy(), equal_nan=True)
    assert bound.metrics["saturation_time"] == 0.0


def test_work_at_the_limit_is_that_of_the_torque_given():
    frame = flying(Held(), Actuators(limit=5.0), step=5e-4, record_every=5e-4).frame
    work = np.trapezoid(frame[f"torque_{KNEE}"], frame[f"angle_{KNEE}"])
    assert frame["ledger_actuators"].iloc[-1] == pytest.approx(work, rel=0.02)


def test_joints_that_only_an_impedance_holds_are_bounded():
    stiff = JointImpedance(stiffness=2e3, rest={KNEE: 0.2})
    run = flying(stiff, Actuators(limit={KNEE: 7.0}))
    assert np.abs(run.frame[f"torque_{KNEE}"]).max() == 7.0
    assert run.metrics[f"saturation_time_{KNEE}"] > 0.0
    assert np.abs(flying(stiff, ()).frame[f"torque_{KNEE}"]).max() > 100.0
    for acting in (Sensors(delay=2e-3), Actuators()):
        with pytest.raises(InputError, match=f"{type(acting).__name__} have no effect with joint impedance"):
            flying(stiff, acting)


@pytest.mark.parametrize("integrator", ["rigid", "maximal", "midpoint", "lee"])
def test_every_integrator_that_knows_efforts_bounds_a_spring(integrator):
    """All end where the recursive one does, to a hundredth of the limit's effect."""
    angle = f"angle_{KNEE}"
    bound = flying(Held(), Actuators(limit=5.0)).frame[angle].iloc[-1]
    change = bound - flying(Held(), ()).frame[angle].iloc[-1]
    other = flying(Held(), Actuators(limit=5.0), integrator=integrator).frame[angle].iloc[-1]
    assert other == pytest.approx(bound, abs=0.01 * abs(change))


@pytest.mark.parametrize("integrator", ["rk4", "mujoco"])
def test_an_integrator_that_bounds_no_impedance_is_warned_of(integrator):
    """The rows have the actual torques."""
    if integrator == "mujoco":
        pytest.importorskip("mujoco")
        integrator = EngineIntegrator(Mujoco())
    run = flying(Held(), Actuators(limit=5.0), integrator=integrator, step=2.5e-4)
    found = {check.name: check for check in run.trust}["impedance"]
    assert found.passed == "warning"
    assert found.value == np.abs(run.frame[f"torque_{KNEE}"]).max() > 5.0
    assert "the left knee pitch, with an impedance, exerted" in found.text


def test_a_limit_that_acts_on_a_spring_is_differentiated():
    """The end of a tick is compared with central differences, at a limit that acts in every step of it."""
    stiff = JointImpedance(stiffness=2e3, rest={KNEE: 0.2})
    scene = Scene(human().without_contacts(), stiff, disturbances=Actuators(limit={KNEE: 7.0}), duration=0.1, step=1e-3)
    session = Session(scene)
    knee = scene.model.dof(KNEE)
    session.advance(4)
    assert session.state.arrays.ledger.saturated[knee] == pytest.approx(4 * stiff.period)
    start = session.save()
    found = linearize(scene, session.state.copy(), closed_loop=False)

    def end(change):
        session.restore(start)
        session.state.arrays.q[scene.model.coordinate(KNEE)] += change
        session.restore(session.save())  # places the bodies there
        session.advance(1)
        return session.state.momentum.copy()

    by_knee = (end(1e-6) - end(-1e-6)) / 2e-6
    nv = scene.model.nv
    assert found.A[nv : 2 * nv, knee] == pytest.approx(by_knee, abs=1e-5)
    session.restore(start)
    free = linearize(replace(scene, disturbances=()), session.state.copy(), closed_loop=False)
    assert np.abs(free.A[nv : 2 * nv, knee] - by_knee).max() > 1.0


WEAK = Actuators(strength="old-women", limit={"right_knee_pitch": 9.0})


def test_strength_bounds_a_spring_by_angle_and_rate():
    """At each tick, torques of knees with a large bending demand equal the formula at the rows' angles and rates."""
    model, held = human().without_contacts(), JointImpedance(stiffness=2e3, rest={KNEE: -1.5, "right_knee_pitch": -1.5})
    run = simulate(model, held, disturbances=WEAK, duration=0.2, step=1e-3, record_every=2e-3)
    saturated = 0
    for joint, pair in human_strength(model, "old-women").items():
        most = 9.0 if joint == "right_knee_pitch" else np.inf
        rows = run.frame[[f"torque_{joint}", f"angle_{joint}", f"rate_{joint}"]].to_numpy()[:-1]
        for torque, angle, rate in rows:
            ahead, back = (min(strength_at(np.array(pair[k]), angle, (1, -1)[k] * rate), most) for k in (0, 1))
            assert -back * (1.0 + 1e-12) <= torque <= ahead * (1.0 + 1e-12)
            saturated += min(abs(torque - ahead), abs(torque + back)) < 1e-9
    assert saturated > 50
    assert run.metrics[f"saturation_time_{KNEE}"] > 0.05
    assert np.ptp(run.frame[f"torque_{KNEE}"].abs()[5:20]) > 1.0  # it varies, as no limit does
    assert run.frame["torque_right_knee_pitch"].abs().max() == 9.0


def test_strength_that_bounds_a_spring_and_what_cannot_be_had_then():
    held = JointImpedance(stiffness=2e3, rest={KNEE: -1.5})
    scene = Scene(human().without_contacts(), held, disturbances=WEAK, duration=0.1, step=1e-3)
    session = Session(scene)
    session.advance(4)
    with pytest.raises(InputError, match="left_knee_pitch has an impedance and is at a strength limit"):
        linearize(scene, session.state.copy(), closed_loop=False)
    ended = replace(scene, duration=0.011).run()
    whole = replace(scene, duration=0.022).run()
    assert np.array_equal(replace(scene, duration=0.011, state=ended.state).run().state.q, whole.state.q)
    assert_goes_back(scene, 4, 10)


def run_of(law, *acting, **options):
    return flying(law, acting, **({"record_every": 1e-3} | options))


def torque_in(run):
    return run.frame[f"torque_{KNEE}"].to_numpy()


def residual(*acting, step):
    return np.abs(run_of(Held(damping=5.0), *acting, step=step).frame["ledger_residual"]).max()


@pytest.mark.parametrize(
    "muscles", [Actuators(limit=5.0), Actuators(rate_limit=1000.0), Actuators(limit=20.0, time_constant=0.02)]
)
def test_the_budget_closes_to_the_integrators_error(muscles):
    """The error is of second order; a missing work would remain at any step size."""
    coarse, fine = residual(muscles, step=1e-3), residual(muscles, step=0.5 * 1e-3)
    assert coarse / fine == pytest.approx(4.0, rel=0.1)


def test_what_is_passive_is_not_bounded_and_has_its_own_energy():
    run = run_of(Held(damping=5.0, passive=(KNEE,)), Actuators(limit=5.0))
    free = run_of(Held(damping=5.0))
    assert np.abs(torque_in(run)).max() == 0.0
    assert np.abs(run.frame[f"angle_{KNEE}"] - free.frame[f"angle_{KNEE}"]).max() < 1e-9
    work = run.frame["ledger_joints"].to_numpy()
    stored = run.frame["ledger_stops_stored"].to_numpy()
    assert stored[0] == pytest.approx(0.5 * 500.0 * 0.1**2)
    assert work == pytest.approx(free.frame["ledger_actuators"].to_numpy(), abs=1e-9)
    assert np.abs(run.frame["ledger_actuators"]).max() == 0.0
    assert work + stored + run.frame["ledger_joints_dissipated"].to_numpy() == pytest.approx(stored[0], abs=1e-12)


def fixed(stiffness=0.0, torque=0.0, **actuators):
    """A spring too weak to matter compared with a torque of 10 N·m, demanded from the start."""
    return run_of(Held(torque, stiffness, 1e-9, 0.0), Actuators(**actuators))


def test_a_lag_is_of_first_order():
    constant = 0.04
    run = fixed(torque=10.0, time_constant=constant)
    torque = torque_in(run)[:-1]  # each row behind its tick, but the last
    ticks = np.arange(len(torque)) // 2 + 1
    assert torque == pytest.approx(10.0 * (1.0 - np.exp(-ticks * Held.period / constant)), abs=1e-6)


def test_a_rate_limit_is_a_ramp():
    run = fixed(torque=10.0, rate_limit=200.0)
    torque = torque_in(run)[:-1]  # each row behind its tick, but the last
    ticks = np.arange(len(torque)) // 2 + 1
    assert torque == pytest.approx(np.minimum(10.0, 200.0 * Held.period * ticks), abs=1e-6)
    assert run.metrics[f"saturation_time_{KNEE}"] == pytest.approx(10.0 / 200.0, abs=1.5 * Held.period)


def test_what_an_impedance_exerts_is_let_go_of_at_the_rate_limit():
    """Free springs release 50 N·m in hundredths of a second; rate-limited torques change by one rise a tick."""
    rate = 300.0
    free, slow = (
        torque_in(run_of(Held(damping=5.0), *acting))[:-1:2] for acting in ((), (Actuators(rate_limit=rate),))
    )
    most = rate * Held.period * (np.arange(len(free)) + 1.0) * (1.0 + 1e-12)
    assert (np.abs(slow - slow[0]) <= most).all()
    assert not (np.abs(free - free[0]) <= most).all()


def test_a_session_that_is_put_back_goes_on_as_it_did():
    law, acting = Held(damping=5.0), (Actuators(strength="old-women", rate_limit=400.0, time_constant=0.02),)
    assert_goes_back(Scene(human().without_contacts(), law, disturbances=acting, step=1e-3, duration=0.1), 10, 10)


def test_a_run_that_is_continued_within_a_tick_goes_on_as_it_did():
    law, acting = Held(damping=5.0), (Actuators(strength="old-women", rate_limit=400.0, time_constant=0.02),)
    whole = run_of(law, *acting, duration=0.03)
    begun = run_of(law, *acting, duration=0.015)
    rest = run_of(law, *acting, duration=0.015, state=begun.state)
    assert np.array_equal(whole.state.q, rest.state.q)


def test_what_is_not_differentiated_is_refused():
    scene = Scene(
        human().without_contacts(), JointImpedance(), disturbances=(Actuators(limit=30.0),), step=1e-3, duration=0.1
    )
    assert Linearizer(scene, closed_loop=False)
    for varying in (Actuators(rate_limit=30.0), Actuators(time_constant=0.02)):
        with pytest.raises(InputError, match="use either actuators with lag"):
            Linearizer(replace(scene, disturbances=(varying,)), closed_loop=False)


def test_intrinsic_stiffness_that_would_do_nothing_is_refused():
    with pytest.raises(InputError, match="needs actuators.stiffness above zero at the same joints"):
        flying(Held(), Actuators(stiffness={KNEE: 100.0}, damping=10.0))
    with pytest.raises(InputError, match="does not support actuators.stiffness; supported by: .*recursive"):
        flying(Held(), Actuators(stiffness=100.0), integrator=EngineIntegrator(Mujoco()))


def test_intrinsic_stiffness_does_not_resist_a_planned_motion():
    """A flying body returns to its posture as without muscle tone, which would slow the feet down."""
    model = human()
    q = standing(model).q + np.concatenate(([0.0, 0.0, 0.4, 0.0, 0.0, 0.0, 0.0], 0.05 * np.cos(np.arange(12.0))))
    angles = [f"angle_{joint}" for joint in model.joint_names]

    def motion(*acting):
        law, state = WholeBodyController(period=2e-3), State.at(model, q)
        return simulate(model, law, state=state, disturbances=acting, duration=0.16, step=2e-3).frame[angles].to_numpy()

    limp = motion()
    change = np.abs(motion(Actuators(stiffness=220.0, damping=22.0)) - limp).max()
    assert change < 0.01 * np.abs(limp - limp[0]).max()
