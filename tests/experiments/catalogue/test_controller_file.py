"""Parameters of any controller in a file: what is written is read, and what cannot be is told."""

import math
from pathlib import Path

import pytest

from biped.errors import InputError
from experiments.catalogue.parameters.controller_file import controller_text, has_gains, read_controller
from experiments.catalogue.registry import experiment_named

POSTURE = Path(__file__).parents[3] / "examples" / "posture_law.py"


@pytest.fixture
def posture():
    return experiment_named("balance", str(POSTURE))


def test_what_is_written_is_read_to_the_last_digit(posture, tmp_path):
    values = {"controller.kp": 1.0 / 3.0, "controller.pitch": (0.1 + 0.2, -1e-300, -2.0 / 3.0)}
    (tmp_path / "law.toml").write_text(controller_text(values))
    assert read_controller(tmp_path / "law.toml", posture) == values


def test_infinity_and_words_are_written_too(tmp_path):
    joints = experiment_named("balance", "joint-pd")
    (tmp_path / "law.toml").write_text(controller_text({"controller.limit": math.inf, "controller.kp": 7.0}))
    assert read_controller(tmp_path / "law.toml", joints) == {"controller.limit": math.inf, "controller.kp": 7.0}


def test_gains_of_the_workspace_controller_keep_their_file(tmp_path):
    balance = experiment_named("balance")
    assert has_gains(balance)
    (tmp_path / "gains.toml").write_text("[controller]\nkp_position = 60\n")
    assert read_controller(tmp_path / "gains.toml", balance) == {"controller.kp_position": (60.0, 60.0, 60.0)}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("kp = 3", r"it must have only a table \[controller\], but has kp"),
        ("", "but has nothing"),
        ("[controller]\nkq = 3", "unknown parameter 'controller.kq'; did you mean 'controller.kp'"),
        ("[controller]\nkp = 'x'", "controller.kp = x: it must be one number"),
        ("[controller]\npitch = [1, 2]", "controller.pitch = 1,2: it must be 3 finite numbers"),
        ("[controller", "not TOML"),
    ],
)
def test_mistakes_are_told_with_the_file(posture, tmp_path, text, told):
    (tmp_path / "law.toml").write_text(text)
    with pytest.raises(InputError, match=rf"law\.toml: .*{told}"):
        read_controller(tmp_path / "law.toml", posture)
