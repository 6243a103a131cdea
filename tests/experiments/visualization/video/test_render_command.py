"""``biped render`` refuses wrong arguments in one line before it draws anything."""

import pytest


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["-o", "film.avi"], "must end in .mp4, .gif, .html"),
        (["-o", "film"], "must end in .mp4, .gif, .html"),
        (["-o", "film.mp4", "--size", "big"], "--size big: it must be WIDTHxHEIGHT"),
        (["-o", "film.mp4", "--size", "101x100"], "101x100: width and height of an MP4 must be even"),
        (["-o", "film.html", "--fps", "0"], "--fps 0: it must be a number above zero"),
        (["-o", "film.html", "--fps", "many"], "invalid float value"),
        (["-o", "film.html", "--speed", "-1"], "--speed -1: it must be a number above zero"),
        (["-o", "film.html", "--from", "3"], "--from 3: it must be a time within the runs, from 0 to 0.4 s"),
        (["-o", "film.html", "--from", "0.3", "--to", "0.1"], "--from 0.3 --to 0.1: the start must not be after"),
        (["-o", "film.html", "--camera", "moon"], "--camera moon: it must be three-quarter, front"),
        (["-o", "film.html", "--zoom-out", "0"], "--zoom-out 0: it must be a factor from 0.1 to 100"),
        (["-o", "film.gif", "--browser", "/no/such/browser"], "/no/such/browser: there is no such program"),
        (["-o", "film.gif", "--fps", "60"], "--fps 60: a GIF can show at most 50"),
        (["-o", "film.GIF", "--fps", "60"], "--fps 60: a GIF can show at most 50"),
        (["-o", "film.html", "--fps", "1e308"], "4e+307 pictures are more than"),
        (["-o", "film.html", "--speed", "1e-310"], "inf pictures are more than"),
        (["-o", "film.html", "--size", "320x240"], "--size 320x240: it is only for .mp4 and .gif"),
        (["-o", "film.html", "--browser", "chromium"], "--browser chromium: it is only for .mp4 and .gif"),
        ([], "the following arguments are required: -o/--out"),
    ],
)
def test_it_says_what_would_be_right(folder, in_tmp, refusal, options, says):
    assert says in refusal("render", folder, *options)
    assert list(in_tmp.iterdir()) == []


def test_where_there_is_no_run_and_where_none_can_be_written(folder, tmp_path, refusal):
    assert "no run in it" in refusal("render", tmp_path, "-o", tmp_path / "film.html")
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert "cannot write into the folder" in refusal("render", folder, "-o", tmp_path / "file" / "film.html")
