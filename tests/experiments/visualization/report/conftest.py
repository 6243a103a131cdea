"""Saved runs to report, and a browser for pages."""

import io
from pathlib import Path
from typing import NamedTuple

import pytest
from PIL import Image

from experiments.catalogue.registry import experiment_named
from experiments.studies.execution.executors import Threads
from experiments.visualization.viewer.chromium import HOW_TO_GET_IT, chromium, chromium_path

from ..hands import picture

READY = """location.protocol === 'file:' && document.readyState === 'complete' &&
  Array.from(document.querySelectorAll('.chart')).every((one) => one.dataset.drawn === 'yes')"""
CHARTS = """Array.from(document.querySelectorAll('.chart')).map((one) =>
  [one.ariaLabel, one.querySelectorAll('.js-line, .point, canvas, image').length])"""
ASKED = "performance.getEntriesByType('resource').map((one) => one.name)"


class Seen(NamedTuple):
    """Result of a page in a browser."""

    charts: list  # label, and numbers of drawn lines, points, images and canvases
    console: list
    requests: list  # network requests
    picture: Image.Image


@pytest.fixture
def see():
    """Return a function that opens a page."""
    if chromium_path() is None:
        pytest.skip(HOW_TO_GET_IT)

    def look(page, width=1200):
        with chromium(page.resolve().as_uri(), width, 6000) as browser:
            browser.wait_for(READY)
            requests = [name for name in browser.evaluate(ASKED) if not name.startswith(("data:", "blob:"))]
            shown = Image.open(io.BytesIO(picture(browser))).convert("RGB")
            return Seen(browser.evaluate(CHARTS), browser.console, requests, shown)

    return look


CHANGES = {
    "thrown-block": {"block.velocity": (-4.0, 0.0, 0.2), "run.duration": 1.0, "initial.seed": 3},
    "box-drop": {},
    "tumble": {"run.duration": 0.5},
}


@pytest.fixture(scope="session")
def saved(tmp_path_factory) -> dict[str, Path]:
    """Return folders of saved runs by experiment."""
    top = tmp_path_factory.mktemp("runs")
    return {name: experiment_named(name).run(changes).save(top / name) for name, changes in CHANGES.items()}


@pytest.fixture
def invented(monkeypatch):
    """Replace the executor by one that computes results from a function of a trial, without simulation."""

    def make(result_of):
        def run_trial(_experiment, trial, _announce=None):
            return {"reason": "", "failure": "", "message": "", **result_of(trial)}

        monkeypatch.setattr("experiments.studies.execution.runner.run_trial", run_trial)
        return Threads(1)

    return make
