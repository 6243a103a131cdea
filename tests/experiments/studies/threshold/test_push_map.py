"""The push map: its directions, its symmetry, its figures, its page and its command."""

import math

import numpy as np
import pytest

from biped.model import human
from experiments.catalogue.balance import EXPERIMENT
from experiments.cli.main import main
from experiments.commands.study import parser
from experiments.studies.store.folder import Study
from experiments.studies.threshold.command import plan_of
from experiments.studies.threshold.directions import WORDS, evenly, soles, word_of
from experiments.studies.threshold.findings import read_findings
from experiments.studies.threshold.presets import PRESETS
from experiments.studies.threshold.search import Query
from experiments.visualization.pages import Chart
from experiments.visualization.studies.push_map_figure import limits_of, rings_of
from experiments.visualization.studies.threshold import document, so_far
from experiments.visualization.studies.threshold_text import reached_text
from tests.refusals import refuses


def plan(*argv):
    return plan_of(parser("push-map").parse_args(list(argv)))


@pytest.mark.parametrize("azimuth", evenly(8))
def test_words_say_where_the_push_drives_the_human(azimuth):
    x, y, _ = EXPERIMENT.build({"push.impulse": 1.0, "push.azimuth": math.radians(azimuth)}).disturbances[0].direction
    word = word_of(azimuth)
    assert ("front" in word) == (x < -1e-9)
    assert ("back" in word) == (x > 1e-9)
    assert ("left" in word) == (y < -1e-9)
    assert ("right" in word) == (y > 1e-9)


def test_soles_are_in_front_of_the_ankles_and_on_their_sides():
    model = human()
    left, right = soles(model)
    width = 0.5 * abs(np.diff([model.home_positions[model.body_index(f"{s}_ankle")][1] for s in ("left", "right")])[0])
    for outline, sign in ((left, 1.0), (right, -1.0)):
        forwards, leftwards = outline.distance * np.cos(outline.azimuth), outline.distance * np.sin(outline.azimuth)
        assert sign * leftwards.mean() == pytest.approx(width, abs=0.02)
        assert forwards.max() > -forwards.min() > 0.0
        assert outline.azimuth[0] == outline.azimuth[-1]


def test_each_condition_is_a_direction_at_a_height():
    found = plan("--directions", "4", "--heights", "1.0", "1.2", "--set", "push.duration=0.05")
    assert list(dict.fromkeys(one.labels["height"] for one in found.conditions)) == [1.0, 1.2]
    assert len(found.conditions) == 8
    setup = EXPERIMENT.build(found.trial(Query(5, 0, 0, 7.0)).changes)
    (push,) = [d for d in setup.disturbances if type(d).__name__ == "Push"]
    assert (push.impulse, push.duration) == (7.0, 0.05)
    assert push.point == pytest.approx((0.0, 0.0, 1.2 - EXPERIMENT.values()["initial.body_z"]))
    assert push.direction == pytest.approx((0.0, -1.0, 0.0))
    assert 0.5 <= push.start <= 0.5 + PRESETS["push-map"].delay.width


def test_without_jitter_there_is_no_seed():
    found = plan("--set", "initial.jitter=0")
    assert all("initial.seed" not in one.parameters for one in found.randomizations)


STEPS = ["--controller", "stepping", "--steps"]


@refuses(
    (["--set", "push.azimuth=1"], "leave it out"),
    (["--set", "push.impulse=1"], "leave it out"),
    (["--directions", "2"], "at least 3"),
    (["--heights", "1", "1"], "once"),
    (["--heights", "1", "--set", "push.body=left_thigh"], "trunk"),
    (["--by", "0"], "'by' above zero"),
    (["--steps", "0,any"], "cannot step"),
    ([*STEPS, "0,2"], "give some of 0, 1, any, each once"),
    ([*STEPS, "0,0"], "give some of 0, 1, any, each once"),
    ([*STEPS, "0,1", "--set", "controller.instruction=one-step-only"], "leave one out"),
    ([*STEPS, "0,1", "--counts", "fell"], "leave --counts out"),
    ([*STEPS, "any", "--most-steps", "1"], "leave --most-steps out"),
)
def test_what_makes_no_map_is_refused(argv):
    plan(*argv)


ARGV = ["push-map", "--directions=4", "--from=2", "--to=14", "--by=6", "--tolerance=1.5", "--replicas=3",
        "--set=run.duration=2", "--set=initial.jitter=0.002"]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("maps") / "ours"
    assert main([*ARGV, "--out", str(path)]) == 0
    return path


def test_the_map_is_as_symmetrical_as_the_human(folder):
    """Left and right are mirror images, but for the scatter of replicas: intervals overlap."""
    findings = {f.condition.labels["direction"]: f.estimate.median for f in read_findings(folder).conditions}
    left, right = findings[90.0], findings[270.0]
    assert max(left.low, right.low) <= min(left.high, right.high)
    assert findings[0.0].value > left.high


def test_the_share_that_is_not_monotone_is_one_of_replicas(folder):
    """Whatever the least impulse that is tried, which is 2 N·s here."""
    findings = read_findings(folder)
    (ring,) = rings_of(findings)
    assert list(ring.unsure) == [f.estimate.non_monotone / f.estimate.replicas for f in findings.conditions]
    assert max(ring.unsure) <= 1.0


def test_files_and_page_are_there(folder):
    names = {path.name for path in folder.iterdir()}
    assert {"push-map.csv", "push-map-curves.csv", "push-map-replicas.csv", "push-map.png", "trials.parquet"} <= names
    study = Study.read(folder)
    findings = read_findings(folder)
    (section,) = document(*so_far(study), folder).sections
    charts = [block for block in section.blocks if isinstance(block, Chart)]
    assert [chart.name for chart in charts] == ["push-map", "limits", "proportions"]
    thresholds = section.blocks[len(charts)]
    shares = [row[thresholds.headings.index("median / limit")] for row in thresholds.rows]
    assert shares == [f"{finding.share:.0%}" for finding in findings.conditions]


def test_what_is_told_who_may_take_any_number_of_steps_holds_there_alone():
    found = plan(*STEPS, "1,any", "--directions", "3", "--set", "controller.instruction=step-freely")
    told = [found.trial(Query(k, 0, 0, 20.0)).changes["controller.instruction"] for k in range(6)]
    assert told == ["one-step-only"] * 3 + ["step-freely"] * 3


def test_maps_in_place_with_one_step_and_with_any_are_one_figure_and_have_limits_of_their_own(tmp_path):
    search = ["--from=24", "--to=56", "--by=16", "--tolerance=16", "--directions=4", "--replicas=3", "--step=0.001"]
    assert main(["push-map", *STEPS, "0,1,any", *search, "--confidence=0.5", "--out", str(tmp_path)]) == 0
    findings = read_findings(tmp_path)
    rings = rings_of(findings)
    assert [ring.name for ring in rings] == ["in place", "one step", "any number of steps"]
    medians, limits = ([[get(f) for f in ring.findings] for ring in rings]
                       for get in (lambda f: f.estimate.median.value, lambda f: f.limit.applicable))  # fmt: skip
    front, _, back, _ = np.transpose(medians)
    assert front[0] < front[1] <= front[2]
    assert back[0] < back[1] <= back[2]
    assert np.all(np.subtract(medians[2], medians[0]) > 0.0)
    assert np.all(np.diff(limits, axis=0) > 0.0)
    drawn = [name for _, name, _ in limits_of(rings)]
    assert len(set(drawn)) == len(drawn)
    assert {"limit of the inverted pendulum", "limit with one step", "limit with any number of steps"} <= set(drawn)
    assert reached_text(findings.conditions).startswith("of their limits")


def test_maps_are_compared(folder, tmp_path, capsys):
    other = tmp_path / "stiffer"
    stiffer = "--set=controller.kp_position=70,70,200"
    assert main([*ARGV, stiffer, "--out", str(other), "--compare", str(folder)]) == 0
    assert "stiffer against ours" in capsys.readouterr().out
    assert (other / "push-map-compared.png").stat().st_size > 10_000


def test_a_map_of_other_replicas_is_refused_before_anything_is_run(folder, tmp_path, refusal):
    assert "seeds" in refusal(*ARGV, "--seed=1", "--out", tmp_path / "other", "--compare", folder)
    assert not (tmp_path / "other").exists()


def test_words_are_one_for_each_eighth():
    assert len(set(WORDS)) == 8
