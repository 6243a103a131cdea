"""The stance upright of an experiment: laws hold it, or refuse in a sentence; the crouch is what it was."""

import math

import numpy as np
import pytest

from biped import InputError, Settle, UnsettledError, WholeBody
from biped.dynamics import forward_kinematics
from biped.runs.stance import LEAN, Stance
from experiments.catalogue.registry import experiment_named
from experiments.studies.trial import Trial, run_trial

BALANCE = experiment_named("balance")
UPRIGHT = {"initial.stance": "upright"}
WITH = "controller.name"
#: Those that stand as straight as is asked for; the others say why not, or bend their knees farther.
STRAIGHT = ("workspace", "whole-body", "lqr", "joint-impedance", "postural", "reweighting", "stepping")
#: [rad] As straight as people stand.
STRAIGHT_KNEES = math.radians(12.0)


def knees(state):
    return [-state.q[state.model.coordinate(f"{side}_knee_pitch")] for side in ("left", "right")]


@pytest.mark.parametrize("law", STRAIGHT)
@pytest.mark.parametrize("feet", [{}, {"initial.width": 0.16, "initial.foot_angle": 0.2}], ids=["", "narrow"])
def test_laws_hold_it_upright_where_they_come_to_rest(law, feet):
    scene = BALANCE.build(UPRIGHT | {WITH: law} | feet).settled()
    state, model = scene.state, scene.model
    assert max(knees(state)) < STRAIGHT_KNEES
    # It rests where it was asked to stand, but for how far the floor and the law yield: within the soles.
    com, asked = (
        WholeBody(model, state.q).com,
        Stance(width=feet.get("initial.width"), foot_angle=feet.get("initial.foot_angle", 0.0)).configuration(model),
    )
    assert np.linalg.norm((com - WholeBody(model, asked).com)[:2]) < 0.03
    feet_moved = forward_kinematics(model, state.q).contact - forward_kinematics(model, asked).contact
    assert np.abs(feet_moved[:, :2]).max() < 0.002
    assert (state.arrays.force[:, 2] > 0.0).all()
    run = scene.run()
    assert run.summary["verdict"] == "recovered"


def test_laws_that_do_not_say_so():
    with pytest.raises(UnsettledError, match="under ComputedTorque cannot begin at rest: .*it fell"):
        BALANCE.build(UPRIGHT | {WITH: "computed-torque"}).settled()
    with pytest.raises(UnsettledError, match=r"under JointPD does not come to rest .* initial\.settle=10"):
        BALANCE.build(UPRIGHT | {WITH: "joint-pd"}).settled()
    bent = BALANCE.build(UPRIGHT | {WITH: "cone-workspace"}).settled().state
    assert STRAIGHT_KNEES < max(knees(bent)) < 2.0 * STRAIGHT_KNEES  # it is damped where knees are straight


def test_the_set_point_goes_with_the_stance():
    q = Stance(width=0.3).configuration(BALANCE.build({}).model)
    values = BALANCE.values(UPRIGHT)
    assert values["controller.target_position"] == pytest.approx(tuple(q[:3]), abs=1e-12)
    assert BALANCE.build(UPRIGHT | {WITH: "joint-pd"}).controller.target["left_knee_pitch"] == pytest.approx(
        -math.radians(10.0)
    )
    own = (0.0, 0.0, 1.2)
    assert BALANCE.build(UPRIGHT | {"controller.target_position": own}).controller.target_position == own
    assert BALANCE.build(UPRIGHT | {"initial.lean": 0.0}).state.q[0] > q[0]  # it faces −X
    assert values.number("initial.lean") == LEAN


@pytest.mark.parametrize("name", ["stand-tilted", "thrown-block", "squat", "sway", "lean"])
def test_every_experiment_with_a_posture_has_it(name):
    scene = experiment_named(name).build(UPRIGHT | {"initial.knees": math.radians(11.0)})
    assert max(knees(scene.state)) == pytest.approx(math.radians(11.0))
    assert scene.settle is not None
    assert experiment_named(name).build({}).settle is None


def test_what_does_nothing_is_refused():
    for name in ("width", "foot_angle", "lean", "knees"):
        with pytest.raises(InputError, match=f"initial.{name} has no effect in the stance crouch: also set"):
            BALANCE.values({f"initial.{name}": 0.1})
    with pytest.raises(InputError, match=r"initial\.stance"):
        experiment_named("sit-to-stand").values(UPRIGHT)
    with pytest.raises(InputError, match=r"initial\.lean = 20°"):
        BALANCE.values(UPRIGHT | {"initial.lean": math.radians(20.0)})
    with pytest.raises(InputError, match=r"initial\.settle = -1"):
        BALANCE.build({"initial.settle": -1.0})


def test_the_scatter_of_replicas_is_about_where_it_rests():
    rested = BALANCE.build(UPRIGHT).settled().state.q
    joints = slice(7, None)
    off = [BALANCE.build(UPRIGHT | {"initial.seed": seed}).initial_state.q[joints] - rested[joints] for seed in (1, 2)]
    own = [BALANCE.build({"initial.seed": seed}).initial_state.q[joints] for seed in (1, 2)]
    np.testing.assert_allclose(off[0] - off[1], own[0] - own[1], atol=1e-12)
    assert np.abs(off[0]).max() > 1e-3
    moving = BALANCE.build(UPRIGHT | {"initial.velocity": (0.1, 0.0, 0.0)}).initial_state
    assert moving.momentum[0] == pytest.approx(0.1 * moving.model.total_mass)


@pytest.mark.parametrize(
    ("law", "late"), [("lqr", {"sensors.delay": 0.1}), ("workspace", {"actuators.time_constant": 0.02})]
)
def test_a_scatter_of_nothing_moves_nobody(law, late):
    """Muscles exert what they did, and a law that sees ahead knows it."""
    alone = UPRIGHT | {WITH: law, "initial.jitter": 1e-12, "push.impulse": 0.0, "run.duration": 0.3}
    run = BALANCE.run(alone | late)
    assert np.ptp(run.frame[list(run.state.model.coordinate_names)].to_numpy(), axis=0).max() < Settle().drift


def test_trials_of_studies_settle_or_fail_in_a_sentence():
    pushed = UPRIGHT | {"push.impulse": 3.0, "run.duration": 1.0}
    assert run_trial(BALANCE, Trial(0, pushed))["verdict"] == "recovered"
    fails = run_trial(BALANCE, Trial(1, pushed | {WITH: "computed-torque"}))
    assert (fails["verdict"], fails["failure"]) == ("failed", "UnsettledError")
    late = UPRIGHT | {"sensors.proprioceptive.joint_noise": 1e-4, "run.duration": 0.5}
    assert "initial.settle=10" in run_trial(BALANCE, Trial(2, late))["message"]
    assert run_trial(BALANCE, Trial(3, late | {"initial.settle": 2.0}))["failure"] == ""
