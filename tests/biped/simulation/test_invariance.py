"""A whole closed-loop run does not care where it is, which way it faces, or which side is left."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from biped import Fall, Model, State, simulate
from controllers.workspace import WorkspaceController

TARGET = (-0.01, 0.0, 1.10)
LEAN = (0.99144486, -0.13052619, 0.0, 0.0)
DURATION = 1.0


def run(model: Model, state: State, position=TARGET, orientation=LEAN):
    orientation = np.array(orientation) / np.linalg.norm(orientation)
    controller = WorkspaceController(tuple(position), tuple(orientation))
    return simulate(model, controller, state=state, duration=DURATION, fall=Fall())


def angles(run_):
    return run_.frame.filter(regex="^angle_")


def test_a_run_repeats_bit_for_bit(person, posture):
    first, second = (run(person, posture(person)).frame for _ in range(2))
    assert first.equals(second)


@pytest.mark.parametrize(("x", "y"), [(1.0, -2.0), (1000.0, 0.0), (-700.0, 700.0)])
def test_translation(person, posture, x, y):
    here = run(person, posture(person))
    there = run(person, posture(person, x, y), position=(TARGET[0] + x, TARGET[1] + y, TARGET[2]))
    offset = np.array([x, y, 0.0])
    moved = there.frame[["body_x", "body_y", "body_z"]].to_numpy() - offset
    assert np.abs(moved - here.frame[["body_x", "body_y", "body_z"]].to_numpy()).max() < 1e-7
    assert np.abs(angles(here).to_numpy() - angles(there).to_numpy()).max() < 1e-6
    assert there.summary["newton_max"] == here.summary["newton_max"]


def test_yaw(person, posture):
    turn = Rotation.from_euler("z", 1.1)
    here = run(person, posture(person))
    state = posture(person)
    q = state.q.copy()
    q[:3] = turn.apply(q[:3])
    q[3:7] = np.roll((turn * Rotation.from_quat(np.roll(q[3:7], -1))).as_quat(), 1)
    target = np.roll((turn * Rotation.from_quat(np.roll(LEAN, -1))).as_quat(), 1)
    there = run(person, State.at(person, q), turn.apply(TARGET), target)
    back = turn.inv().apply(there.frame[["body_x", "body_y", "body_z"]].to_numpy().copy())
    assert np.abs(back - here.frame[["body_x", "body_y", "body_z"]].to_numpy()).max() < 1e-7
    assert np.abs(angles(here).to_numpy() - angles(there).to_numpy()).max() < 1e-6


def test_left_and_right_mirror(person, posture):
    here = run(person, posture(person))
    there = run(person, posture(person), orientation=(LEAN[0], -LEAN[1], 0.0, 0.0))
    for joint in person.joint_names:
        side, _, name = joint.partition("_")
        twin = ("right_" if side == "left" else "left_") + name
        sign = 1.0 if name.endswith("pitch") else -1.0
        difference = here.frame[f"angle_{joint}"] - sign * there.frame[f"angle_{twin}"]
        assert difference.abs().max() < 1e-6
    assert np.abs(here.frame["body_y"] + there.frame["body_y"]).max() < 1e-7
    assert np.abs(here.frame["body_z"] - there.frame["body_z"]).max() < 1e-7
