"""Files that a law names, and modules beside it, belong to its study: the same command does not go on with others."""

import sys

import numpy as np
import pytest

from biped.errors import InputError
from experiments.studies import Study, Threads, open_study, run_study
from experiments.studies.sweep.sweep import Sweep

LAW = """\
from pathlib import Path

import numpy as np
from biped import Controller
from controllers import JointPD
from gains_beside import KD

HERE = Path(__file__).parent


class Policy(Controller):
    files = (HERE / "weights.txt", HERE / "table.npz")

    def reset(self, observation):
        self.kp = float((HERE / "weights.txt").read_text()) + np.load(HERE / "table.npz")["offset"]

    def torques(self, observation):
        return JointPD(kp=self.kp, kd=KD).torques(observation)
"""
FILES = ("gains_beside.py", "weights.txt", "table.npz")


@pytest.fixture
def plan(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))  # the law's folder is added to it
    for name, text in {"law.py": LAW, "gains_beside.py": "KD = 4.0\n", "weights.txt": "1500"}.items():
        (tmp_path / name).write_text(text)
    np.savez(tmp_path / "table.npz", offset=1.0)
    data = {"experiment": "balance", "set": {"run.duration": 0.02}, "vary": {"floor.mu_s": [0.6, 0.8]}}
    yield Sweep.from_configuration({**data, "controller": str(tmp_path / "law.py")})
    sys.modules.pop("gains_beside", None)


def edit(file):
    file.write_bytes(file.read_bytes() + b"\n")


@pytest.mark.parametrize("executor", [None, Threads(1)], ids=["processes", "here"])
def test_a_study_does_not_go_on_with_other_files_of_its_law(plan, tmp_path, executor):
    with open_study(plan, tmp_path / "study") as study:
        run_study(plan, study, executor)
    sources = Study.read(tmp_path / "study").header.sources
    assert set(sources) == {f"{tmp_path}/law.py:Policy", *(str(tmp_path / name) for name in FILES)}
    for name in FILES:
        file = tmp_path / name
        kept = file.read_bytes()
        edit(file)
        with pytest.raises(InputError, match=f"{name} has been edited since"):
            open_study(plan, tmp_path / "study")
        file.unlink()
        with pytest.raises(InputError, match=f"{name} no longer exists|the file .*{name} in its attribute `files`"):
            open_study(plan, tmp_path / "study")
        file.write_bytes(kept)
    open_study(plan, tmp_path / "study").close()


def test_a_file_that_is_edited_meanwhile_ends_the_study(plan, tmp_path):
    with open_study(plan, tmp_path / "study") as study, pytest.raises(InputError, match="weights.txt was edited since"):
        run_study(plan, study, Threads(1), lambda done: edit(tmp_path / "weights.txt") if done else None)


def test_a_file_that_a_law_names_has_to_be_there(plan, tmp_path):
    (tmp_path / "weights.txt").unlink()
    with pytest.raises(InputError, match=r"the file .*weights\.txt in its attribute `files` does not exist"):
        open_study(plan, tmp_path / "study")
