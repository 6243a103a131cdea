"""Scenes: what they begin with, and what is said about options and members that do not exist."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

from biped import Fall, InputError, Scene, crouching, forward_kinematics, human, simulate, standing
from biped.control.controller import Controller
from biped.integrators.integrator import Integrator
from controllers.workspace import WorkspaceController


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


def test_a_misspelt_member_of_a_controller_is_refused():
    with pytest.raises(InputError, match=r"Limp\.impedence: is 'impedance' meant"):

        class Limp(Controller):
            def impedence(self, model):
                return None

    with pytest.raises(InputError, match=r"Silent\.record: is 'recorded' meant"):

        class Silent(Controller):
            record = ("force",)


def test_a_misspelt_member_of_an_integrator_is_refused():
    with pytest.raises(InputError, match=r"Wrong\.simplectic: is 'symplectic' meant"):

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
