"""Toes: where they are, what they carry, and what a body withstands with them."""

import math

import numpy as np
import pytest

from biped import ModelError, forward_kinematics, subject
from biped.metrics import series
from biped.metrics.layout import feet_of_points
from biped.model.toes import BALL, SHARE
from experiments import experiment_named

WHO = "subject:1.7,68,female"


def pushed(segment, law, impulse):
    values = {"initial.stance": "upright", "push.impulse": impulse, "run.duration": 2.5}
    return experiment_named("balance", controller=law, robot=WHO + segment).run(values)


@pytest.fixture(scope="module")
def toed():
    return pushed(",toes", "whole-body", 20.0)


def front(run):
    """[N] (n,) what the tips of the toes bear."""
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
    """The capture point may go no farther than the foremost point that can bear: limp toes take a third of the foot."""
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


def test_they_are_there_once():
    with pytest.raises(ModelError, match="toes, limp-toes: each may be there once, limp or not"):
        subject(1.7, 68.0, "female", segments=["toes", "limp-toes"])
