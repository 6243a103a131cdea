"""Stepping controller: the planner against longhand, recoveries by stepping, equality with standing without steps."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import solve_ivp

from biped import Fall, InputError, Push, Scene, Session, body_gaps, chain, human
from biped.metrics import series, steps
from biped.simulation.snapshot import arrays_of
from controllers import BackwardSteps, LateralSteps, Stepping, WholeBodyController
from controllers.kernels.step_plan import (
    FLOOR_AT,
    OMEGA,
    XI,
    best_pressure,
    clear_of_other_leg,
    nearest_in_hull,
    plan_step,
)
from controllers.kernels.stepping import GENTLE, HARD, LAST, PHASE, PROMPT, STANDS, SWINGS, TAKEN, UNLOADS
from experiments.catalogue.registry import experiment_named
from experiments.cli import main
from experiments.studies.limits import push_under
from experiments.visualization.pages import Table
from experiments.visualization.report.run_page import run_page
from experiments.visualization.report.run_source import run_source
from experiments.visualization.viewer.trajectory import trajectory_of

START = 0.1  # [s] of the push


def scene(law, angle, impulse, duration=2.5):
    """Return a scene with a push: angle 0 drives the human forward (−x), π/2 to its left."""
    push = Push("trunk", (-math.cos(angle), -math.sin(angle), 0.0), impulse=impulse, start=START, duration=0.1)
    return Scene(human(), law, disturbances=(push,), duration=duration, step=1e-3, fall=Fall())


@pytest.fixture(scope="module")
def recovery():
    return scene(Stepping(), 0.0, 38.0).run()


def steps_of(run):
    return int(run.frame["steps_taken"].iloc[-1])


@pytest.mark.parametrize(("angle", "impulse"), [(0.0, 28.0), (1.57, 45.0), (3.14, 23.0)])
def test_below_nine_tenths_of_the_push_threshold_in_place_it_equals_the_whole_body_controller(angle, impulse):
    stepping, standing = (scene(law, angle, impulse, 1.2).run() for law in (Stepping(), WholeBodyController()))
    assert steps_of(stepping) == 0
    for column in standing.frame.columns:
        np.testing.assert_array_equal(stepping.frame[column], standing.frame[column], err_msg=column)


def test_it_recovers_by_steps_where_feet_in_place_fall(recovery):
    assert scene(WholeBodyController(), 0.0, 38.0).run().summary["verdict"] == "fell"
    assert recovery.summary["verdict"] == "stepped"
    assert steps_of(recovery) == recovery.metrics["footsteps"] > 0
    frame = recovery.frame
    last = frame[frame["time"] > 2.3]
    assert (last["step_phase"] == STANDS).all()
    assert abs(last["body_vx"]).max() < 0.1


def test_steps_are_on_the_run_page_and_in_the_export(recovery, tmp_path):
    recovery.save(tmp_path)
    page = run_page(run_source(tmp_path), "biped report")
    (shown,) = (block for block in page.blocks if isinstance(block, Table) and block.caption.startswith("Footsteps"))
    assert len(shown.rows) == recovery.metrics["footsteps"]
    assert main(["export", str(tmp_path), "--csv"]) == 0
    written, measured = pd.read_csv(tmp_path / "steps.csv", dtype=str), steps(recovery)
    assert list(written["foot"]) == list(measured["foot"])
    assert [float(length) for length in written["length_ap [m]"]] == list(measured["length_ap"])


@pytest.mark.parametrize(
    ("angle", "impulse", "direction"),
    [
        (0.0, 38.0, "forward"), (-0.8, 55.0, "forward"), (1.2, 60.0, "lateral"), (-1.57, 60.0, "lateral"),
        (2.0, 60.0, "lateral"), (2.5, 60.0, "backward"), (3.14, 60.0, "backward"),
    ],
)  # fmt: skip
def test_lateral_and_backward_steps_have_their_own_parameters(angle, impulse, direction):
    lateral, backward = LateralSteps(shortest_swing=0.4), BackwardSteps(shortest_swing=0.4)
    laws = {"forward": Stepping(), "lateral": Stepping(lateral=lateral), "backward": Stepping(backward=backward)}
    runs = {name: scene(law, angle, impulse, 0.8).run() for name, law in laws.items()}
    usual = runs["forward"]
    for name in ("lateral", "backward"):
        if name == direction:
            first, longer = (float(steps(run)["duration"].iloc[0]) for run in (usual, runs[name]))
            assert longer > first + 0.05
        else:
            for column in usual.frame.columns:
                np.testing.assert_array_equal(usual.frame[column], runs[name].frame[column], err_msg=column)


def test_the_swing_foot_is_unloaded_and_lands_at_the_planned_position(recovery):
    frame = recovery.frame
    swings = frame["step_phase"] == SWINGS
    first = frame[swings & (frame["steps_taken"] == 0)]
    soles = {
        side: np.mean([first[f"contact_{side}_{k}_z"].iloc[len(first) // 2] for k in range(1, 5)])
        for side in ("left", "right")
    }
    side = max(soles, key=soles.get)
    middle = first.iloc[len(first) // 4 : 3 * len(first) // 4]
    assert soles[side] > 0.01
    assert middle[[f"contact_{side}_{k}_fz" for k in range(1, 5)]].to_numpy().max() == 0.0
    landed = frame[(frame["steps_taken"] == 1) & (frame["step_phase"] != SWINGS)].iloc[0]
    place = [np.mean([landed[f"contact_{side}_{k}_{axis}"] for k in range(1, 5)]) for axis in "xy"]
    planned = first[["foothold_x", "foothold_y"]].iloc[-1].to_numpy()
    assert place == pytest.approx(planned, abs=0.03)  # of the sole's middle and of the foot's, which are 2 mm apart


@pytest.mark.parametrize("ratio", [0.0, 0.5, 2.0])
def test_the_landing_speed_is_proportional_to_the_speed_of_the_body(ratio):
    run = scene(Stepping(landing_speed_ratio=ratio), 0.0, 38.0, 1.5).run()
    first, frame = steps(run).iloc[0], run.frame
    landed = frame[frame["time"] >= START + first["onset"] + first["duration"] - 1e-9].iloc[0]
    speed = math.hypot(landed["momentum_px"], landed["momentum_py"]) / run.state.model.total_mass
    asked = min(max(ratio * speed, GENTLE), HARD)
    assert first["landing_speed"] == pytest.approx(asked, rel=math.exp(-LAST / PROMPT))  # rest of another speed


def test_planned_footholds_are_shown(recovery):
    frame, shown = recovery.frame, trajectory_of(recovery).rows.foothold
    planned = frame["step_phase"].isin([UNLOADS, SWINGS]).to_numpy()
    assert 0 < planned.sum() < len(frame)
    np.testing.assert_array_equal(shown[planned, :2], frame.loc[planned, ["foothold_x", "foothold_y"]])
    assert np.isnan(shown[~planned, :2]).all()


def test_the_capture_region_is_where_a_pendulum_gets_by_the_landing(recovery):
    frame, seen = recovery.frame, trajectory_of(recovery).rows
    found, planned = series(recovery), frame["step_phase"].isin([UNLOADS, SWINGS])
    assert {len(corners) for corners in seen.capture[~planned]} == {0}
    chosen = np.flatnonzero(planned)[:: planned.sum() // 5]
    assert len(chosen) > 4
    for k in chosen:
        row = found.iloc[k]
        rate, span = math.sqrt(9.81 / row["com_z"]), frame["foothold_time"].iloc[k] - frame["time"].iloc[k]
        begin = row[["capture_point_x", "capture_point_y"]].to_numpy(dtype=float)
        assert span > 0.0
        assert len(seen.capture[k]) == len(seen.support[k])
        for corner, pressure in zip(seen.capture[k], seen.support[k], strict=True):
            gone = solve_ivp(lambda _, xi, p=pressure, w=rate: w * (xi - p[:2]), (0.0, span), begin, rtol=1e-9).y[:, -1]
            np.testing.assert_allclose(corner, [*gone, 0.0], atol=1e-6)


def test_it_is_restored_in_the_middle_of_a_step():
    """A session restores motion and controller bit for bit, even after it has advanced to the next phase."""
    session = Session(scene(Stepping(), 0.0, 38.0))
    session.advance(150)
    assert session.plan.law.phase[PHASE] == SWINGS
    saved = session.save()
    session.advance(350)
    assert session.plan.law.phase[TAKEN] > 0
    end = session.save()
    session.restore(saved)
    assert (session.plan.law.phase[PHASE], session.plan.law.phase[TAKEN]) == (SWINGS, 0)
    session.advance(350)
    for one, other in zip(arrays_of(session.save().state.arrays), arrays_of(end.state.arrays), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(("angle", "impulse"), [(0.0, 50.0), (0.5 * math.pi, 60.0), (math.pi, 56.0)])
def test_feet_are_brought_together_after_the_closing_delay(angle, impulse):
    apart = {}
    for delay in (0.0, 0.5):
        run = scene(Stepping(closing_delay=delay), angle, impulse, 7.0).run()
        assert run.summary["verdict"] == "stepped"
        assert run.frame["step_phase"].iloc[-1] == STANDS
        places = {
            side: np.mean([run.frame[[f"contact_{side}_{k}_{axis}" for axis in "xy"]] for k in range(1, 5)], axis=0)
            for side in ("left", "right")
        }
        between = places["right"] - places["left"]
        apart[delay] = steps_of(run), np.linalg.norm(between[-1] - between[0])
    assert apart[0.5][0] == apart[0.0][0] + 1
    assert apart[0.5][1] < 0.05 < apart[0.0][1]


def test_instructions():
    assert steps_of(scene(Stepping(instruction="one-step-only"), 0.0, 60.0, 1.5).run()) == 1
    assert steps_of(scene(Stepping(instruction="step-freely"), 0.0, 27.0, 1.0).run()) >= 1
    with pytest.raises(InputError, match=r"controller\.instruction"):
        Stepping(instruction="run")


def test_feet_in_place_equals_the_whole_body_controller():
    stands, stays = (
        scene(law, 0.0, 60.0, 1.5).run() for law in (WholeBodyController(), Stepping(instruction="feet-in-place"))
    )
    assert stays.verdict_line == stands.verdict_line
    assert steps_of(stays) == stays.frame["steps_taken"].max() == 0
    for column in stands.frame.columns:
        np.testing.assert_array_equal(stays.frame[column], stands.frame[column], err_msg=column)


@pytest.mark.parametrize(
    ("instruction", "most"), [("try-not-to-step", math.inf), ("one-step-only", 1.0), ("feet-in-place", 0.0)]
)
@pytest.mark.parametrize("delay", [0.0, 0.05])
def test_limits_count_the_steps_that_the_instruction_allows(instruction, most, delay):
    experiment = experiment_named("balance", controller="stepping")
    push = push_under(experiment, {"controller.instruction": instruction, "sensors.delay": delay})
    assert push.most_steps == push.limit.count == most
    assert (push.limit.steps is None) == (most == 0.0)


@pytest.mark.parametrize("angle", [1.2, 2.6])
def test_legs_do_not_collide(angle):
    run = scene(Stepping(), angle, 58.0, 1.2).run()
    model, frame = run.state.model, run.frame
    steps = frame[(frame["step_phase"] != STANDS) & (frame["qp_ended"] == 0)]
    assert len(steps) > 50
    gaps = [min(body_gaps(model, q).values()) for q in steps[list(model.coordinate_names)].to_numpy()[::5]]
    assert min(gaps) > -0.001


@pytest.mark.parametrize(("angle", "impulse"), [(0.0, 50.0), (1.57, 60.0), (3.14, 56.0)])
def test_knees_do_not_bend_the_wrong_way(angle, impulse):
    run = scene(Stepping(), angle, impulse).run()
    assert run.summary["verdict"] == "stepped"
    assert run.frame[["angle_left_knee_pitch", "angle_right_knee_pitch"]].max().max() < 0.0  # 0: straight


SEEDS = [(9, 150), pytest.param(range(1, 201), marks=pytest.mark.slow)]


@pytest.mark.parametrize("seeds", SEEDS, ids=("some", "200"))
def test_legs_in_contact_do_not_penetrate(seeds):
    experiment = experiment_named("balance", controller="stepping")

    def gap(seed, touching):
        rigid = {"integrator.name": "rigid", "integrator.touching": touching, "run.step": 0.001}
        run = experiment.run({**rigid, "random.seed": seed})
        rows = run.frame[list(run.state.model.coordinate_names)].to_numpy()[::5]
        return min(min(body_gaps(run.state.model, q).values()) for q in rows)

    assert min(gap(seed, "points") for seed in seeds) < -0.001
    assert min(gap(seed, "body") for seed in seeds) > -0.001


def test_a_model_without_two_feet_is_refused():
    with pytest.raises(InputError, match="floating root and feet"):
        Stepping().law(chain(3))


SQUARE = np.array([(0.0, 0.0), (2.0, 0.0), (2.0, 1.0), (0.0, 1.0), (1.0, 0.5)])


def test_the_nearest_point_of_a_hull_is_the_one_of_a_rectangle():
    for x, y in np.random.default_rng(1).uniform(-1.0, 3.0, (200, 2)):
        expected = (min(max(x, 0.0), 2.0), min(max(y, 0.0), 1.0))
        assert nearest_in_hull(SQUARE, len(SQUARE), x, y) == pytest.approx(expected, abs=1e-12)


def planned(xi, **changes):
    law = replace(Stepping(overshoot=0.0, cop_inset=0.0, lateral_share=1.0), **changes).law(human())
    seen = law.seen
    stance = law.body.stance
    seen.numbers[:] = 0.0
    seen.numbers[OMEGA], seen.numbers[XI : XI + 2] = 3.4, xi
    seen.numbers[FLOOR_AT] = 0.0
    for k in range(2):
        seen.foot[k] = stance.foot_place[k, :2]
        seen.sole[k] = seen.inner[k] = seen.foot[k] + law.legs.sole[k]
        seen.hip[k] = (0.0, seen.foot[k, 1], 10.0, 0.8)
    return law, plan_step(law.rules[0], law.legs, seen, 0, 0, 0.2, 0.5)


def test_a_step_goes_to_where_the_pendulum_will_be():
    """ξ(T) = p + (ξ − p) e^{ωT} with p in the corner of the other sole; within reach, the sole's middle is there."""
    law, step = planned((-0.25, 0.0))
    seen, sole = law.seen, law.seen.sole[1]
    corner = (sole[:, 0].min(), sole[:, 1].min())
    assert best_pressure(law.rules[0], law.legs, seen, 1) == pytest.approx(corner)
    growth = math.exp(3.4 * step.time)
    expected = np.array(corner) + growth * (np.array((-0.25, 0.0)) - corner)
    assert (step.x, step.y) + law.legs.middle[0] == pytest.approx(expected, abs=1e-9)
    later = planned((-0.30, 0.0))[1]
    assert later.x < step.x
    assert later.cost > step.cost


def test_a_target_out_of_reach_is_moved_within_reach():
    law, free = planned((-0.4, 0.0), swing_speed=1e3, length_cost=0.0)
    law.seen.hip[:, 2] = 0.3
    step = plan_step(law.rules[0], law.legs, law.seen, 0, 0, 0.2, 0.5)
    assert abs(step.x) < abs(free.x)
    assert step.cost > free.cost


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_legs_pass_beside_before_or_behind(side):
    rules = Stepping(min_step_width=0.2, crossing_distance=0.3).law(human()).rules[0]
    assert clear_of_other_leg(rules, 0, 0.1, side * 0.05, side) == (0.1, side * 0.2)
    assert clear_of_other_leg(rules, 1, 0.1, side * -0.4, side) == (0.3, side * -0.4)
    assert clear_of_other_leg(rules, 2, 0.1, side * -0.4, side) == (-0.3, side * -0.4)
    assert clear_of_other_leg(rules, 1, 0.5, 0.0, side) == (0.5, side * -0.1)
