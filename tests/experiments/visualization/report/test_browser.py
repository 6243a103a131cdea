"""Pages in a real browser: all figures are drawn, nothing goes wrong, and nothing is asked of the network."""

import json

import numpy as np
import pytest
from PIL import Image

from experiments.cli import main
from experiments.studies.config import Config
from experiments.studies.execution.runner import run_trials
from experiments.studies.run import open_study
from experiments.studies.sweep.sweep import sweep_from
from experiments.visualization.figures import style
from experiments.visualization.viewer.chromium import HOW_TO_GET_IT, chromium, chromium_path

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


@pytest.mark.parametrize("name", ["thrown-block", "box-drop", "tumble"])
def test_every_figure_is_drawn_and_nothing_is_loaded(page_of, browser, name):
    seen = browser.see(page_of(name))
    assert seen.console == []
    assert seen.requests == []
    assert len(seen.charts) >= 4
    for chart in seen.charts:
        assert chart["data-drawn"] == "yes", chart["aria-label"]
        assert sum(chart["drawn"].values()) > 0, chart["aria-label"]


@pytest.mark.parametrize("vary", [GRID, SAMPLES], ids=["grid", "samples"])
def test_every_figure_of_a_study_is_drawn(browser, invented, tmp_path, vary):
    data = {"experiment": "thrown-block", "replicas": 3, "set": {"floor.mu_d": 0.3}, "vary": vary}
    plan = sweep_from(Config(data))
    with open_study(plan, tmp_path / "study") as study:
        run_trials(study, plan.trials(), invented(falls_or_settles))
    assert main(["report", str(tmp_path / "study")]) == 0
    seen = browser.see(tmp_path / "study" / "report.html")
    assert seen.requests == []
    assert seen.console == []
    assert len(seen.charts) == 3
    for chart in seen.charts:
        assert chart["data-drawn"] == "yes", chart["aria-label"]
        assert sum(chart["drawn"].values()) > 0, chart["aria-label"]


def test_what_goes_wrong_on_a_page_is_noticed(browser, tmp_path):
    page = tmp_path / "bad.html"
    page.write_text('<img src="https://example.org/a.png"><script>undefinedFunction();</script>', encoding="utf-8")
    seen = browser.see(page)
    assert seen.requests == ["https://example.org/a.png"]
    assert any("undefinedFunction" in line for line in seen.console)


def test_the_page_looks_like_something(page_of, browser):
    with Image.open(browser.photograph(page_of("thrown-block"))) as photograph:  # many megapixels: as bytes
        picture = np.asarray(photograph.convert("RGB"))
    assert 0.02 < np.mean(picture.min(axis=2) < 230) < 0.5
    for color in (style.BLUE, style.RED, style.GREEN):
        wanted = np.array([int(color[k : k + 2], 16) for k in (1, 3, 5)], dtype=np.uint8)
        assert np.sum((picture == wanted).all(axis=2)) > 300, color


ZOOM = """<script>
window.addEventListener("load", () => setTimeout(() => {
  const charts = Array.from(document.querySelectorAll(".chart"));
  const ranges = () => charts.map((chart) => [(chart.layout.meta || {}).axis || "", chart.layout.xaxis.range]);
  const first = charts.find((chart) => (chart.layout.meta || {}).axis === "time");
  Plotly.relayout(first, { "xaxis.range": [0.25, 0.5] }).then(() => setTimeout(() => {
    const note = document.createElement("script");
    note.type = "application/json"; note.id = "ranges"; note.textContent = JSON.stringify(ranges());
    document.body.append(note);
  }, 500));
}, 5000));
</script></body>"""


def test_figures_over_time_zoom_together(page_of, browser):
    page = page_of("thrown-block")
    page.write_text(page.read_text(encoding="utf-8").replace("</body>", ZOOM), encoding="utf-8")
    dom = browser.see(page).dom
    ranges = json.loads(dom.partition('id="ranges">')[2].partition("</script>")[0])
    timed = [found for axis, found in ranges if axis == "time"]
    assert len(timed) >= 5
    assert all(found == [0.25, 0.5] for found in timed)
    others = [found for axis, found in ranges if axis != "time"]
    assert others
    assert all(found != [0.25, 0.5] for found in others)


#: Of each chart: the part of its width that its panels have, and whether a legend lies on one of them.
PANELS = """JSON.stringify(Array.from(document.querySelectorAll(".chart")).map((chart) => {
  const boxes = (name) => Array.from(chart.querySelectorAll(name)).map((one) => one.getBoundingClientRect());
  const over = (a, b) => a.left < b.right - 2 && b.left < a.right - 2 && a.top < b.bottom - 2 && b.top < a.bottom - 2;
  const panels = boxes(".cartesianlayer .gridlayer > g").filter((one) => one.width);
  return [chart._fullLayout._size.w / chart.clientWidth,
          boxes(".legend").some((legend) => panels.some((panel) => over(legend, panel)))];
}))"""


def test_on_a_telephone_panels_have_the_width_of_the_page(page_of):
    if chromium_path() is None:
        pytest.skip(HOW_TO_GET_IT)
    with chromium(page_of("thrown-block").as_uri(), 420, 900) as page:
        # The whole document first: while it is read, none of its charts is there, or some are.
        page.wait_for("location.protocol === 'file:' && document.readyState === 'complete'")
        page.wait_for("Array.from(document.querySelectorAll('.chart')).every((one) => one.dataset.drawn === 'yes')")
        found = json.loads(page.evaluate(PANELS))
        wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= 420
    assert len(found) >= 8
    for part, covered in found:
        assert part > 0.6
        assert not covered
