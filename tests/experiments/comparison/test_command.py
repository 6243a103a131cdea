"""``biped compare``: what it writes, also where it is interrupted, and what it says of mistakes."""

import pandas as pd
import pytest

from biped.errors import InputError
from experiments.cli import main
from experiments.comparison import stages
from experiments.engines.engine import VendorDefaults
from experiments.visualization.report.run_source import load_run

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
    assert "creep in stance under 30 N, equal" in " ".join(out.out.split())
    for name in stages.TABLES:
        table = pd.read_csv(tmp_path / f"{name}.csv")
        assert len(table) > 0
        assert len(pd.read_parquet(tmp_path / f"{name}.parquet")) == len(table)
    equal = pd.read_csv(tmp_path / "equal.csv")
    assert equal["engine"].tolist() == ["recursive", "statue"]
    assert equal["step [s]"].tolist() == [1e-3, 1e-3]
    assert (tmp_path / "compare.png").read_bytes().startswith(b"\x89PNG")
    for name in ("recursive", "statue"):
        run = load_run(tmp_path / "runs" / name)
        assert (run.summary["engine"]["name"], run.parameters["block.mass"]) == (name, 2.0)
    page = (tmp_path / "compare.html").read_text(encoding="utf-8")
    assert "thrown-block in 2 engines" in page
    assert "pip install no-such-engine" in page
    assert "it never moves, at a step of 0.001 s" in page
    assert page.count('class="chart"') >= 9
    assert page.count("biped compare thrown-block --engines recursive,statue,absent") == 1


@pytest.mark.parametrize("error", [KeyboardInterrupt(), RuntimeError("the engine is out of order")])
def test_in_a_stage_that_is_half_done_nobody_is_the_best(compare, tmp_path, capsys, monkeypatch, error):
    """Ours converges, the statue would too: with ours alone measured, nobody may be told to be the best, or none."""
    run_at = stages.step_refinement.run_at

    def half(backend, *rest):
        if backend.label == "statue":
            raise error
        return run_at(backend, *rest)

    monkeypatch.setattr(stages.step_refinement, "run_at", half)
    if isinstance(error, KeyboardInterrupt):
        assert compare("--engines", "recursive,statue", "--no-vendor-defaults") == 130
    else:
        with pytest.raises(RuntimeError, match="out of order"):
            compare("--engines", "recursive,statue", "--no-vendor-defaults")
        assert "stopped by an error in the experiment at refined steps" in capsys.readouterr().err
    measures = set(pd.read_csv(tmp_path / "ranking.csv")["measure"])
    assert "completes the run, equal settings" in measures
    assert not any("its own finest step" in measure for measure in measures)
    page = (tmp_path / "compare.html").read_text(encoding="utf-8")
    interrupted = isinstance(error, KeyboardInterrupt)
    stopped = "Interrupted" if interrupted else "Stopped by an error (the engine is out of order)"
    assert f"{stopped}: the experiment at refined steps, work and precision not complete" in page


@pytest.mark.slow
def test_vendor_defaults_that_cannot_be_are_told_and_the_others_go_on(compare, tmp_path, capsys, engines, monkeypatch):
    """Rows that are asked for at equal settings need not fit an engine's own step; that may be impossible itself."""
    kind, start = type(engines["sinker"]), type(engines["sinker"]).start

    def start_if_fast(engine, case):
        if engine.speed == 0.0:
            raise InputError("it must sink")
        return start(engine, case)

    monkeypatch.setattr(kind, "start", start_if_fast)
    monkeypatch.setattr(kind, "vendor_defaults", property(lambda _: VendorDefaults(kind(0.0), 7e-4, "steps of 0.7 ms")))
    every = ("--step", "0.0004", "--set", "run.record_every=0.0004")
    assert compare("--engines", "recursive,statue,sinker", *every) == 0
    assert pd.read_csv(tmp_path / "vendor.csv")["engine"].tolist() == ["recursive", "statue"]
    words = "Sinker cannot simulate the experiment with vendor defaults: "
    assert words in capsys.readouterr().err
    assert words in (tmp_path / "compare.html").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.usefixtures("tiny")
def test_another_model_is_called_by_its_own_name(tmp_path):
    """A box has no trunk; and falls freely without an error."""
    arguments = ["--engines", "recursive,statue", "--duration", "0.02", "--no-vendor-defaults", "--out", str(tmp_path)]
    assert main(["compare", "box-drop", *arguments]) == 0
    page = (tmp_path / "compare.html").read_text(encoding="utf-8")
    assert "trunk" not in page[page.index("Best engines") : page.index("Parameters that differ")]
    ranking = pd.read_csv(tmp_path / "ranking.csv", keep_default_na=False)
    mine = ranking[ranking["measure"].str.startswith("distance from its own finest step")].set_index("engine")
    assert mine.loc["recursive", "best"] == "best"
    assert mine.loc["recursive", "note"] == "below 1e-12"


def test_a_comparison_leaves_no_runs_and_tables_of_the_one_before(compare, tmp_path):
    """But what others put there stays."""
    assert compare("--engines", "statue,recursive") == 0
    mine = tmp_path / "runs" / "mine"
    mine.mkdir()
    (mine / "summary.json").write_text('{"note": "not of a comparison"}', encoding="utf-8")
    assert (tmp_path / "standing" / "statue-vendor").exists()
    assert (tmp_path / "vendor.csv").exists()
    assert compare("--engines", "recursive", "--no-vendor-defaults") == 0
    left = {str(path.parent.relative_to(tmp_path)) for path in tmp_path.glob("*/*/summary.json")}
    assert left == {"runs/recursive", "standing/recursive", "runs/mine"}
    assert not list(tmp_path.glob("vendor.*"))
    assert main(["report", str(tmp_path / "runs" / "recursive")]) == 0


def test_an_engine_that_refuses_is_told_and_the_others_go_on(compare, tmp_path, engines, monkeypatch):
    def refuse(*_):
        raise InputError("Sinker takes no blocks")

    monkeypatch.setattr(type(engines["sinker"]), "start", refuse)
    assert compare("--engines", "statue,sinker", "--no-vendor-defaults") == 0
    page = (tmp_path / "compare.html").read_text(encoding="utf-8")
    assert "Sinker cannot simulate the experiment: Sinker takes no blocks" in page
    assert pd.read_csv(tmp_path / "equal.csv")["engine"].tolist() == ["statue"]
    assert compare("--engines", "sinker", "--no-vendor-defaults") == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["thrown-blok"], "thrown-block"),
        (["thrown-block", "--engines", "bulet"], "engines are"),
        (["thrown-block", "--engines", "absent"], "pip install no-such-engine"),
        (["thrown-block", "--engines", "statue,statue"], "twice"),
        (["thrown-block", "--engines", ""], "names separated by commas"),
        (["thrown-block", "--set", "integrator.name=maximal"], "--engines"),
        (["thrown-block", "--set", "block.mass"], "NAME=VALUE"),
        (["thrown-block", "--step", "-1"], "step"),
        (["thrown-block", "--gains", "nowhere.toml"], "nowhere.toml"),
        (["thrown-block", "--nonsense"], "nonsense"),
    ],
)
def test_mistakes_are_told_in_one_line(arguments, words, refusal, tmp_path):
    assert words in refusal("compare", *arguments, "--out", tmp_path / "out")
