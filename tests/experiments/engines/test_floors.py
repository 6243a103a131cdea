"""Floors that move, and floors that are different in places, in other engines: mechanics of a box, and the human."""

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest

from biped import InputError, Patch, Platform, Signal, State, human, rigid_box, simulate
from contact import Floor
from controllers.impedance import JointImpedance
from experiments.catalogue.registry import experiment_named
from experiments.engines.engine import Engine
from experiments.engines.engine_integrator import EngineIntegrator
from tests.refusals import refuses

from .conftest import installed

MASS, MU, G = 3.0, 0.5, 9.81
#: With so little damping sliding points are hardly lifted in MuJoCo.
FLOOR = Floor(mu_s=MU, mu_d=MU, b_n=5.0, b_t=5.0)
BOX = rigid_box(MASS, (0.3, 0.2, 0.1))


def at_rest(speed=0.0, floor=FLOOR):
    q = BOX.neutral()
    q[2] = 0.05 - MASS * G / (4 * floor.k_n)
    return State.at(BOX, q, [speed, 0, 0, 0, 0, 0])


def on(engine, *disturbances, state=None, duration=1.0, step=1e-3, floor=FLOOR):
    state = at_rest(floor=floor) if state is None else state
    return simulate(
        BOX, state=state, floor=floor, disturbances=disturbances, duration=duration, step=step, record_every=step,
        integrator=EngineIntegrator(engine),
    )  # fmt: skip


def accelerated(a):
    """a t²/2, for 9 s."""
    return Signal(np.array([0.0, 9.0]), np.array([[0.0, 0.0, 0.5 * a], [40.5 * a, 0.0, 0.0]]))


def closes(run):
    """The momentum to rounding; the energy to a part of what the floor's motion did, which is the engine's error."""
    assert run.summary["momentum_defect"] < 1e-10
    assert run.summary["ledger_residual"] < 3e-3 * max(abs(run.frame["ledger_platform"].iloc[-1]), 1.0)


@pytest.mark.parametrize("share", [0.6, 1.6])
def test_a_floor_takes_a_box_along_as_far_as_friction_goes(engine, share):
    """It moves as the floor does, or with μ g; the floor gives its energy, and takes what the sliding dissipates."""
    a = share * MU * G
    run = on(engine, Platform(x=accelerated(a)))
    expected, end = min(a, MU * G), run.frame.iloc[-1]
    assert end["body_x"] == pytest.approx(0.5 * expected, rel=3e-3)
    np.testing.assert_allclose(run.frame["body_vx"], expected * run.frame["time"], atol=2e-2)
    kinetic = 0.5 * MASS * expected**2
    assert end["ledger_platform"] == pytest.approx(0.5 * MASS * expected * a, rel=1e-2)
    assert end["ledger_dissipated"] == pytest.approx(end["ledger_platform"] - kinetic, abs=5e-3 * kinetic)
    assert bool(run.frame["time"][run.frame["contact_box_1_mode"] == 2].size > 900) == (share > 1.0)
    closes(run)


def test_an_accelerated_floor_is_another_gravity(engine):
    """In the floor's frame the human moves as under gravity − a, but for the step in which the floor sets off."""
    person, a = human(), np.array([0.8, -0.5, 0.6])
    start, rough = person.configuration((0.0, 0.0, 1.2288)), Floor(mu_s=MU, mu_d=MU)
    step, span = (1e-3, 0.8) if engine.name == "mujoco" else (1e-4, 0.1)  # PyBullet's springs are explicit

    def swaying(model, *disturbances):
        return simulate(
            model, JointImpedance(), state=State.at(model, start), floor=rough, disturbances=disturbances,
            duration=span, step=step, record_every=1e-2, integrator=EngineIntegrator(engine),
        ).frame  # fmt: skip

    moved = swaying(person, Platform(x=accelerated(a[0]), y=accelerated(a[1]), z=accelerated(a[2])))
    still = swaying(person.with_gravity(np.array([0.0, 0.0, -G]) - a))
    assert np.ptp(still["body_x"]) > 20.0 * 2e-4 * step / 1e-3
    for axis, rate in zip("xyz", a, strict=True):
        shift = moved[f"body_{axis}"] - 0.5 * rate * moved["time"] ** 2
        np.testing.assert_allclose(shift, still[f"body_{axis}"], atol=2e-4 * step / 1e-3)


@pytest.mark.parametrize("axis", ["x", "z"])
def test_the_place_of_a_floor_that_has_stopped_is_that_of_the_box(engine, axis):
    run = on(engine, Platform(**{axis: Signal.step(0.2, 0.1, 0.8)}), duration=1.2)
    gone = run.frame[f"body_{axis}"].iloc[-1] - run.frame[f"body_{axis}"].iloc[0]
    assert gone == pytest.approx(0.2, abs=2e-3)
    lifted = MASS * G * 0.2 if axis == "z" else 0.0
    assert run.frame["ledger_platform"].iloc[-1] == pytest.approx(lifted, abs=0.02)
    closes(run)


@pytest.mark.parametrize("share", [0.97, 1.03])
def test_a_box_slides_off_a_tilted_floor_at_the_friction_angle(engine, share):
    angle = share * math.atan(MU)
    run = on(engine, Platform(pitch=Signal.step(angle, 0.0, 1.5)), duration=2.5)
    late = run.frame[run.frame["time"] > 1.6]
    way = np.linalg.norm(np.diff(late[["body_x", "body_y", "body_z"]].iloc[[0, -1]].to_numpy(), axis=0))
    if share < 1.0:
        assert way < 5e-3
        return
    assert way > 0.5 * G * (math.sin(angle) - MU * math.cos(angle)) * 0.9**2
    force = np.array([sum(late[f"contact_{name}_f{a}"].mean() for name in BOX.contact_names) for a in "xyz"])
    tilted = np.array([math.sin(angle), 0.0, math.cos(angle)])
    assert np.linalg.norm(force) == pytest.approx(MASS * G * math.cos(angle) * math.hypot(1.0, MU), rel=1e-2)
    assert force @ tilted == pytest.approx(MASS * G * math.cos(angle), rel=1e-2)
    assert set(late["contact_box_1_mode"]) == {2}


def test_a_floor_that_turns_takes_along_what_sticks_to_it(engine):
    turn = Platform(yaw=Signal.step(math.pi / 2, 0.0, 2.0), pivot=(0.5, 0.0, 0.0))
    end = on(engine, turn, duration=2.2, floor=Floor(mu_s=2.0, mu_d=2.0)).frame.iloc[-1]
    assert (end["body_x"], end["body_y"]) == pytest.approx((0.5, -0.5), abs=2e-3)
    assert 2 * math.atan2(end["body_qz"], end["body_qw"]) == pytest.approx(math.pi / 2, abs=5e-3)


def test_a_run_goes_on_upon_a_floor_that_moves(engine):
    rubber = Floor(mu_s=MU, mu_d=MU)
    steady = Platform(x=Signal(np.array([0.0, 0.5, 9.0]), np.array([[0.0, 0.0, 1.0], [0.25, 1.0, 0.0], [8.75, 0, 0]])))
    run = on(engine, steady, state=on(engine, steady, floor=rubber, duration=0.7).state, floor=rubber, duration=0.3)
    assert run.frame["body_x"].iloc[-1] == pytest.approx(0.75, abs=2e-3)
    np.testing.assert_allclose(run.frame["body_vx"][1:], 1.0, atol=2e-3)


def test_a_sliding_box_is_slowed_by_what_it_is_on(engine):
    """μ g on the floor, and a tenth of it on the patch, from when all its points are there."""
    ice = Patch((0.6, 9.0), (-1.0, 1.0), FLOOR.with_(mu_s=0.05, mu_d=0.05))
    run = on(engine, ice, state=at_rest(4.0), duration=0.6, step=5e-4)
    x, v, t = (run.frame[name].to_numpy() for name in ("body_x", "body_vx", "time"))
    for inside, mu in (((x + 0.15 < 0.6) & (t > 0.05), MU), (x - 0.15 > 0.62, 0.05)):
        assert np.polyfit(t[inside], v[inside], 1)[0] == pytest.approx(-mu * G, rel=0.02)
    closes(run)


def test_a_box_stands_as_deep_as_the_patches_under_its_points_let_it(engine):
    soft = Patch((-1.0, 0.0), (-1.0, 1.0), Floor(k_n=25_000.0, b_n=1000.0))
    last = on(engine, soft, floor=Floor(), duration=1.5).frame.iloc[-1]
    for point in (name for name in BOX.contact_names if last[f"contact_{name}_fz"] > 0.0):
        stiffness = 25_000.0 if last[f"contact_{point}_x"] < 0.0 else 75_000.0
        assert last[f"contact_{point}_fz"] == pytest.approx(-stiffness * last[f"contact_{point}_z"], rel=0.06)
    assert sum(last[f"contact_{name}_fz"] for name in BOX.contact_names) == pytest.approx(MASS * G, rel=1e-3)


MOVES = {"platform.motion": "step", "platform.start": 0.1, "platform.rise": 0.7}
CARRIED = MOVES | {"platform.axis": "y", "platform.size": 0.02, "controller.reference": "feet"}
TILTED = MOVES | {"platform.axis": "pitch", "platform.size": 0.02}
ICE = {"patch.present": 1, "patch.mu_s": 0.05, "patch.mu_d": 0.05, "push.impulse": 2.0, "push.start": 0.1}


@pytest.mark.parametrize("changes", [CARRIED, TILTED, ICE], ids=["carried", "tilted", "ice"])
def test_the_human_stands_on_it_as_in_ours(engine, changes):
    balance, short = experiment_named("balance"), {"run.duration": 1.2, "run.step": 1e-3}
    ours, theirs = (balance.run(changes | short | {"integrator.name": name}) for name in ("recursive", engine.name))
    assert theirs.summary["verdict"] == ours.summary["verdict"] == "recovered"
    for axis in "xyz":
        np.testing.assert_allclose(theirs.frame[f"body_{axis}"], ours.frame[f"body_{axis}"], atol=1e-3)
    assert list(theirs.frame.columns) == list(ours.frame.columns)
    if "patch.present" not in changes:
        given = ours.frame["ledger_platform"].iloc[-1]
        assert theirs.frame["ledger_platform"].iloc[-1] == pytest.approx(given, rel=0.05)
    assert theirs.summary["ledger_residual"] < 5e-3


@dataclass(frozen=True)
class Plain(Engine):
    name, title, package, distribution = "plain", "Plain", "numpy", "numpy"

    def start(self, case):
        raise AssertionError


@refuses(
    (Patch((0.0, 1.0), (0.0, 1.0), Floor()), "Plain does not support patches on the floor"),
    (Platform(x=Signal.step(0.01, 0.02, 0.05)), "'plain' does not support a moving floor"),
)
def test_floors_that_an_engine_does_not_have_are_told_in_one_line(disturbance):
    model = human()
    simulate(
        model, None, state=State.at(model), duration=0.1, disturbances=[disturbance],
        integrator=EngineIntegrator(Plain()),
    )  # fmt: skip


def test_soles_that_are_boxes_have_no_patches(engine):
    with pytest.raises(InputError, match="on a floor with patches it must be points"):
        on(replace(engine, soles="boxes"), Patch((0.0, 1.0), (0.0, 1.0), FLOOR), duration=0.01)


def test_sliding_points_are_lifted_in_mujoco_by_what_it_says():
    """τ μ v, where the points are deeper than that: the mean of the swings about it."""
    floor = FLOOR.with_(b_n=30.0)
    run = on(installed("mujoco"), state=at_rest(1.0), duration=0.19, step=2.5e-4, floor=floor)
    late = run.frame[run.frame["time"] > 0.1]
    lifted = late["body_z"] - run.frame["body_z"].iloc[0]
    assert (lifted / (floor.b_n / floor.k_n * MU * late["body_vx"])).mean() == pytest.approx(1.0, abs=0.1)
