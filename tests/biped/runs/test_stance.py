"""Stances match their definitions, by separate kinematics: rotations composed along the leg."""

import math

import numpy as np
import pytest

from biped import InputError, Stance, WholeBody, chain, forward_kinematics, human, standing
from contact import RUBBER, Floor

MODEL = human()
AHEAD, LEFT = np.array(MODEL.facing), np.array(MODEL.left)
#: Newton's tolerance, with room for round-off of a chain of six joints.
CLOSE = 1e-11


def about(axis: int, angle: float) -> np.ndarray:
    a, b = [(1, 2), (2, 0), (0, 1)][axis]
    R = np.eye(3)
    R[a, a] = R[b, b] = math.cos(angle)
    R[b, a], R[a, b] = math.sin(angle), -math.sin(angle)
    return R


def foot(model, q, side):
    size = model.home_positions[0][2] / 1.23
    angle = {
        joint.partition("_")[2]: q[model.coordinate(joint)] for joint in model.joint_names if joint.startswith(side)
    }
    hip = np.array(q[:3]) + size * np.array([0.0, -0.15 if side == "left" else 0.15, -0.27])
    thigh = about(0, angle["hip_roll"]) @ about(1, angle["hip_pitch"]) @ about(2, angle["hip_yaw"])
    shank = thigh @ about(1, angle["knee_pitch"])
    ankle = hip + thigh @ [0.0, 0.0, -0.46 * size] + shank @ [0.0, 0.0, -0.44 * size]
    return shank @ about(0, angle["ankle_roll"]) @ about(1, angle["ankle_pitch"]), ankle


@pytest.mark.parametrize("stance", [
    Stance(),
    Stance(width=0.17),
    Stance(width=0.5, lean=math.radians(-1.0)),
    Stance(width=0.12, foot_angle=math.radians(20.0), lean=math.radians(5.0)),
    Stance(knees=math.radians(40.0), foot_angle=math.radians(-5.0)),
])  # fmt: skip
def test_the_posture_is_what_the_stance_says(stance):
    model = MODEL
    q = stance.configuration(model)
    feet = {side: foot(model, q, side) for side in ("left", "right")}
    turned = {"left": stance.foot_angle, "right": -stance.foot_angle}  # outwards: a left foot turns to the left
    for side, (R, ankle) in feet.items():
        np.testing.assert_allclose(R, about(2, turned[side]), atol=CLOSE)
        knee = q[model.coordinate(f"{side}_knee_pitch")]
        assert knee == pytest.approx(-stance.knees, abs=CLOSE)  # a bent knee is negative
        assert (R @ AHEAD) @ (LEFT if side == "left" else -LEFT) == pytest.approx(
            math.sin(stance.foot_angle), abs=CLOSE
        )
        assert ankle @ AHEAD == pytest.approx(0.0, abs=CLOSE)
    apart = feet["left"][1] - feet["right"][1]
    width = 0.30 * model.home_positions[0][2] / 1.23 if stance.width is None else stance.width
    np.testing.assert_allclose(apart, width * LEFT, atol=CLOSE)
    middle = (feet["left"][1] + feet["right"][1]) / 2.0
    com = WholeBody(model, q).com - middle
    assert math.atan2(com @ AHEAD, com[2]) == pytest.approx(stance.lean, abs=CLOSE)
    assert com @ LEFT == pytest.approx(0.0, abs=CLOSE)
    np.testing.assert_allclose(q[3:7], [1.0, 0.0, 0.0, 0.0], atol=0.0)


def test_soles_are_as_deep_as_carries_the_weight():
    floor = Floor(k_n=3e4)
    depth = -forward_kinematics(MODEL, Stance(foot_angle=0.2).configuration(MODEL, floor)).contact[:, 2]
    np.testing.assert_allclose(depth, depth[0], atol=CLOSE)
    assert floor.k_n * depth.sum() == pytest.approx(MODEL.total_mass * 9.81, rel=1e-9)


def test_with_feet_below_the_hips_it_is_that_of_standing():
    """The posture equals the closed form of a planar leg."""
    q = Stance(knees=math.radians(35.0), lean=math.radians(2.0)).configuration(MODEL)
    np.testing.assert_allclose(standing(MODEL, RUBBER, tuple(q[:3])).q, q, atol=CLOSE)


def test_what_nobody_can_do_is_refused():
    with pytest.raises(InputError, match=r"stance\.lean = 15°: the centre of mass would be in front of the toes"):
        Stance(lean=math.radians(15.0)).state(MODEL)
    with pytest.raises(InputError, match="behind the heels"):
        Stance(lean=math.radians(-5.0)).state(MODEL)
    with pytest.raises(InputError, match="do not reach"):
        Stance(width=2.5).state(MODEL)
    with pytest.raises(InputError, match="other legs"):
        Stance().state(chain(3))
    with pytest.raises(InputError, match=r"stance\.width"):
        Stance(width=-0.1)
    with pytest.raises(InputError, match=r"stance\.knees = 0\.0 rad"):
        Stance(knees=0.0)
