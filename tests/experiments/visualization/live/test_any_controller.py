"""Any controller, live: parameters change while it acts, and its errors end the run, not the page."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from experiments.catalogue.registry import experiment_named
from experiments.visualization.live.loop import Loop
from experiments.visualization.live.page import Page
from experiments.visualization.live.runner import Runner
from experiments.visualization.viewer.serve import serving

POSTURE = Path(__file__).parents[4] / "examples" / "posture_law.py"
FICKLE = """\
from dataclasses import dataclass
from typing import Literal
from biped import Controller

@dataclass(frozen=True)
class Fickle(Controller):
    mood: Literal["calm", "cross"] = "calm"

    def torques(self, observation):
        if self.mood == "cross":
            raise RuntimeError("not today")
        return [0.0] * len(observation.model.joint_names)
"""


@pytest.fixture
def open_page(tmp_path):
    def made(loop, server):
        page = Page(server, loop, "a title", tmp_path / "mine.toml")
        page.runner = Runner(loop, page.show, page.complain)
        return page

    with serving(port=0) as server:
        yield lambda controller: made(Loop(experiment_named("balance", str(controller)).build()), server)


def turn(page, name, place, value):
    """Change a parameter as a person does in the browser."""
    handle = page._handles[name][place]
    handle._impl.value = value
    for callback in handle._impl.update_cb:
        callback(SimpleNamespace(client_id=0))
    page.runner.one_frame(0.02)


def test_each_number_has_a_slider_that_turns_it_and_nothing_else(open_page):
    page = open_page(POSTURE)
    loop = page.runner.loop
    first = loop.controller
    assert {name: len(handles) for name, handles in page._handles.items()} == {
        "kp": 1, "kd": 1, "ankles": 1, "pitch": 3,
    }  # fmt: skip
    assert (page._handles["kp"][0].min, page._handles["kp"][0].max) == (0.0, 6000.0)
    turn(page, "kp", 0, 2500.0)
    turn(page, "pitch", 1, -1.0)
    assert loop.controller.kp == 2500.0
    assert loop.controller.pitch == pytest.approx((first.pitch[0], -1.0, first.pitch[2]))
    assert (loop.controller.kd, loop.controller.period) == (first.kd, first.period)
    assert loop.error is None


def test_an_error_of_a_law_ends_the_run_and_not_the_page(open_page, tmp_path):
    (tmp_path / "fickle.py").write_text(FICKLE)
    page = open_page(tmp_path / "fickle.py")
    loop = page.runner.loop
    assert loop.advance(2) == 2
    turn(page, "mood", 0, "cross")
    assert loop.advance(2) == 0
    assert loop.error == "Fickle: RuntimeError: not today"
    loop.restart()
    turn(page, "mood", 0, "calm")
    loop.restart()
    assert loop.advance(2) == 2
