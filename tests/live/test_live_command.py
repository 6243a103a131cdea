"""``biped live`` on the command line, and its page without a browser."""

import pytest

from controllers.gains import load_gains, save_gains
from controllers.workspace import WorkspaceGains
from experiments.cli.main import main
from experiments.live.loop import Loop
from experiments.live.pace import Reading
from experiments.live.page import Page, words
from experiments.live.runner import Runner, Status
from experiments.registry import experiment_named
from experiments.viewer.serve import serving

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
        (["balance", "--measure", "0"], "--measure 0: it must be a number of seconds above zero"),
        (["balance", "--port", "99999"], "--port 99999"),
        ([], "required: EXPERIMENT"),
    ],
)
def test_it_says_what_would_be_right(arguments, says, capsys):
    assert main(["live", *arguments]) == 2
    told = capsys.readouterr().err
    assert says in told
    assert told.count("\n") == 1


def test_it_measures_how_well_it_keeps_up(capsys):
    assert main(["live", "balance", "--measure", "0.5", "--port", "0"]) == 0
    told = capsys.readouterr().out
    assert "real time ×" in told
    assert "idle" in told


@pytest.fixture
def page():
    loop = Loop(experiment_named("balance").build())
    with serving(port=0) as server:
        made = Page(server, loop, "balance: a title")
        made.runner = Runner(loop, made.show, made.complain)
        yield made


def test_saved_gains_are_those_that_act(page, tmp_path):
    page.set_gains(ODD)
    page.runner.one_frame(0.0)
    assert page.runner.loop.gains == ODD
    page.save(str(tmp_path / "mine.toml"))
    assert load_gains(tmp_path / "mine.toml") == ODD


def test_a_file_of_gains_is_what_the_page_starts_with(tmp_path):
    save_gains(ODD, tmp_path / "mine.toml")
    from experiments.cli.settings import changes_of
    from experiments.live.command import parser

    options = parser().parse_args(["balance", "--gains", str(tmp_path / "mine.toml")])
    experiment = experiment_named("balance")
    assert Loop(experiment.build(changes_of(experiment, options))).gains == ODD


def test_gains_that_cannot_be_saved_are_told(page, tmp_path):
    class Client:
        told = ""

        def add_notification(self, title, body, **_):
            self.told += f"{title}: {body}"

    client = Client()
    page.save(str(tmp_path / "no" / "such" / "folder.toml"), client)
    assert "Gains not saved" in client.told
    assert "No such file" in client.told
    page.save("  ", client)
    assert "type a file's name" in client.told


def test_all_experiments_have_a_page():
    for name in ("thrown-block", "box-drop", "tumble", "stand-tilted"):
        loop = Loop(experiment_named(name).build())
        with serving(port=0) as server:
            page = Page(server, loop, name)
            page.runner = Runner(loop, page.show, page.complain)
            page.runner.run(0.2)
            assert loop.time > 0.0


def test_it_tells_how_it_stands():
    standing = Status(12.34, Reading(0.998, 0.95), 0.0, False, None, None)
    assert "Standing" in words(standing)
    assert "12.3 s" in words(standing)
    assert "× 1.00" in words(standing)
    assert "idle 95 %" in words(standing)
    fallen = Status(2.0, None, 0.7, False, 2.0, None)
    assert "Fallen at 2.00 s" in words(fallen)
    assert "0.7 s" in words(fallen)
    assert "Paused" in words(Status(1.0, None, 0.0, True, None, None))
    assert "no solution" in words(Status(1.0, None, 0.0, False, None, "no solution of the step"))
