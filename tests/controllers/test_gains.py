from pathlib import Path

import pytest

from biped.errors import InputError
from controllers import WorkspaceGains, load_gains, save_gains
from controllers.gains import read_gains

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
    ("[controller]\n\nkp_positon = 3\n", r", line 3: unknown gain 'kp_positon'; gains are kp_position"),
    ("[controler]\nkp_position = 3\n", r", line 1: unknown table or key 'controler'; the one table is \[controller\]"),
    ("kp_position = 3\n", r", line 1: unknown table or key 'kp_position'"),
    ("", r"there is no table \[controller\]"),
    ("controller = 3\n", r"there is no table \[controller\]"),
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
