"""The tunings and analyses that are shown: in examples/, on their pages, in the help."""

import re
import tomllib

import pytest

from experiments.commands import sensitivity as sensitivity_command
from experiments.commands import tune as tune_command
from experiments.studies.config import Config, read_config
from experiments.studies.sensitivity.sensitivity import sensitivity_from
from experiments.studies.tuning.tuning import tuning_from

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
