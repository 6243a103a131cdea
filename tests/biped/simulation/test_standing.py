"""Standing feet do not creep, joint impedance is stable at any step, pushes are exact, impacts balance."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

from biped import (
    Controller,
    Fall,
    Impedance,
    Observation,
    Push,
    Recursive,
    Scene,
    State,
    Throw,
    crouching,
    forward_kinematics,
    human,
    simulate,
    standing,
)
from biped.errors import InputError, IntegrationError
from biped.integrators.integrator import Integrator
from controllers.workspace import WorkspaceController

CONTROLLER = WorkspaceController((-0.01, 0.0, 1.14), (0.99144486, 0.0, -0.13052619, 0.0))
BLOCK = Throw(1.8, (0.1216,) * 3, (0.5, 0.1, 1.2), (-4.5, 0.0, 0.2))


class Stiff(Controller):
    period = 2e-3

    def __init__(self, stiffness: float = 2000.0, damping: float = 50.0) -> None:
        self.stiffness, self.damping = stiffness, damping

    def impedance(self, model):
        joints = model.joint_names
        return Impedance(dict.fromkeys(joints, self.stiffness), dict.fromkeys(joints, self.damping))

    def torques(self, observation: Observation):
        return np.zeros(len(observation.model.joint_names))


class Explicit(Controller):
    period = 2e-3

    def torques(self, observation: Observation):
        return -2000.0 * observation.angles - 50.0 * observation.rates


@pytest.mark.parametrize("direction", [(-1.0, 0.0, 0.0), (-0.6, 0.8, 0.0)])
def test_sticking_feet_creep_less_than_a_micrometre_in_20_s(person, direction):
    """Under a constant push of 30 N, forwards or aslant; the feet could take 219 N before they slip."""
    push = Push("trunk", direction, 30.0 * 60.0, start=0.0, duration=60.0)
    how = {"duration": 20.0, "step": 2e-3, "disturbances": [push], "fall": Fall()}
    state = simulate(person, Stiff(damping=200.0), state=State.at(person), **how).state
    run = simulate(person, Stiff(damping=200.0), state=state, **how)
    assert run.summary["verdict"] == "recovered"
    for point in person.contact_names:
        assert (run.frame[f"contact_{point}_mode"] == 4).all()
        track = run.frame[[f"contact_{point}_x", f"contact_{point}_y"]].to_numpy()
        assert np.linalg.norm(track - track[0], axis=1).max() < 1e-6
    held = -sum(run.frame[f"contact_{point}_fx"] for point in person.contact_names)
    assert held.iloc[-1] == pytest.approx(30.0 * direction[0], rel=1e-3)


@pytest.mark.parametrize("step", [5e-4, 1e-3, 2e-3])
def test_impedance_stands(person, step):
    run = simulate(person, Stiff(), duration=3.0, step=step, fall=Fall())
    assert run.summary["verdict"] == "recovered"
    assert run.frame["body_z"].iloc[-1] == pytest.approx(1.228, abs=2e-3)


def test_impedance_is_stable_with_the_feet_in_the_air_where_the_explicit_law_is_not(person):
    aloft = person.with_gravity((0.0, 0.0, 0.0))
    q = aloft.configuration((0, 0, 3.0), angles={"left_ankle_pitch": 0.2, "right_ankle_roll": -0.2})
    run = simulate(aloft, Stiff(), state=State.at(aloft, q), duration=1.0, step=2e-3)
    angles = run.frame.filter(regex="^angle_").abs()
    assert angles.iloc[-1].max() < 1e-3
    # An implicit midpoint step adds no energy to the system and its springs.
    springs = 0.5 * 2000.0 * (run.frame.filter(regex="^angle_").to_numpy() ** 2).sum(axis=1)
    total = run.frame["ledger_kinetic"].to_numpy() + springs
    assert total[-1] < 1e-3 * total[0]
    assert total.max() <= total[0] * 1.01
    flung = simulate(aloft, Explicit(), state=State.at(aloft, q), duration=1.0, step=2e-3, fall=Fall())
    assert flung.summary["verdict"] == "lost control"


@pytest.mark.parametrize("step", [1e-4, 5e-4, 2e-3])
@pytest.mark.parametrize("waveform", ["rectangle", "half-sine"])
def test_a_push_has_its_exact_impulse_whatever_the_step(person, step, waveform):
    floating = person.without_contacts().with_gravity((0.0, 0.0, 0.0))
    push = Push(
        "left_shank", (1.0, 2.0, -1.0), 7.0, start=0.01037, duration=0.0217, waveform=waveform, point=(0, 0, 0.1)
    )
    state = State.at(floating)
    run = simulate(floating, state=state, duration=0.05, step=step, disturbances=[push])
    state = run.state
    expected = 7.0 * np.array(push.direction) / np.linalg.norm(push.direction)
    assert state.momentum[:3] == pytest.approx(expected, rel=1e-10)
    assert state.arrays.ledger.impulse[:3] == pytest.approx(expected, rel=1e-10)
    energy = run.frame["ledger_kinetic"].iloc[-1]
    assert run.frame["ledger_pushes"].iloc[-1] == pytest.approx(energy, rel=0.02)
    before = run.frame[run.frame["time"] <= 0.01037 - step]
    assert (before["momentum_px"].abs() < 1e-13).all()


def test_impacts_balance(person, posture):
    floating = person.without_contacts().with_gravity((0.0, 0.0, 0.0))
    q = posture(person).q
    state = State.at(floating, q)
    run = simulate(floating, state=state, duration=0.2, disturbances=[BLOCK])
    state = run.state
    impacts = run.events[run.events["kind"] == "impact"]
    assert len(impacts) >= 1
    assert 0.05 < impacts["time"].iloc[0] < 0.09
    impulse = impacts[["impulse_x", "impulse_y", "impulse_z"]].to_numpy().sum(axis=0)
    block = np.array([-4.5, 0.0, 0.2]) * 1.8
    assert state.momentum[:3] == pytest.approx(impulse, abs=1e-9)
    assert block - state.projectile[7:10] == pytest.approx(impulse, abs=1e-9)
    places = impacts[["x", "y", "z"]].to_numpy()
    turned = np.cross(places, impacts[["impulse_x", "impulse_y", "impulse_z"]].to_numpy()).sum(axis=0)
    about_origin = state.momentum[3:6] + np.cross(state.q[:3], state.momentum[:3])
    assert about_origin == pytest.approx(turned, abs=1e-8)
    lost = 0.5 * 1.8 * (4.5**2 + 0.2**2) - kinetic_energy_of_block(state)
    assert 0.0 < run.frame["ledger_kinetic"].iloc[-1] < lost
    assert run.frame["ledger_impacts"].iloc[-1] == pytest.approx(run.frame["ledger_kinetic"].iloc[-1], rel=1e-3)


def kinetic_energy_of_block(state: State) -> float:
    inertia = 1.8 / 6.0 * 0.1216**2
    return float(
        state.projectile[7:10] @ state.projectile[7:10] / 3.6
        + state.projectile[10:13] @ state.projectile[10:13] / (2 * inertia)
    )


def test_a_step_without_a_solution_raises_and_keeps_what_was_computed(person, posture):
    stubborn = Recursive(max_iterations=1, max_halvings=0, tolerance=1e-13)
    with pytest.raises(
        IntegrationError,
        match=r"no solution of the time step at .* s: Newton's method does not converge, .*; contact modes left_1",
    ) as caught:
        simulate(person, CONTROLLER, state=posture(person), duration=1.0, step=2e-3, integrator=stubborn)
    assert caught.value.run is not None
    assert np.isfinite(caught.value.run.frame.to_numpy(dtype=float)).all()


def test_bad_torques_are_refused_by_name(person):
    class Broken(Controller):
        period = 2e-3

        def torques(self, observation):
            torques = np.zeros(12)
            torques[3] = np.nan
            return torques

    with pytest.raises(InputError, match="torque of left_knee_pitch is not finite at 0 s"):
        simulate(person, Broken(), duration=0.1)


def test_the_defaults_stand():
    run = simulate(human(), WorkspaceController(), fall=Fall(), duration=0.5)
    assert run.summary["verdict"] == "recovered"
    assert run.metrics["position_error"] < 1e-3


def test_a_scene_can_be_run_again_and_leaves_its_state_alone():
    state = standing(human())
    scene = Scene(human(), WorkspaceController(), state=state, duration=0.05)
    first, second = scene.run(), scene.run()
    assert first.frame.equals(second.frame)
    assert state.steps == 0
    assert simulate(human(), WorkspaceController(), state=state, duration=0.05).frame.equals(first.frame)
    assert state.steps == 0


def test_postures_have_their_feet_where_they_say():
    """Standing soles are as deep as the floor's springs need; the thesis's crouch starts 4.6 mm in the air, flat."""
    model = human()
    deep = forward_kinematics(model, standing(model).q).contact[:, 2]
    assert deep == pytest.approx(-model.total_mass * 9.81 / (8 * 75000.0), rel=1e-9)
    high = forward_kinematics(model, crouching(model).q).contact[:, 2]
    assert np.ptp(high) < 1e-4
    assert high.mean() == pytest.approx(4.6e-3, abs=1e-4)


def test_a_misspelt_member_is_refused():
    with pytest.raises(InputError, match=r"Limp\.impedence: did you mean 'impedance'"):

        class Limp(Controller):
            def impedence(self, model):
                return None

    with pytest.raises(InputError, match=r"Silent\.record: did you mean 'recorded'"):

        class Silent(Controller):
            record = ("force",)

    with pytest.raises(InputError, match=r"Wrong\.simplectic: did you mean 'symplectic'"):

        class Wrong(Integrator):
            simplectic: ClassVar[bool] = True


def test_settings_may_be_called_like_a_method():
    @dataclass(frozen=True)
    class Bounded(Controller):
        torque: float = 1.0  # a number, which cannot be meant for the method ``torques``

        def torques(self, observation):
            return np.full(len(observation.model.joint_names), self.torque)

    run = Scene(human().without_contacts(), Bounded(), duration=0.01).run()
    assert (run.frame["torque_left_knee_pitch"].iloc[1:] == 1.0).all()
    assert replace(Bounded(), torque=2.0).torque == 2.0
