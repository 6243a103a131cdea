"""Gradients of whole trials: against central differences, and against sensitivities that are carried forwards."""

from dataclasses import replace

import numpy as np
import pytest

from biped import Actuators, Fall, Push, Recursive, Scene, Sensors, Session, Throw, human
from biped.control.numbers import numbers_of, with_number
from biped.derivatives.gradients import DIFFERENTIABLE, Differentiator, NoGradientError, Parameter, gradient, objectives
from biped.derivatives.linearization import Linearizer
from biped.disturbances.sensors import VisualChannel
from biped.kernels.loop.closed_loop import Loop
from biped.simulation.snapshot import put_state
from controllers import JointImpedance, JointPD, WholeBodyController, WorkspaceController
from tests.differences import columns_of, derivative
from tests.refusals import refuses

GAINS = tuple(
    f"controller.gains.{gain}[{axis}]"
    for gain in ("kp_position", "kd_position", "kp_orientation", "kd_orientation")
    for axis in range(3)
)
SET_POINT = tuple(f"controller.target_position[{axis}]" for axis in range(3))
SMOOTH = {"rms_position_error": 3.0, "rms_torque": 0.02, "margin_of_stability_end": -1.0, "rms_orientation_error": 2.0}


def pushed(duration=0.2, impulse=4.0, **options):
    controller = WorkspaceController(target_position=(-0.01, 0.02, 1.09))
    still = Scene(human(), controller, integrator=Recursive(tolerance=1e-11), step=1e-3)
    session = Session(still)
    session.advance(150)
    push = Push("trunk", (-1.0, -0.4, 0.0), impulse, start=session.time + 0.01, duration=0.08)
    scene = replace(still, state=session.state.copy(), duration=duration, disturbances=(push,))
    return replace(scene, **options)


@pytest.fixture(scope="module")
def scene():
    return pushed()


def changed(scene, name, value):
    return replace(scene, controller=with_number(scene.controller, name.removeprefix("controller."), value))


def value_of(scene, terms):
    metrics = scene.run().metrics
    return sum(weight * metrics[name] for name, weight in terms.items())


def difference(scene, terms, names, reaches=(5e-3, 5e-4)):
    def by(name):
        value = dict(numbers_of(scene.controller))[name.removeprefix("controller.")]
        spans = [reach * max(abs(value), 0.1) for reach in reaches]
        return derivative(lambda x: value_of(changed(scene, name, x), terms), *spans, at=value)

    return sharp(columns_of([by(name) for name in names]))


def sharp(difference):
    """Differences that know the first digit of each slope, at least: others would let anything pass."""
    assert (difference.error < 0.1 * np.abs(difference.value)).all()
    return difference


def test_it_is_the_derivative_of_the_trial(scene):
    names = (GAINS[0], GAINS[5], GAINS[6], GAINS[10], SET_POINT[0], SET_POINT[2])
    found = gradient(scene, SMOOTH, names)
    assert found.value == pytest.approx(value_of(scene, SMOOTH), rel=1e-12)
    assert found.switched == found.kinks == 0
    expected = difference(scene, SMOOTH, names)
    assert np.abs(expected.value).min() > 1e-7
    assert expected.departure(found.slopes, 1e-6) <= 1.0


#: Left and right knee are as strong before the push, so that the greatest of all torques has no derivative.
OBJECTIVES = (*(name for name in DIFFERENTIABLE if name != "peak_torque"), "peak_torque_left_ankle_pitch")


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_each_objective_is_the_metric_of_its_name(scene, objective):
    found = gradient(scene, objective, (SET_POINT[1], GAINS[0]))
    assert found.value == pytest.approx(scene.run().metrics[objective], rel=1e-10)
    expected = difference(scene, {objective: 1.0}, found.names)
    assert np.abs(expected.value).max() > 1e-7
    assert expected.departure(found.slopes, 1e-5) <= 1.0


def test_a_tie_of_two_is_told_as_a_kink(scene):
    assert gradient(scene, "peak_torque", ()).kinks == 1


def test_one_joint_has_a_gradient_of_its_own(scene):
    found = gradient(scene, "rms_torque_left_knee_pitch", (GAINS[2],))
    expected = difference(scene, {"rms_torque_left_knee_pitch": 1.0}, found.names)
    assert expected.departure(found.slopes, 1e-5) <= 1.0


def forwards(scene, terms):
    """∂(objective)/∂(start) and by two gains, by sensitivities carried from period to period."""
    differentiator = Differentiator(scene, (GAINS[0], GAINS[7]))
    trial, model = differentiator.trajectory, scene.model
    nv, nc = model.nv, model.nc
    held = Linearizer(scene)
    found = differentiator.of(terms)
    weights = [objectives.weights_of(name, trial, objectives.value_of(name, trial)) for name in terms]
    of_q, of_p, of_torque = (
        sum(weight * getattr(part, field) for weight, part in zip(terms.values(), weights, strict=True))
        for field in ("q", "momentum", "torque")
    )
    X, S = np.eye(2 * nv + 2 * nc), np.zeros((2 * nv + 2 * nc, 2))
    start, by_gains = np.zeros(2 * nv), np.zeros(2)
    session = Session(scene)
    for tick in range(len(trial.time)):
        row = np.concatenate([of_q[tick], of_p[tick], np.zeros(2 * nc)])
        start += (row @ X)[: 2 * nv]
        by_gains += row @ S
        if tick == len(trial.time) - 1:
            break
        here = held.at(session.state)
        law = held._asked_last
        T = np.column_stack([torque_slope(scene, session.state, name) for name in (GAINS[0], GAINS[7])])
        start += (of_torque[tick] @ law @ X[: 2 * nv])[: 2 * nv]
        by_gains += of_torque[tick] @ (law @ S[: 2 * nv] + T)
        X, S = here.A @ X, here.A @ S + here.B @ T[6:]
        session.advance(1)
    return found, start, by_gains


def torque_slope(scene, state, name):
    """∂(torques)/∂(gain): torques are affine in gains, and the difference over a huge one has no rounding."""
    value, far = dict(numbers_of(scene.controller))[name.removeprefix("controller.")], 2.0**24
    torques = []
    for number in (value, far):
        plan = changed(scene, name, number).prepare()
        put_state(state, plan.state, plan.world)
        Loop(plan.world, plan.law).run(1, 0, 0)
        torques.append(plan.world.torque.copy())
    return (torques[1] - torques[0]) / (far - value)


@pytest.mark.parametrize(
    ("terms", "near"), [({"rms_position_error": 1.0, "com_excursion": 2.0}, 1e-12), ({"rms_torque": 1.0}, 1e-10)]
)
def test_the_adjoint_is_what_is_carried_forwards(scene, monkeypatch, terms, near):
    original = Linearizer._asked

    def asked(self):
        self._asked_last = original(self)
        return self._asked_last

    monkeypatch.setattr(Linearizer, "_asked", asked)
    found, start, by_gains = forwards(replace(scene, duration=0.04), terms)
    assert np.abs(start).max() > 0.1
    assert np.abs(found.start - start).max() <= near * np.abs(start).max()
    assert np.abs(found.slopes - by_gains).max() <= near * np.abs(by_gains).max()


@pytest.mark.parametrize("acting", [
    (Sensors(delay=4e-3, estimator="none"),),
    (Actuators(time_constant=8e-3),),
    (Sensors(delay=4e-3, estimator="none"), Actuators(time_constant=8e-3)),
], ids=["late", "lagging", "both"])  # fmt: skip
def test_late_sensors_and_lagging_actuators_are_gone_back_through(scene, acting):
    imperfect = replace(scene, disturbances=(*scene.disturbances, *acting), duration=0.12)
    names = (GAINS[0], GAINS[8], SET_POINT[1])
    found = gradient(imperfect, SMOOTH, names)
    assert difference(imperfect, SMOOTH, names).departure(found.slopes, 2e-6) <= 1.0


def test_actuators_at_their_limits_pass_nothing_on(scene):
    limited = replace(scene, disturbances=(*scene.disturbances, Actuators(limit=57.0)), duration=0.1)
    differentiator = Differentiator(limited, (GAINS[0], SET_POINT[0]))
    assert (differentiator._trial.record.passes == 0.0).any()
    found = differentiator.of(SMOOTH)
    expected = difference(limited, SMOOTH, found.names, reaches=(3e-3, 4e-5))  # neither moves a limit's start
    assert expected.departure(found.slopes, 1e-5) <= 1.0


def test_changes_of_contact_are_held_and_counted():
    hard = pushed(duration=0.4, impulse=8.0, integrator=None)
    found = gradient(hard, "rms_position_error", (GAINS[0], SET_POINT[0]))
    assert found.switched > 4
    expected = difference(hard, {"rms_position_error": 1.0}, found.names, reaches=(5e-7, 1e-7))
    assert expected.departure(found.slopes, 1e-3) <= 1.0


def test_impedance_within_the_steps_has_a_gradient():
    still = Scene(human(), JointImpedance(), step=1e-3, integrator=Recursive(tolerance=1e-12))
    session = Session(still)
    session.advance(200)
    push = Push("trunk", (-1.0, -0.4, 0.0), 3.0, start=session.time, duration=0.05)
    leaning = replace(still, state=session.state.copy(), duration=0.1, disturbances=(push,))
    found = gradient(leaning, "com_excursion", ("controller.stiffness", "controller.damping"))
    assert found.switched == found.kinks == 0
    expected = difference(leaning, {"com_excursion": 1.0}, found.names)
    assert np.abs(expected.value).min() > 1e-9
    assert expected.departure(found.slopes, 1e-5) <= 1.0


def test_a_law_that_is_at_its_own_limits_now_and_then():
    """A servo: ``bounded`` is no branch of the tape, and passes on what is within its limits."""
    hanging = Scene(
        human().without_contacts(),
        JointPD(kp={"left_knee_pitch": 300.0}, kd={"left_knee_pitch": 5.0}, target={"left_knee_pitch": -0.6},
                limit=120.0),
        duration=0.2, step=1e-3, integrator=Recursive(tolerance=1e-12),
    )  # fmt: skip

    def at(value):
        controller = JointPD(
            kp={"left_knee_pitch": value}, kd={"left_knee_pitch": 5.0}, target={"left_knee_pitch": -0.6}, limit=120.0
        )
        return replace(hanging, controller=controller)

    stiffness = Parameter("knee", 300.0, at)
    found = gradient(hanging, "rms_torque", (stiffness,))
    expected = derivative(lambda value: at(value).run().metrics["rms_torque"], 0.15, at=300.0)
    assert expected.departure(found.slopes[0], 1e-5) <= 1.0


def test_one_pass_forwards_serves_several_objectives(scene):
    both = Differentiator(scene, GAINS[:2])
    apart = [both.of(name).slopes for name in ("rms_torque", "com_excursion")]
    together = both.of({"rms_torque": 2.0, "com_excursion": -3.0})
    assert together.slopes == pytest.approx(2.0 * apart[0] - 3.0 * apart[1], rel=1e-10)
    assert both.of("rms_torque").slopes.tolist() == apart[0].tolist()


@refuses(
    ({}, "settling_time", GAINS[:1], "no gradient; objectives with a gradient are"),
    ({}, "rms_torque", ("controller.gains.kp[0]",), "unknown parameter 'controller.gains.kp\\[0\\]'; did you mean"),
    ({}, "rms_torque", ("floor.k_nn",), "did you mean 'floor.k_n'\\? .* such as model.trunk.mass"),
    ({}, "rms_torque", ("controller.period",), "changes the scene's controller's period"),
    ({}, "rms_torque", ("controller.target_orientation[1]",), "nearby values are refused"),
    ({"controller": WholeBodyController()}, "rms_torque", (), "no exact derivative"),
    ({"integrator": "rk4"}, "rms_torque", (), "cannot be linearized"),
    ({"duration": 0.0213}, "rms_torque", GAINS[:1], "whole control periods"),
    ({"record_every": 0.01}, "rms_torque", GAINS[:1], "whole control periods"),
    ({"disturbances": (Throw(1.8, (0.2, 0.2, 0.2), (1.0, 0.1, 1.2), (-4.5, 0.0, 0.2)),)}, "rms_torque", GAINS[:1],
     "a thrown box cannot be linearized"),
    ({"disturbances": (Sensors(estimator="none", visual=VisualChannel(position_noise=1e-3)),)}, "rms_torque", GAINS[:1],
     "sensor noise cannot be linearized"),
)  # fmt: skip
def test_what_has_no_gradient_is_refused_in_words(scene, options, objective, names):
    gradient(replace(scene, **options), objective, names)


def test_who_falls_has_no_gradient():
    with pytest.raises(NoGradientError, match="fell at") as raised:
        gradient(pushed(duration=1.5, impulse=60.0, fall=Fall()), "rms_torque", GAINS[:1])
    assert 0.3 < raised.value.time < 1.9


def test_a_start_that_follows_a_parameter_counts():
    scene = Scene(human(), WorkspaceController(), duration=0.02, integrator=Recursive(tolerance=1e-12))
    found = gradient(scene, "rms_torque", (SET_POINT[2],))
    assert difference(scene, {"rms_torque": 1.0}, found.names).departure(found.slopes, 1e-6) <= 1.0
    held = gradient(replace(scene, state=scene.initial_state), "rms_torque", (SET_POINT[2],))
    assert abs(held.slopes[0] - found.slopes[0]) > 1e-3 * abs(found.slopes[0])
