"""The page of a run: one file with all data to reproduce the run."""

import re
import shlex
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from biped import Run, State, human, simulate
from biped.metrics import metric_named
from experiments.catalogue.registry import experiment_named
from experiments.cli import main
from experiments.lookup.figure_look import drawn_as, look_of
from experiments.visualization.figures.support import hull
from experiments.visualization.pages import Code, Table
from experiments.visualization.report import load_run, run_figures, write_run_page
from experiments.visualization.report.curves import MOST_ROWS, rows_to_show
from experiments.visualization.report.run_page import run_page
from experiments.visualization.report.run_source import run_source

LARGEST_PAGE = 8_000_000
NASTY = "<script>alert('a & b')</script>"


def page_of(folder):
    return run_page(run_source(folder), "biped report")


def codes(page):
    return [block.text for block in page.blocks if isinstance(block, Code)]


def table(page, caption):
    return next(block for block in page.blocks if isinstance(block, Table) and block.caption == caption)


def same_motion(one: Run, two: Run):
    return np.array_equal(one.frame.to_numpy(dtype=float), two.frame.to_numpy(dtype=float), equal_nan=True)


def test_parameters_that_differ_are_shown_and_a_fall_is_bad(saved, tmp_path):
    changed = table(page_of(saved["thrown-block"]), "Parameters that differ from the defaults")
    assert [row[0] for row in changed.rows] == ["run.duration", "initial.seed", "block.velocity"]
    run = experiment_named("thrown-block").run({"block.velocity": (-9.0, 0.0, 0.2), "run.duration": 0.8})
    run.parameters = run.parameters | {"controller.no_more": 3.0}
    replace(run, frame=run.frame.head(1)).save(tmp_path)
    page = page_of(tmp_path)
    assert page.lead[0].mood == "bad"
    assert page.charts == ()
    assert run_source(tmp_path).experiment is None
    assert ("controller.no_more", "3") in table(page, "Parameters as saved").rows


@pytest.mark.parametrize("name", ["thrown-block", "box-drop", "tumble"])
def test_the_command_on_the_page_runs_it_again(saved, name, tmp_path):
    command = next(text for text in codes(page_of(saved[name])) if text.startswith("biped run"))
    words = shlex.split(command.replace("\\\n", " "))
    assert main([*words[1:], "--no-figures", "--out", str(tmp_path / "again")]) == 0
    assert same_motion(load_run(tmp_path / "again"), load_run(saved[name]))


def test_an_integrator_of_its_own_defaults_is_one_change(tmp_path):
    experiment_named("tumble").run({"integrator.name": "dop853", "run.duration": 0.05}).save(tmp_path)
    assert dict(run_source(tmp_path).changes) == {"integrator.name": "dop853", "run.duration": 0.05}


def test_the_page_is_one_file_of_bounded_size(saved):
    assert main(["report", str(saved["thrown-block"])]) == 0
    path = saved["thrown-block"] / "report.html"
    text = path.read_text(encoding="utf-8")
    assert path.stat().st_size < LARGEST_PAGE
    assert text.count("plotly.js v") == 1
    assert "default-src 'none'" in text
    ours = re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL)
    assert not re.findall(r"(?:src|href)\s*=\s*[\"'](?!#|data:)", ours)
    assert not re.findall(r"url\(|@import|<link|<iframe", ours)


def test_thinned_curves_keep_their_extremes():
    time = np.linspace(0.0, 1.0, 40_001)
    spiky = np.sin(5.0 * time)
    spiky[[7, 12_345, 39_999]] = 9.0, -7.0, 5.0
    curves = [spiky, np.cos(40.0 * time)]
    rows = rows_to_show(curves)
    assert len(rows) <= MOST_ROWS
    assert (np.diff(rows) > 0).all()
    assert {0, 7, 12_345, 39_999, 40_000} <= set(rows.tolist())
    for curve in curves:
        assert np.abs(np.interp(time, time[rows], curve[rows]) - curve).max() < 0.2 + (curve is spiky) * 10.0
        assert curve[rows].max() == curve.max()
        assert curve[rows].min() == curve.min()
    assert np.array_equal(rows_to_show([spiky[:100]]), np.arange(100))


def test_the_hull_is_that_of_scipy():
    points = np.random.default_rng(1).normal(size=(200, 2))
    ring = hull(points)
    assert np.array_equal(ring[0], ring[-1])
    found = {tuple(point) for point in ring}
    assert found == {tuple(points[k]) for k in ConvexHull(points).vertices}
    assert len(hull(points[:0])) == 0
    assert len(hull(np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]))) == 3


def curve(figure, name):
    return next(trace for trace in figure.data if trace.name == name)


def test_at_rest_the_centre_of_pressure_is_below_the_centre_of_mass():
    run = experiment_named("stand-tilted").run()
    figure = run_figures(run)["top-view"]
    last = [np.array([trace.x[-1], trace.y[-1]]) for trace in (curve(figure, "CoM"), curve(figure, "CoP"))]
    assert np.linalg.norm(last[0] - last[1]) < 1e-4
    polygon = curve(figure, "base of support")
    assert min(polygon.x) < last[0][0] < max(polygon.x)
    assert min(polygon.y) < last[0][1] < max(polygon.y)


def test_the_forces_of_the_feet_carry_the_human():
    run = experiment_named("stand-tilted").run()
    forces = run_figures(run)["floor-forces"]
    vertical = [trace for trace in forces.data if trace.yaxis == "y"]
    assert [trace.name for trace in vertical] == ["left foot", "right foot"]
    mass = run.state.model.total_mass
    assert sum(trace.y[-1] for trace in vertical) == pytest.approx(9.81 * mass, rel=1e-3)


def test_states_of_a_contact_point_fill_the_time(saved):
    run = load_run(saved["thrown-block"])
    states = run_figures(run)["contact-modes"]
    total: dict[str, float] = {}
    for trace in states.data:
        for label, length in zip(trace.y, trace.x, strict=True):
            total[label] = total.get(label, 0.0) + length
    assert len(total) == run.state.model.nc
    assert list(total.values()) == pytest.approx([run.summary["simulated_time"]] * len(total))
    sticking = curve(states, "sticking")
    mine = sum(length for label, length in zip(sticking.y, sticking.x, strict=True) if label == "left outer toe")
    rows = (run.frame["contact_left_1_mode"].to_numpy() == 4)[:-1]
    assert mine == pytest.approx(np.diff(run.frame["time"])[rows].sum())


def test_a_run_that_is_not_saved_has_a_page(tmp_path):
    model = human()
    run = simulate(model, state=State.at(model), duration=0.02)
    run.parameters = {NASTY: NASTY, "gain": [1.0, 2.0]}
    text = write_run_page(run, tmp_path / "mine.html").read_text(encoding="utf-8")
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert" in text
    assert "The experiment of this run is not known: the run was saved without it" in text


def test_every_metric_is_on_the_page_with_its_meaning(saved):
    run = load_run(saved["thrown-block"])
    page = page_of(saved["thrown-block"])
    rows = table(page, "Metrics").rows
    assert all(row[3] for row in rows)
    numbers = {name for name, value in run.metrics.items() if value is not None and not metric_named(name).per}
    assert numbers <= {row[0] for row in rows}
    each = {row[0]: row for row in table(page, "Metrics of each joint and foot").rows}
    for joint, peak in run.by_joint("peak_torque").items():
        assert float(each[f"peak_torque_{joint}"][1]) == pytest.approx(peak, rel=1e-3)
        assert each[f"peak_torque_{joint}"][2] == "N·m"


def test_the_centre_of_pressure_rides_on_a_moving_floor():
    changes = {"platform.motion": "sine", "platform.axis": "roll", "platform.size": 0.05, "run.duration": 1.5}
    run = experiment_named("balance").run(changes)
    path = curve(run_figures(run)["top-view"], "CoP")
    weights = np.stack([run.frame[f"contact_{name}_fz"] for name in run.state.model.contact_names], axis=1)
    for shown, axis in ((-np.array(path.y), "x"), (path.x, "y")):  # the human faces −x, and its right is +y
        places = np.stack([run.frame[f"contact_{name}_{axis}"] for name in run.state.model.contact_names], axis=1)
        mean = (weights * places).sum(axis=1)[1:] / weights.sum(axis=1)[1:]  # the first row has no forces yet
        assert np.abs(shown[1:] - mean).max() < 5e-4


def test_its_figures_are_anatomical_unless_world_axes_are_chosen(saved):
    """The human faces −x and has its right at +y: anterior and right are positive for positions, forces and paths."""
    run = load_run(saved["thrown-block"])
    anatomical = run_figures(run)
    with drawn_as(look_of(None, None, "world")):
        world = run_figures(run)

    def values(figures, name, label, axis):
        on = "y" if axis == 1 else f"y{axis}"
        return next(np.array(c.y, float) for c in figures[name].data if c.name == label and (c.yaxis or "y") == on)

    positions = ["Anteroposterior (AP); anterior positive", "Mediolateral (ML); right positive"]
    for name, label, headings in (("support", "CoM", positions), ("floor-forces", "left foot", ["AP GRF", "ML GRF"])):
        titles = [text.text[3:-4] for text in anatomical[name].layout.annotations]
        assert titles[1:3] == headings
        for axis, sign in ((2, -1.0), (3, 1.0)):
            was, now = values(world, name, label, axis), values(anatomical, name, label, axis)
            np.testing.assert_array_equal(now, sign * was)
    was, now = (next(c for c in f["top-view"].data if c.name == "CoM") for f in (world, anatomical))
    np.testing.assert_array_equal(np.array(now.x), np.array(was.x))
    np.testing.assert_array_equal(np.array(now.y), -np.array(was.y))
    assert anatomical["top-view"].layout.xaxis.title.text == "ML [m]"
    assert anatomical["top-view"].layout.yaxis.autorange is True
