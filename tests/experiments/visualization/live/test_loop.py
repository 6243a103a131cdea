"""A loop without changes equals ``simulate``; changes have their effect from then on."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from biped import Push, simulate
from biped.errors import BipedError, InputError, UnsettledError
from biped.kernels.state.simulation_state import MOST_ITERATIONS, RECENT_ITERATIONS
from controllers.kernels.stepping import SWINGS, UNLOADS
from controllers.workspace import WorkspaceGains
from experiments.catalogue.registry import experiment_named
from experiments.visualization.live.loop import Loop
from experiments.visualization.report.run_source import load_run
from experiments.visualization.viewer.saved_runs import save_run
from experiments.visualization.viewer.trajectory import snapshot_of

from ....conftest import all_arrays

SOFT = WorkspaceGains(kp_position=(30.0, 30.0, 150.0))


def built(name, **changes):
    return experiment_named(name).build({key.replace("__", "."): value for key, value in changes.items()})


def same(loop, state):
    """Return whether two states are equal bit for bit, except for the solver's counters."""
    a, b = all_arrays(loop.state.arrays), all_arrays(state.arrays)
    arrays = {name: (a[name], b[name]) for name in a if name != "counts"}
    told = np.setdiff1d(np.arange(a["counts"].size), [MOST_ITERATIONS, RECENT_ITERATIONS])
    arrays["counts"] = (a["counts"][told], b["counts"][told])
    arrays["thrown"] = (loop.state.projectile, state.projectile)
    arrays["floor"] = (loop.state.floor, state.floor)
    return [name for name, (one, other) in arrays.items() if not np.array_equal(one, other)] == []


def advance(loop, seconds, at_once=13):
    left = round(seconds / loop.tick)
    while left:
        taken = loop.advance(min(at_once, left))
        assert taken > 0
        left -= taken


CASES = {
    "thrown-block": {},
    "box-drop": {},
    "tumble": {},
    "balance": {
        "push.impulse": 5.0,
        "push.start": 0.1,
        "sensors.proprioceptive.joint_noise": 1e-4,
        "sensors.delay": 0.004,
    },
}


@pytest.mark.parametrize("name", CASES)
def test_left_alone_it_is_the_simulation(name):
    setup = experiment_named(name).build(CASES[name] | {"run.duration": 0.5})
    loop = Loop(setup)
    advance(loop, 0.5)
    assert same(loop, setup.run().state)


def test_a_change_to_the_same_changes_nothing():
    setup = experiment_named("balance").build(
        {"platform.motion": "sine", "platform.start": 0.1, "push.impulse": 4.0, "push.start": 0.2}
        | {"run.duration": 0.6, "sensors.proprioceptive.joint_noise": 1e-4, "load.mass": 5.0}
    )
    loop = Loop(setup)
    for _ in range(6):
        loop.set_gains(loop.gains)
        advance(loop, 0.1, at_once=7)
    run = setup.run()
    assert run.state.time == loop.time
    assert np.array_equal(loop.state.q, run.state.q)
    assert np.array_equal(loop.state.momentum, run.state.momentum)
    assert np.array_equal(loop.state.arrays.anchor, run.state.arrays.anchor)


def test_gains_act_from_the_tick_on():
    setup = built("thrown-block")
    loop = Loop(setup)
    advance(loop, 0.2)
    loop.set_gains(SOFT)
    before = loop.state.copy()
    loop.advance(1)
    stiff, soft = (
        simulate(
            setup.model, controller, floor=setup.floor, state=before.copy(), duration=loop.tick, step=setup.step,
            disturbances=setup.disturbances, integrator=setup.integrator,
        )
        for controller in (setup.controller, replace(setup.controller, gains=SOFT))
    )  # fmt: skip
    assert np.array_equal(loop.state.q, soft.state.q)
    assert not np.array_equal(loop.state.arrays.torque, stiff.state.arrays.torque)
    assert loop.gains == SOFT


def test_a_push_gives_its_impulse():
    """In flight the momentum is that of gravity and the push; on the floor the momentum balance closes."""
    loop, left_alone = Loop(built("tumble")), Loop(built("tumble"))
    for each in (loop, left_alone):
        advance(each, 0.1)
    push = loop.push((0.6, -0.8, 0.0), 4.0, duration=0.05, body="left_foot")
    assert push == Push("left_foot", (0.6, -0.8, 0.0), 4.0, loop.time, 0.05)
    for each in (loop, left_alone):
        advance(each, 0.02)
    part = loop.state.momentum[:3] - left_alone.state.momentum[:3]
    np.testing.assert_allclose(part, 0.02 / 0.05 * np.array([2.4, -3.2, 0.0]), atol=1e-11)
    for each in (loop, left_alone):
        advance(each, 0.1)
    whole = loop.state.momentum[:3] - left_alone.state.momentum[:3]
    np.testing.assert_allclose(whole, (2.4, -3.2, 0.0), atol=1e-11)


def test_pushes_on_the_floor_are_in_the_books():
    loop = Loop(built("balance"))
    for k in range(4):
        advance(loop, 0.1)
        loop.push((1.0, k, 0.0), 2.0)
    advance(loop, 0.5)
    assert np.abs(loop.state.arrays.ledger.defect).max() < 1e-10
    assert not loop.has_ended
    loop.set_gains(loop.gains)
    assert loop.disturbances == ()  # finished disturbances are dropped


def test_a_block_hits_where_it_is_aimed_at():
    loop = Loop(built("balance"))
    advance(loop, 0.1)
    box = loop.throw((-1.0, 0.0, 0.0), 4.0, height=1.2, mass=1.0)
    before = loop.state.arrays.ledger.works.copy()
    advance(loop, 0.25)
    left = np.asarray(box.velocity) - (0.0, 0.0, 9.81 * 0.2)
    np.testing.assert_allclose(left, (-4.0, 0.0, 0.0), atol=1e-12)
    velocity = loop.state.projectile[7:10] / box.mass
    assert velocity[0] > -2.0  # most of its momentum is transferred
    assert loop.state.arrays.ledger.works[4] > before[4]  # the work of impacts
    second = loop.throw((0.8, 0.6, 0.0), 3.0)
    assert [d for d in loop.disturbances if hasattr(d, "restitution")] == [second]
    assert loop.state.throw == second


def test_a_block_inside_of_the_trunk_is_refused_and_nothing_changes():
    setup = built("thrown-block")
    loop, left_alone = Loop(setup), Loop(setup)
    advance(loop, 0.05)
    with pytest.raises(InputError, match="start it outside"):
        loop.throw((1.0, 0.0, 0.0), 0.1, flight=0.01)
    advance(loop, 0.25)
    advance(left_alone, 0.3)
    assert same(loop, left_alone.state)


def test_it_really_falls_and_gets_up_at_a_restart():
    setup = built("balance")
    loop = Loop(setup)
    push = loop.push((1.0, 0.0, 0.0), 80.0)
    advance(loop, 3.0)
    assert 0.0 < loop.fell_at < 0.5
    assert not loop.has_ended
    assert loop.state.q[2] < 0.3
    assert loop.state.arrays.ledger.defect == pytest.approx(np.zeros(6), abs=1e-8)
    loop.push((0.0, 1.0, 0.0), 20.0)  # a limp body is pushed too
    advance(loop, 0.05)
    assert loop.state.momentum[1] > 2.0
    loop.set_gains(SOFT)
    run = loop.run()
    assert run.summary["fell_at"] == loop.fell_at
    assert run.after.frame["time"].iloc[0] < loop.fell_at + 0.02
    assert run.after.frame["body_z"].iloc[-1] < 0.3
    assert [push.impulse for push in (push,)] == [run.disturbances[-2]["impulse"]]
    loop.restart()
    assert (loop.time, loop.fell_at, loop.gains) == (0.0, None, SOFT)
    advance(loop, 0.2)
    assert same(loop, replace(setup, controller=replace(setup.controller, gains=SOFT), duration=0.2).run().state)


def test_where_a_foot_is_to_land_is_seen_while_it_is_on_its_way():
    loop = Loop(experiment_named("balance", controller="stepping").build({"push.impulse": 50.0, "run.step": 0.001}))
    seen = set()
    for _ in range(60):
        advance(loop, 0.02)
        latest = loop.latest
        last = dict(zip(latest.columns.names, latest.rows[-1], strict=True))
        shown = snapshot_of(loop.state, loop.disturbances, latest).foothold
        swings = last["step_phase"] in (UNLOADS, SWINGS)
        seen.add(swings)
        if swings:
            np.testing.assert_array_equal(shown[:2], (last["foothold_x"], last["foothold_y"]))
        else:
            assert np.isnan(shown[:2]).all()
    assert seen == {True, False}


def test_what_it_recorded_is_the_run(tmp_path):
    loop, setup = Loop(built("balance")), built("balance", run__duration=0.4)
    advance(loop, 0.2)
    loop.set_gains(loop.gains)
    advance(loop, 0.2)
    run, whole = loop.run(), setup.run()
    shared = len(run.frame)
    pd.testing.assert_frame_equal(run.frame, whole.frame.iloc[:shared], check_exact=True)
    assert shared == len(whole.frame) - 1
    loop.throw((-1.0, 0.0, 0.0), 4.0)
    advance(loop, 0.4)
    save_run(loop.run(), tmp_path)
    saved = load_run(tmp_path)
    assert saved.frame["projectile_x"].isna().sum() == shared
    assert len(saved.events[saved.events["kind"] == "impact"]) >= 1


def test_a_hand_pulls_until_it_lets_go():
    loop = Loop(built("tumble"))
    advance(loop, 0.05)
    before = loop.state.momentum[:3].copy()
    for force in (40.0, 60.0):
        loop.pull("left_foot", (0.0, 0.0, 0.0), (0.0, force, 0.0))
        advance(loop, 0.02)
    loop.let_go()
    after = loop.state.momentum[:3].copy()
    assert after[1] - before[1] == pytest.approx(0.02 * 100.0, abs=1e-9)
    advance(loop, 0.02)
    assert loop.state.momentum[1] == pytest.approx(after[1], abs=1e-9)
    pushes = loop.run().summary["events"]["pushes"]
    assert sum(push["impulse"][1] for push in pushes) == pytest.approx(2.0)


def test_settings_change_while_it_runs_or_at_the_restart():
    experiment = experiment_named("balance")
    loop = Loop(experiment.build(), build=experiment.build)
    advance(loop, 0.1)
    assert loop.set_setting("floor.mu_d", 0.1)
    assert loop._session.scene.floor.mu_d == 0.1
    assert loop.set_setting("sensors.delay", 0.01)
    assert loop.set_setting("actuators.limit", 50.0)
    advance(loop, 0.1)
    assert np.abs(loop.state.arrays.torque).max() <= 50.0
    with pytest.raises(BipedError, match="dynamic friction is at most static"):
        loop.set_setting("floor.mu_d", 0.9)
    assert loop.settings["floor.mu_d"] == 0.1
    assert not loop.set_setting("load.mass", 5.0)
    mass = loop.model.total_mass
    loop.restart()
    assert loop.model.total_mass == mass + 5.0
    assert (loop.setup.floor.mu_d, len(loop.disturbances)) == (0.1, 3)


def test_a_restart_that_cannot_rest_leaves_it_as_it_is():
    experiment = experiment_named("balance")
    loop = Loop(experiment.build({"initial.stance": "upright"}), build=experiment.build)
    advance(loop, 0.1)
    loop.set_gains(WorkspaceGains(kp_position=(0.0, 0.0, 0.0), kd_position=(0.0, 0.0, 0.0)))
    time, state = loop.time, loop.state
    with pytest.raises(UnsettledError, match="cannot begin at rest|does not come to rest"):
        loop.restart()
    assert (loop.time, loop.state) == (time, state)
    advance(loop, 0.1)
    assert loop.time > time


def test_the_set_point_moves():
    loop = Loop(built("balance"))
    loop.set_parameter("target_position", (-0.01, 0.0, 1.08))
    advance(loop, 3.0, at_once=100)
    assert abs(loop.state.q[2] - 1.08) < 2e-3


def test_another_engine_is_pushed_and_gets_other_gains_too():
    """Each change restarts the engine at the human's present state; momentum persists, and the human recovers."""
    pytest.importorskip("mujoco")
    loop = Loop(built("balance", integrator__name="mujoco"))
    advance(loop, 0.1)
    loop.push((-1.0, 0.0, 0.0), 4.0)
    advance(loop, 0.15)
    away, forwards = loop.state.q[0], loop.state.momentum[0]
    assert forwards < -0.5
    loop.set_gains(replace(loop.gains, kp_position=(90.0, 90.0, 150.0)))
    assert loop.state.momentum[0] == forwards
    advance(loop, 1.5)
    assert not loop.has_ended
    assert abs(loop.state.q[0] - away) > 1e-3
    assert abs(loop.state.momentum[0]) < 0.5
    assert np.abs(loop.state.arrays.ledger.defect[:3]).max() < 1e-2
