"""A page that plays runs: its content and its requests."""

import base64
import re

import msgspec
import numpy as np
import pytest
import zstandard

from experiments.cli.main import main
from experiments.visualization.viewer.loaded_runs import load_runs


def recording_of(page):
    """Return the page's recording: viser's messages with their times."""
    packed = base64.b64decode(re.search(r'__VISER_EMBED_DATA__="([^"]+)"', page)[1])
    size = int.from_bytes(packed[:8], "little")
    inner = zstandard.ZstdDecompressor().decompress(packed[8:], max_output_size=size)
    length = int.from_bytes(inner[:8], "little")
    return msgspec.msgpack.decode(inner[8 : 8 + length])


@pytest.fixture(scope="module")
def page(folder, tmp_path_factory):
    out = tmp_path_factory.mktemp("pages") / "run.html"
    assert main(["render", str(folder), "-o", str(out), "--fps", "50"]) == 0
    assert [path.name for path in out.parent.iterdir()] == ["run.html"]
    return out.read_text(encoding="utf-8")


def test_it_lasts_as_long_as_the_run(page):
    recording = recording_of(page)
    assert recording["durationSeconds"] == pytest.approx(0.4)
    times = [time for time, _ in recording["messages"]]
    assert times == sorted(times)
    assert times[0] == 0.0
    assert times[-1] == pytest.approx(0.38)


def test_the_trunk_goes_where_the_run_has_it(page, folder):
    film = load_runs([folder])[0].trajectory
    places = {}
    for time, message in recording_of(page)["messages"]:
        if message["type"] == "SetPositionMessage" and message["name"] == "/world/run_0/trunk":
            places[time] = message["position"]
    assert len(places) > 15
    for time, place in places.items():
        np.testing.assert_allclose(place, film.at(time).position[0], atol=1e-6)


def test_it_is_small_and_complete(page):
    """viser's client has 0.8 MB; three seconds at 60 pictures per second add less than half of that."""
    assert len(page.encode()) < 1_500_000
    assert "<title>thrown-block</title>" in page
    assert "centre of pressure" in page
    assert set(re.findall(r"https?://[^\s\"'<>)]+", page)) <= {"http://www.w3.org/2000/svg"}
    assert not re.findall(r'<(?:script|link|img|iframe)[^>]+(?:src|href)="(?!data:)', page)


def test_ghosts_are_in_it(folder, faster, tmp_path):
    out = tmp_path / "both.html"
    assert main(["render", str(folder), str(faster), "-o", str(out), "--fps", "20", "--from", "0.2"]) == 0
    page = out.read_text(encoding="utf-8")
    names = {message.get("name", "") for _, message in recording_of(page)["messages"]}
    assert {"/world/run_0/trunk", "/world/run_1/trunk"} <= names
    assert "faster" in page
    assert recording_of(page)["durationSeconds"] == pytest.approx(0.2)
