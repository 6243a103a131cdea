import numpy as np
import pandas as pd
import pytest

from experiments.catalogue.box_drop import FRICTION
from experiments.cli import main
from experiments.papers.run import load
from experiments.papers.wendlandt_1997.friction_search import examine, search


def test_other_frictions_disagree_with_the_thesis():
    for friction in (0.1, 0.3, 0.36, 0.43, 0.5, 0.9):
        assert not examine(friction).agrees


def test_the_default_is_in_the_interval_that_agrees():
    found = search(0.39, 0.41, 0.01)
    assert len(found.trials) == 3
    ((begin, end),) = found.intervals
    assert begin < FRICTION < end
    assert np.diff([trial.friction for trial in found.closer]).min() == pytest.approx(1e-3)


def test_where_nothing_agrees_there_is_no_interval():
    assert search(0.6, 0.62).intervals == []


def test_the_item_finds_the_friction_of_the_box_drop(tmp_path):
    assert main(["reproduce", "wendlandt-1997", "friction", "--quick", "--out", str(tmp_path)]) == 0
    (finding,) = load(tmp_path / "friction").findings
    assert finding.agrees
    assert finding.verdict == "ours"
    begin, end = map(float, finding.ours.split(" … "))
    assert begin < FRICTION < end
    rows = pd.read_csv(next((tmp_path / "friction").glob("*.csv")))
    assert rows["friction"].is_monotonic_increasing
    agreeing = rows.loc[rows["all"] == 1, "friction"]
    assert (agreeing.min(), agreeing.max()) == (begin, end)
    assert (tmp_path / "friction" / "search.png").stat().st_size > 10_000
