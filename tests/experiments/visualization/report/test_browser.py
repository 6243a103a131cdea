"""Pages in a real browser: all figures are drawn, without errors and without network requests."""

import numpy as np
import pytest

from experiments.cli import main
from experiments.studies.config import Config
from experiments.studies.execution.runner import run_trials
from experiments.studies.run import open_study
from experiments.studies.sweep.sweep import sweep_from
from experiments.visualization.look import style

pytestmark = pytest.mark.browser


SPEED = {"from": -6.0, "to": -3.0}
GRID = {"block.velocity[0]": SPEED | {"count": 4}, "floor.mu_s": [0.5, 0.7, 0.9]}
SAMPLES = {"sample": {"count": 16, "block.velocity[0]": SPEED, "floor.mu_s": {"from": 0.5, "to": 0.9}}}


def falls_or_settles(trial):
    speed, friction = trial.changes["block.velocity[0]"], trial.changes["floor.mu_s"]
    if -speed > 7.0 * friction:
        return {"verdict": "fell"}
    return {"verdict": "recovered", "settling_time": -speed / friction, "peak_position_error": friction}


@pytest.fixture
def page_of(saved, tmp_path):
    def make(name):
        assert main(["report", str(saved[name]), "--out", str(tmp_path / f"{name}.html")]) == 0
        return tmp_path / f"{name}.html"

    return make


def check(seen, least):
    """All charts are drawn, without errors and without network requests."""
    assert seen.console == []
    assert seen.requests == []
    assert len(seen.charts) >= least
    for label, drawn in seen.charts:
        assert drawn > 0, label


@pytest.mark.parametrize("name", ["thrown-block", "box-drop", "tumble"])
def test_every_figure_of_a_run_is_drawn(page_of, see, name):
    seen = see(page_of(name))
    check(seen, 4)
    picture = np.asarray(seen.picture)
    assert 0.02 < np.mean(picture.min(axis=2) < 230) < 0.5
    for color in (style.BLUE, style.RED, style.GREEN):
        wanted = np.array([int(color[k : k + 2], 16) for k in (1, 3, 5)], dtype=np.uint8)
        assert np.sum((picture == wanted).all(axis=2)) > 100, color


@pytest.mark.parametrize("vary", [GRID, SAMPLES], ids=["grid", "samples"])
def test_every_figure_of_a_study_is_drawn(see, invented, tmp_path, vary):
    data = {"experiment": "thrown-block", "replicas": 3, "set": {"floor.mu_d": 0.3}, "vary": vary}
    plan = sweep_from(Config(data))
    with open_study(plan, tmp_path / "study") as study:
        run_trials(study, plan.trials(), invented(falls_or_settles))
    assert main(["report", str(tmp_path / "study")]) == 0
    check(see(tmp_path / "study" / "report.html"), 3)
