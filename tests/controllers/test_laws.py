"""Compiled laws of users: cached across processes unless edited; they get only copies."""

import os
import secrets
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from biped import Controller, InputError, State, chain, simulate
from biped.kernels.loop.closed_loop import control
from controllers import WorkspaceGains, load_gains, save_gains
from controllers.gains import read_gains

from ..conftest import ROOT, run_python

LAW = """
from typing import NamedTuple
from biped import Controller
from biped.kernels.loop.closed_loop import control
from gain import times


class Pull(NamedTuple):
    torque: float


@control.register(Pull)
def pull(law, measurement, torque, recorded):
    torque[0] = times(law.torque) * {}


class Puller(Controller):
    period = 2e-3

    def law(self, model):
        return Pull(0.5)

    def torques(self, observation):
        raise AssertionError
"""

GAIN = "from kernelcache import kernel\n\n\n@kernel\ndef times(x):\n    return {} * x\n"

RUN = """
import {} as pull
from biped import chain, simulate
from biped.kernels.loop import closed_loop as hold
run = simulate(chain(1), pull.Puller(), duration=0.01, step=1e-3)
(torque,) = set(run.frame["torque_joint_1"].iloc[1:])
print(torque, sum(hold.ask.stats.cache_hits.values()))
"""


def torque_in_a_process(folder, law):
    environment = {"PYTHONPATH": f"{folder}{os.pathsep}{ROOT}", "PYTHONDONTWRITEBYTECODE": "1"}
    done = run_python(RUN.format(law), **environment)
    assert done.stderr == ""
    return done.stdout.split()


def test_an_edited_law_is_compiled_again(tmp_path):
    law = f"pull_{secrets.token_hex(8)}"  # its code is found where the same law was compiled at any time before
    (tmp_path / f"{law}.py").write_text(LAW.format(1.0))
    (tmp_path / "gain.py").write_text(GAIN.format(1.0))
    assert torque_in_a_process(tmp_path, law) == ["0.5", "0"]
    assert torque_in_a_process(tmp_path, law) == ["0.5", "1"]
    (tmp_path / f"{law}.py").write_text(LAW.format(2.0))
    assert torque_in_a_process(tmp_path, law) == ["1.0", "0"]
    (tmp_path / "gain.py").write_text(GAIN.format(3.0))
    assert torque_in_a_process(tmp_path, law) == ["3.0", "0"]
    assert torque_in_a_process(tmp_path, law) == ["3.0", "1"]


class Scribble(NamedTuple):
    junk: float


@control.register(Scribble)
def scribble(law, measurement, torque, recorded):  # noqa: ARG001
    tree, motion, poses, factors = (
        measurement.tree, measurement.motion, measurement.motion.poses, measurement.motion.factors,
    )  # fmt: skip
    for array in (measurement.time, measurement.q, motion.rates, motion.response, motion.nothing):
        array[:] = law.junk
    for array in (tree.mass, tree.gravity, poses.flat, factors.d, factors.epsilon):
        array[:] = law.junk
    for array in (tree.axis, tree.joint_offset, tree.com_offset, tree.inertia, tree.contact_offset, motion.inertia):
        array[:, :] = law.junk
    for array in (motion.velocity, motion.bias, motion.acceleration, factors.u, factors.w, factors.wrench):
        array[:, :] = law.junk
    for array in (tree.parent, tree.kind, tree.first_q, tree.first_v, tree.dofs, tree.contact_body):
        array[:] = 1000
    factors.twist[:, :] = law.junk
    factors.block[:, :, :] = law.junk
    for dof in range(torque.shape[0]):
        torque[dof] = 0.25 if dof > 5 else law.junk


class Constant(Controller):
    period = 2e-3

    def torques(self, observation):
        observation.q[:] = np.nan
        observation.v[:] = np.nan
        return np.full(len(observation.model.joint_names), 0.25)


class Scribbler(Constant):
    def law(self, model):
        return Scribble(np.nan)


@pytest.mark.parametrize("integrator", ["recursive", "explicit-euler"])
def test_a_law_that_writes_over_all_that_it_is_given_changes_torques_only(person, integrator):
    model = person.without_contacts()
    runs = [
        simulate(model, controller, state=State.at(model), duration=0.05, integrator=integrator)
        for controller in (Scribbler(), Constant())
    ]
    assert runs[0].frame.equals(runs[1].frame)
    assert np.isfinite(runs[0].frame.to_numpy()).all()
    assert (runs[0].frame["torque_left_knee_pitch"].iloc[1:] == 0.25).all()


def test_what_a_law_cannot_hold_is_refused():
    class Text(NamedTuple):
        text: str

    class Speaks(Constant):
        def law(self, model):
            return Text("hello")

    with pytest.raises(TypeError, match="an array, a number"):
        simulate(chain(1), Speaks(), duration=0.01, step=1e-3)


EXAMPLE = Path(__file__).parents[2] / "examples" / "gains.toml"


def test_the_round_trip(tmp_path):
    gains = WorkspaceGains((1.0, 2.0, 1 / 3), 4.0, (5e-7, 0.0, 1e9), (7.0, 8.0, 9.0))
    save_gains(gains, tmp_path / "gains.toml")
    assert load_gains(tmp_path / "gains.toml") == gains


def test_the_round_trip_of_a_matrix(tmp_path):
    matrix = ((50.0, 5.0, 1 / 3), (5.0, 50.0, 0.0), (1 / 3, 0.0, 200.0))
    gains = WorkspaceGains(kp_position=matrix)
    save_gains(gains, tmp_path / "gains.toml")
    assert load_gains(tmp_path / "gains.toml") == gains
    assert load_gains(tmp_path / "gains.toml").matrix("kp_position").tolist() == [list(row) for row in matrix]


def test_what_is_left_out_keeps_the_published_value(tmp_path):
    (tmp_path / "gains.toml").write_text("[controller]\nkp_position = 30\n", encoding="utf-8")
    assert read_gains(tmp_path / "gains.toml") == {"kp_position": (30.0, 30.0, 30.0)}
    gains = load_gains(tmp_path / "gains.toml")
    assert gains.kp_position == (30.0, 30.0, 30.0)
    assert gains.kd_position == WorkspaceGains().kd_position


def test_the_example():
    assert load_gains(EXAMPLE).kp_position == (30.0, 30.0, 200.0)


@pytest.mark.parametrize(("text", "message"), [
    ("[controller\n", r"not TOML.*line 1"),
    ("[controller]\nkp_position = \n", r"not TOML.*line 2"),
    ("[controller]\n\nkp_positon = 3\n", r", line 3: unknown gain 'kp_positon': it must be one of kp_position"),
    ("[controler]\nkp_position = 3\n", r", line 1: unknown table or key 'controler'; the only table is \[controller\]"),
    ("kp_position = 3\n", r", line 1: unknown table or key 'kp_position'"),
    ("", r"table \[controller\] is missing"),
    ("controller = 3\n", r"table \[controller\] is missing"),
    ("[controller]\nkp_position = -3\n", r", line 2: gain kp_position = -3: it must be"),
    ("[controller]\nkp_position = [1, 2]\n", r", line 2: gain kp_position"),
    ("[controller]\nkp_position = [[1, 2, 0], [2, 1, 0], [0, 0, 1]]\n",
     r", line 2: gain kp_position.*positive definite"),
    ("[controller]\nkp_position = [[1, 2, 0], [0, 1, 0], [0, 0, 1]]\n", r", line 2: gain kp_position.*symmetric"),
    ("[controller]\nkp_position = nan\n", r", line 2: gain kp_position"),
    ("[controller]\nkp_position = inf\n", r", line 2: gain kp_position"),
    ("[controller]\nkp_position = 'fast'\n", r", line 2: kp_position = 'fast': it must be one number or three"),
    ("[controller]\nkp_position = true\n", r", line 2: kp_position = True"),
    ("[controller]\nkp_position = [1, 2, 'x']\n", r", line 2: kp_position"),
])  # fmt: skip
def test_a_broken_file_is_one_line_with_file_and_line(tmp_path, text, message):
    path = tmp_path / "gains.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message) as caught:
        load_gains(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_text(tmp_path):
    (tmp_path / "gains.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not a text in UTF-8"):
        load_gains(tmp_path / "gains.toml")


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_gains(tmp_path / "gains.toml")
