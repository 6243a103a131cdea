"""The examples run, and say what their text promises."""

import runpy
from pathlib import Path

import pytest

from experiments.cli import main

EXAMPLES = Path(__file__).parents[2] / "examples"

SAYS = {
    "joint_impedance.py": ["h = 0.5 ms: stood", "h = 1.0 ms: stood", "h = 2.0 ms: stood"],
    "own_controller.py": ["stood"],
    "push_the_human.py": ["5 N·s: stood", "40 N·s: fell"],
    "vary_an_experiment.py": ["4.5 m/s: stood", "7.0 m/s: fell"],
}


def test_all_examples_are_tested():
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(SAYS)


@pytest.mark.parametrize("name", SAYS)
def test_example(name, capsys):
    runpy.run_path(str(EXAMPLES / name))
    printed = capsys.readouterr().out
    for words in SAYS[name]:
        assert words in printed


def test_the_example_gains_keep_the_balance(in_tmp, capsys):
    arguments = ["run", "thrown-block", "--gains", str(EXAMPLES / "gains.toml"), "--no-figures", "--out", str(in_tmp)]
    assert main(arguments) == 0
    assert "STOOD" in capsys.readouterr().out
