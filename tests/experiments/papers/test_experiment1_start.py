"""What the thesis's law asks for at the start of its experiment 1, by Pinocchio: nothing of our recursions.

The equations of motion of the whole human, with its feet held and no torques in its joints, are solved for the wrench
on the trunk that gives it the acceleration X of Wendlandt's equations 4.13 and 4.24. That is F_1^bd of 4.3; it is split
between the feet with the least norm (4.29), and torques are −Jᵀ of the feet's wrenches.
"""

import numpy as np
import pinocchio as pin
import pytest
from scipy.spatial.transform import Rotation

from biped.model.pinocchio_model import configuration_to_pinocchio, to_pinocchio, velocity_map
from experiments.catalogue.registry import experiment_named
from experiments.papers.wendlandt_1997.experiment1 import SINKING

KP, KD = np.array([50.0, 50.0, 200.0, 50.0, 50.0, 50.0]), np.array([7.07, 7.07, 14.142, 7.07, 7.07, 7.07])
TARGET = np.array([-0.01, 0.0, 1.10])
TILT = Rotation.from_rotvec([-np.radians(15.0), 0.0, 0.0])
WORLD = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED


class Start:
    """The printed start, the whole body sinking at ``sinks`` [m/s]."""

    def __init__(self, sinks):
        self.sinks = sinks
        state = experiment_named("stand-tilted").build().state
        self.model, self.q = state.model, state.q
        self.pin = to_pinocchio(self.model)
        self.data = self.pin.createData()
        self.place = configuration_to_pinocchio(self.model, self.q)
        pin.computeJointJacobians(self.pin, self.data, self.place)
        self.T = velocity_map(self.model, self.q)
        self.feet = [self.model.body_index(foot) for foot in self.model.feet]

    def com(self, body):
        return self.data.oMi[body + 1].act(self.pin.inertias[body + 1].lever)

    def jacobian(self, body):
        """(6, nv) of a body's centre of mass, world axes, by Pinocchio's velocities."""
        J = pin.getJointJacobian(self.pin, self.data, body + 1, WORLD)
        arm = pin.skew(self.com(body) - self.data.oMi[body + 1].translation)
        return np.vstack([J[:3] - arm @ J[3:], J[3:]])

    def wanted(self):
        """X, in world axes, of a body that does not turn."""
        turn = Rotation.from_quat(self.q[3:7], scalar_first=True) * TILT.inv()
        error = np.concatenate([self.q[:3] - TARGET, turn.as_quat(canonical=True)[:3]])
        return -KP * error - KD * np.array([0.0, 0.0, -self.sinks, 0.0, 0.0, 0.0])

    def wrench(self):
        """(6,) on the trunk; nothing turns, so that there are no velocity-dependent terms and J̇ v = 0."""
        M = pin.crba(self.pin, self.data, self.place)
        M = np.triu(M) + np.triu(M, 1).T
        gravity = pin.computeGeneralizedGravity(self.pin, self.data, self.place)
        held = np.vstack([self.jacobian(foot) for foot in self.feet])
        trunk = self.jacobian(0)
        n, m = len(M), len(held)
        K = np.block([[M, -held.T, -trunk.T], [held, np.zeros((m, m + 6))], [trunk, np.zeros((6, m + 6))]])
        right = np.concatenate([-gravity, np.zeros(m), self.wanted()])
        return np.linalg.solve(K, right)[n + m :]

    def torques(self, wrench):
        arms = [pin.skew(self.com(foot) - self.q[:3]) for foot in self.feet]
        G = np.hstack([np.block([[np.eye(3), np.zeros((3, 3))], [arm, np.eye(3)]]) for arm in arms])
        shares = np.split(np.linalg.pinv(G) @ wrench, len(self.feet))
        return -self.T.T @ sum(self.jacobian(foot).T @ share for foot, share in zip(self.feet, shares, strict=True))

    def printed(self):
        """What the thesis prints: desired Z force [N], right knee's torque and desired Y torque [N·m]; body axes."""
        wrench = self.wrench()
        R = Rotation.from_quat(self.q[3:7], scalar_first=True).inv()
        knee = self.torques(wrench)[self.model.dof("right_knee_pitch")]
        return np.array([R.apply(wrench[:3])[2], abs(knee), R.apply(wrench[3:])[1]])


def ours(sinks):
    changes = {"run.duration": 0.002, "initial.velocity": (0.0, 0.0, -sinks)}
    first = experiment_named("stand-tilted").run(changes).frame.iloc[0]
    return np.array([first["desired_fz"], abs(first["torque_right_knee_pitch"]), first["desired_ny"]])


@pytest.mark.parametrize("sinks", [0.0, 0.3, SINKING])
def test_the_law_asks_for_what_the_equations_of_motion_say(sinks):
    """But for the big base: a millionth."""
    assert ours(sinks) == pytest.approx(Start(sinks).printed(), rel=1e-5)


def test_the_printed_numbers_are_not_those_of_the_printed_start():
    printed = np.array([1687.0, 192.0, -49.0])
    at_rest, sinking = Start(0.0).printed(), Start(SINKING).printed()
    assert at_rest == pytest.approx([1359.5, 152.3, -36.8], abs=0.05)
    assert (np.abs(at_rest / printed - 1.0) > 0.19).all()
    assert (np.abs(sinking / printed - 1.0) < 0.03).all()
