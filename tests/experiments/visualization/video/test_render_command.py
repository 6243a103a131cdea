"""What ``biped render`` refuses, in one line and before it draws anything."""

import re
import shlex

import pytest

from experiments.cli.main import main
from experiments.commands.render import parser


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["-o", "film.avi"], "must end in .mp4, .gif, .html"),
        (["-o", "film"], "must end in .mp4, .gif, .html"),
        (["-o", "film.mp4", "--size", "big"], "--size big: it must be WIDTHxHEIGHT"),
        (["-o", "film.mp4", "--size", "101x100"], "an MP4 needs even edges"),
        (["-o", "film.html", "--fps", "0"], "--fps 0: it must be a number above zero"),
        (["-o", "film.html", "--fps", "many"], "invalid float value"),
        (["-o", "film.html", "--speed", "-1"], "--speed -1: it must be a number above zero"),
        (["-o", "film.html", "--from", "3"], "--from 3: it must be a time of the runs, which go from 0 to 0.4 s"),
        (["-o", "film.html", "--from", "0.3", "--to", "0.1"], "--from 0.3 --to 0.1: the first must not be after"),
        (["-o", "film.html", "--camera", "moon"], "--camera moon: it must be three-quarter, front"),
        (["-o", "film.html", "--zoom-out", "0"], "--zoom-out 0: it must be from 0.1 to 100"),
        (["-o", "film.gif", "--browser", "/no/such/browser"], "/no/such/browser: there is no such program"),
        (["-o", "film.gif", "--fps", "60"], "--fps 60: a GIF shows 50 at most"),
        (["-o", "film.GIF", "--fps", "60"], "--fps 60: a GIF shows 50 at most"),
        (["-o", "film.html", "--fps", "1e308"], "4e+307 pictures are more than"),
        (["-o", "film.html", "--speed", "1e-310"], "inf pictures are more than"),
        (["-o", "film.html", "--size", "320x240"], "--size 320x240: it is for .mp4 and .gif"),
        (["-o", "film.html", "--browser", "chromium"], "--browser chromium: it is for .mp4 and .gif"),
        (["-o", "film.gif", "--browser", "true", "--size", "4096x4096", "--speed", "0.1"], "has 59 pictures at most"),
        ([], "the following arguments are required: -o/--out"),
    ],
)
def test_it_says_what_would_be_right(folder, tmp_path, monkeypatch, capsys, options, says):
    monkeypatch.chdir(tmp_path)
    assert main(["render", str(folder), *options]) == 2
    told = capsys.readouterr().err
    assert says in told
    assert told.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_folder_without_a_run(tmp_path, capsys):
    assert main(["render", str(tmp_path), "-o", str(tmp_path / "film.html")]) == 2
    assert "no run there" in capsys.readouterr().err


def test_a_folder_that_cannot_be_made(folder, tmp_path, capsys):
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert main(["render", str(folder), "-o", str(tmp_path / "file" / "film.html")]) == 2
    assert "cannot write into the folder" in capsys.readouterr().err


def test_no_browser_is_told_with_how_to_get_one(folder, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["render", str(folder), "-o", str(tmp_path / "film.mp4")]) == 2
    told = capsys.readouterr().err
    assert "apt-get install chromium" in told
    assert told.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_browser_that_does_not_start_is_told(folder, tmp_path, capsys):
    assert main(["render", str(folder), "-o", str(tmp_path / "film.mp4"), "--browser", "false"]) == 2
    assert "Chromium does not start" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_the_examples_of_the_help_are_right():
    lines = [line for line in parser().epilog.splitlines() if line.startswith("  biped render ")]
    assert len(lines) > 4
    for line in lines:
        parser().parse_args(shlex.split(re.split(r"\s{3,}", line.strip())[0])[2:])


def test_ctrl_c_leaves_nothing(folder, tmp_path, monkeypatch, capsys):
    def interrupted(*_):
        yield from ()
        raise KeyboardInterrupt

    monkeypatch.setattr("experiments.visualization.video.write.pictures", interrupted)
    assert main(["render", str(folder), "-o", str(tmp_path / "film.gif"), "--browser", "true"]) == 130
    assert "interrupted" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
