"""The tunings and analyses that are shown: in examples/, on their pages, in the help."""

import math
import re
import tomllib
from pathlib import Path

import pytest

from controllers.gains import read_gains
from experiments.catalogue.parameters.controller_file import read_controller
from experiments.catalogue.registry import experiment_named
from experiments.commands import sensitivity as sensitivity_command
from experiments.commands import tune as tune_command
from experiments.studies import Trial, run_trial, sensitivity_from, tuning_from
from experiments.studies.config import Config, read_config

from ....conftest import ROOT

READERS = {"tune": tuning_from, "sensitivity": sensitivity_from}


SHIPPED = [(kind, path) for kind in READERS for path in sorted((ROOT / "examples").glob(f"{kind}*.toml"))]


@pytest.mark.parametrize(("kind", "path"), SHIPPED, ids=lambda part: getattr(part, "stem", part))
def test_files_that_are_shipped_make_sense(kind, path):
    assert READERS[kind](read_config(path), path.stem).name == path.stem


@pytest.mark.parametrize("page", ["tune", "sensitivity"])
def test_the_file_on_its_page_makes_sense(page):
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    file = re.search(r"^```toml\n(.*?)^```", text, re.DOTALL | re.MULTILINE)[1]
    READERS[page](Config(tomllib.loads(file)))


@pytest.mark.parametrize("command", [tune_command, sensitivity_command], ids=lambda module: module.__name__)
def test_the_file_in_the_help_makes_sense(command):
    text = command.parser().format_help()
    file = re.search(r"^a file:\n(.*?)^examples:", text, re.DOTALL | re.MULTILINE)[1]
    READERS[command.parser().prog.split()[1]](Config(tomllib.loads(file)))


FILE = Path(__file__).resolve().parents[4] / "examples" / "gains-push.toml"
TUNED = {f"controller.{name}": value for name, value in read_gains(FILE).items()}
#: [N·s] what the thesis's gains withstand, forwards first, then in steps of 45° over the left.
THESIS = (14.3, 6.3, 4.7, 6.3, 10.6, 6.3, 4.7, 6.3)


def push(place, factor, gains, seed=11):
    changes = {"push.impulse": factor * THESIS[place], "push.azimuth": place * math.pi / 4, "initial.seed": seed}
    return run_trial(experiment_named("balance"), Trial(0, changes | gains))


@pytest.mark.parametrize("place", range(8))
def test_a_push_four_tenths_harder_is_withstood_and_was_not(place):
    assert push(place, 1.4, {})["verdict"] == "lost control"
    assert push(place, 1.4, TUNED)["verdict"] == "recovered"


def test_what_the_thesis_withstands_takes_no_more_torque():
    pairs = [(push(place, 0.7, {}), push(place, 0.7, TUNED)) for place in range(8)]
    assert {result["verdict"] for pair in pairs for result in pair} == {"recovered"}
    before, after = ([pair[k] for pair in pairs] for k in (0, 1))
    assert sum(result["rms_torque"] for result in after) < sum(result["rms_torque"] for result in before)
    assert all(tuned["peak_torque"] < 1.001 * thesis["peak_torque"] for thesis, tuned in pairs)
    assert all(result["position_error"] < 0.01 and result["orientation_error"] < 0.01 for result in after)


EXAMPLES = Path(__file__).resolve().parents[4] / "examples"


def test_what_the_tuning_found_are_the_defaults():
    experiment = experiment_named("balance", controller="stepping")
    defaults = experiment.values()
    found = read_controller(EXAMPLES / "gains-stepping.toml", experiment)
    assert {name: defaults[name] for name in found} == found
    tuned = [
        target
        for file in ("tune-stepping.toml", "tune-steps-aside.toml", "tune-steps-back.toml")
        for target in tuning_from(read_config(EXAMPLES / file)).space.targets
    ]
    assert sorted(tuned) == sorted(set(found) - {"controller.trigger"})
