"""Closed loops and models at random: every law on both floors under whatever may disturb it, and trees in flight."""

import math
from dataclasses import replace
from functools import cache

import numpy as np

from biped import Session, State, simulate
from biped.model import random_tree
from biped.runs.verdict import VERDICTS
from biped.simulation.snapshot import arrays_of
from contact.errors import BipedError
from experiments.catalogue.parameters.parameter import Value
from experiments.catalogue.registry import experiment_named
from experiments.studies.failures import TRACEBACK
from experiments.studies.trial import Trial, run_trial

from ..conftest import KINDS, all_arrays, random_configuration
from .row import Attempt, Row

LAWS = (
    "workspace",
    "cone-workspace",
    "whole-body",
    "lqr",
    "joint-pd",
    "computed-torque",
    "joint-impedance",
    "stepping",
)
GAINS = ("kp_position", "kd_position", "kp_orientation", "kd_orientation")
#: Columns of a frame that have no value where a law has none: its records of what it wanted.
MAY_BE_NAN = ("qp_", "desired_", "joint_integral_")
#: Metrics that are of the machine.
CLOCK = ("wall_time", "real_time_factor")


@cache
def balance():
    return experiment_named("balance")


def drawn(attempt: Attempt) -> dict[str, Value]:
    """A closed loop: law, floor, start, what disturbs it, sensors and actuators."""
    random, chance = attempt.random, attempt.chance

    def about(value: float, factor: float = 4.0) -> float:
        return float(value * np.exp(random.uniform(-1.0, 1.0) * np.log(factor)))

    law = str(random.choice(LAWS, p=(0.2, 0.15, 0.2, 0.15, 0.05, 0.05, 0.05, 0.15)))
    duration = float(random.uniform(0.02, 0.4))
    found: dict[str, Value] = {
        "controller.name": law,
        "integrator.name": attempt.one_of("recursive", "rigid"),
        "run.step": float(attempt.one_of(0.0005, 0.001, 0.002)),
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
            "push.waveform": attempt.one_of("rectangle", "half-sine"),
            "push.body": attempt.one_of("trunk", "left_thigh", "right_foot"),
        }  # fmt: skip
    if chance(0.2):
        found |= {"force.size": about(20.0), "force.start": 0.0, "force.duration": duration}
    if chance(0.2):
        found |= {"platform.motion": attempt.one_of("step", "sine", "ternary"), "platform.size": about(0.02),
                  "platform.axis": attempt.one_of("x", "y", "z", "roll", "pitch", "yaw"), "platform.start": 0.0,
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
        found["actuators.strength"] = attempt.one_of("young-men", "old-women")
    if chance(0.15):
        found["random.seed"] = int(random.integers(1, 1000))
    return found


def closed_loop(attempt: Attempt) -> None:
    """One trial: an outcome of a kind that there is, no NaN, no traceback; one of four also as a recorded run."""
    changes = drawn(attempt)
    result = run_trial(balance(), Trial(0, changes))
    attempt.counts[str(result["verdict"])] += 1
    if result["failure"] in ("InputError", "ModelError", "FloorError"):
        attempt.counts["refused"] += 1
    attempt.expect(result["verdict"] in VERDICTS, result)
    attempt.expect(not result.get(TRACEBACK), f"{changes}\n{result.get(TRACEBACK)}", "traceback")
    numbers = {name: value for name, value in result.items() if isinstance(value, float)}
    attempt.expect(all(map(math.isfinite, numbers.values())), f"{changes}: {not_finite(numbers)}")
    if attempt.chance(0.25):
        compare_run(attempt, changes, result)


def not_finite(numbers: dict) -> list[str]:
    return [name for name, value in numbers.items() if not math.isfinite(value)]


def compare_run(attempt: Attempt, changes: dict[str, Value], result: dict) -> None:
    attempt.counts["run against run_trial"] += 1
    try:
        run = balance().run(changes)
    except BipedError as error:
        attempt.expect(result["failure"] == type(error).__name__, f"{changes}: {result} but {error!r}")
        return
    others = run.summary | run.summary["metrics"]
    differ = [name for name in result if name in others and name not in CLOCK and others[name] != result[name]]
    attempt.expect(not differ, f"{changes}: run and run_trial differ: {differ}")
    attempt.expect(len(result.keys() & others.keys()) > 100, f"nothing to compare: {sorted(others)}")
    frame = run.frame.select_dtypes("number")
    bad = [name for name in frame if not np.isfinite(frame[name]).all() and not name.startswith(MAY_BE_NAN)]
    attempt.expect(not bad, f"{changes}: not finite in the frame: {bad}")
    limit = changes.get("actuators.limit")
    if limit is not None:
        most = float(np.abs(frame.filter(regex="^torque_").to_numpy()).max())
        attempt.counts["with a limit"] += 1
        attempt.expect(most <= limit, f"{changes}: torque of {most} N·m")


def model_in_flight(attempt: Attempt) -> None:
    """A random tree with joints of all kinds, let go: typed, finite, and all that it says of itself is trusted."""
    random = attempt.random
    floating = attempt.chance(0.5)
    armature = 0.3 * float(attempt.chance(0.5))
    model = random_tree(random, int(random.integers(1, 14)), floating=floating, kinds=KINDS, armature=armature)
    velocity = random.normal(size=model.nv) * random.uniform(0.0, 3.0)
    state = State.at(model, random_configuration(model, random), velocity)
    run = simulate(model, None, state=state, duration=0.05, step=float(attempt.one_of(5e-4, 1e-3)))
    attempt.counts[run.summary["verdict"]] += 1
    attempt.expect(run.summary["verdict"] in VERDICTS, run.summary["verdict"])
    attempt.expect(bool(np.isfinite(run.frame.select_dtypes("number").to_numpy()).all()), "not finite")
    attempt.expect(run.summary["verdict"] == "unreliable" or all(check.passed for check in run.trust), run.trust)


def restored(attempt: Attempt) -> None:
    """A session that goes back to a random tick, and a state that went through a file: what follows is the same."""
    changes = drawn(attempt) | {"controller.name": attempt.one_of(*LAWS[:4])}
    try:
        scene = balance().build(changes)
        session = Session(scene)
    except BipedError:
        attempt.counts["refused"] += 1
        return
    ticks = max(2, round(scene.duration / session.period))
    session.advance(int(attempt.random.integers(1, ticks)))
    if session.has_ended:
        attempt.counts["ended before"] += 1
        return
    saved, more = session.save(), int(attempt.random.integers(1, ticks))
    session.advance(more)
    end = session.save()
    for _ in range(2):
        session.restore(saved)
        session.advance(more)
        attempt.expect(same(session.save(), end), f"{changes}: another future after going back")
    attempt.counts["gone back"] += 1
    other = Session(scene)
    other.advance(round((saved.state.time - scene.state.time) / session.period) + more)
    attempt.expect(same(other.save(), end), f"{changes}: another future than straight through")
    saved.state.save("there.npz")
    read = State.load("there.npz", session.model)
    attempt.expect(differing(read, saved.state) == [], f"{changes}: the file holds {differing(read, saved.state)}")


def differing(one, other) -> list[str]:
    """Arrays that are not the same bit for bit, but for the counts of iterations since the last row."""
    a, b = all_arrays(one.arrays), all_arrays(other.arrays)
    a, b = ({name: x for name, x in arrays.items() if name != "counts"} for arrays in (a, b))
    return [name for name in a if not np.array_equal(a[name], b[name], equal_nan=True)]


def same(one, other) -> bool:
    laws = zip(arrays_of(one.law), arrays_of(other.law), strict=True)
    return differing(one.state, other.state) == [] and all(np.array_equal(a, b, equal_nan=True) for a, b in laws)


def hour(attempt: Attempt) -> None:
    """An hour that varying forces last: it stands, nothing drifts, energy and momentum add up."""
    minutes = 60
    seed = int(attempt.random.integers(1, 1000))
    changes = {"force.noise": 3.0, "force.seed": seed, "force.start": 0.0, "force.duration": 60.0 * minutes,
               "run.step": 0.002, "run.duration": 60.0 * minutes, "run.record_every": 1.0}  # fmt: skip
    session = Session(balance().build(changes))
    for minute in range(minutes):
        session.advance(round(60.0 / session.period))
        attempt.expect(not session.has_ended, f"minute {minute}: {session.ending}")
        if session.has_ended:
            return
    attempt.expect(abs(session.time - 60.0 * minutes) < 1e-6, session.time)
    scene = replace(session.scene, state=session.state, duration=1.0)
    run = scene.run()
    attempt.expect(all(check.passed for check in run.trust), run.trust)
    attempt.expect(bool(np.isfinite(session.state.q).all()), "not finite")
    attempt.counts["simulated seconds"] += 60 * minutes


ROWS = (
    Row("loops", "closed loops at random: eight laws, both floors, pushes, forces, moving floors, patches, loads, "
        "blocks, noise, delays, lags, limits; outcome typed, all finite, torques within limits, a quarter as `run` "
        "against `run_trial` bit for bit", "trials", closed_loop, 100_000, 60),
    Row("models", "random trees of 1 to 13 bodies with all kinds of joints, let go", "runs", model_in_flight, 0, 6),
    Row("restore", "sessions that go back to a random tick, twice; the same straight through; states through a file: "
        "bit for bit", "closed loops", restored, 0, 12),
    Row("hour", "an hour of simulated time under varying forces", "hours", hour, 1, 0, 600.0),
)  # fmt: skip
