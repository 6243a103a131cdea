"""``biped live`` on the command line, and its page without a browser."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from controllers.gains import load_gains
from controllers.workspace import WorkspaceGains
from experiments.catalogue.registry import experiment_named
from experiments.visualization.live.loop import Loop
from experiments.visualization.live.page import Page
from experiments.visualization.live.runner import Runner
from experiments.visualization.viewer.serve import serving

ODD = WorkspaceGains(
    kp_position=(1.0 / 3.0, 0.1 + 0.2, 4.087743754149999), kd_orientation=(1e-9, 700.0, 53.04988852666193)
)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nothing"], "unknown experiment"),
        (["balance", "--set", "floor.mu"], "it must be NAME=VALUE"),
        (["balance", "--set", "no.such=1"], "unknown parameter"),
        (["balance", "--gains", "none.toml"], "No such file"),
        (["box-drop", "--gains", "none.toml"], "box-drop has no controller"),
        (["balance", "--port", "99999"], "--port 99999"),
        (["box-drop", "--save-gains", "mine.toml"], "box-drop has no gains"),
        (["balance", "--save-gains", ".."], "it must be the name of a file"),
        ([], "required: EXPERIMENT"),
    ],
)
def test_it_says_what_would_be_right(arguments, says, refusal):
    assert says in refusal("live", *arguments)


@pytest.fixture
def page(tmp_path):
    loop = Loop(experiment_named("balance").build())
    with serving(port=0) as server:
        made = Page(server, loop, "balance: a title", tmp_path / "mine.toml")
        made.runner = Runner(loop, made.show, made.complain)
        yield made


def test_saved_gains_are_those_that_act(page, tmp_path):
    loop = page.runner.loop
    first = loop.gains
    loop.set_gains(ODD)
    for _ in range(2):  # the second time over the first
        page.save_gains(loop)
        assert load_gains(tmp_path / "mine.toml") == ODD
    turned = page._handles["kp_position"][2]
    turned._impl.value = 150.0
    for callback in turned._impl.update_cb:
        callback(SimpleNamespace(client_id=0))
    page.runner.one_frame(0.0)
    assert loop.gains == replace(ODD, kp_position=(*first.kp_position[:2], 150.0))


def test_all_experiments_have_a_page():
    for name in ("thrown-block", "box-drop", "tumble", "stand-tilted"):
        loop = Loop(experiment_named(name).build())
        with serving(port=0) as server:
            page = Page(server, loop, name)
            page.runner = Runner(loop, page.show, page.complain)
            page.runner.run(0.2)
            assert loop.time > 0.0
            assert "Running" in page._text.content
