"""Saved runs to report, and a browser to look at pages with."""

import json
import shutil
import subprocess
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

import pytest

from experiments.catalogue.registry import experiment_named
from experiments.studies.execution.executors import Threads

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
#: Nothing of the browser's own, no network, and a profile that is thrown away.
OPTIONS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND", "--enable-logging=stderr", "--virtual-time-budget=30000",
    "--enable-unsafe-swiftshader",
)  # fmt: skip
#: What a net log says of a request that the browser makes on its own account.
OWN = "not an origin"
#: Said where WebGL is drawn without a graphics card, as here.
SLOW_DRAWING = "GL Driver Message (OpenGL, Performance"
#: Classes of what plotly.js draws: lines, bars and dots; maps are images, and much is drawn on canvases.
MARKS = ("js-line", "point")
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}


@dataclass(frozen=True)
class Seen:
    """What a browser made of a page: its elements, what it said on the console, what the page asked the network for."""

    dom: str
    console: list[str]
    requests: list[str]

    @property
    def charts(self):
        """Of each chart: its attributes, and how many lines, bars, points, images and canvases are drawn in it."""
        reader = _Charts()
        reader.feed(self.dom)
        return reader.charts


class _Charts(HTMLParser):
    def __init__(self):
        super().__init__()
        self.charts, self.depth = [], 0

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        words = (given.get("class") or "").split()
        if self.depth:
            counts = self.charts[-1]["drawn"]
            kind = tag if tag in ("canvas", "image") else next((word for word in words if word in MARKS), None)
            if kind:
                counts[kind] = counts.get(kind, 0) + 1
            self.depth += tag not in VOID
        elif "chart" in words:
            self.charts.append({**given, "drawn": {}})
            self.depth = 1

    def handle_endtag(self, tag):
        if self.depth and tag not in VOID:
            self.depth -= 1


class Browser:
    def __init__(self, folder):
        self.folder = folder

    def _run(self, page, *options):
        with_profile = (*OPTIONS, f"--user-data-dir={self.folder / 'profile'}", *options, page.resolve().as_uri())
        done = subprocess.run([CHROMIUM, *with_profile], capture_output=True, text=True, timeout=120, check=True)
        shutil.rmtree(self.folder / "profile", ignore_errors=True)
        return done

    def see(self, page):
        log = self.folder / "net.json"
        done = self._run(page, f"--log-net-log={log}", "--dump-dom")
        events = json.loads(log.read_text(encoding="utf-8"))["events"]
        asked = [event["params"] for event in events if "initiator" in event.get("params", {})]
        requests = [params["url"] for params in asked if params["initiator"] != OWN]
        console = [line for line in done.stderr.splitlines() if "CONSOLE" in line and SLOW_DRAWING not in line]
        return Seen(done.stdout, console, requests)

    def photograph(self, page, width=1200, height=6000):
        picture = self.folder / "picture.png"
        self._run(page, f"--screenshot={picture}", f"--window-size={width},{height}")
        return picture


@pytest.fixture
def browser(tmp_path):
    if CHROMIUM is None:
        pytest.skip("there is no Chromium here: on Debian, apt-get install chromium")
    folder = tmp_path / "browser"
    folder.mkdir()
    return Browser(folder)


CHANGES = {
    "thrown-block": {"block.velocity": (-4.0, 0.0, 0.2), "run.duration": 1.0, "initial.seed": 3},
    "box-drop": {},
    "tumble": {"run.duration": 0.5},
}


@pytest.fixture(scope="session")
def saved(tmp_path_factory) -> dict[str, Path]:
    """Folders of saved runs by experiment."""
    top = tmp_path_factory.mktemp("runs")
    return {name: experiment_named(name).run(changes).save(top / name) for name, changes in CHANGES.items()}


@pytest.fixture
def invented(monkeypatch):
    """An executor whose results are from a function of a trial, without simulating anything."""

    def make(result_of):
        def run_trial(_experiment, trial, _announce=None):
            return {"reason": "", "failure": "", "message": "", **result_of(trial)}

        monkeypatch.setattr("experiments.studies.execution.runner.run_trial", run_trial)
        return Threads(1)

    return make
