"""Step sizes from 2 ms down to 50 µs tell one story, and the whole friction search finds one interval."""

import csv

import numpy as np
import pytest

from biped.errors import InputError
from experiments.catalogue.box_drop import FRICTION
from experiments.catalogue.registry import experiment_named
from experiments.cli import main
from experiments.papers.wendlandt_1997.friction_search import FACTS, examine, search

STEPS = (2e-3, 1e-3, 5e-4, 2.5e-4, 1e-4)


@pytest.mark.parametrize(("name", "apart"), [("stand-tilted", 2e-4), ("thrown-block", 1e-3)])
def test_every_step_size_tells_the_same_story(name, apart):
    """The trunk's path at steps from 0.1 to 2 ms, against 0.05 ms: they differ by less than ``apart`` [m]."""
    experiment = experiment_named(name)
    axes = ["body_x", "body_y", "body_z"]
    fine = experiment.run({"run.step": 5e-5}).frame[axes].to_numpy()
    for step in STEPS:
        run = experiment.run({"run.step": step})
        assert run.summary["verdict"] == "recovered"
        assert np.linalg.norm(run.frame[axes].to_numpy() - fine, axis=1).max() < apart


@pytest.mark.slow
def test_one_interval_of_friction_reproduces_every_published_fact():
    ((least, greatest),) = search().intervals
    default = experiment_named("box-drop").build().floor.mu_d
    assert least < default < greatest
    assert greatest - least < 0.02


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
