"""A run-in ends at rest, is a part of the motion as if it were counted, and nothing of it is counted."""

from dataclasses import replace

import numpy as np
import pytest

import biped
from biped.derivatives.gradients import gradient
from biped.derivatives.linearization import linearize
from biped.disturbances.sensors import ProprioceptiveChannel
from biped.dynamics import forward_kinematics
from biped.simulation import settling
from contact import RUBBER, Floor
from contact.arrays import Floats
from controllers import JointImpedance, JointPD, Postural, SetPointPath, WorkspaceController

from ...conftest import assert_same_arrays
from .test_session import CompiledMemory, Integral

MODEL = biped.human()
LAW = WorkspaceController()
STANDING = biped.Scene(MODEL, LAW, state=biped.standing(MODEL), duration=0.3, fall=biped.Fall(), settle=biped.Settle())
ALONE = biped.Scene(MODEL, LAW, state=biped.standing(MODEL), duration=0.3, fall=biped.Fall())
#: [s]
SHORT = 0.06
PUSH = biped.Push("trunk", (1.0, 0.0, 0.0), 5.0, start=0.0, duration=0.1)
LATE = biped.Sensors(delay=6e-3)
LIMITED = biped.Actuators(limit=250.0, time_constant=0.01)
LOADED = biped.Load("trunk", 3.0, (0.1, 0.0, 0.1))


def rows(session: biped.Session, ticks: int) -> Floats:
    found = []
    for _ in range(ticks):
        session.step()
        found.append(np.concatenate([session.state.q, session.state.momentum]))
    return np.array(found)


def moved(scene):
    return np.ptp(scene.run().frame[list(MODEL.coordinate_names)].to_numpy(), axis=0).max()


@pytest.mark.parametrize("load", [(), (LOADED,)], ids=["", "loaded"])
def test_the_start_is_an_equilibrium_by_statics(load):
    scene = replace(STANDING, disturbances=load)
    model, state = scene.prepare().model, scene.settled().state
    force = state.arrays.force
    arm = forward_kinematics(model, state.q).contact - biped.WholeBody(model, state.q).com
    weight = model.total_mass * -model.gravity[2]
    # What still creeps by ``drift`` changes a point's force by its spring's at most, at an arm of less than 1 m.
    bound = len(force) * RUBBER.k_n * biped.Settle().drift
    assert bound < 0.01 * weight
    assert force.sum(axis=0) == pytest.approx([0.0, 0.0, weight], abs=bound)
    assert np.cross(arm, force).sum(axis=0) == pytest.approx(np.zeros(3), abs=bound)


def test_what_was_no_equilibrium_moves_and_what_has_settled_does_not():
    settled = STANDING.settled()
    assert moved(ALONE) > 10 * biped.Settle().drift
    # A step response that has come within `drift` of its end, in a window in which all modes decay, stays there.
    assert moved(settled) < biped.Settle().drift


def test_time_ledger_and_counters_begin_at_the_start():
    state = STANDING.settled().state
    assert (state.time, state.steps) == (0.0, 0)
    ledger = state.arrays.ledger
    assert not any(array.any() for name, array in ledger._asdict().items() if name != "works")
    assert np.count_nonzero(ledger.works) == 1  # the energy that there is
    run = STANDING.run()
    assert run.frame["time"].iloc[0] == 0.0
    assert all(check.passed == "ok" for check in run.trust if "residual" in check.name)


def test_a_start_at_another_time_stays_at_that():
    state = biped.standing(MODEL)
    state.arrays.clock[0] = 2.0
    assert replace(STANDING, state=state).settled().state.time == 2.0


SCENES = {
    "a law": {},
    "late senses": {"disturbances": (LATE,)},
    "limited actuators with a lag": {"disturbances": (LIMITED,)},
    "a load": {"disturbances": (LOADED,)},
    "a slippery patch": {"disturbances": (biped.Patch((-0.05, 0.1), (-0.15, 0.1), Floor(mu_s=0.05, mu_d=0.05)),)},
    "springs in the joints": {"controller": JointImpedance()},
    "muscles that hold, with a lag": {"controller": JointImpedance(), "disturbances": (LIMITED,)},
    "a memory in Python": {"controller": Integral(LAW)},
    "a compiled memory": {"controller": CompiledMemory()},
    "another integrator": {"integrator": "maximal", "controller": JointImpedance()},
}


@pytest.mark.parametrize("name", SCENES)
def test_the_motion_goes_on_as_if_nothing_had_been(name):
    scene = replace(ALONE, **SCENES[name])
    ticks = round(SHORT / scene.controller.period)
    whole = rows(biped.Session(scene), 2 * ticks)
    after = rows(biped.Session(replace(scene, settle=biped.Settle(seconds=SHORT))), ticks)
    np.testing.assert_array_equal(after, whole[ticks:])


def test_what_comes_later_does_not_act_before():
    later = (
        PUSH,
        biped.Platform(x=biped.Signal.step(0.02, 0.0, 0.1)),
        biped.Throw(1.8, (0.1216,) * 3, (0.5, 0.1, 1.2), (-6.0, 0.0, 0.2)),
    )
    moving = WorkspaceController(motion=SetPointPath(x=biped.Signal.step(0.02, 0.0, 0.1)))
    expected = STANDING.settled().state
    for scene in (replace(STANDING, disturbances=later), replace(STANDING, controller=moving)):
        assert_same_arrays(scene.settled().state.arrays, expected.arrays)
    pushed, alone = replace(STANDING, disturbances=(PUSH,)).run(), STANDING.run()
    assert abs(pushed.state.q - alone.state.q).max() > 1e-3


def test_a_session_of_it_is_saved_and_restored_and_begins_where_it_rested():
    session = biped.Session(replace(STANDING, disturbances=(LATE,)))
    first = rows(session, 5)
    saved = session.save()
    then = rows(session, 5)
    session.restore(saved)
    np.testing.assert_array_equal(rows(session, 5), then)
    session.reset()
    np.testing.assert_array_equal(rows(session, 5), first)


def test_noise_is_not_that_of_the_run():
    noisy = biped.Sensors(proprioceptive=ProprioceptiveChannel(joint_noise=1e-3), seed=3, estimator="none")
    scene = replace(ALONE, disturbances=(noisy,), settle=biped.Settle(seconds=SHORT))
    ticks = round(SHORT / LAW.period)
    again, other = (replace(scene, disturbances=(replace(noisy, seed=seed),)) for seed in (3, 4))
    assert_same_arrays(again.settled().state.arrays, scene.settled().state.arrays)
    assert (other.settled().state.q != scene.settled().state.q).any()

    def noise(session):
        shown = session.observe()
        return shown.q - session.state.q

    before, after = biped.Session(replace(scene, settle=None)), biped.Session(scene)
    for _ in range(ticks):
        before.step(), after.step()
        np.testing.assert_allclose(noise(after), noise(before), atol=1e-12)


def test_noise_never_rests():
    with pytest.raises(biped.InputError, match="a length in seconds"):
        replace(
            STANDING, disturbances=(biped.Sensors(proprioceptive=ProprioceptiveChannel(joint_noise=1e-3)),)
        ).settled()
    with pytest.raises(biped.InputError, match="a length in seconds"):
        replace(STANDING, disturbances=(biped.Actuators(relative_noise={"left_knee_pitch": 0.1}),)).settled()


def test_a_law_that_falls_or_never_rests_refuses():
    with pytest.raises(biped.UnsettledError, match="human under JointPD cannot begin at rest: .*fell"):
        replace(STANDING, controller=JointPD(kp=0.0)).settled()
    with pytest.raises(biped.UnsettledError, match="does not come to rest in 0.1 s: its centre of mass still moves"):
        replace(STANDING, settle=biped.Settle(longest=0.1)).run()
    with pytest.raises(biped.InputError, match=r"settle\.seconds"):
        biped.Settle(seconds=0.0)


def test_what_has_no_floating_root_rests_too():
    arm = biped.chain(2)
    scene = biped.Scene(
        arm, JointImpedance(stiffness=50.0, damping=20.0), duration=0.1, settle=biped.Settle(longest=20.0)
    )
    q = scene.settled().state.q
    held = biped.WholeBody(arm, q)
    # Springs hold what gravity pulls: the residual torque is that of a joint that still creeps by `drift`.
    np.testing.assert_allclose(-50.0 * q, held.gravity_forces, atol=50.0 * 2 * biped.Settle().drift)


def test_trials_that_differ_later_share_their_run_in(monkeypatch):
    settling._KEPT.clear()
    found = []
    rest = settling._rest
    monkeypatch.setattr(settling, "_rest", lambda *given: found.append(given) or rest(*given))
    for size in (1.0, 2.0, 3.0):
        replace(STANDING, disturbances=(replace(PUSH, impulse=size),), duration=0.1 * size).settled()
    assert len(found) == 1
    replace(STANDING, controller=WorkspaceController(period=1e-3)).settled()
    assert len(found) == 2
    for _ in range(2):  # an object that may change between
        replace(STANDING, controller=Integral(LAW), settle=biped.Settle(seconds=SHORT)).settled()
    assert len(found) == 4


def test_it_is_linearized_where_it_rests():
    springs = JointImpedance(stiffness=6000.0, damping=200.0).holding(MODEL, STANDING.state.q)
    held = replace(STANDING, controller=springs)
    there = linearize(held.settled())
    np.testing.assert_array_equal(linearize(held).dynamic, there.dynamic)
    assert there.spectral_radius < 1.0  # it has come to rest by itself


def test_what_is_done_then_is_done_at_the_start():
    off = biped.Settle(then=lambda rested: biped.State.at(rested.model, rested.q + 0.01 * (np.arange(19) == 18)))
    rested, start = STANDING.settled().state, replace(STANDING, settle=off).settled().state
    assert start.q[18] - rested.q[18] == pytest.approx(0.01)
    np.testing.assert_array_equal(start.q[:18], rested.q[:18])
    np.testing.assert_array_equal(biped.Session(replace(STANDING, settle=off)).state.q, start.q)


LAGGING = biped.Actuators(time_constant=0.02)


@pytest.mark.parametrize("run_in", [(), (LAGGING,)], ids=["without a lag", "with it"])
def test_muscles_that_begin_to_lag_where_it_rests_are_not_slack(run_in):
    q = biped.Stance().configuration(MODEL)
    upright = replace(
        STANDING, controller=Postural().holding(MODEL, q), state=biped.State.at(MODEL, q), disturbances=run_in
    )
    assert moved(replace(upright.settled(), disturbances=(LAGGING,))) < biped.Settle().drift


def test_starts_that_are_drawn_about_where_it_rests_are_not_slack():
    rested = replace(STANDING, disturbances=(LAGGING,)).settled()
    session = biped.Session(rested, start=lambda _: biped.State.at(MODEL, rested.state.q))
    session.reset(seed=1)
    assert np.ptp(rows(session, 50)[:, : MODEL.nq], axis=0).max() < biped.Settle().drift


def test_a_run_that_goes_on_has_stood_before():
    run = ALONE.run()
    on = replace(ALONE, state=run.state, settle=biped.Settle())
    np.testing.assert_array_equal(on.run().state.q, replace(on, settle=None).run().state.q)


def test_who_has_starts_of_their_own_is_told():
    with pytest.raises(biped.InputError, match="random starts"):
        biped.Session(STANDING, start=lambda _: biped.standing(MODEL))
    with pytest.raises(biped.InputError, match=r"scene\.settled\(\)"):
        gradient(STANDING, "rms_torque", ["controller.period"])
    batch = biped.SessionBatch(STANDING, 2, workers=1)
    np.testing.assert_array_equal(batch.sessions[0].state.q, STANDING.settled().state.q)
    batch.close()
