"""The tunings and analyses that are shown: in examples/, on their pages, in the help."""

import re
import tomllib
from pathlib import Path

import pytest

from experiments.commands import sensitivity as sensitivity_command
from experiments.commands import tune as tune_command
from experiments.studies.config import Config, read_config
from experiments.studies.sensitivity.sensitivity import sensitivity_from
from experiments.studies.tuning.tuning import tuning_from

ROOT = Path(__file__).resolve().parents[4]
READERS = {"tune": tuning_from, "sensitivity": sensitivity_from}


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("tune*.toml")), ids=lambda path: path.stem)
def test_tunings_that_are_shipped_make_sense(path):
    assert tuning_from(read_config(path), path.stem).name == path.stem


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("sensitivity*.toml")), ids=lambda path: path.stem)
def test_analyses_that_are_shipped_make_sense(path):
    assert sensitivity_from(read_config(path), path.stem).name == path.stem


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
