"""The studies that are shown: in examples/ and on their pages."""

import re
import tomllib

import pytest

from experiments.studies.config import Config, read_config
from experiments.studies.sensitivity.sensitivity import sensitivity_from
from experiments.studies.threshold.threshold import threshold_from
from experiments.studies.tuning.tuning import tuning_from

from ....conftest import ROOT

READERS = {"tune": tuning_from, "sensitivity": sensitivity_from}


SHIPPED = [(kind, path) for kind in READERS for path in sorted((ROOT / "examples").glob(f"{kind}*.toml"))]


@pytest.mark.parametrize(("kind", "path"), SHIPPED, ids=lambda part: getattr(part, "stem", part))
def test_files_that_are_shipped_make_sense(kind, path):
    assert READERS[kind](read_config(path)).name == path.stem


@pytest.mark.parametrize(("page", "read"), [*READERS.items(), ("push-map", threshold_from)])
def test_the_file_on_its_page_makes_sense(page, read):
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    file = re.search(r"^```toml\n(.*?)^```", text, re.DOTALL | re.MULTILINE)[1]
    read(Config(tomllib.loads(file)))
