"""Actions on the page: settings, dragging bodies, saving runs."""

from types import SimpleNamespace

import numpy as np
import pytest

from experiments.catalogue.registry import experiment_named
from experiments.visualization.live.loop import Loop
from experiments.visualization.live.page import Page
from experiments.visualization.live.runner import Runner
from experiments.visualization.live.settings import Settings
from experiments.visualization.report.run_source import load_run
from experiments.visualization.viewer.serve import serving


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    settings = Settings(experiment_named("balance"), {})
    loop = Loop(settings.build({}), build=settings.build)
    with serving(port=0) as server:
        page = Page(server, loop, "a title", settings=settings, runs=tmp_path_factory.mktemp("live"))
        page.told = []
        page._notify = lambda *words: page.told.append(words[1])
        page.runner = Runner(loop, page.show, page.complain)
        yield page


@pytest.fixture(autouse=True)
def anew(page):
    page.told.clear()
    page.runner.loop.restart()


def handle(page, label):
    found = page.server.gui._gui_input_handle_from_uuid.values()
    return next(each for each in found if getattr(each, "label", None) == label)


def by_hand(page, label, value=None):
    """Change or press a control as a person does in the browser."""
    control = handle(page, label)
    if value is not None:
        control._impl.value = value
    for callback in control._impl.update_cb:
        callback(SimpleNamespace(client_id=0, client=None, target=control))
    page.runner.one_frame(page.runner.now())


def typed(page, text):
    handle(page, "Parameter")._impl.value = text
    by_hand(page, "Set parameter")


def test_settings_are_turned_and_typed(page):
    loop = page.runner.loop
    by_hand(page, "static friction", 0.8)
    typed(page, "floor.k_n = 1e5")
    assert (loop.setup.floor.mu_s, loop.setup.floor.k_n) == (0.8, 1e5)
    assert page.told == []
    by_hand(page, "load [kg], after a restart", 10.0)
    assert page.told == ["load.mass = 10.0: after the next restart"]
    mass = loop.model.total_mass
    loop.restart()
    assert loop.model.total_mass == mass + 10.0
    page.runner.one_frame(page.runner.now())
    assert [view.model for view in page.scene.models] == [loop.model]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("abc", "'abc': it must be NAME=VALUE, such as floor.mu_s=0.5"),
        ("floor.k_n=stiff", "floor.k_n = stiff: it must be a number"),
        ("floor.k_m=1e5", "unknown parameter 'floor.k_m'; did you mean"),
        ("floor.k_n=-1", "it must be a finite number, zero or above"),
    ],
)
def test_rubbish_is_told_and_changes_nothing(page, text, says):
    before = page.runner.loop.setup.floor
    typed(page, text)
    assert len(page.told) == 1
    assert says in page.told[0]
    assert page.runner.loop.setup.floor == before


def test_a_dragged_body_is_pulled_towards_the_pointer(page):
    loop = page.runner.loop
    page.runner.one_frame(page.runner.now())
    trunk = np.array(page._model.last.position[0])
    place, end = np.add(trunk, (0.0, 0.1, 0.2)), np.add(trunk, (0.0, 0.4, 0.2))
    for phase in ("start", "update"):
        page._drag(0, SimpleNamespace(phase=phase, start_position=tuple(place), end_position=tuple(end)))
        page.runner.one_frame(page.runner.now())
    (pull,) = loop.disturbances[len(loop.setup.disturbances) :]
    assert pull.body == "trunk"
    assert pull.point == pytest.approx((0.0, 0.1, 0.2), abs=0.01)
    assert pull.unit == pytest.approx((0.0, 1.0, 0.0), abs=0.05)
    assert pull.signal(loop.time + 0.1) == pytest.approx(150.0 * 0.3, rel=0.1)
    page._drag(0, SimpleNamespace(phase="end", start_position=tuple(place), end_position=tuple(end)))
    page.runner.one_frame(page.runner.now())
    assert loop.disturbances == tuple(loop.setup.disturbances)


def test_what_was_recorded_is_kept_beside_what_was_kept_before(page):
    loop = page.runner.loop
    loop.advance(100)
    first = page.save_run(loop)
    loop.push((1.0, 0.0, 0.0), 80.0)
    loop.advance(500)
    second = page.save_run(loop)
    assert [folder.name for folder in (first, second)] == ["run-1", "run-2"]
    assert page.told == [f"biped view {first}", f"biped view {second}"]
    assert load_run(first).after is None
    fallen = load_run(second)
    assert fallen.verdict_line.startswith(loop.fall)
    assert fallen.after.frame["body_z"].iloc[-1] < fallen.frame["body_z"].iloc[-1]
