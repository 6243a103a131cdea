import json

import pytest

from controllers.gains import load_gains
from experiments.cli import main
from experiments.studies.counting import shares
from experiments.visualization.studies.toml import as_toml


@pytest.fixture
def run(tmp_path, capsys):
    """Run ``biped tune`` on a configuration: exit status, output, folder."""

    def command(data):
        (tmp_path / "small.toml").write_text(as_toml(data), encoding="utf-8")
        status = main(["tune", str(tmp_path / "small.toml"), "--out", str(tmp_path / "out"), "--workers", "2"])
        captured = capsys.readouterr()
        return status, captured.out + captured.err, tmp_path / "out"

    return command


def test_a_tuning_says_whether_its_winner_is_confirmed_and_draws_it(run, small):
    small["tune"]["candidates"] = 60
    status, text, folder = run(small)
    assert status == 0
    found = json.loads((folder / "summary.json").read_text())
    assert ("Confirmed on" in text) == found["confirmed"] == (folder / "best.toml").exists()
    assert ("NOT confirmed" in text) == (folder / "best-unconfirmed.toml").exists() == (not found["confirmed"])
    assert {"history.png", "slices.png", "importance.png"} <= {file.name for file in folder.iterdir()}
    rows = (folder / "candidates.csv").read_text().splitlines()
    verdicts = ",".join(shares([]))
    assert rows[0] == f"candidate,stiffness,damping,position_error,keeps limits,cost,{verdicts}"
    assert {sum(map(int, row.split(",")[6:])) for row in rows[1:]} == {found["trials_per_candidate"]}
    assert len(rows) == 1 + 1 + 60


def test_a_front_has_the_gains_of_each_member_and_no_winner_unless_weights_say_so(run, small):
    small["tune"] |= {"optimizer": "optuna-nsga2"}
    small["objective"] = [{"metric": "position_error", "fell": 1.0}, {"metric": "peak_torque", "fell": 1e3}]
    status, text, folder = run(small)
    assert status == 0
    assert "There is no winner" in text
    found = json.loads((folder / "summary.json").read_text())
    members = sorted((folder / "front").iterdir())
    assert len(members) == len(found["front"]) > 1
    stiffness = [load_gains(member).kp_position[0] for member in members]
    assert stiffness == [member["point"]["stiffness"] for member in found["front"]]
    assert not list(folder.glob("best*.toml"))
    assert (folder / "front.png").exists()


def test_a_weight_chooses_the_end_of_a_front(run, small):
    small["tune"] |= {"optimizer": "optuna-tpe"}
    small["objective"] = [{"metric": "position_error", "fell": 1.0}, {"metric": "peak_torque", "fell": 1e3}]
    small["choice"] = {"position_error": 1.0, "peak_torque": 0.0}
    _, _, folder = run(small)
    found = json.loads((folder / "summary.json").read_text())
    assert found["winner"] == found["front"][0]


def test_a_mistake_is_told_with_its_line(run, small):
    small["parameter"][1]["sets"] = ["controller.kd_positoin[0]"]
    status, text, _ = run(small)
    assert status == 2
    assert "small.toml, line" in text
    assert "controller.kd_position" in text


def test_the_same_folder_takes_no_other_tuning(run, small):
    run(small)
    small["seed"] += 1
    status, text, _ = run(small)
    assert status == 2
    assert "its seed is 3, not 4" in text
