"""Films and pages drawn by a browser; pictures are small and few, as there is no graphics card."""

import itertools
import time

import numpy as np
import pytest
from PIL import Image, ImageSequence

from experiments.cli.main import main
from experiments.visualization.video.pictures import pictures
from experiments.visualization.viewer.camera import camera_at
from experiments.visualization.viewer.chromium import chromium, chromium_path
from experiments.visualization.viewer.loaded_runs import extent_of, load_runs
from experiments.visualization.viewer.shapes import SHIRT

from ..hands import BROWSER

pytestmark = BROWSER
SIZE = (160, 120)


def shirt(picture):
    """Return where (height, width) the human's shirt is visible, in any shade."""
    part = np.asarray(picture)[..., :3].astype(float)
    hue = part / np.maximum(part.sum(axis=2, keepdims=True), 1.0)
    own = np.array(SHIRT) / sum(SHIRT)
    return (np.abs(hue - own).max(axis=2) < 0.06) & (part[..., 2] - part[..., 0] > 40.0)


@pytest.mark.slow
def test_an_mp4_shows_the_human_move(folder, tmp_path, decoded):
    out = tmp_path / "run.mp4"
    assert main(["render", str(folder), "-o", str(out), "--fps", "10", "--size", "160x120", "--camera", "side"]) == 0
    about, frames = decoded(out)
    assert (len(frames), about["size"], about["fps"]) == (4, SIZE, 10.0)
    assert about["duration"] == pytest.approx(0.4, abs=0.01)
    for frame in frames:
        rows, columns = np.nonzero(shirt(frame))
        assert len(rows) > 60
        assert 15 < rows.mean() < 70  # the trunk is above the middle, and laterally near it
        assert 55 < columns.mean() < 105
    for before, after in itertools.pairwise(frames):
        moved = np.abs(before.astype(int) - after.astype(int)).max(axis=2) > 30
        assert moved[20:100].sum() > 10


def test_a_gif_of_two_runs_in_slow_motion(folder, faster, tmp_path):
    out = tmp_path / "both.gif"
    command = ["render", str(folder), str(faster), "-o", str(out), "--fps", "10", "--size", "120x90"]
    assert main([*command, "--from", "0.05", "--to", "0.15", "--speed", "0.25"]) == 0
    with Image.open(out) as film:
        assert (film.size, film.n_frames) == ((120, 90), 4)
        frames = [frame.convert("RGB") for frame in ImageSequence.Iterator(film)]
        assert film.info["duration"] == 100
    for frame in frames:  # the ghost tints everything behind it
        part = np.asarray(frame).astype(int)[15:75]
        assert np.sum(part.max(axis=2) - part.min(axis=2) > 60) > 100


@pytest.mark.slow
def test_the_same_instants_are_the_same_pictures(folder):
    runs = load_runs([folder])
    camera = camera_at("side", *extent_of(runs, 0.0), SIZE)
    drawn = []
    for pause in (0.0, 0.7):
        films = []
        for picture in pictures(runs, [0.0, 0.38], camera, SIZE, chromium_path()):
            films.append(picture)
            time.sleep(pause)  # like a slower machine
        drawn.append(np.array(films))
    assert np.array_equal(*drawn)
    assert not np.array_equal(drawn[0][0], drawn[0][1])


def test_a_page_plays_without_a_network(folder, tmp_path):
    out = tmp_path / "run.html"
    assert main(["render", str(folder), "-o", str(out), "--fps", "20", "--speed", "0.1"]) == 0
    with chromium(out.as_uri(), 320, 240) as browser:
        pose = "window.__viserMutable && window.__viserMutable.nodePoseData['/world/run_0/trunk']"
        first = browser.wait_for(f"{pose} && {pose}.position")
        browser.wait_for(f"{pose}.position[0] !== {first[0]!r} || {pose}.position[2] !== {first[2]!r}")
        asked = browser.evaluate("performance.getEntriesByType('resource').map(entry => entry.name)")
        assert [name for name in asked if not name.startswith(("data:", "blob:"))] == []
        assert "thrown-block" in browser.evaluate("document.title")
        assert browser.console == []
