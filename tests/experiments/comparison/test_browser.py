"""The page of a comparison in a real browser."""

import pytest

from experiments.cli import main

pytestmark = pytest.mark.browser


@pytest.mark.usefixtures("tiny")
def test_every_figure_is_drawn_and_nothing_is_loaded(see, tmp_path):
    words = ["--engines", "recursive,statue", "--duration", "0.2", "--quick", "--out", str(tmp_path)]
    assert main(["compare", "thrown-block", *words]) == 0
    seen = see(tmp_path / "compare.html")
    assert (seen.console, seen.requests) == ([], [])
    assert len(seen.charts) >= 9
    assert all(drawn > 0 for _, drawn in seen.charts)
