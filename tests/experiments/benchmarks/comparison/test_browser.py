"""The page of a comparison in a real browser."""

import importlib.util
from pathlib import Path

import pytest

from experiments.cli import main

pytestmark = pytest.mark.browser


@pytest.fixture
def browser(tmp_path):
    """As the tests of reports have it."""
    file = Path(__file__).parents[2] / "visualization" / "report" / "conftest.py"
    spec = importlib.util.spec_from_file_location("browser_of_the_reports", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if module.CHROMIUM is None:
        pytest.skip("there is no Chromium here: on Debian, apt-get install chromium")
    (tmp_path / "browser").mkdir()
    return module.Browser(tmp_path / "browser")


@pytest.mark.usefixtures("tiny")
def test_every_figure_is_drawn_and_nothing_is_loaded(browser, tmp_path):
    words = ["--engines", "recursive,statue", "--duration", "0.2", "--quick", "--out", str(tmp_path)]
    assert main(["compare", "thrown-block", *words]) == 0
    seen = browser.see(tmp_path / "compare.html")
    assert seen.console == []
    assert seen.requests == []
    assert len(seen.charts) >= 9
    for chart in seen.charts:
        assert chart["data-drawn"] == "yes", chart["aria-label"]
        assert sum(chart["drawn"].values()) > 0, chart["aria-label"]
