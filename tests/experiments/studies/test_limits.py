"""Limits of what an experiment pushes, in the command, and in what studies of thresholds find."""

import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from biped.capturability import Footholds, NoLimitError, Steps
from biped.disturbances import Load, Push
from biped.metrics import steps
from experiments.cli.main import main
from experiments.lookup.figure_look import Look, drawn_as
from experiments.studies import Condition, Grid, SweptParameter, Threshold
from experiments.studies.default_steps import LENGTH, REACTION, TIME
from experiments.studies.limits import (
    IMPULSE,
    STANDING_LIMITS,
    footholds_of,
    limit_table,
    limit_under,
    push_of,
    push_under,
)
from experiments.studies.threshold.findings import Finding, Findings
from experiments.visualization.panels.panel import Area, Rule
from experiments.visualization.studies.push_map_figure import Ring, limits_of, map_panel, radius_of
from experiments.visualization.studies.threshold_figure import MOST_CURVES, draw_findings, findings_panel
from experiments.visualization.studies.threshold_text import limit_texts
from tests.refusals import refuses


def found(plan, threshold):
    """What a study finds whose replicas all have one threshold between two values of its grid."""
    outcomes = [{value: value <= threshold for value in plan.grid.values} for _ in range(plan.replicas)]
    words = [{value: "recovered" if won else "fell" for value, won in one.items()} for one in outcomes]
    return Findings(plan, tuple(Finding(one, plan, outcomes, words) for one in plan.conditions))


def plan_of(balance, *conditions, swept="push.impulse", **changes):
    return Threshold(balance, SweptParameter(swept), Grid(5.0, 40.0, 5.0, 1.0), conditions, changes, replicas=7)


def test_a_push_along_an_azimuth_has_that_azimuth_and_the_form_of_the_push(balance):
    push = push_under(balance, {"push.azimuth": 2.0, "push.duration": 0.2, "push.start": 0.7, "sensors.delay": 0.05})
    assert push.azimuth == pytest.approx(2.0)
    assert push.shape.begins == 0.0
    assert push.shape.ends == pytest.approx(0.2)
    assert float(push.shape(1.0)) == pytest.approx(1.0)
    assert push.delay == 0.05
    assert push.friction == balance.build().floor.mu_s


def test_what_else_moves_it_has_no_limit(balance):
    scene = balance.build({IMPULSE: 3.0})
    push = next(one for one in scene.disturbances if isinstance(one, Push))
    for disturbances, told in (((), "none"), ((push, push), "push, push"), ((push, Load("trunk", 5.0)), "push, load")):
        with pytest.raises(NoLimitError, match=told):
            push_of(replace(scene, disturbances=disturbances))


def test_findings_tell_the_limit_and_the_share_of_it(balance):
    plan = plan_of(balance, Condition({"push.azimuth": 0.0}), Condition({"push.azimuth": math.pi}))
    table = found(plan, 20.0).frame()
    expected = [push_under(balance, {"push.azimuth": azimuth}).limit for azimuth in (0.0, math.pi)]
    assert list(table["limit"]) == [one.pendulum for one in expected]
    assert list(table["limit_hips"]) == [one.hips for one in expected]
    assert list(table["share"] * table["limit"]) == pytest.approx([20.0, 20.0])


def test_other_thresholds_have_no_limit(balance):
    finding = found(plan_of(balance, Condition(), swept="push.duration", **{"push.impulse": 3.0}), 20.0).conditions[0]
    assert finding.limit is None
    assert limit_texts(finding) == ["–", "–"]
    moved = {"platform.motion": "step"}
    assert found(plan_of(balance, Condition(moved)), 20.0).conditions[0].limit is None


@pytest.mark.parametrize(("axis", "row"), [("x", 0), ("y", 3)])
def test_a_floor_that_is_displaced_has_the_limit_of_the_command(balance, axis, row):
    """Positive is backwards and to the right, which drives the human forwards and to the left, late as it senses it."""
    table = limit_table(push_under(balance, {"sensors.delay": 0.02}), 4, rise=0.2)
    moved = {"platform.motion": "step", "platform.rise": 0.2, "platform.axis": axis, "sensors.delay": 0.02}
    finding = found(plan_of(balance, Condition(moved), swept="platform.size"), 20.0).conditions[0]
    assert finding.limit.columns == {"limit": pytest.approx(table["platform"][row], rel=1e-6)}


@refuses(
    ({"platform.motion": "step", "platform.axis": "pitch"}, "along x or y"),
    ({"platform.motion": "step", "push.impulse": 3.0}, "along x or y"),
    ({"platform.motion": "sine"}, "one direction and stays displaced"),
    error=NoLimitError,
)
def test_floors_that_move_otherwise_have_no_limit(balance, changes):
    limit_under(balance, "platform.size", changes)


def test_a_figure_has_the_limit_as_a_line(balance, tmp_path):
    plan = plan_of(balance, Condition({"floor.mu_s": 0.1, "floor.mu_d": 0.1}, {"friction": 0.1}))
    with drawn_as(Look(("svg",))):
        (file,) = draw_findings(found(plan, 20.0), tmp_path / "figure", "a title")
    assert "limit of the inverted pendulum" in file.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "directions", [(0.0,), tuple(np.linspace(0.0, 3.0, MOST_CURVES + 1))], ids=("curves", "medians")
)
def test_a_figure_has_the_limits_of_what_the_law_does(balance, directions):
    conditions = [Condition({"push.azimuth": azimuth}, {"direction": azimuth}) for azimuth in directions]
    panel = findings_panel(found(plan_of(balance.driven_by("stepping"), *conditions), 20.0))
    limits = [push_under(balance.driven_by("stepping"), one.changes).limit for one in conditions]
    drawn = [item for item in panel.items if item.label.startswith("limit ")]
    assert {item.label for item in drawn} == {"limit with any number of steps"}
    places = [item.value for item in drawn if isinstance(item, Rule)] or list(drawn[0].y)
    assert places == pytest.approx([limit.steps for limit in limits])


def rings(balance):
    """Three maps of the human: on a firm floor, the same again, and on a slippery one."""
    azimuths = (0.0, 120.0, 240.0)
    conditions = [Condition({"push.azimuth": math.radians(one)}, {"direction": one}) for one in azimuths]
    slippery = [replace(one, changes={**one.changes, "floor.mu_s": 0.05, "floor.mu_d": 0.05}) for one in conditions]
    named = {"firm": conditions, "same": conditions, "slippery": slippery}
    return [Ring(name, found(plan_of(balance, *those), 20.0).conditions) for name, those in named.items()]


def test_maps_that_share_a_limit_have_one_line_of_it(balance):
    drawn = [ring.name for ring, name, _ in limits_of(rings(balance)) if name == STANDING_LIMITS["limit"]]
    assert drawn == ["firm", "slippery"]


def test_no_map_is_a_speck_within_its_limits(balance):
    """Its limits are shown while they are near, else cut off; the feet do not hide it."""
    firm, _, slippery = rings(balance)
    for ring, is_cut in ((firm, True), (slippery, False)):
        limit = max(float(values.max()) for values in ring.limits().values())
        panel = map_panel([ring])
        top = radius_of([ring])
        assert panel.y.high == top
        assert max(ring.numbers("ci_high")) < top < 2.0 * max(ring.numbers("ci_high"))
        assert (limit > top) == is_cut == panel.title.endswith("limits clipped")
        feet = [item for item in panel.items if isinstance(item, Area) and item.edge]
        assert len(feet) == 2
        assert max(float(np.max(foot.y)) for foot in feet) < 0.5 * ring.numbers("median").min()


def test_the_command_replies_with_a_row_for_each_direction(capsys):
    assert main(["limits", "--directions", "4", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["direction"] for row in rows] == [0.0, 90.0, 180.0, 270.0]
    assert rows[1]["limit"] == pytest.approx(rows[3]["limit"])
    for row in rows:
        assert row["limit"] <= row["limit_without_friction"] + 1e-9
        assert row["limit"] < row["limit_hips"] <= row["limit_hips_without_friction"]
        assert row["platform"] > 0.0


def test_the_command_tells_the_limits_with_steps(capsys):
    """Of the human, computed by hand from 74.55 kg at 0.839 m, 0.111 m to the front: 72.2, 83.9 and 89.0 N·s."""
    assert main(["limits", "--directions", "1", "--steps", "any,2,0,1", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["steps"] for row in rows] == [0.0, 1.0, 2.0, None]
    assert [row["limit_without_friction"] for row in rows] == pytest.approx([33.4, 72.2, 83.9, 89.0], abs=0.1)
    for one, other in itertools.pairwise(rows):
        assert one["limit"] <= other["limit"] + 1e-6
        assert one["platform"] < other["platform"]


def test_the_command_writes_a_table_and_a_figure(tmp_path, capsys):
    folder = tmp_path / "out"
    arguments = ["limits", "--directions", "3", "--delay", "0.1", "--set", "floor.mu_s=0.1", "--set", "floor.mu_d=0.1"]
    assert main([*arguments, "--out", str(folder)]) == 0
    assert "reaction after 0.1 s" in capsys.readouterr().out
    table = pd.read_csv(folder / "limits.csv")
    assert len(table) == 3
    assert (table["limit"] < table["limit_without_friction"]).all()
    assert (folder / "limits.png").stat().st_size > 10_000


@pytest.mark.parametrize(("arguments", "told"), [
    (["--directions", "0"], "at least 1"),
    (["--delay", "-1"], "zero or above"),
    (["--steps", "0,few"], "'few' is neither a whole number nor 'any'"),
    (["--steps", "1", "--step-length", "0"], "length"),
    (["--set", "load.mass=5"], "a push as the only disturbance"),
    (["box-drop"], "push.impulse"),
])  # fmt: skip
def test_what_is_wrong_is_told(arguments, told, refusal):
    assert told in refusal("limits", *arguments)


def test_a_law_that_steps_has_the_limit_with_steps_and_its_share_is_of_that(balance):
    stepping = balance.driven_by("stepping")
    limit = push_under(stepping, {"push.azimuth": 0.0}).limit
    rows = limit_table(
        push_under(balance, {"push.azimuth": 0.0}), 1, 0.2, steps=(Steps(math.inf, LENGTH, TIME, REACTION),)
    )
    assert limit.applicable == limit.steps == pytest.approx(rows["limit"][0])
    assert push_under(balance, {"push.azimuth": 0.0}).limit.applicable < 0.5 * limit.applicable
    (row,) = found(plan_of(stepping, Condition({"push.azimuth": 0.0})), 20.0).frame().to_dict("records")
    assert row["share"] * row["limit_steps"] == pytest.approx(20.0)


@pytest.mark.parametrize("delay", [0.0, 0.02])
def test_own_steps_carry_the_points_of_feet_along_with_their_middles(balance, delay):
    stepping, azimuth, start = balance.driven_by("stepping"), 2.0, 0.5
    changes = {"push.azimuth": azimuth, "push.impulse": 60.0, "push.start": start, "sensors.delay": delay}
    scene, run = stepping.build(changes), stepping.run(changes)
    found, model, frame = footholds_of(scene, run), scene.model, run.frame
    axes = np.array([model.facing[:2], model.left[:2]])

    def points(foot, time):
        row = frame.iloc[(frame["time"] - start - time).abs().argmin()]
        side = foot.removesuffix("_foot")
        return np.array([row[[f"contact_{side}_{k}_x", f"contact_{side}_{k}_y"]].astype(float) for k in range(1, 5)])

    origin = frame.loc[0, ["com_x", "com_y"]].to_numpy(dtype=float)
    places = {foot: points(foot, -start) - origin for foot in model.feet}
    stepped = steps(run)
    landings = stepped["onset"] + stepped["duration"]
    assert found.times == pytest.approx(landings - delay)
    for k, step in enumerate(stepped.itertuples()):
        moved = points(step.foot, landings[k]) - points(step.foot, step.onset)
        places[step.foot] = places[step.foot] + moved.mean(axis=0)
        np.testing.assert_allclose(found.supports[k][-4:], places[step.foot] @ axes.T, atol=1e-9)
    push = push_of(scene)
    one, two = (Footholds(found.times[:k], found.supports[:k]) for k in (1, 2))
    limits = [push.impulse(azimuth, hips=False, steps=each) for each in (one, two)]
    assert limits[0] == pytest.approx(push.limit.pendulum, rel=0.01)  # half a percent of it the linear program's
    assert limits[0] + 5.0 < limits[1] < push.impulse(azimuth, hips=False, steps=Steps(2, 1.0, 0.2))


@pytest.mark.parametrize(("delay", "azimuth"), [(0.02, 45.0), (0.07, 315.0), (0.13, 60.0)])
def test_limits_with_steps_are_known_where_the_solver_gives_up_at_first_and_are_those_of_the_mirror(
    balance, delay, azimuth
):
    push = push_under(balance, {}, delay)
    steps = Steps(math.inf, LENGTH, TIME, REACTION)
    limits = [push.impulse(math.radians(sign * azimuth), hips=False, steps=steps) for sign in (1.0, -1.0)]
    assert limits[0] == pytest.approx(limits[1], rel=1e-5)
