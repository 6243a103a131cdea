import csv

import numpy as np
import pytest

from biped.errors import InputError
from experiments.catalogue.box_drop import FRICTION
from experiments.cli import main
from experiments.papers.wendlandt_1997.friction_search import FACTS, examine, search


def test_other_frictions_disagree_with_the_thesis():
    for friction in (0.1, 0.3, 0.36, 0.43, 0.5, 0.9):
        assert not examine(friction).agrees


def test_the_default_is_in_the_interval_that_agrees():
    found = search(0.39, 0.41, 0.01)
    assert len(found.trials) == 3
    ((begin, end),) = found.intervals
    assert begin < FRICTION < end
    assert np.diff([trial.friction for trial in found.closer]).min() == pytest.approx(1e-3)


def test_the_search_says_when_nothing_agrees(in_tmp, capsys):
    assert main(["search-friction", "--from", "0.6", "--to", "0.62", "--out", "found", "--no-figures"]) == 0
    assert "No coefficient" in capsys.readouterr().out
    assert [path.name for path in (in_tmp / "found").iterdir()] == ["search.csv"]


def test_the_command_prints_saves_and_draws(in_tmp, capsys):
    assert main(["search-friction", "--from", "0.38", "--to", "0.42"]) == 0
    printed = capsys.readouterr().out
    for fact in FACTS:
        assert fact.name in printed
    assert "All published facts hold for μ from 0.39" in printed
    with (in_tmp / "results/search-friction/search.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["friction"]) for row in rows] == sorted(float(row["friction"]) for row in rows)
    assert {row["all"] for row in rows} == {"0", "1"}
    assert (in_tmp / "results/search-friction/search.png").stat().st_size > 10_000


@pytest.mark.parametrize("bounds", [(0.5, 0.4, 0.01), (0.1, 0.2, 0.0), (-0.1, 0.2, 0.1), (float("nan"), 1.0, 0.1)])
def test_an_empty_search_is_an_error(bounds):
    with pytest.raises(InputError, match="friction from"):
        search(*bounds)
