"""Files that a law reads belong to its study: the same command does not go on with others."""

import sys
from dataclasses import replace

import numpy as np
import pytest

from biped.errors import InputError
from biped.inputs.modules import files_read_by, reads_of
from experiments.studies import Study, Threads, open_study, run_study
from experiments.studies.store.header import edited
from experiments.studies.sweep.sweep import Sweep

LAW = """\
import ctypes
import json
from pathlib import Path

import numpy as np
from biped import Controller
from controllers import JointPD
from gains_beside import KD

HERE = Path(__file__).parent
AT_IMPORT = json.loads((HERE / "config.json").read_text())


def load_natively(path):
    library = ctypes.CDLL(None)
    library.close(library.open(path.encode(), 0))


class Policy(Controller):
    files = (HERE / "named.bin",)

    def reset(self, observation):
        self.kp = float((HERE / "weights.txt").read_text()) + np.load(HERE / "table.npz")["offset"]
        (HERE / "net.onnx").read_bytes()
        load_natively(str(HERE / "native.pt"))
        with open(HERE / "log.txt", "a") as log:
            log.write("again")

    def torques(self, observation):
        with open(HERE / "late.txt") as late:
            return JointPD(kp=self.kp, kd=KD + float(late.read())).torques(observation)
"""
#: By what it is read.
FILES = ("config.json", "gains_beside.py", "weights.txt", "table.npz", "net.onnx", "native.pt", "late.txt", "named.bin")


@pytest.fixture
def plan(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))  # the law's folder is added to it
    for name, text in {
        "law.py": LAW, "gains_beside.py": "KD = 4.0\n", "config.json": "{}", "weights.txt": "1500", "net.onnx": "net",
        "native.pt": "native", "late.txt": "0.5", "named.bin": "named", "log.txt": "",
    }.items():  # fmt: skip
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
        with pytest.raises(InputError, match=f"{name} is gone|no file .*{name}, which its `files` name"):
            open_study(plan, tmp_path / "study")
        file.write_bytes(kept)
    open_study(plan, tmp_path / "study").close()


def test_a_link_that_leads_elsewhere_and_files_that_trade_places_are_noticed(plan, tmp_path):
    for name in ("weights.txt", "config.json"):
        (tmp_path / name).rename(tmp_path / f"old-{name}")
        (tmp_path / name).symlink_to(tmp_path / f"old-{name}")
    with open_study(plan, tmp_path / "study") as study:
        run_study(plan, study, Threads(1))
    (tmp_path / "new.txt").write_text("1600")
    (tmp_path / "weights.txt").unlink()
    (tmp_path / "weights.txt").symlink_to(tmp_path / "new.txt")
    with pytest.raises(InputError, match=r"weights\.txt has been edited since"):
        open_study(plan, tmp_path / "study")
    header = Study.read(tmp_path / "study").header
    one, other = str(tmp_path / "config.json"), str(tmp_path / "named.bin")
    traded = {**header.sources, one: header.sources[other], other: header.sources[one]}
    assert {one, other} <= set(edited(replace(header, sources=traded), header.sources))


def test_a_file_that_is_edited_meanwhile_ends_the_study(plan, tmp_path):
    with open_study(plan, tmp_path / "study") as study, pytest.raises(InputError, match="weights.txt was edited while"):
        run_study(plan, study, Threads(1), lambda done: edit(tmp_path / "weights.txt") if done else None)


def test_a_file_that_a_law_names_has_to_be_there(plan, tmp_path):
    (tmp_path / "named.bin").unlink()
    with pytest.raises(InputError, match=r"there is no file .*named\.bin, which its `files` name"):
        open_study(plan, tmp_path / "study")


def test_files_are_those_of_whose_code_runs(tmp_path):
    (tmp_path / "mine").write_text("1")
    with reads_of("somebody.law"), open(tmp_path / "mine"), open(sys.modules["json"].__file__):
        pass
    with reads_of("controllers.joint_pd"), open(tmp_path / "mine"):
        pass
    assert list(files_read_by("somebody")) == [str(tmp_path / "mine")]
    assert not files_read_by("controllers")
