"""Names are names: the human under others, down to its root's, does the same, and all that is told of it agrees."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.transform import Rotation

from biped import Fall, Load, Model, Platform, Push, Sensors, Signal, State, human, simulate
from biped.disturbances.sensors import ProprioceptiveChannel
from biped.metrics import JUDGED, measure_run, series
from controllers import JointPD, WorkspaceController

#: Told of a run by its summary and, on their own, by its metrics.
TWICE = (
    "settling_time", "position_error", "orientation_error", "foot_slip", "foot_creep", "ledger_residual",
    "momentum_defect", "angular_momentum_defect", "steps", "newton_mean", "newton_max", "retried_steps",
)  # fmt: skip


def other(name: str) -> str:
    return "z_" + name[::-1]


def renamed(model: Model) -> Model:
    bodies = tuple(
        replace(
            body, name=other(body.name), parent=None if body.parent is None else other(body.parent),
            joint=replace(body.joint, name=other(body.joint.name)),
        )
        for body in model.bodies
    )  # fmt: skip
    points = tuple(replace(p, name=other(p.name), body=other(p.body)) for p in model.contact_points)
    shapes = tuple(replace(shape, body=other(shape.body)) for shape in model.shapes)
    feet = tuple(other(foot) for foot in model.feet)
    return Model("stranger", bodies, points, shapes, model.gravity, feet, facing=model.facing)


PLATFORM = Platform(y=Signal.sine(0.01, 2.0, 0.0, 1.0), pitch=Signal.step(0.01, 0.0, 0.05))
LATE = Sensors(4e-3, proprioceptive=ProprioceptiveChannel(joint_noise=1e-4))
CASES = {
    "workspace": (WorkspaceController(), lambda name: [Push(name("trunk"), (-1.0, 0.5, 0.0), 3.0, 0.01, 0.02)]),
    "feet": (WorkspaceController(reference="feet"), lambda name: [PLATFORM, Load(name("left_shank"), 1.0)]),
    "pd": (JointPD(), lambda name: [LATE, Load(name("trunk"), 3.0, (0.1, 0.0, 0.1))]),
}


@pytest.fixture(scope="module", params=CASES)
def runs(request, posture):
    controller, acting = CASES[request.param]
    return [
        simulate(
            model, controller, state=State.at(model, posture(human()).q), duration=0.06, step=1e-3,
            disturbances=acting(name), fall=Fall(),
        )
        for model, name in ((human(), str), (renamed(human()), other))
    ]  # fmt: skip


def test_a_run_is_the_same_to_the_last_bit(runs):
    ours, theirs = (run.frame.to_numpy(dtype=float) for run in runs)
    assert np.array_equal(ours, theirs, equal_nan=True)
    assert not set(runs[0].state.model.coordinate_names) & set(runs[1].frame.columns)


def in_order(value):
    if isinstance(value, dict):
        return [number for item in value.values() for number in in_order(item)]
    if isinstance(value, list):
        return [number for item in value for number in in_order(item)]
    return [] if isinstance(value, str) else [value]


def test_all_that_is_told_of_it_is_the_same(runs):
    told = []
    for run in runs:
        summary = {
            key: value for key, value in run.summary.items() if key not in ("wall_time", "real_time_factor", "trust")
        }
        summary["events"] = {key: value for key, value in summary["events"].items() if key != "edges"}
        told.append((in_order(summary), in_order(measure_run(run)), series(run)))
    assert told[0][:2] == told[1][:2]
    assert len(told[0][0]) > 30
    assert len(told[0][1]) > 100
    assert np.array_equal(told[0][2].to_numpy(dtype=float), told[1][2].to_numpy(dtype=float), equal_nan=True)


def test_a_run_tells_each_number_once(runs):
    for run in runs:
        assert not {name for name in run.summary if name != "metrics"} & set(run.metrics)
        measured = {name: value for name, value in measure_run(run).items() if name not in JUDGED}
        assert measured.keys() == run.metrics.keys()
        for name, value in measured.items():
            expected = run.metrics[name]
            assert value == (pytest.approx(expected, rel=1e-12) if isinstance(value, float) else expected), name


def test_errors_are_those_of_the_root(runs):
    for run in runs:
        if run.set_point is None:
            assert run.summary["position_error"] is None
            continue
        frame: pd.DataFrame = run.frame
        root = run.state.model.root.joint.name
        errors = frame[[f"{root}_{axis}" for axis in "xyz"]].to_numpy() - run.set_point.position
        if run.set_point.on_floor:
            x = run.set_point.position[0]
            errors[:, :2] -= frame[["platform_x", "platform_y"]].to_numpy()
            turn = 2.0 * np.arctan2(frame["platform_qy"], frame["platform_qw"]).to_numpy()
            errors[:, 0] -= x * (np.cos(turn) - 1.0)
        tail = len(frame) // 10
        assert run.summary["position_error"] == pytest.approx(np.linalg.norm(errors[-tail:], axis=1).mean(), rel=1e-9)


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
