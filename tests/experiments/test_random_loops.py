"""Closed loops at random: every law on both floors under all disturbances, and trees in flight."""

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from biped import Session, State, simulate
from biped.model import random_tree
from biped.runs.trust import FAILED
from biped.runs.verdict import VERDICTS
from biped.simulation.snapshot import arrays_of
from contact.errors import BipedError
from experiments.catalogue.registry import experiment_named
from experiments.studies.failures import TRACEBACK
from experiments.studies.trial import Trial, run_trial

from ..conftest import KINDS, all_arrays, random_configuration

LAWS = (
    "workspace", "cone-workspace", "whole-body", "lqr", "joint-pd", "computed-torque", "joint-impedance", "stepping",
)  # fmt: skip
GAINS = ("kp_position", "kd_position", "kp_orientation", "kd_orientation")
#: Columns of a frame that have no value where a law has none: its records of what it wanted.
MAY_BE_NAN = ("qp_", "desired_", "joint_integral_")
#: Metrics that are of the machine.
CLOCK = {"wall_time", "real_time_factor"}


@cache
def balance():
    return experiment_named("balance")


def drawn(random):
    """Draw the changes of a closed loop: law, floor, start, disturbances, sensors and actuators."""

    def chance(probability):
        return random.random() < probability

    def one_of(*things):
        return things[random.integers(len(things))]

    def about(value, factor=4.0):
        return float(value * np.exp(random.uniform(-1.0, 1.0) * np.log(factor)))

    law = str(random.choice(LAWS, p=(0.2, 0.15, 0.2, 0.15, 0.05, 0.05, 0.05, 0.15)))
    duration = float(random.uniform(0.02, 0.4))
    found = {
        "controller.name": law,
        "integrator.name": one_of("recursive", "rigid"),
        "run.step": float(one_of(0.0005, 0.001, 0.002)),
        "run.duration": duration,
    }
    for name in ("body_x", "body_y", "tilt") if chance(0.3) else ():
        found[f"initial.{name}"] = float(random.normal(0.0, 0.05))
    if chance(0.3):
        found["initial.body_z"] = float(random.uniform(0.9, 1.3))
    if chance(0.3):
        found |= {"initial.jitter": float(about(0.02)), "initial.seed": int(random.integers(1000))}
    if chance(0.2):
        found["initial.velocity"] = tuple(map(float, random.normal(0.0, 0.5, 3)))
    if chance(0.4):
        found["floor.mu_s"] = found["floor.mu_d"] = about(0.3, 10.0)
    for name, value in {"k_n": 75000.0, "b_n": 2000.0, "k_t": 75000.0, "b_t": 2000.0}.items() if chance(0.2) else ():
        found[f"floor.{name}"] = about(value)
    for name in (GAINS[: random.integers(5)]) if law in LAWS[:2] else ():
        default = balance().under({"controller.name": law}).parameter(f"controller.{name}").default
        found[f"controller.{name}"] = tuple(about(float(number)) for number in default)
    if chance(0.5):
        found |= {
            "push.impulse": about(8.0), "push.azimuth": float(random.uniform(-3.1, 3.1)),
            "push.start": float(random.uniform(0.0, 0.9) * duration), "push.duration": about(0.05),
            "push.waveform": one_of("rectangle", "half-sine"),
            "push.body": one_of("trunk", "left_thigh", "right_foot"),
        }  # fmt: skip
    if chance(0.2):
        found |= {"force.size": about(20.0), "force.start": 0.0, "force.duration": duration}
    if chance(0.2):
        found |= {"platform.motion": one_of("step", "sine", "ternary"), "platform.size": about(0.02),
                  "platform.axis": one_of("x", "y", "z", "roll", "pitch", "yaw"), "platform.start": 0.0,
                  "platform.rise": about(0.1)}  # fmt: skip
    if chance(0.1):
        found["patch.present"] = 1
    if chance(0.1):
        found["load.mass"] = about(5.0)
    if chance(0.15):
        found |= {"block.speed": about(4.0), "block.flight": float(random.uniform(0.01, 0.9) * duration)}
    if chance(0.2):
        found |= {"sensors.delay": 0.002 * int(random.integers(4)), "sensors.proprioceptive.joint_noise": about(1e-3),
                  "sensors.proprioceptive.joint_rate_noise": about(1e-2),
                  "sensors.seed": int(random.integers(1000))}  # fmt: skip
    if chance(0.4):
        found["actuators.limit"] = about(60.0)
    if chance(0.2):
        found |= {"actuators.noise": about(0.5), "actuators.time_constant": about(0.01)}
    if chance(0.1):
        found["actuators.strength"] = one_of("young-men", "old-women")
    if chance(0.15):
        found["random.seed"] = int(random.integers(1, 1000))
    return found


@pytest.mark.parametrize("seed", [*range(20), *(pytest.param(k, marks=pytest.mark.slow) for k in range(20, 30))])
def test_a_trial_has_an_outcome_and_no_nan_and_is_the_recorded_run(seed):
    changes = drawn(np.random.default_rng(seed))
    result = run_trial(balance(), Trial(0, changes))
    assert result["verdict"] in VERDICTS
    assert not result.get(TRACEBACK)
    assert [name for name, value in result.items() if isinstance(value, float) and not math.isfinite(value)] == []
    if seed % 4 == 0:
        compare_run(changes, result)


def compare_run(changes, result):
    if result["failure"]:
        with pytest.raises(BipedError) as raised:
            balance().run(changes)
        assert result["failure"] == raised.type.__name__
        return
    run = balance().run(changes)
    others = run.summary | run.summary["metrics"]
    shared = result.keys() & others.keys() - CLOCK
    assert len(shared) > 100
    assert {name: result[name] for name in shared} == {name: others[name] for name in shared}
    frame = run.frame.select_dtypes("number")
    assert [n for n in frame if not np.isfinite(frame[n]).all() and not n.startswith(MAY_BE_NAN)] == []
    if "actuators.limit" in changes:
        assert np.abs(frame.filter(regex="^torque_").to_numpy()).max() <= changes["actuators.limit"]


@pytest.mark.parametrize("seed", range(6))
def test_a_random_tree_in_flight_is_finite_and_passes_its_checks(seed):
    random = np.random.default_rng(seed)
    model = random_tree(
        random, int(random.integers(1, 14)), floating=seed % 2 == 0, kinds=KINDS, armature=0.3 * (seed % 3 == 0)
    )
    velocity = random.normal(size=model.nv) * random.uniform(0.0, 3.0)
    state = State.at(model, random_configuration(model, random), velocity)
    run = simulate(model, None, state=state, duration=0.05, step=5e-4)
    assert np.isfinite(run.frame.select_dtypes("number").to_numpy()).all()
    assert run.summary["verdict"] in VERDICTS
    assert (run.summary["verdict"] == "unreliable") == any(check.passed == FAILED for check in run.trust)


@pytest.mark.parametrize("seed", range(6))
def test_a_session_that_goes_back_and_a_saved_state_repeat_bit_for_bit(seed, tmp_path):
    random = np.random.default_rng(seed)
    changes = {name: value for name, value in drawn(random).items() if not name.startswith(("initial.", "controller."))}
    scene = balance().build(changes | {"controller.name": LAWS[seed % 4], "run.duration": 0.2})
    session = Session(scene)
    ticks = round(scene.duration / session.period)
    first, more = (int(random.integers(1, ticks // 2)) for _ in range(2))
    session.advance(first)
    saved = session.save()
    session.advance(more)
    end = session.save()
    for _ in range(2):
        session.restore(saved)
        session.advance(more)
        assert same(session.save(), end)
    other = Session(scene)
    other.advance(first + more)
    assert same(other.save(), end)
    saved.state.save(tmp_path / "there.npz")
    assert differing(State.load(tmp_path / "there.npz", session.model), saved.state) == []


def differing(one, other):
    """Return the arrays that are not the same bit for bit, without the counts of iterations since the last row."""
    a, b = all_arrays(one.arrays), all_arrays(other.arrays)
    return [name for name in a if name != "counts" and not np.array_equal(a[name], b[name], equal_nan=True)]


def same(one, other):
    laws = zip(arrays_of(one.law), arrays_of(other.law), strict=True)
    return differing(one.state, other.state) == [] and all(np.array_equal(a, b, equal_nan=True) for a, b in laws)


@pytest.mark.slow
def test_an_hour_under_varying_forces():
    minutes = 60
    changes = {"force.noise": 3.0, "force.seed": 1, "force.start": 0.0, "force.duration": 60.0 * minutes + 1.0,
               "run.step": 0.002, "run.duration": 60.0 * minutes, "run.record_every": 1.0}  # fmt: skip
    session = Session(balance().build(changes))
    for _ in range(minutes):
        session.advance(round(60.0 / session.period))
        assert not session.has_ended
    assert session.time == pytest.approx(60.0 * minutes, abs=1e-6)
    run = replace(session.scene, state=session.state, duration=1.0).run()
    assert {check.passed for check in run.trust} == {"ok"}
