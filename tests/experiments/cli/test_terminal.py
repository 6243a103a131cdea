import io

import pytest
from rich.console import Console

from biped.runs.contact_changes import lasting_changes
from experiments.catalogue.registry import experiment_named
from experiments.cli.terminal import length, print_report


def printed(run, files=()):
    console = Console(file=io.StringIO(), width=140)
    print_report(run, "title", files, console)
    return console.file.getvalue()


def test_a_balancing_run(runs, tmp_path):
    text = printed(runs["thrown-block"], [tmp_path / "run.parquet"])
    for words in (
        "recovered in place", "settling time", "steady-state error", "longest slide", "creep", "Peak torque",
        "knee pitch", "left heel up", "right heel down", "Impacts", "impulse", "no work accounts for",
        "no impulse accounts for", "Newton iterations", "retried", "times real time", str(tmp_path), "run.parquet",
    ):  # fmt: skip
        assert words in text, words


def test_short_changes_are_counted_not_shown(runs):
    edges = runs["thrown-block"].summary["events"]["edges"]
    kept, hidden = lasting_changes(edges)
    assert len(kept) + hidden == len(edges)
    assert ("less than 10 ms not shown" in printed(runs["thrown-block"])) == (hidden > 0)


def test_lasting_changes():
    def edge(time, change, lasted, name="left_heel"):
        return {"time": time, "edge": name, "change": change, "lasted": lasted}

    bounce = [edge(0.0, "down", 0.001), edge(0.001, "up", 0.002), edge(0.003, "down", 0.5), edge(0.503, "up", None)]
    kept, hidden = lasting_changes(bounce)
    assert [(change.time, change.change) for change in kept] == [(0.003, "down"), (0.503, "up")]
    assert hidden == 2
    short = [edge(0.0, "down", 0.5), edge(0.5, "up", 0.003), edge(0.503, "down", None)]
    kept, hidden = lasting_changes(short)
    assert [change.time for change in kept] == [0.0]
    assert hidden == 2
    assert lasting_changes([]) == ([], 0)


def test_a_box(runs):
    text = printed(runs["box-drop"])
    assert "box_3  never down" in text
    assert "ends in sticking" in text
    assert "Peak torque" not in text
    assert "settling" not in text


def test_a_fall():
    run = experiment_named("thrown-block").run({"block.velocity": (-9.0, 0.0, 0.2)})
    text = printed(run)
    assert run.verdict_line in text
    assert "not settled" in text
    assert "steady-state" not in text


@pytest.mark.parametrize(
    ("metres", "text"), [(1.5, "1.5 m"), (0.0123, "12.3 mm"), (2.7e-7, "270 nm"), (4e-6, "4 µm"), (0.0, "0")]
)
def test_lengths(metres, text):
    assert length(metres) == text
