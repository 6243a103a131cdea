"""Each check of a run, violated on purpose by a run that is made for it; and what is sound passes all of them."""

import math

import numpy as np
import pytest

from biped import INTEGRATORS, Run, human, ragdoll, simulate, standing
from biped.runs.summary import Stepping
from contact import RUBBER, Floor
from experiments.catalogue.registry import experiment_named

from .rows import on_sole

TIMES = np.linspace(0.0, 4.0, 401)
KEEPS = Stepping("recursive", 5e-4, conserves_momentum=True)
EXPLICIT = ("explicit-euler", "semi-implicit-euler", "rk4")


def rows_with(**columns):
    rows = on_sole(TIMES)
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
    """Of a block of 10 kg with its centre 1 m high, that exchanges nothing, 0.1 J are 0.1 % of its m g l."""
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


def test_what_no_human_does_is_warned_of():
    push = {"push.impulse": 5.5, "push.azimuth": math.pi / 2.0}
    found = {check.name: check for check in experiment_named("balance").run(push).trust}
    assert found["joint speed"].passed == found["joint torque"].passed == "warning"
    assert "ankle roll exerted 504 N·m, where a strong human's does 60 N·m" in found["joint torque"].text


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
    seed = {"random.seed": 323, "sensors.predict": 0}  # which retries 15 % of its steps
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
    assert "rk4 is not expected to be stable on this floor in steps of 0.0005 s: take 0.000167 s or less" in said[-1]
