"""Sensors and actuators between plant and controller, and loads of the plant."""

import math

import numpy as np
import pytest
from scipy import stats

from biped import (
    Actuators,
    Force,
    InputError,
    Kick,
    Load,
    ModelError,
    Patch,
    Platform,
    Push,
    Run,
    Sensors,
    Signal,
    State,
    human,
    random_forces,
    simulate,
    standing,
)
from biped.control.controller import Controller
from biped.disturbances import in_words
from biped.disturbances.sensors import ProprioceptiveChannel, VisualChannel
from biped.dynamics import forward_kinematics
from biped.kernels.loop.random import normal
from contact import Floor
from controllers import JointImpedance
from experiments.catalogue.registry import experiment_named

from .watching import PD, watched


def test_numbers_by_counting_are_normal_and_independent():
    sample = np.array([[normal(7, tick, channel) for channel in range(12)] for tick in range(4000)])
    assert stats.kstest(sample.ravel(), "norm").pvalue > 1e-3
    correlations = np.corrcoef(np.concatenate([sample[1:], sample[:-1], sample[1:] ** 2 - 1.0], axis=1).T)
    assert np.abs(correlations - np.eye(len(correlations))).max() < 5.0 / math.sqrt(4000)
    other = np.array([normal(8, tick, 0) for tick in range(4000)])
    assert abs(np.corrcoef(sample[:, 0], other)[0, 1]) < 4.0 / math.sqrt(4000)
    assert normal(2**40 + 7, 3, 1) != normal(7, 3, 1)


def test_a_compiled_controller_sees_the_same_as_one_in_python():
    sensors = Sensors(
        4e-3,
        visual=VisualChannel(position_noise=1e-4),
        proprioceptive=ProprioceptiveChannel(joint_noise=1e-4, joint_rate_noise=1e-2),
        seed=9,
    )
    acting = (
        sensors,
        Actuators(limit=60.0, noise=2.0, relative_noise=0.05, seed=4),
        Load("left_shank", 1.0, (0.1, 0, 0)),
    )
    setup = experiment_named("balance").build()

    class InPython(Controller):
        def __init__(self, controller):
            self.period, self.torques = controller.period, controller.torques

    runs = [
        simulate(
            setup.model, c, state=setup.state.copy(), floor=setup.floor, disturbances=acting, duration=0.1, step=1e-3
        )
        for c in (setup.controller, InPython(setup.controller))
    ]
    names = [name for name in runs[1].frame if name.startswith(("angle", "torque"))]
    assert np.abs(runs[0].frame[names].to_numpy() - runs[1].frame[names].to_numpy()).max() < 1e-6
    assert runs[0].by_joint("saturation_time") == pytest.approx(runs[1].by_joint("saturation_time"), abs=0.011)


def test_torques_stay_within_limits_and_the_time_beyond_is_counted():
    person = human()

    class Demand(Controller):
        period = 2e-3

        def torques(self, observation):
            demand = np.zeros(12)
            demand[0] = 50.0 if observation.time < 0.1 else 5.0
            return demand

    limits = {"left_hip_roll": 20.0}
    run = simulate(person.without_contacts(), Demand(), disturbances=[Actuators(limit=limits)], duration=0.2, step=1e-3)
    torque = run.frame["torque_left_hip_roll"]
    assert torque.max() == 20.0
    assert set(torque[1:]) == {20.0, 5.0}
    assert run.metrics["saturation_time_left_hip_roll"] == pytest.approx(0.1)
    assert run.metrics["saturation_time_left_knee_pitch"] == 0.0


def test_a_load_is_a_body_welded_on():
    """Mass, centre and inertia equal the parallel-axis theorem by hand, and the weight acts on the floor."""
    person, load = human(), Load("trunk", 6.0, (0.2, -0.05, 0.1), (0.1, 0.2, 0.3))
    carrying = load.on(person)
    assert carrying.total_mass == pytest.approx(person.total_mass + 6.0)
    at = np.array(load.position)
    com = 6.0 * at / 51.0
    inertia = np.array(person.root.inertia)
    for mass, r in ((45.0, -com), (6.0, at - com)):
        inertia = inertia + mass * (r @ r * np.eye(3) - np.outer(r, r))
    inertia = inertia + 6.0 / 12.0 * np.diag([0.13, 0.1, 0.05])
    assert np.abs(np.array(carrying.root.inertia) - inertia).max() < 1e-12
    state = State.at(person, person.configuration((0.0, 0.0, 1.2288)))
    run = simulate(person, JointImpedance(stiffness=2e4), state=state, disturbances=[load], duration=4.0, step=1e-3)
    pressing = sum(run.frame[f"contact_{name}_fz"].iloc[-1] for name in person.contact_names)
    assert pressing == pytest.approx(carrying.total_mass * 9.81, rel=1e-3)


def test_a_load_that_is_missing_undoes_one():
    person, load = human(), Load("trunk", 6.0, (0.2, -0.05, 0.1), (0.1, 0.2, 0.3))
    carrying = load.on(person)
    there = tuple(np.subtract(load.position, np.subtract(carrying.root.com, person.root.com)))
    bare = Load("trunk", -6.0, there, load.size).on(carrying)
    assert bare.root.mass == pytest.approx(person.root.mass)
    np.testing.assert_allclose(bare.root.com, person.root.com, atol=1e-14)
    np.testing.assert_allclose(bare.root.inertia, person.root.inertia, atol=1e-13)
    with pytest.raises(ModelError, match="mass of 'trunk' with its load must be above zero"):
        Load("trunk", -50.0).on(person)


def test_the_controller_knows_nothing_of_a_load():
    """The observed trunk is without the load, to round-off."""
    load = Load("trunk", 5.0, (0.3, 0.1, 0.2))
    run, (q, v, _), (true_q, true_v, _) = watched(load)
    seen, true = np.hstack([q, v]), np.hstack([true_q, true_v])
    arm = np.subtract(human().root.com, run.state.model.root.com)
    assert np.linalg.norm(arm) > 0.03
    for s, t in zip(seen, true, strict=False):
        w, u = t[3], t[4:7]
        turned = arm + 2.0 * np.cross(u, np.cross(u, arm) + w * arm)
        assert np.abs(s[:3] - (t[:3] + turned)).max() < 1e-12
        assert np.abs(s[19:22] - (t[19:22] + np.cross(t[22:25], turned))).max() < 1e-12
        assert np.array_equal(s[7:19], t[7:19])


@pytest.mark.parametrize("height", [-0.3, 0.3])
def test_a_controller_is_asked_about_the_start_that_it_will_see(height):
    """A heavy load moves the trunk's centre of mass by more than a foot's height above the floor; the feet stay."""
    person, asked = human(), []

    class Watching(Controller):
        def check_start(self, model, q):
            asked.append(forward_kinematics(model, q).contact[:, 2].copy())

        def torques(self, observation):
            return np.zeros(len(person.joint_names))

    state = standing(person)
    simulate(person, Watching(), state=state, disturbances=[Load("trunk", 30.0, (0.0, 0.0, height))], duration=2e-3)
    expected = forward_kinematics(person, state.q).contact[:, 2]
    np.testing.assert_allclose(asked, [expected], atol=1e-14)


@pytest.mark.parametrize("load", [(), (Load("trunk", 5.0, (0.2, 0.0, 0.1)),)])
def test_a_kick_changes_the_velocity_of_all_bodies_alike(load):
    """In free fall without gravity nothing else changes: joints stay at rest, and the model does not rotate."""
    person = human().without_contacts().with_gravity((0, 0, 0))
    kick = Kick(0.4, azimuth=math.pi / 2, start=0.01, duration=0.02)
    run = simulate(person, disturbances=[*load, kick], duration=0.05, step=1e-3)
    end = run.frame.iloc[-1]
    impulse = [end[f"momentum_p{axis}"] for axis in "xyz"]
    assert impulse == pytest.approx([0.0, -0.4 * person.total_mass, 0.0], abs=1e-9)  # to the left of who looks along −x
    given = run.events.loc[run.events["kind"] == "push", ["impulse_x", "impulse_y", "impulse_z"]].sum()
    assert given.to_numpy() == pytest.approx(impulse, abs=1e-9)
    if not load:
        assert np.abs(run.frame[[f"rate_{joint}" for joint in person.joint_names]].to_numpy()).max() < 1e-9
    assert in_words(run.disturbances, person.facing)[-1] == "a kick of 0.4 m/s at 0.01 s"


def test_pushes_act_on_the_same_point_with_and_without_a_load():
    """A push through the load's own centre turns the trunk according to the lever from the common centre."""
    person = human().without_contacts().with_gravity((0, 0, 0))
    load = Load("trunk", 45.0, (0.2, 0.0, 0.0))
    push = Push("trunk", (0.0, 1.0, 0.0), 3.0, 0.0, 0.01, point=(0.1, 0.0, 0.0))
    run = simulate(person, disturbances=[load, push], duration=0.05, step=1e-3)
    com = (
        run.frame[["com_x", "com_y", "com_z"]].iloc[0].to_numpy()
        - run.frame[["body_x", "body_y", "body_z"]].iloc[0].to_numpy()
    )
    spin = run.frame["momentum_lz"].iloc[-1]
    assert spin == pytest.approx(-com[0] * 3.0, rel=1e-3)


def test_a_run_with_everything_goes_on_bit_for_bit(tmp_path):
    setup = experiment_named("balance").build()
    acting = [
        Push("trunk", (1, 0, 0), 2.0, 0.35, 0.2, "half-sine"),
        *random_forces("trunk", 10.0, 3, duration=0.8),
        Force("left_thigh", (0, 1, 0), Signal.rectangle(5.0, 0.1, 0.6)),
        Platform(x=Signal.sine(0.01, 1.0, 0.0, 1.0), pitch=Signal.step(0.01, 0.2, 0.3)),
        Patch((-1.0, 1.0), (-1.0, -0.15), Floor(mu_s=0.25, mu_d=0.2)),
        Load("trunk", 2.0, (0.1, 0.0, 0.1)),
        Sensors(
            6e-3,
            proprioceptive=ProprioceptiveChannel(joint_noise=1e-4, joint_rate_noise=5e-3),
            seed=1,
            estimator="none",
        ),
        Actuators(limit=150.0, noise=1.0, seed=2),
    ]

    def go(state, duration):
        begun = [one for one in acting if one.begins < state.time + duration]
        return simulate(
            setup.model, setup.controller, state=state, floor=setup.floor, disturbances=begun, duration=duration,
            step=1e-3,
        )  # fmt: skip

    whole = go(setup.state.copy(), 0.8)
    first = go(setup.state.copy(), 0.307)  # within a control tick
    first.save(tmp_path)
    loaded = Run.load(tmp_path, setup.model)
    assert loaded.disturbances == first.disturbances
    rest = go(loaded.state, 0.493)
    assert np.array_equal(rest.state.q, whole.state.q)
    assert np.array_equal(rest.state.momentum, whole.state.momentum)
    assert np.array_equal(rest.state.arrays.ledger.works, whole.state.arrays.ledger.works)
    given = [e["impulse"] for run in (first, rest) for e in run.summary["events"]["pushes"]]
    assert np.sum(given, axis=0) == pytest.approx(
        np.sum([e["impulse"] for e in whole.summary["events"]["pushes"]], axis=0)
    )


def test_refusals():
    person = human()
    for make, error, words in (
        (lambda: random_forces("trunk", 1.0, -1), InputError, "zero or above"),
        (lambda: random_forces("trunk", -1.0, 1), InputError, "zero or above"),
        (lambda: Actuators(limit=0.0), InputError, "above zero"),
        (lambda: Actuators(limit="high"), InputError, "above zero"),
        *((lambda rate=rate: Actuators(rate_limit=rate), InputError, "rate_limit") for rate in (0.0, -1.0, math.nan)),
        (lambda: Kick(0.1, duration=0.0), InputError, "kick.duration = 0.0: it must be a finite number above zero"),
        (lambda: simulate(person, disturbances=[Sensors()]), InputError, "without a controller"),
        (lambda: simulate(person, JointImpedance(), disturbances=[Actuators()]), InputError, "joint impedance"),
        (lambda: simulate(person, PD, disturbances=[Load("head", 1.0)]), ModelError, "unknown body 'head'"),
        (lambda: simulate(person, PD, disturbances=[Actuators(limit={"knee": 1.0})]), ModelError, "unknown joint"),
        (lambda: simulate(person, PD, disturbances=["push"]), InputError, "'push': it must be one of "),
        (lambda: Force("trunk", (1, 0, 0), Signal.step(1.0)), InputError, "last value"),
    ):  # fmt: skip
        with pytest.raises(error, match=words):
            make()
