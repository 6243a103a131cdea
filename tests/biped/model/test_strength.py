"""Human strength against its source's equation, and its effect in a run."""

import math
from dataclasses import replace

import numpy as np
import pytest

from biped import Actuators, Controller, ModelError, State, forward_kinematics, human, simulate, subject
from biped.kernels.loop.measurement import strength_at
from biped.metrics import series
from biped.metrics.layout import feet_of_points
from biped.model.stops import with_stops
from biped.model.strength import PEOPLE, human_strength
from biped.model.toes import BALL, SHARE
from experiments import experiment_named

ONE_JOINT = "left_knee_pitch"


def anderson(c1, c2, c3, c4, c5, c6, angle, rate):
    """Return the torque of Anderson, Madigan and Nussbaum (2007), as printed: over weight times height."""
    length = c1 * math.cos(c2 * (angle - c3))
    if rate >= 0.0:
        return length * (2 * c4 * c5 + rate * (c5 - 3 * c4)) / (2 * c4 * c5 + rate * (2 * c5 - 4 * c4))
    slow = (2 * c4 * c5 - rate * (c5 - 3 * c4)) / (2 * c4 * c5 - rate * (2 * c5 - 4 * c4))
    return length * slow * (1 - c6 * rate)


@pytest.mark.parametrize("people", list(PEOPLE))
@pytest.mark.parametrize(
    ("joint", "side", "motion", "bent"),
    [
        ("hip_pitch", 0, "hip_flexion", 1.0), ("hip_pitch", 1, "hip_extension", 1.0),
        ("knee_pitch", 0, "knee_extension", -1.0), ("knee_pitch", 1, "knee_flexion", -1.0),
        ("ankle_pitch", 0, "ankle_flexion", 1.0), ("ankle_pitch", 1, "ankle_extension", 1.0),
    ],
)  # fmt: skip
def test_flexion_and_extension_are_andersons(people, joint, side, motion, bent):
    model = human()
    size = model.total_mass * 9.81 * 1.778  # m, the top of the head
    strength = human_strength(model, people)
    for name in (f"left_{joint}", f"right_{joint}"):
        for angle in (-0.2, 0.0, 0.3, 0.7):
            for rate in (-1.0, 0.0, 0.5, 1.5):
                expected = max(0.0, size * anderson(*PEOPLE[people].anderson[motion], angle, rate))
                assert strength_at(np.array(strength[name][side]), bent * angle, rate) == pytest.approx(
                    expected, rel=1e-12
                )


def test_three_quarters_and_half_are_left_at_the_rates_that_say_so():
    strength = np.array(human_strength(human(), "young-men")["left_hip_pitch"][1])
    *_, c4, c5, _ = PEOPLE["young-men"].anderson["hip_extension"]
    rest = strength_at(strength, 0.3, 0.0)
    assert strength_at(strength, 0.3, c4) == pytest.approx(0.75 * rest)
    assert strength_at(strength, 0.3, c5) == pytest.approx(0.5 * rest)


def test_nothing_is_negative_and_nothing_is_no_number():
    rng = np.random.default_rng(3)
    for people in PEOPLE:
        rows = np.array([one for pair in human_strength(human(), people).values() for one in pair])
        for _ in range(300):
            found = [strength_at(row, rng.uniform(-4.0, 4.0), rng.uniform(-60.0, 60.0)) for row in rows]
            assert np.isfinite(found).all()
            assert min(found) >= 0.0


def test_the_old_are_weaker_and_the_large_are_stronger():
    size = {people: human_strength(human(), people) for people in PEOPLE}
    for joint in ("left_hip_pitch", "left_hip_roll", "left_knee_pitch", "left_ankle_roll"):
        for side in (0, 1):
            assert size["old-men"][joint][side].peak < size["young-men"][joint][side].peak
    tall = human_strength(subject(1.1 * 1.778, 1.3 * human().total_mass, "male"), "young-men")
    assert tall["left_knee_pitch"][0].peak == pytest.approx(1.43 * size["young-men"]["left_knee_pitch"][0].peak)


def test_inversion_is_the_stronger_on_both_sides():
    strength = human_strength(human(), "young-men")
    (left_in, left_out), (right_out, right_in) = strength["left_ankle_roll"], strength["right_ankle_roll"]
    assert left_in == right_in
    assert left_out == right_out
    assert left_in.peak == pytest.approx(0.027 * 74.548 * 9.81 * 1.778)
    assert left_out.peak < left_in.peak


class Demand(Controller):
    period = 2e-3

    def __init__(self, size):
        self.size = size

    def torques(self, observation):
        asked = np.zeros(len(human().joint_names))
        asked[human().joint_names.index(ONE_JOINT)] = self.size if observation.time > 0.0999 else 0.0
        return asked


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_run_has_the_torque_that_angle_and_rate_allow(sign):
    model = human().without_contacts()
    muscles = Actuators(strength="young-men")
    run = simulate(model, Demand(sign * 1e4), disturbances=[muscles], duration=0.3, step=1e-3)
    strength = np.array(human_strength(model, "young-men")[ONE_JOINT][0 if sign > 0.0 else 1])
    rows = run.frame.iloc[51:-1]
    allowed = [
        strength_at(strength, angle, sign * rate)
        for angle, rate in zip(rows[f"angle_{ONE_JOINT}"], rows[f"rate_{ONE_JOINT}"], strict=True)
    ]
    assert max(allowed) > 1.5 * min(allowed)
    assert sign * rows[f"torque_{ONE_JOINT}"].to_numpy() == pytest.approx(np.array(allowed), rel=1e-6, abs=1e-9)
    assert run.metrics[f"saturation_time_{ONE_JOINT}"] == pytest.approx(0.2, abs=5e-3)


def test_a_lag_is_of_first_order():
    model, lag = human().without_contacts(), 0.04
    run = simulate(model, Demand(5.0), disturbances=[Actuators(time_constant=lag)], duration=0.3, step=1e-3)
    rows = run.frame.iloc[:-1]
    until = rows["time"].to_numpy() - 0.1 + Demand.period  # the end of the tick that a row begins
    expected = np.where(until > 1e-6, 5.0 * (1.0 - np.exp(-until / lag)), 0.0)
    assert rows[f"torque_{ONE_JOINT}"].to_numpy() == pytest.approx(expected, abs=1e-9)


def test_what_is_wrong_is_told():
    with pytest.raises(ModelError, match="young-men"):
        Actuators(strength="young-man")
    with pytest.raises(ModelError, match="human legs"):
        Actuators(strength="young-men").compile(without_knees(), 2e-3)
    with pytest.raises(ModelError, match="no ranges of motion"):
        with_stops(replace(human(), ranges=()))
    with pytest.raises(ModelError, match="toes, limp-toes: each may occur only once, limp or not"):
        subject(1.7, 68.0, "female", segments=["toes", "limp-toes"])


def without_knees():
    model = human()
    bodies = [
        replace(body, joint=replace(body.joint, name=body.joint.name.replace("knee", "elbow"))) for body in model.bodies
    ]
    return replace(model, bodies=tuple(bodies), ranges=())


KNEE = "left_knee_pitch"


def test_stops_are_the_ranges():
    model = with_stops(human())
    joints = {body.joint.name: body.joint for body in model.bodies}
    for joint, lower, upper in human().ranges:
        assert (joints[joint].lower, joints[joint].upper) == (lower, upper)
    assert math.degrees(joints[KNEE].lower) == pytest.approx(-135.0)


def test_a_narrower_limit_of_a_joint_stays():
    model = human()
    bodies = [
        replace(one, joint=replace(one.joint, upper=-0.1)) if one.joint.name == KNEE else one for one in model.bodies
    ]
    joints = {body.joint.name: body.joint for body in with_stops(replace(model, bodies=tuple(bodies))).bodies}
    assert joints[KNEE].upper == -0.1


def test_a_knee_with_a_stop_does_not_bend_forwards():
    q = human().configuration(angles={KNEE: -0.2})
    v = human().neutral()[: human().nv] * 0.0
    v[human().dof(KNEE)] = 3.0
    ends = {}
    for name, model in (("free", human()), ("stopped", with_stops(human()))):
        aloft = model.without_contacts()
        run = simulate(aloft, state=State.at(aloft, q, v), duration=0.3, step=1e-3)
        ends[name] = float(run.frame[f"angle_{KNEE}"].max())
    assert ends["free"] > 0.3
    assert ends["stopped"] < 0.05


def test_the_experiment_has_them_where_it_is_told_to():
    balance = experiment_named("balance")
    assert all(math.isinf(body.joint.upper) for body in balance.build().model.bodies)
    scene = balance.build({"robot.ranges": 1, "run.duration": 0.1})
    assert {body.joint.upper for body in scene.model.bodies if body.joint.name == KNEE} == {0.0}
    pressed = scene.run().frame["ledger_stops_stored"]
    assert pressed.max() < 1e-9  # it stands well within them


WHO = "subject:1.7,68,female"


def pushed(segment, law, impulse):
    values = {"initial.stance": "upright", "push.impulse": impulse, "run.duration": 2.5}
    return experiment_named("balance", controller=law, robot=WHO + segment).run(values)


@pytest.fixture(scope="module")
def toed():
    return pushed(",toes", "whole-body", 20.0)


def front(run):
    """Return the load [N] (n,) on the tips of the toes."""
    return run.frame[[f"contact_{side}_{k}_fz" for side in ("left", "right") for k in (1, 2)]].sum(axis=1).to_numpy()


def test_the_sole_is_the_foots_with_a_row_of_points_below_the_ball():
    whole, model = subject(1.7, 68.0, "female"), subject(1.7, 68.0, "female", segments=["toes"])
    places = dict(zip(model.contact_names, forward_kinematics(model, model.neutral()).contact, strict=True))
    corners = dict(zip(whole.contact_names, forward_kinematics(whole, whole.neutral()).contact, strict=True))
    for name, place in corners.items():
        assert places[name] == pytest.approx(place, abs=1e-12)
    length = corners["left_4"][0] - corners["left_1"][0]
    for ball, tip in (("left_5", "left_1"), ("left_6", "left_2")):
        assert places[ball] == pytest.approx(corners[tip] + [(1.0 - BALL) * length, 0.0, 0.0], abs=1e-12)
    foot = whole.bodies[whole.body_index("left_foot")].mass
    masses = {body.name: body.mass for body in model.bodies}
    assert masses["left_toes"] == pytest.approx(SHARE * foot)
    assert masses["left_toes"] + masses["left_foot"] == pytest.approx(foot)


def test_their_points_are_the_feets():
    model = subject(1.7, 68.0, "female", segments=["toes"])
    assert feet_of_points(model) == [0] * 6 + [1] * 6
    assert model.feet == ("left_foot", "right_foot")


def test_feet_bear_what_their_toes_bear(toed):
    found = series(toed)
    borne = found[[f"grf_normal_{side}_foot" for side in ("left", "right")]].sum(axis=1)
    every = toed.frame[[c for c in toed.frame if c.startswith("contact_") and c.endswith("_fz")]].sum(axis=1)
    assert borne.to_numpy() == pytest.approx(every.to_numpy(), abs=1e-9)
    assert front(toed).max() > 0.2 * 68.0 * 9.81


@pytest.mark.parametrize("segment", ["toes", "limp-toes"])
@pytest.mark.parametrize("stance", ["crouch", "upright"])
def test_who_has_them_stands(segment, stance):
    values = {"initial.stance": stance, "push.impulse": 0.0, "run.duration": 2.0}
    run = experiment_named("balance", controller="whole-body", robot=f"{WHO},{segment}").run(values)
    assert run.summary["verdict"] == "recovered"
    assert run.metrics["com_excursion"] < 2e-3  # m


def test_positive_angles_turn_them_up():
    model = subject(1.7, 68.0, "female", segments=["toes"])
    up = forward_kinematics(model, model.configuration(angles={"left_toes_pitch": math.radians(30.0)})).contact
    flat = forward_kinematics(model, model.neutral()).contact
    tips = [model.contact_names.index(name) for name in ("left_1", "left_2")]
    assert (up[tips, 2] > flat[tips, 2]).all()
    others = [k for k in range(model.nc) if k not in tips]
    assert np.array_equal(up[others], flat[others])


def test_with_muscles_they_hold_what_a_foot_of_one_piece_does(toed):
    assert toed.summary["verdict"] == pushed("", "whole-body", 20.0).summary["verdict"] == "recovered"
    tau = toed.frame["torque_left_toes_pitch"].to_numpy()
    assert np.abs(tau).max() > 1.0  # N·m


def test_limp_ones_bear_nothing_and_the_foot_ends_at_its_ball():
    run = pushed(",limp-toes", "whole-body", 20.0)
    assert run.summary["verdict"] == "fell"
    assert np.abs(run.frame["torque_left_toes_pitch"]).max() < 1e-3
    standing = run.frame["time"] < 0.5
    own = subject(1.7, 68.0, "female").bodies[-1].mass * SHARE * 9.81
    assert front(run)[standing].max() < 4.0 * own
    assert pushed(",limp-toes", "whole-body", 8.0).summary["verdict"] == "recovered"


@pytest.mark.parametrize("law", ["workspace", "reweighting"])
def test_who_has_no_other_use_for_them_holds_them(law):
    run = pushed(",toes", law, 5.0)
    assert run.summary["verdict"] == "recovered"
    assert np.abs(run.frame["angle_left_toes_pitch"]).max() < math.radians(10.0)
    assert front(run).max() > 50.0  # N
