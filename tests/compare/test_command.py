"""``biped compare``: what it writes, also where it is interrupted, and what it says of mistakes."""

import json

import pandas as pd
import pytest

from biped.errors import InputError
from experiments.cli import main
from experiments.compare import stages
from experiments.reporting.run_source import load_run

BRIEF = ["--duration", "0.1", "--quick"]


@pytest.fixture
def compare(tmp_path, tiny):
    assert tiny.flight < 1.0

    def run(*arguments):
        return main(["compare", "thrown-block", *arguments, *BRIEF, "--out", str(tmp_path)])

    return run


def test_everything_is_there_in_the_end(compare, tmp_path, capsys):
    assert compare("--engines", "recursive,statue,absent", "--step", "0.001", "--set", "block.mass=2") == 0
    out = capsys.readouterr()
    assert "left out: Absent is not installed here; to install it: pip install no-such-engine" in out.err
    assert "Creep in stance, equal settings" in out.out
    for name in ("equal", "natural", "creep", "flight", "halving", "convergence", "cost", "precision", "verdicts"):
        table = pd.read_csv(tmp_path / f"{name}.csv")
        assert len(table) > 0
        assert len(pd.read_parquet(tmp_path / f"{name}.parquet")) == len(table)
    equal = pd.read_csv(tmp_path / "equal.csv")
    assert equal["engine"].tolist() == ["recursive", "statue"]
    assert equal["step [s]"].tolist() == [1e-3, 1e-3]
    assert (tmp_path / "compare.png").read_bytes().startswith(b"\x89PNG")
    for name in ("recursive", "statue"):
        run = load_run(tmp_path / "runs" / name)
        assert run.summary["engine"]["name"] == name
        assert run.parameters["block.mass"] == 2.0
    page = (tmp_path / "compare.html").read_text(encoding="utf-8")
    assert "thrown-block in 2 engines" in page
    assert "pip install no-such-engine" in page
    assert "it never moves, at a step of 0.001 s" in page
    charts = page.count('class="chart"')
    assert charts >= 9
    assert page.count("biped compare thrown-block --engines recursive,statue,absent") == 1


def test_saved_runs_can_be_reported(compare, tmp_path):
    assert compare("--engines", "statue", "--no-natural") == 0
    assert not (tmp_path / "natural.csv").exists()
    assert main(["report", str(tmp_path / "runs" / "statue")]) == 0
    summary = json.loads((tmp_path / "runs" / "statue" / "summary.json").read_text(encoding="utf-8"))
    assert summary["engine"]["settings"] == {"speed": 0.0}


def test_an_interruption_keeps_what_was_done(compare, tmp_path, capsys, monkeypatch):
    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(stages, "run_flights", interrupted)
    assert compare("--engines", "recursive,statue", "--no-natural") == 130
    assert "interrupted; what was done is in" in capsys.readouterr().err
    assert len(pd.read_csv(tmp_path / "equal.csv")) == 2
    assert len(pd.read_csv(tmp_path / "creep.csv")) == 2
    assert not (tmp_path / "flight.csv").exists()
    page = (tmp_path / "compare.html").read_text(encoding="utf-8")
    assert "Interrupted: free flight, the experiment at halved steps, cost of a step, work and precision" in page


def test_an_interruption_before_the_first_run_leaves_a_page(compare, tmp_path, monkeypatch):
    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(stages, "run_equal", interrupted)
    assert compare("--engines", "statue") == 130
    assert "Interrupted" in (tmp_path / "compare.html").read_text(encoding="utf-8")
    assert not (tmp_path / "equal.csv").exists()


def test_a_comparison_leaves_no_tables_of_the_one_before(compare, tmp_path):
    assert compare("--engines", "statue") == 0
    assert (tmp_path / "natural.csv").exists()
    assert compare("--engines", "statue", "--no-natural") == 0
    assert not (tmp_path / "natural.csv").exists()
    assert not (tmp_path / "natural.parquet").exists()


def test_an_engine_that_refuses_is_told_and_the_others_go_on(compare, tmp_path, engines, monkeypatch):
    def refuse(*_):
        raise InputError("Sinker takes no blocks")

    monkeypatch.setattr(type(engines["sinker"]), "start", refuse)
    assert compare("--engines", "statue,sinker", "--no-natural") == 0
    page = (tmp_path / "compare.html").read_text(encoding="utf-8")
    assert "Sinker does not take it: Sinker takes no blocks" in page
    assert pd.read_csv(tmp_path / "equal.csv")["engine"].tolist() == ["statue"]
    assert compare("--engines", "sinker", "--no-natural") == 2


@pytest.mark.usefixtures("tiny")
def test_who_falls_is_told_and_wins_no_precision(tmp_path):
    assert (
        main(
            ["compare", "balance", "--engines", "statue,sinker", "--duration", "0.6", "--quick", "--out", str(tmp_path)]
        )
        == 0
    )
    verdicts = pd.read_csv(tmp_path / "verdicts.csv", keep_default_na=False).set_index("subject")
    assert verdicts.loc["Outcome, equal settings", "winners"] == "statue"
    assert "Sinker falls" in verdicts.loc["Outcome, equal settings", "sentence"]
    for subject in ("Energy books in the experiment", "Creep in stance, equal settings"):
        assert verdicts.loc[subject, "winners"] == "statue"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["thrown-blok"], "thrown-block"),
        (["thrown-block", "--engines", "bulet"], "engines are"),
        (["thrown-block", "--engines", "absent"], "pip install no-such-engine"),
        (["thrown-block", "--engines", "statue,statue"], "twice"),
        (["thrown-block", "--engines", ""], "names with commas"),
        (["thrown-block", "--set", "integrator.name=maximal"], "--engines"),
        (["thrown-block", "--set", "block.mass"], "NAME=VALUE"),
        (["thrown-block", "--step", "-1"], "step"),
        (["thrown-block", "--gains", "nowhere.toml"], "nowhere.toml"),
        (["thrown-block", "--nonsense"], "nonsense"),
    ],
)
def test_mistakes_are_told_in_one_line(arguments, words, capsys, tmp_path):
    assert main(["compare", *arguments, "--out", str(tmp_path / "out")]) == 2
    lines = capsys.readouterr().err.strip().splitlines()
    assert words in lines[-1]
    assert len(lines) == 1
