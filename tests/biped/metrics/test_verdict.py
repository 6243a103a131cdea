"""Verdicts and reasons: by persistence, relative to a moving floor, and only when they can be determined."""

import math
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from biped import (
    INTEGRATORS,
    Fall,
    Force,
    Load,
    Platform,
    Push,
    Run,
    Session,
    Signal,
    human,
    ragdoll,
    simulate,
    standing,
)
from biped import standing as standing_state
from biped.metrics import measure_recording, measure_run
from biped.metrics.context import Span
from biped.metrics.disturbance import spans_of
from biped.metrics.layout import standing_height
from biped.model import Body, ContactPoint, Model, revolute
from biped.runs.summary import Ending, Stepping
from biped.runs.verdict import DECIDED, VERDICTS, Limit, verdict_line
from contact import RUBBER, Floor
from experiments.catalogue.registry import experiment_named
from experiments.studies.execution.executors import cores

from .rows import G, Rows, block, on_sole, sole

TIMES = np.linspace(0.0, 4.0, 801)
TAU = math.sqrt(1.0 / G)
ROUND = tuple(tuple(0.1 * (i == j) for j in range(3)) for i in range(3))
HEIGHT = Limit("height", "trunk", 0.599, 0.6, 1.92)
RATE = Limit("joint_rate", "left_ankle_roll", 457.3, 100.0, 4.0)


def outside_since(time):
    """The weight stays below the centre of mass, whose velocity takes it 15 cm in a time constant."""
    rows = on_sole(TIMES)
    rows["momentum_px"] = rows.model.total_mass * 0.15 / TAU
    rows["com_x"] = np.where(time < TIMES, 0.05, -0.1)
    rows.press(np.column_stack([rows["com_x"], 0.0 * TIMES]))
    return rows


def concluded(rows=None, **context):
    return verdict_line((rows or on_sole(TIMES)).measure(**context))


@pytest.mark.parametrize(("ending", "line"), [
    (Ending(), "recovered in place"),
    (Ending("completed"), "completed"),
    (Ending("interrupted"), "interrupted"),
    (Ending("failed", error="no solution"), "failed: no solution"),
    (Ending.by(HEIGHT), "fell: trunk below 0.6 m at 1.92 s"),
    (Ending.by(Limit("tilt", "trunk", 1.3, 1.2, 0.5)), "fell: trunk tilted beyond 69° at 0.5 s"),
    (Ending.by(RATE), "lost control: left ankle roll at 457 rad/s (limit 100) at 4 s, margin of stability +50 mm"),
])  # fmt: skip
def test_how_a_run_ended_comes_first_and_has_its_reason(ending, line):
    assert concluded(ending=ending) == line
    assert line.partition(":")[0].partition(" in ")[0] in VERDICTS


def test_a_foot_elsewhere_has_stepped_or_slid():
    rows = on_sole(TIMES)
    late = TIMES >= 2.0
    for point in rows.model.contact_names:
        rows[f"contact_{point}_x"][late] += 0.09
    rows["com_x"][late] += 0.09
    assert concluded(rows) == "recovered, a foot 9 cm from where it stood"
    aloft = (TIMES >= 1.9) & (TIMES < 2.0)
    for point in rows.model.contact_names:
        rows[f"contact_{point}_mode"][aloft], rows[f"contact_{point}_fz"][aloft] = 1.0, 0.0
    assert concluded(rows) == "recovered, 1 step"


@pytest.mark.parametrize("since", [0.1, 0.3, 0.35, 1.0])
def test_falling_is_to_be_outside_for_longer_than_a_time_constant(since):
    said = concluded(outside_since(TIMES[-1] - since))
    if since > TAU:
        assert said == f"fell: outside of its base of support for the last {since:.2f} s"
    else:
        assert said == f"undecided: outside of its base of support, but only for the last {since:.2g} s"


@pytest.mark.parametrize(("aloft", "where"), [(2.9, "nothing touches the floor"), (3.5, "outside of its base")])
def test_who_only_ends_in_the_air_is_not_said_to_have_touched_nothing(aloft, where):
    rows = outside_since(3.0)
    for point in rows.model.contact_names:
        rows[f"contact_{point}_mode"][aloft < TIMES], rows[f"contact_{point}_fz"][aloft < TIMES] = 1.0, 0.0
    assert concluded(rows).startswith(f"fell: {where}")


def test_a_joint_that_runs_away_long_after_balance_was_lost_is_a_fall():
    line = concluded(outside_since(3.0), ending=Ending.by(RATE))
    assert line == "fell: outside of its base of support for the last 1.00 s"


@pytest.mark.parametrize(("span", "line"), [
    (Span("a push", 3.5, 3.6), "recovered in place"),
    (Span("a push", 3.85, 3.95), "undecided: a push acted 0.05 s before the end"),
    (Span("a push", 3.95, 4.05), "undecided: a push still acts"),
    (Span("a push", 4.5, 4.6), "recovered in place"),
    (Span("a force", 3.0, 9.0), "undecided: a force still acts"),
    (Span("a force", 4.0 - 5.1 * TAU, 9.0), "recovered in place"),
    (Span("the floor's motion", 1.0, 9.0, 2.9), "recovered in place"),
    (Span("the floor's motion", 1.0, 9.0, 3.1), "undecided: the floor's motion still acts"),
])  # fmt: skip
def test_what_still_acts_has_to_be_waited_for_until_it_has_lasted(span, line):
    assert concluded(disturbance_spans=(span,)) == line


def test_what_has_no_end_is_not_waited_for():
    acting = [
        Push("trunk", (1.0, 0.0, 0.0), 1.0, start=0.5, duration=0.1),
        Force("trunk", (1.0, 0.0, 0.0), Signal.rectangle(9.0, 1.0, 2.0)),
        Platform(x=Signal.sine(0.01, 0.5, 0.2, 4.0)),
        Load("trunk", 3.0),
    ]
    assert spans_of(acting) == (
        Span("a push", 0.5, 0.6), Span("a force", 1.0, 3.0), Span("the floor's motion", 0.2, 4.2, 2.0)
    )  # fmt: skip


@pytest.mark.parametrize("duration", [2.2, 2.4, 2.6, 2.8])
def test_on_a_floor_that_swings_no_verdict_depends_on_when_the_run_ends(duration):
    """At 2.6 s the floor is fast, and so is the quiet human, relative to it."""
    floor = {f"platform.{name}": value for name, value in (("size", 0.05), ("frequency", 1.2), ("duration", 10.0))}
    changes = {"platform.motion": "sine", "run.duration": duration, "run.step": 1e-3} | floor
    run = experiment_named("balance").run(changes)
    assert run.verdict_line == "recovered in place"
    if duration == 2.6:
        assert run.metrics["margin_of_stability_end"] < 0.0


def test_a_thrown_box_in_flight_acts():
    block = experiment_named("thrown-block")
    soon = {"block.position": (1.5, 0.0, 1.2), "run.duration": 0.1, "run.step": 1e-3}
    assert block.run(soon).verdict_line == "undecided: the thrown box is in flight"


def kneeling(share, height=0.7):
    """Return a trunk with knees on a foot, with this share of the weight on the knees and this height."""
    foot = Body("foot", 1.0, ROUND, (0.0, 0.0, 0.0), revolute("ankle", (0.0, 1.0, 0.0)), "trunk")
    upright = block()
    points = (
        *(replace(point, body="foot") for point in upright.contact_points),
        *(ContactPoint(f"knee_{side}", "trunk", (0.0, y, -1.0)) for side, y in (("left", 0.05), ("right", -0.05))),
    )
    rows = Rows(Model("kneeler", (*upright.bodies, foot), points, feet=("foot",)), TIMES)
    weight = rows.model.total_mass * G
    loads = [weight * (1.0 - share) / 4.0] * 4 + [weight * share / 2.0] * 2
    rows.stand([*sole(), (0.0, 0.05, 0.0), (0.0, -0.05, 0.0)], load=loads)
    rows["com_z"] = height
    return rows


@pytest.mark.parametrize("share", [0.0, 0.4, 0.6, 1.0])
def test_who_has_most_of_its_weight_off_its_feet_has_fallen(share):
    said = concluded(kneeling(share))
    if share > 0.5:
        assert said == f"fell: {share:.0%} of its weight is not on its feet, most of that on the trunk"
    else:
        assert said == "recovered in place"


def test_a_knee_that_hits_the_floor_shortly_is_no_fall():
    rows, briefly = kneeling(0.0), TIMES[-1] - 0.4 * TAU < TIMES
    weight = rows.model.total_mass * G
    for point in rows.model.contact_names:
        rows[f"contact_{point}_fz"][briefly] = weight / 2.0 if point.startswith("knee") else 0.0
    assert concluded(rows) == "recovered in place"


def test_who_is_too_low_has_fallen_whatever_touches():
    height = standing_height(kneeling(0.0).model)
    assert concluded(kneeling(0.0, 0.51 * height)) == "recovered in place"
    low = concluded(kneeling(0.0, 0.49 * height))
    assert low == f"fell: centre of mass at {0.49 * height:.2g} m of the {height:.2g} m upright"


@pytest.mark.parametrize("tilt", [0.0, 0.1])
def test_on_a_floor_that_is_moved_it_is_the_height_above_that(tilt):
    """The floor is 0.5 m up below the weight, with or without a rotation about a point 1 m away."""
    rows = Rows(block(), TIMES, platform=True)
    up, ahead = 0.5, 1.0
    rows.stand(sole(z=up))
    rows["body_z"] = up + 0.5
    rows["platform_x"], rows["platform_z"] = -ahead, up + ahead * math.tan(tilt)
    rows["platform_qw"], rows["platform_qy"] = math.cos(tilt / 2.0), math.sin(tilt / 2.0)
    rows["com_z"] = up + 0.51
    assert not concluded(rows).startswith("fell: centre of mass")
    rows["com_z"] = up + 0.49
    assert concluded(rows) == "fell: centre of mass at 0.49 m of the 1 m upright"


@pytest.mark.parametrize("rate", [0.02, 0.25, 0.5])
def test_who_still_comes_down_is_undecided(rate):
    """The limit is a tenth of the height in a time constant: 0.1·√(g l), 0.31 m/s here."""
    rows = on_sole(TIMES)
    rows["com_z"] = 1.0 - rate * np.maximum(TIMES - 3.8, 0.0)
    said = concluded(rows)
    if rate > 0.1 * math.sqrt(G):
        assert said == f"undecided: its centre of mass sinks at {rate:.2g} m/s"
    else:
        assert said == "recovered in place"


@pytest.mark.slow
def test_a_ragdoll_comes_to_lie_and_limits_are_not_needed_to_say_so():
    limp = ragdoll(human(), standing_state(human()).q)
    for duration in (1.0, 2.0):
        run = simulate(limp, state=standing_state(limp), duration=duration, step=1e-3)
        assert run.summary["verdict"] == "fell"
        assert "not on its feet" in run.summary["reason"]


def test_a_fling_is_no_fall_and_says_which_joint():
    push = {"push.impulse": 5.5, "push.azimuth": math.pi / 2.0}
    run = experiment_named("balance").run(push)
    limit = run.summary["limit"]
    rates = run.frame.filter(like="rate_").iloc[-1].abs()
    assert run.summary["verdict"] == "lost control"
    assert (limit["name"], f"rate_{limit['subject']}") == ("joint_rate", rates.idxmax())
    assert limit["value"] == pytest.approx(rates.max(), rel=1e-12)
    assert limit["margin_of_stability"] == run.metrics["margin_of_stability_end"] > 0.05
    assert run.summary["fell_at"] == limit["time"] == 0.634
    assert verdict_line(measure_run(run)) == run.verdict_line
    # What no human does is warned of.
    found = {check.name: check for check in run.trust}
    assert found["joint speed"].passed == found["joint torque"].passed == "warning"
    assert "ankle roll exerted 504 N·m; a strong human exerts 60 N·m" in found["joint torque"].text


def test_a_human_left_to_itself_falls_by_what_is_told(person, posture):
    run = simulate(person, state=posture(person), duration=2.0, step=1e-3, fall=Fall(height=0.9, joint_rate=1e6))
    assert run.verdict_line.startswith("fell: trunk below 0.9 m at ")
    assert run.summary["limit"]["value"] < 0.9
    assert run.frame["body_z"].iloc[-1] == pytest.approx(run.summary["limit"]["value"], abs=1e-12)


#: Of a random run: 0.1 s longer, 0.1 s shorter, with half the step; the same disturbances, whatever its length.
OTHERWISE = ({"duration": 3.1}, {"duration": 2.9}, {"step": 5e-4})


WITHSTOOD = ("recovered", "stepped")


def otherwise(scene, **other):
    end = other.get("duration", scene.duration)
    acting = tuple(one for one in scene.disturbances if one.begins < end)
    return replace(scene, disturbances=acting, **other)


def verdicts_of(seed):
    scene = experiment_named("balance").build({"random.seed": seed, "run.step": 1e-3})
    return [verdict_of(otherwise(scene, **other)) for other in ({}, *OTHERWISE)]


def verdict_of(scene):
    return measure_recording(Session(scene, log_holds_run=True).run())["verdict"]


def test_random_runs_are_judged_alike_a_little_longer_or_shorter_and_with_half_the_step():
    judged = [verdicts_of(seed) for seed in range(1, 13)]
    assert sum(len({*verdicts} - {"undecided"}) > 1 for verdicts in judged) <= 1


@pytest.mark.slow
def test_of_400_random_runs_few_are_judged_otherwise():
    """The counts are in docs/verdicts.md; ``-s`` prints them."""
    with ThreadPoolExecutor(cores()) as pool:
        judged = list(pool.map(verdicts_of, range(1, 401)))
    print(Counter(verdicts[0] for verdicts in judged))
    for k, other in enumerate(OTHERWISE, start=1):
        changes = Counter((verdicts[0], verdicts[k]) for verdicts in judged if verdicts[0] != verdicts[k])
        print(other, changes)
        decided = Counter({change: count for change, count in changes.items() if "undecided" not in change})
        turned = sum(count for (was, is_), count in decided.items() if (was in WITHSTOOD) != (is_ in WITHSTOOD))
        assert changes.total() <= 0.05 * len(judged)
        assert turned <= 0.01 * len(judged)


#: Laws of whose random runs is told how many are judged otherwise 0.2 s later, and how many seeds each has.
LAWS, SEEDS = ("workspace", "cone-workspace", "whole-body", "lqr"), range(1, 81)


def now_and_later(law, seed):
    """Return the controller, the verdict of its random run, and that of the same run with 0.2 s more."""
    scene = experiment_named("balance").build({"controller.name": law, "random.seed": seed, "run.step": 1e-3})
    return law, *(verdict_of(otherwise(scene, duration=scene.duration + more)) for more in (0.0, 0.2))


@pytest.mark.slow
def test_of_runs_of_all_laws_less_than_one_in_fifty_is_judged_otherwise_later():
    """The counts by verdict are in docs/verdicts.md; ``-s`` prints them."""
    with ThreadPoolExecutor(cores()) as pool:
        judged = list(pool.map(now_and_later, *zip(*product(LAWS, SEEDS), strict=True)))
    runs = Counter(now for _, now, _ in judged)
    for now, count in runs.most_common():
        changes = Counter((law, later) for law, before, later in judged if before == now != later)
        print(f"{now}: {changes.total()} of {count}", dict(changes))
    decided = [(now, later) for _, now, later in judged if now in DECIDED]
    assert sum(now != later for now, later in decided) < len(decided) / 50


ROW_TIMES = np.linspace(0.0, 4.0, 401)
KEEPS = Stepping("recursive", 5e-4, conserves_momentum=True)
EXPLICIT = ("explicit-euler", "semi-implicit-euler", "rk4")


def rows_with(**columns):
    rows = on_sole(ROW_TIMES)
    for name, value in columns.items():
        rows[name] = value
    return rows


def checks_of(run: Run):
    return {check.name: check.passed for check in run.trust}


def test_a_sound_run_passes_all():
    run = experiment_named("thrown-block").run()
    assert set(checks_of(run).values()) == {"ok"}
    assert [check.name for check in run.trust] == [
        "energy residual", "momentum residual", "retried steps", "penetration", "joint speed", "joint torque",
        "straight leg",
    ]  # fmt: skip


@pytest.mark.parametrize(("columns", "stepping", "line"), [
    ({"ledger_residual": 0.1}, KEEPS, "98.1 J"),
    ({"momentum_defect_px": 1e-4}, KEEPS, "0.0001 N·s that no impulse accounts for"),
    ({"contact_p0_z": -0.15}, KEEPS, "a contact point was 150 mm in the floor"),
])  # fmt: skip
def test_what_makes_a_run_unreliable(columns, stepping, line):
    """For a block of 10 kg with its centre 1 m high and without energy exchange, 0.1 J are 0.1 % of m g l."""
    share = {name: 1.01 * 98.1 if name == "ledger_residual" else 1.0 for name in columns}
    made = {name: value * share[name] for name, value in columns.items()}
    measured = rows_with(**made).measure(stepping=stepping)
    assert measured["verdict"] == "unreliable"
    assert line.split()[-1] in measured["reason"]


@pytest.mark.parametrize(("columns", "stepping"), [
    ({"ledger_residual": 9.9}, Stepping("mujoco", 5e-4, is_engine=True)),
    ({"ledger_residual": 0.09}, KEEPS),
    ({"momentum_defect_px": 1e-4}, Stepping("rk4", 5e-4)),
    ({"contact_p0_z": -0.05}, KEEPS),
])  # fmt: skip
def test_what_does_not(columns, stepping):
    assert rows_with(**columns).measure(stepping=stepping)["verdict"] == "recovered"


def test_a_method_that_blows_up_is_unreliable_and_no_fall():
    run = experiment_named("thrown-block").run({"integrator.name": "rk4", "run.duration": 0.2})
    assert run.summary["verdict"] == "unreliable"
    assert "J that no work accounts for, of" in run.summary["reason"]
    assert (checks_of(run)["energy residual"], checks_of(run)["step"]) == ("failed", "warning")


def test_what_sinks_through_the_floor_says_so():
    """Without any controller the knees give way, and nothing but the soles touches the floor; a ragdoll lies on it.

    Nothing says what a fall is to such a run: the feet alone would have it stand.
    """
    run = simulate(human(), duration=2.0, step=1e-3)
    found = {check.name: check for check in run.trust}["sinking"]
    depth = -run.frame["body_z"].min()
    assert depth > 0.2
    assert (found.passed, run.summary["verdict"]) == ("failed", "unreliable")
    assert found.value == pytest.approx(depth, rel=1e-12)
    assert "ragdoll" in found.text
    lying = simulate(ragdoll(human()), duration=2.0, step=1e-3)
    assert "sinking" not in checks_of(lying)
    assert lying.frame["body_z"].min() > 0.05


def test_many_steps_taken_in_parts_are_warned_of():
    seed = {"random.seed": 750}  # which retries 9 % of its steps
    found = {check.name: check for check in experiment_named("balance").run(seed).trust}
    assert found["retried steps"].passed == "warning"


@pytest.mark.parametrize("name", EXPLICIT)
@pytest.mark.parametrize(("factor", "verdict"), [(0.5, "recovered"), (2.0, "unreliable")])
def test_the_longest_stable_step_is_that_of_the_run(name, factor, verdict, person, posture):
    longest = INTEGRATORS[name].stable_step(person, posture(person).q, RUBBER)
    step = 2e-3 / round(2e-3 / (factor * longest))
    changes = {"integrator.name": name, "run.step": step, "run.duration": 0.5}
    run = experiment_named("stand-tilted").run(changes)
    assert run.summary["verdict"] == verdict
    assert checks_of(run)["step"] == ("ok" if factor < 1.0 else "warning")


def test_a_soft_floor_takes_longer_steps_and_other_methods_any():
    model, q = human(), standing(human()).q
    soft = Floor(k_n=7500.0, b_n=200.0, k_t=7500.0, b_t=200.0)
    for name in EXPLICIT:
        rubber, longer = (INTEGRATORS[name].stable_step(model, q, floor) for floor in (RUBBER, soft))
        assert longer > 5.0 * rubber
    assert INTEGRATORS["recursive"].stable_step(model, q, RUBBER) is None


def test_an_explicit_method_says_beforehand_which_step_would_do():
    said = []
    scene = experiment_named("stand-tilted").build({"integrator.name": "rk4", "run.duration": 2e-3})
    scene.run(announce=said.append)
    assert "stable on this floor with a time step of 0.0005 s: set at most 0.000167 s" in said[-1]
