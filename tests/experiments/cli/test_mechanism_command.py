"""``biped mechanism``: files read, motions told and saved, and what is wrong with the words."""

import json
from pathlib import Path

import numpy as np
import pytest

from biped import Run
from biped.model import chain, save_urdf
from experiments.cli import main
from formulations.mechanism import COMPONENTS, load_mechanism

from ...conftest import ROOT

pytestmark = pytest.mark.usefixtures("in_tmp")

LISTING = ROOT / "examples" / "closed-chain.trep"
START = ["K=30deg", "M=-1.34537", "J=-30°", "H=1.21009", "A=-0.523599", "C=1.5385", "E=1.22497"]


def test_the_papers_listing_runs_and_is_saved(capsys):
    arguments = ["--time", "1", "--start", *START, "--figures", "svg", "--record-every", "10", "--json"]
    assert main(["mechanism", str(LISTING), *arguments]) == 0
    folder, reply = Path("results/closed-chain"), json.loads(capsys.readouterr().out)
    assert {file.name for file in folder.iterdir()} == {
        "run.parquet", "summary.json", "state.npz", "model.json", "closed-chain.trep", "mechanism.svg", "energy.svg",
    }  # fmt: skip
    run = Run.load(folder)
    assert (reply["steps"], len(run.frame), set(reply["start"])) == (100, 11, set("JHKMACE"))
    assert run.frame["ledger_residual"].abs().max() < 0.2
    assert reply["constraint_error"] < 1e-9
    assert load_mechanism(folder / "closed-chain.trep").frames == load_mechanism(LISTING).frames


def test_a_robots_file_is_a_mechanism_too():
    save_urdf(chain(3).without_contacts(), "robot.urdf")
    arguments = ["--time", "0.1", "--start", "joint_1=0.5", "--rates", "joint_2=1", "--no-figures", "-q"]
    assert main(["mechanism", "robot.urdf", "--write", "robot.trep", *arguments]) == 0
    assert load_mechanism("robot.trep").coordinates == ("joint_1", "joint_2", "joint_3")
    (out,) = Path("results").iterdir()
    np.testing.assert_allclose(Run.load(out).frame["rate_joint_2"][0], 1.0)


OWN = """
from dataclasses import dataclass
from typing import ClassVar
from formulations.mechanism import CoordinateName, LinearSpring, Potential, CoordinateSpring

@dataclass(frozen=True)
class Stiff(Potential):
    word: ClassVar[str] = "stiff"
    coordinate: CoordinateName

    def add_to(self, builder):
        CoordinateSpring(self.coordinate, 100.0).add_to(builder)
"""


def test_components_of_ones_own(capsys):
    Path("own.py").write_text(OWN)
    Path("m.trep").write_text('(system (tx "x" (mass 1)) (tz (k "u")) (stiff "x"))')
    arguments = ["mechanism", "m.trep", "--start", "x=0.1", "--time", "1", "--step", "0.01", "--no-figures"]
    assert main([*arguments, "-q"]) == 2
    assert "unknown expression 'stiff'" in capsys.readouterr().err
    try:
        assert main([*arguments, "--components", "own.py", "--motion", "u=0.2", "-q"]) == 0
    finally:
        COMPONENTS.pop("stiff", None)
    x = Run.load("results/m").frame["position_x"]
    np.testing.assert_allclose(x.iloc[-1], 0.1 * np.cos(10.0), atol=1e-3)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["none.trep"], "there is no file 'none.trep'"),
        (["bad.trep"], "bad.trep, line 2, column 3: unknown expression 'ty0'"),
        ([str(LISTING), "--start", "J"], "--start J: it must be NAME=X with a number"),
        ([str(LISTING), "--start", "B=1"], "unknown configuration variable 'B'"),
        ([str(LISTING), "--time", "0.015"], "a whole number of steps"),
        ([str(LISTING), "--alpha", "2"], "from 0 to 1"),
        ([str(LISTING), "--motion", "J=1"], "'J' is not a kinematic variable"),
    ],
)
def test_what_is_wrong_is_told(arguments, sentence, refusal):
    Path("bad.trep").write_text("(system\n  (ty0 1))")
    assert sentence in refusal("mechanism", *arguments, "--no-figures")


def test_a_step_without_a_solution_leaves_what_came_before(capsys):
    Path("fast.trep").write_text('(system (rz "a" (tx 1 (mass 1))) (coordinate-spring "a" (0 0 -1e9)))')
    arguments = ["--start", "a=0.1", "--rates", "a=30", "--step", "0.1", "--time", "10", "--no-figures"]
    assert main(["mechanism", "fast.trep", *arguments]) == 1
    assert "fast at t = " in capsys.readouterr().err
    assert 1 <= len(Run.load("results/fast").frame) < 100


def test_the_page_lists_every_component():
    page = (ROOT / "docs" / "mechanism-components.md").read_text()
    ours = [word for word, component in COMPONENTS.items() if component.__module__.startswith("formulations.")]
    assert len(ours) > 10
    assert [word for word in ours if f"({word} " not in page] == []
