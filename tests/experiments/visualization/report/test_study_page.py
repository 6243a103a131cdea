"""The page of a study: its numbers are those of its trials, for all kinds, finished or not."""

import json
import re
import tomllib
from dataclasses import replace
from itertools import count
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from experiments.catalogue.balancing import THROWN_BLOCK as BLOCK
from experiments.catalogue.parameters.parameter import value_under
from experiments.cli import main
from experiments.studies.config import Config
from experiments.studies.execution.runner import run_trials
from experiments.studies.grid import Grid
from experiments.studies.mean import mean_of
from experiments.studies.proportion import proportion_of
from experiments.studies.run import open_study, plan_of, recall, run_study
from experiments.studies.sensitivity.sensitivity import sensitivity_from
from experiments.studies.store.folder import Study
from experiments.studies.sweep.summary import summary
from experiments.studies.sweep.sweep import sweep_from
from experiments.studies.threshold.threshold import Condition, SweptParameter, Threshold, findings_so_far
from experiments.studies.trial import Trial
from experiments.studies.tuning.tuning import tuning_from
from experiments.visualization.document import print_document, write_document
from experiments.visualization.pages import Chart, Code, Prose, Table, render
from experiments.visualization.panels.panel import Axis, Panel, Points
from experiments.visualization.report import study_figures
from experiments.visualization.report.study_page import study_page
from experiments.visualization.studies.kinds import module_of, planned_trials
from experiments.visualization.studies.toml import as_toml
from experiments.visualization.studies.trials import Trials

NASTY = "<script>alert('a & b')</script>"
SPEEDS = [-6.0, -5.0, -4.0, -3.0]
FRICTIONS = [0.5, 0.7, 0.9]


def speed_and_friction(trial):
    return trial.changes["block.velocity[0]"], trial.changes.get("floor.mu_s", 0.9)


def result_of(trial):
    """Return a fall for a fast block on a slippery floor; the settling time is speed / friction."""
    speed, friction = speed_and_friction(trial)
    fell = -speed > 5.0 * friction
    return {"verdict": "fell" if fell else "recovered", "settling_time": None if fell else -speed / friction}


SWEEP = {
    "experiment": "thrown-block",
    "seed": 2,
    "replicas": 5,
    "set": {"run.duration": 0.5, "floor.mu_d": 0.3},
    "vary": {"block.velocity[0]": SPEEDS, "floor.mu_s": FRICTIONS},
}


@pytest.fixture
def sweep(tmp_path, invented):
    """Return a function that makes the study of a sweep with a number of trials."""

    def make(data=SWEEP, result=result_of, most=None, name="sweep"):
        plan = sweep_from(Config(data))
        with open_study(plan, tmp_path / name) as study:
            run_trials(study, plan.trials()[:most], invented(result))
        return Study.read(tmp_path / name)

    return make


def table(page, caption):
    return next(block for block in page.blocks if isinstance(block, Table) and block.caption == caption)


def texts(page):
    return " ".join(block.text for block in page.blocks if isinstance(block, Prose | Code))


def test_the_document_says_the_same_on_the_terminal_in_files_and_on_the_page(sweep, tmp_path, capsys):
    study = sweep()
    plan, frame = sweep_of(study)
    document = module_of("sweep").document(plan, frame, study.folder)
    (block,) = document.sections[0].blocks
    shares = frame.assign(good=frame["verdict"] == "recovered").groupby(["block.velocity[0]", "floor.mu_s"])["good"]
    for (speed, friction), good in shares:
        row = next(row for row in block.rows if row[0] == f"{speed:g}")
        share = proportion_of(int(good.sum()), 5)
        cell = row[1 + FRICTIONS.index(friction)]
        assert cell == f"{share.value:.0%} ({share.low:.0%} … {share.high:.0%})"
    print_document(document)
    printed = capsys.readouterr().out
    page = study_page(study, "")
    assert all(cell in printed for row in block.rows for cell in row)
    assert block in page.blocks
    assert all(prose in page.lead for prose in document.lead)
    files = write_document(document, tmp_path, draw=True)
    assert [file.name for file in files] == ["summary.csv", "sweep.png"]
    table = pd.read_csv(tmp_path / "summary.csv", dtype={"unit": str})
    pd.testing.assert_frame_equal(table, summary(plan, frame), check_dtype=False, rtol=1e-5)
    write_document(replace(document, files={"summary.csv": None}, drawings={"sweep.png": None}), tmp_path, draw=True)
    assert not any(file.exists() for file in files)


def sweep_of(study):
    return module_of("sweep").so_far(study)


@pytest.mark.parametrize(
    ("most", "verdict", "text"),
    [(None, None, ""), (13, None, "13 of 60 trials"), (0, None, "No trial"), (None, "failed", "")],
)
def test_the_lead_says_how_far_the_study_is(sweep, most, verdict, text):
    failed = {"verdict": "failed", "failure": "InputError", "message": "no"}
    page = study_page(sweep(most=most, result=(lambda _: failed) if verdict else result_of), "")
    bad = [block.text for block in page.lead if isinstance(block, Prose) and block.mood == "bad"]
    assert any(text in one for one in bad) if text else bad == []
    assert (page.charts == ()) == (verdict is not None or most == 0)
    sections = {section.name: section for section in page.sections}
    assert sections["rerun"].blocks
    if verdict:
        assert sections["failures"].verdict == "60 failed"
        row = sections["failures"].blocks[1].rows[3]
        assert row[:3] == ("3", "InputError", "no")
        assert row[4].endswith(" 3")


def test_what_was_varied_and_what_was_not(sweep):
    page = study_page(sweep(), "")
    varied = {row[0]: row[1] for row in table(page, "Varied").rows}
    assert varied == {"block.velocity[0]": "-6; -5; -4; -3", "floor.mu_s": "0.5; 0.7; 0.9"}
    common = {row[0]: row[1] for row in table(page, "Equal in all trials").rows}
    assert common == {"run.duration": "0.5", "floor.mu_d": "0.3", "initial.jitter": "0.01"}


def test_a_map_of_two_parameters_has_each_share_in_its_cell(sweep):
    figure = study_figures(sweep())["recovered"]
    shares = np.array(figure.data[0].z)
    assert shares.shape == (len(FRICTIONS), len(SPEEDS))
    for row, friction in zip(shares, FRICTIONS, strict=True):
        assert row.tolist() == [float(-speed <= 5.0 * friction) for speed in SPEEDS]


def test_a_map_of_a_metric_has_its_median_and_nothing_where_all_fell(sweep):
    figure = study_figures(sweep())["metrics"]
    medians = np.array(figure.data[0].z, dtype=float)
    for row, friction in zip(medians, FRICTIONS, strict=True):
        wanted = [np.nan if -speed > 5.0 * friction else -speed / friction for speed in SPEEDS]
        assert row == pytest.approx(wanted, nan_ok=True)


def test_one_parameter_has_a_curve_with_intervals(sweep):
    study = sweep(SWEEP | {"vary": {"block.velocity[0]": SPEEDS}}, result_of)
    trace = study_figures(study)["recovered"].data[0]
    assert list(trace.x) == SPEEDS
    assert list(trace.y) == [0.0, 0.0, 1.0, 1.0] or list(trace.y) == [0.0, 1.0, 1.0, 1.0]
    for value, up, down in zip(trace.y, trace.error_y.array, trace.error_y.arrayminus, strict=True):
        wanted = proportion_of(round(5 * value), 5)
        assert (value - down, value + up) == pytest.approx((wanted.low, wanted.high))


def test_means_of_replicas_over_one_parameter_have_intervals(sweep):
    """Means are those of the study's table; over two parameters there are none, as replicas are shared."""
    scattered = {"verdict": "recovered"}
    study = sweep(
        SWEEP | {"vary": {"block.velocity[0]": SPEEDS}},
        lambda trial: scattered | {"settling_time": 1.0 + 0.1 * (trial.number**2 % 7)},
    )
    (trace, *_) = (trace for trace in study_figures(study)["metrics"].data if (trace.name or "").startswith("mean"))
    frame, name = study.frame(), Trials(study).shown_metrics[0]
    for speed, value, up, down in zip(trace.x, trace.y, trace.error_y.array, trace.error_y.arrayminus, strict=True):
        wanted = mean_of(frame[frame["block.velocity[0]"] == speed][name])
        assert wanted.low < wanted.high
        assert (value, value - down, value + up) == pytest.approx((wanted.value, wanted.low, wanted.high))
    sampled = study_figures(sweep(SWEEP | {"replicas": 1, "vary": {"sample": SAMPLE}}, name="sampled"))["metrics"]
    assert not any((trace.name or "").startswith("mean") for trace in sampled.data)


SAMPLE = {
    "method": "sobol",
    "count": 32,
    "block.velocity[0]": {"from": -6.0, "to": -3.0},
    "floor.mu_s": {"from": 0.5, "to": 1.0},
}


def test_parallel_coordinates_have_every_trial(sweep):
    study = sweep(SWEEP | {"replicas": 1, "vary": {"sample": SAMPLE}})
    lines = study_figures(study)["parallel"].data[0]
    frame = study.frame()
    by_label = {dimension.label: np.array(dimension["values"]) for dimension in lines.dimensions}
    assert by_label["block velocity x [m/s]"] == pytest.approx(frame["block.velocity[0]"].to_numpy())
    assert np.array_equal(np.array(lines.line.color), (frame["verdict"] == "recovered").astype(float))


def failing(trial):
    if trial.number % 7 == 3:
        return {"verdict": "failed", "failure": "IntegrationError", "message": f"no solution of step {trial.number}"}
    return result_of(trial)


def test_names_and_messages_are_escaped_on_the_page_and_in_figures(tmp_path):
    names = {"reason": "", "failure": "", "message": ""}
    with Study.create(tmp_path, NASTY, "thrown-block", {"note": NASTY}, varied=["integrator.name"]) as study:
        for number, name in enumerate([NASTY, "recursive", "<b>bold</b>"]):
            trial = Trial(number, {"integrator.name": name}, {NASTY: name})
            study.add(trial, {"verdict": "recovered", **names, "settling_time": float(number), "message": NASTY})
    page = study_page(Study.read(tmp_path), NASTY)
    html = render(page)
    assert "<script>alert" not in html
    assert "&lt;script&gt;alert" in html
    items = (Points([0.0], [0.0], NASTY, hover=[NASTY]),)
    chart = Chart(Panel(items, Axis(NASTY, words=("<b>bold</b>",)), title=NASTY), "", "nasty")
    assert "<" not in chart.script
    shown = json.dumps(json.loads(chart.script))
    assert "&lt;script&gt;" in shown
    assert "<script>" not in shown
    assert "<b>bold" not in shown


@pytest.mark.parametrize("data", [SWEEP, SWEEP | {"vary": {"sample": SAMPLE}, "metrics": ["settling_time"]}])
def test_the_file_on_the_page_is_the_same_sweep(data):
    again = sweep_from(Config(tomllib.loads(as_toml(data))))
    wanted = sweep_from(Config(data))
    assert [trial.changes for trial in again.trials()] == [trial.changes for trial in wanted.trials()]


def test_toml_of_all_kinds_of_values():
    data = {
        "a": 1, "b": 2.5, "c": True, "d": 'quoted "text" in ü', "e": [1, 2], "with.dot": [0.1],
        "table": {"x": 1, "sub": {"y": {"from": 1.0}}, "flat": {"z": [1, 2]}},
        "items": [{"name": "one", "set": {"p.q": 1.0}}, {"name": "two", "set": {}}],
    }  # fmt: skip
    assert tomllib.loads(as_toml(data | {"nothing": None})) == data


def mass_below(limit):
    """Return a recovery from a block below this mass, which rises a little from replica to replica."""
    return lambda trial: {
        "verdict": "recovered" if trial.changes["block.mass"] < limit + 0.1 * trial.labels["replica"] else "fell"
    }


@pytest.fixture
def threshold(tmp_path, invented):
    def make(kind, conditions):
        plan = Threshold(
            experiment=BLOCK, swept=SweptParameter("block.mass", label="mass"), grid=Grid(0.5, 4.5, 0.5, 0.125),
            conditions=conditions, replicas=7, kind=kind,
        )  # fmt: skip
        with open_study(plan, tmp_path / kind) as study:
            run_study(plan, study, invented(mass_below(2.0)))
        return Study.read(tmp_path / kind)

    return make


def test_a_push_map_is_a_ring_of_medians(threshold):
    directions = tuple(Condition({"run.duration": 1.0 + k}, {"direction": 45.0 * k}) for k in range(8))
    study = threshold("push-map", directions)
    rows = table(study_page(study, ""), "Thresholds of mass").rows
    assert [float(row[1]) for row in rows] == pytest.approx([2.25] * 8, abs=0.125)  # of 2.0, 2.1, … 2.6 the fourth
    median = next(trace for trace in study_figures(study)["push-map"].data if trace.name == "median")
    assert list(median.theta) == [45.0 * k for k in range(8)] + [0.0]
    assert np.array(median.r) == pytest.approx(2.25, abs=0.125)


def test_the_page_of_thresholds_tells_them_as_they_come(threshold):
    """Conditions appear one by one, once all their replicas were tried on the whole grid; then the findings."""
    whole = threshold(
        "threshold", (Condition({}, {"which": "one"}), Condition({"run.duration": 1.0}, {"which": "two"}))
    )
    found = recall(whole)[1]
    assert findings_so_far(found.plan, whole).frame().equals(found.frame())
    results = whole.results()
    first = [q for q in results if q < found.plan.replicas * found.plan.grid.most_trials]
    part = whole.folder.with_name("part")
    copy_of(whole, part, first[:-1])  # the last halving of one replica is missing
    page = study_page(Study.read(part), "")
    (row,) = table(page, "Thresholds of mass").rows
    assert "one" in row[0]
    assert float(row[1]) == pytest.approx(2.25, abs=0.25)
    none = whole.folder.with_name("none")
    copy_of(whole, none, first[:2])
    page = study_page(Study.read(none), "")
    assert "No findings yet" in texts(page)
    assert any(section.name == "trials" for section in page.sections)


def copy_of(study, folder, numbers):
    """Write the same study with some of its trials only."""
    plan = plan_of(study)
    with open_study(plan, folder) as copy:
        for number, result in study.results(numbers).items():
            copy.add(study.trial(number), result)


def test_a_page_that_is_watched_refreshes_itself_until_the_study_has_ended(tmp_path, invented, monkeypatch):
    plan, pages = sweep_from(Config(SWEEP)), []
    page = tmp_path / "live" / "watched.html"
    study = open_study(plan, tmp_path / "sweep")

    def work(_):
        """Instead of sleeping, add ten trials, and end the study after the last of them."""
        pages.append(page.read_text(encoding="utf-8"))
        run_trials(study, plan.trials()[: 10 * len(pages)], invented(result_of))
        if len(study.finished) == len(plan.trials()):
            study.__exit__(None, None, None)

    monkeypatch.setattr(
        "experiments.visualization.report.write.time", SimpleNamespace(monotonic=count(step=3).__next__, sleep=work)
    )
    with study:
        assert main(["report", str(study.folder), "--watch", "--out", str(page)]) == 0
    assert all('<meta http-equiv="refresh" content="5">' in html for html in pages)
    told = [re.search(r"still running: (\d+) |(No) trial", html)[1] for html in pages]
    told = [int(count or 0) for count in told]
    assert told == sorted(told)
    assert 0 < told[-1] < 60
    final = page.read_text(encoding="utf-8")
    assert 'http-equiv="refresh"' not in final
    assert "still running" not in final


TUNING = {
    "experiment": "thrown-block",
    "seed": 1,
    "tune": {"optimizer": "random", "candidates": 60, "batch": 20, "replicas": 1, "confirm": 6},
    "parameter": [
        {"name": "stiffness", "sets": ["controller.kp_position[0]"], "from": 10.0, "to": 400.0, "scale": "log"}
    ],
    "objective": [{"metric": "position_error", "fell": 1.0}],
}  # fmt: skip
SENSITIVITY = {
    "experiment": "thrown-block", "seed": 1, "sensitivity": {"method": "sobol", "samples": 64}, "parameter": [
    {"name": "mass", "sets": ["block.mass"], "from": 0.5, "to": 2.5},
    {"name": "friction", "sets": ["floor.mu_s"], "from": 0.5, "to": 1.0}, ],
    "metric": [{"name": "position_error", "fell": 1.0, "failed": 1.0}],
}  # fmt: skip


def error_of(trial):
    """Return an error with its minimum at a stiffness of 100."""
    stiffness = value_under("controller.kp_position[0]", trial.changes, BLOCK.parameters)
    luck = 1e-3 * (trial.labels["replica"] % 7)
    return {"verdict": "recovered", "position_error": 0.1 + abs(np.log(stiffness / 100.0)) + luck}


def test_a_tuning_shows_its_winner_and_the_best_so_far(tmp_path, invented):
    tuning = tuning_from(Config(TUNING), "mine")
    with open_study(tuning, tmp_path) as study:
        outcome = run_study(tuning, study, invented(error_of))
    assert outcome.is_confirmed
    study = Study.read(tmp_path)
    page, winner = study_page(study, ""), outcome.winner
    assert "good" in [block.mood for block in page.lead]
    row = next(row for row in page.blocks if isinstance(row, Table) and "baseline" in row.headings).rows[0]
    assert float(row[-1]) == pytest.approx(winner.candidate.point["stiffness"], rel=1e-5)
    best = next(trace for trace in study_figures(study)["history"].data if trace.name == "best so far")
    assert (np.diff(best.y) <= 0.0).all()
    assert best.y[-1] == pytest.approx(winner.score.values["position_error"])
    assert tuning_from(Config(tomllib.loads(as_toml(study.configuration["tuning"]))), "mine").space == tuning.space


def test_a_sensitivity_shows_what_matters_and_only_that(tmp_path, invented):
    analysis = sensitivity_from(Config(SENSITIVITY), "mine")
    with open_study(analysis, tmp_path) as study:
        made = invented(lambda t: {"verdict": "recovered", "position_error": 3.0 * t.changes["block.mass"]})
        run_study(analysis, study, made)
    figures = study_figures(Study.read(tmp_path))
    total = next(trace for trace in figures["indices-0"].data if trace.name == "total")
    assert dict(zip(total.y, total.x, strict=True)) == pytest.approx({"mass": 1.0, "friction": 0.0}, abs=0.1)
    assert planned_trials(Study.read(tmp_path)) == len(study.finished)
