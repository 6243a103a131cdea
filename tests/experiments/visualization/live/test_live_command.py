"""``biped live`` on the command line, and its page without a browser."""

import os

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
        (["balance", "--measure", "0"], "--measure 0: it must be a number of seconds above zero"),
        (["balance", "--port", "99999"], "--port 99999"),
        (["box-drop", "--save-gains", "mine.toml"], "box-drop has no gains that could be saved"),
        (["balance", "--save-gains", ".."], "it must be the name of a file"),
        ([], "required: EXPERIMENT"),
    ],
)
def test_it_says_what_would_be_right(arguments, says, refusal):
    assert says in refusal("live", *arguments)


class Client:
    """Of the server: keeps what it is told."""

    def __init__(self):
        self.told = ""

    def add_notification(self, title, body, **_):
        self.told += f"{title}: {body}"


@pytest.fixture
def page(tmp_path):
    loop = Loop(experiment_named("balance").build())
    with serving(port=0) as server:
        made = Page(server, loop, "balance: a title", tmp_path / "mine.toml")
        made.runner = Runner(loop, made.show, made.complain)
        yield made


@pytest.mark.parametrize("name", ["mine.toml", "other.toml"])
def test_saved_gains_are_those_that_act(page, tmp_path, name):
    page.set_gains(ODD)
    page.runner.one_frame(0.0)
    assert page.runner.loop.gains == ODD
    for _ in range(2):  # the second time in place of the first
        client = Client()
        page.save(name, client)
        assert client.told.startswith("Gains saved")
        assert load_gains(tmp_path / name) == ODD


@pytest.mark.parametrize(
    "name",
    ["../up.toml", "/tmp/up.toml", "a/b.toml", "a\\b.toml", "C:up.toml", "..toml", ".toml", "up.txt", ".bashrc",
     "a\0.toml", "", "  ", "x" * 400 + ".toml", "\ud800.toml", "notes.toml", "link.toml", "lost.toml", "pipe.toml",
     "folder.toml"],
)  # fmt: skip
def test_a_page_writes_nothing_but_gains_beside_its_file(page, tmp_path, name):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "secret").write_text("[tool]\n", encoding="utf-8")
    (tmp_path / "notes.toml").write_text("[tool]\nx = 1\n", encoding="utf-8")
    (tmp_path / "link.toml").symlink_to(elsewhere / "secret")
    (tmp_path / "lost.toml").symlink_to(elsewhere / "new")
    (tmp_path / "folder.toml").mkdir()
    os.mkfifo(tmp_path / "pipe.toml")

    def there():
        return {path: path.read_bytes() if path.is_file() else b"" for path in tmp_path.parent.rglob("*")}

    before, client = there(), Client()
    page.save(name, client)
    assert client.told.startswith("Gains not saved")
    assert there() == before


def test_all_experiments_have_a_page():
    for name in ("thrown-block", "box-drop", "tumble", "stand-tilted"):
        loop = Loop(experiment_named(name).build())
        with serving(port=0) as server:
            page = Page(server, loop, name)
            page.runner = Runner(loop, page.show, page.complain)
            page.runner.run(0.2)
            assert loop.time > 0.0
            assert ("Standing" in page._text.content) == (name in ("thrown-block", "stand-tilted"))
