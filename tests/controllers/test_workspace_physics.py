"""Workspace controller's torques in Pinocchio's constrained dynamics, independent of its recursions.

The controller specifies the trunk's motion with the feet at rest. So the feet are held by constraints, and the torques
must give the trunk the acceleration of the gains in every posture and motion.
"""

import math

import numpy as np
import pinocchio as pin
import pytest
from scipy.spatial.transform import Rotation

from biped.kernels.loop.measurement import new_measurement
from biped.kernels.tree.dynamics import set_tree_data
from biped.model import Body, Model, configuration_to_pinocchio, human, revolute, to_pinocchio, velocity_map
from controllers.kernels.workspace import workspace_torques
from controllers.workspace import WorkspaceController, WorkspaceGains

from .whole_body_twin import hat

GAINS = WorkspaceGains((40.0, 50.0, 180.0), (6.0, 7.0, 14.0), (45.0, 50.0, 55.0), (7.0, 8.0, 6.0))
TARGET = (0.1, -0.05, 1.15)
#: Joints in no leg.
CLOSING_STEP = ("neck", "shoulder")
#: The feet that the controller takes for fixed are bodies of 1e6 times the trunk's inertia, and give way by as little.
BIG_BASE = 2e-6


class Stance:
    def __init__(self, model: Model, seed: int, moves: bool = True, **settings) -> None:
        self.model, rng = model, np.random.default_rng(seed)
        self.q = random_posture(model, rng)
        self.controller = WorkspaceController(TARGET, random_turn(rng, 0.1), GAINS, **settings)
        self.feet = [model.body_index(foot) for foot in model.feet]
        self.pin = to_pinocchio(model)
        self.data = self.pin.createData()
        self.T = velocity_map(model, self.q)
        self.configuration = configuration_to_pinocchio(model, self.q)
        pin.forwardKinematics(self.pin, self.data, self.configuration)
        pin.computeJointJacobians(self.pin, self.data, self.configuration)
        self.J = np.vstack([self.jacobian(foot) for foot in self.feet])
        self.v = np.zeros(model.nv)
        if moves:
            self.v = still_feet(self.J, rng.normal(size=model.nv))
        self.tick()

    def tick(self):
        law = self.controller.law(self.model)
        self.scratch = law.scratch
        measurement = new_measurement(self.model.tree, self.model.nq, self.model.nv)
        measurement.q[:] = self.q
        set_tree_data(self.model.tree, self.q, self.v, measurement.motion)
        self.torque = np.full(self.model.nv, math.nan)
        workspace_torques(law, measurement, self.torque, np.zeros(6))
        assert np.isnan(self.torque[:6]).all()  # nothing drives the root, and nothing is written there
        self.torque[:6] = 0.0

    def placement(self, body):
        return pin.SE3(self.data.oMi[body + 1].rotation, self.com(body))

    def com(self, body):
        return self.data.oMi[body + 1].act(self.pin.inertias[body + 1].lever)

    def jacobian(self, body):
        """Return the Jacobian (6, nv) of a body's centre of mass, world axes, by our velocities."""
        J = pin.getJointJacobian(self.pin, self.data, body + 1, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
        arm = self.com(body) - self.data.oMi[body + 1].translation
        moved = np.vstack([J[:3] - hat(arm) @ J[3:], J[3:]])
        return moved @ self.T

    def accelerated(self):
        """Return the trunk's acceleration (6,) with the torques applied and the feet held.

        Joints outside the legs are locked: they keep their rates.

        M a + C = τ + Jᵀ λ and J a = −J̇ v, whose right side is the foot's acceleration for a = 0.
        """
        v = self.T @ self.v
        M = pin.crba(self.pin, self.data, self.configuration)
        M = np.triu(M) + np.triu(M, 1).T
        C = pin.nonLinearEffects(self.pin, self.data, self.configuration, v)
        beside = np.eye(self.model.nv)[
            [self.model.dof(name) for name in CLOSING_STEP if name in self.model.joint_names]
        ]
        J = np.vstack([self.J, beside]) @ self.T.T
        drift = np.concatenate([*(self.drift(foot, v) for foot in self.feet), np.zeros(len(beside))])
        n, m = len(M), len(J)
        K = np.block([[M, J.T], [J, np.zeros((m, m))]])
        a = np.linalg.lstsq(K, np.concatenate([self.T @ self.torque - C, -drift]), rcond=1e-13)[0][:n]
        assert np.abs(J @ a + drift).max() < 1e-8
        # Pinocchio has the root's acceleration in its own turning axes: v̇ = Rᵀ (p̈ − ω × ṗ).
        R, omega = self.data.oMi[1].rotation, self.v[3:6]
        return np.concatenate([R @ a[:3] + np.cross(omega, self.v[:3]), R @ a[3:6]])

    def drift(self, body, v):
        pin.forwardKinematics(self.pin, self.data, self.configuration, v, np.zeros(len(v)))
        frame = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        twist = pin.getVelocity(self.pin, self.data, body + 1, frame)
        rate = pin.getClassicalAcceleration(self.pin, self.data, body + 1, frame)
        arm = self.com(body) - self.data.oMi[body + 1].translation
        spin, turn = twist.angular, rate.angular
        return np.concatenate([rate.linear + np.cross(turn, arm) + np.cross(spin, np.cross(spin, arm)), turn])

    def wanted(self, position):
        """Return −k_d ẋ − k_p e (6,), with the vector part of q q̄_d as orientation error."""
        e = (Rotation.from_quat(self.q[[4, 5, 6, 3]]) * self.target.inv()).as_quat(canonical=True)[:3]
        linear = -np.array(GAINS.kd_position) * self.v[:3] - np.array(GAINS.kp_position) * position
        return np.concatenate(
            [linear, -np.array(GAINS.kd_orientation) * self.v[3:6] - np.array(GAINS.kp_orientation) * e]
        )

    @property
    def target(self):
        return Rotation.from_quat(np.roll(self.controller.target_orientation, -1))

    @property
    def to_trunk(self):
        """Matrix (6, 6 feet) that sums wrenches at the feet's centres of mass about the trunk's."""
        arms = [self.com(foot) - self.q[:3] for foot in self.feet]
        return np.hstack([np.block([[np.eye(3), np.zeros((3, 3))], [hat(arm), np.eye(3)]]) for arm in arms])

    @property
    def foot_wrenches(self):
        """Wrenches (feet, 6) at the feet's centres of mass."""
        wrenches = self.scratch.leg_wrench.copy()
        for wrench, foot in zip(wrenches, self.feet, strict=True):
            wrench[3:] -= np.cross(self.com(foot) - self.q[:3], wrench[:3])
        return wrenches


def still_feet(J, v):
    """Return the velocity nearest to ``v`` with J v = 0."""
    still = v - np.linalg.pinv(J) @ (J @ v)
    assert np.abs(still[:6]).max() > 0.1
    return still


def random_turn(rng, size):
    return tuple(np.roll(Rotation.from_rotvec(size * rng.normal(size=3)).as_quat(canonical=True), 1))


def random_posture(model, rng):
    q = model.neutral()
    for body, first in zip(model.bodies, model.tree.first_q, strict=True):
        if body.joint.has_axis:
            q[first] = rng.uniform(-0.5, 0.5) + (-0.9 if "knee" in body.joint.name else 0.0)
        elif body.joint.kind == "spherical":
            q[first : first + 4] = random_turn(rng, 0.4)
    q[:3], q[3:7] = np.array([0.0, 0.0, 1.1]) + 0.1 * rng.normal(size=3), random_turn(rng, 0.2)
    return q


def strider() -> Model:
    person = human()
    third = [part for part in person.bodies[1:] if part.name.startswith("left_")]
    more = []
    for part in third:
        name = part.name.replace("left_", "third_")
        parent = part.parent if part.parent == "trunk" else part.parent.replace("left_", "third_")
        x, y, z = part.joint.position
        place = (x + 0.3, y + 0.15, z) if part.parent == "trunk" else (x, y, z)
        more.append(
            Body(
                name, part.mass, part.inertia, part.com,
                revolute(part.joint.name.replace("left_", "third_"), part.joint.axis, place), parent,
            )
        )  # fmt: skip
    block = ((0.02, 0.0, 0.0), (0.0, 0.03, 0.0), (0.0, 0.0, 0.025))
    head = Body("head", 4.0, block, (0.02, 0.01, 0.12), revolute("neck", (0.6, 0.8, 0.0), (0.0, 0.0, 0.3)), "trunk")
    arm = Body("arm", 3.0, block, (0.0, 0.1, -0.2), revolute("shoulder", (0.0, 1.0, 0.2), (0.0, 0.2, 0.25)), "trunk")
    bodies = (person.root, head, *person.bodies[1:], arm, *more)
    return Model("strider", bodies, gravity=(0.5, -0.8, -9.0), feet=(*person.feet, "third_foot"))


@pytest.mark.parametrize("build", [human, strider])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("moves", [False, True])
def test_the_trunk_accelerates_as_the_gains_ask(build, seed, moves):
    stance = Stance(build(), seed, moves)
    expected = stance.wanted(stance.q[:3] - TARGET)
    assert np.abs(stance.accelerated() - expected).max() < BIG_BASE * np.abs(expected).max()


def test_feet_that_give_way_less_leave_less_of_an_error():
    """The error of the acceleration is proportional to 1 / big_base."""
    off = []
    for big_base in (1e4, 1e6):
        stance = Stance(human(), 1, big_base=big_base)
        off.append(np.abs(stance.accelerated() - stance.wanted(stance.q[:3] - TARGET)).max())
    assert off[0] / off[1] == pytest.approx(100.0, rel=0.02)


@pytest.mark.parametrize("seed", range(2))
def test_the_set_point_moves_with_the_feet_and_stays_at_its_height(seed):
    """The set point moves by the midpoint's displacement from ``feet_at`` (default: home)."""
    place = np.array([0.03, -0.07])
    for at, home in ((tuple(place), place), (None, np.array([-0.05325, 0.0]))):
        stance = Stance(human(), seed, reference="feet", feet_at=at)
        between = np.mean([stance.com(foot) for foot in stance.feet], axis=0)
        error = stance.q[:3] - TARGET
        error[:2] -= between[:2] - home
        expected = stance.wanted(error)
        assert np.abs(stance.accelerated() - expected).max() < BIG_BASE * np.abs(expected).max()


def test_velocities_count_from_those_of_the_feet():
    torques = []
    for carried in (np.zeros(3), np.array([0.7, -0.4, 0.0])):
        stance = Stance(human(), 3, reference="feet")
        stance.v[:3] += carried
        stance.tick()
        torques.append(stance.torque.copy())
    assert np.abs(torques[1] - torques[0]).max() < 1e-9 * np.abs(torques[0]).max()


@pytest.mark.parametrize("build", [human, strider])
@pytest.mark.parametrize("seed", range(3))
def test_the_feet_share_the_wrench_with_the_least_norm(build, seed):
    stance = Stance(build(), seed, moves=False)
    wrenches, G = stance.foot_wrenches.ravel(), stance.to_trunk
    assert wrenches == pytest.approx(np.linalg.pinv(G) @ stance.scratch.wrench, rel=1e-9, abs=1e-9)
    assert G @ wrenches == pytest.approx(stance.scratch.wrench, rel=1e-9, abs=1e-9)
    R = stance.data.oMi[1].rotation
    turned = np.concatenate([R @ stance.scratch.body_wrench[:3], R @ stance.scratch.body_wrench[3:]])
    assert turned == pytest.approx(stance.scratch.wrench, rel=1e-12, abs=1e-9)


@pytest.mark.parametrize("build", [human, strider])
@pytest.mark.parametrize("seed", range(3))
def test_the_torques_do_the_work_of_the_feet(build, seed):
    """With the trunk held, a joint moves one foot against the floor: τ = −Jᵀ W; 0 outside the legs."""
    stance = Stance(build(), seed)
    expected = np.zeros(stance.model.nv)
    for foot, wrench in zip(stance.feet, stance.foot_wrenches, strict=True):
        expected -= stance.jacobian(foot).T @ wrench
    expected[:6] = 0.0
    assert np.abs(stance.torque - expected).max() < 1e-9 * np.abs(expected).max()
    beside = [stance.torque[stance.model.dofs(name)] for name in CLOSING_STEP if build is strider]
    assert not any(torques.any() for torques in beside)


def test_the_wrench_holds_the_trunk_on_legs_that_carry_nothing():
    stance = Stance(human(), 5, moves=False)
    stance.controller = WorkspaceController(tuple(stance.q[:3]), tuple(stance.q[3:7]), GAINS)
    stance.tick()
    gravity = stance.T.T @ pin.computeGeneralizedGravity(stance.pin, stance.data, stance.configuration)
    ground = np.linalg.solve(stance.J[:, 6:].T, gravity[6:])
    expected = gravity[:6] - stance.J[:, :6].T @ ground
    assert np.abs(stance.scratch.wrench - expected).max() < BIG_BASE * np.abs(expected).max()
    assert 45.0 < stance.scratch.wrench[2] / 9.81 < stance.model.total_mass


def test_position_and_orientation_are_driven_along_every_axis():
    """At rest and off by one error at a time, each acceleration is −k_p e along its own axis and none along others."""
    stance = Stance(human(), 6, moves=False)
    for axis in range(3):
        for sign in (1.0, -1.0):
            place, turn = tuple(stance.q[:3] - sign * 0.05 * np.eye(3)[axis]), tuple(stance.q[3:7])
            stance.controller = WorkspaceController(place, turn, GAINS)
            stance.tick()
            expected = np.zeros(6)
            expected[axis] = -sign * 0.05 * GAINS.kp_position[axis]
            assert np.abs(stance.accelerated() - expected).max() < 1e-5 * np.abs(expected).max()
