"""Kinematics, dynamics, energy and momentum of random trees with every kind of joint, against Pinocchio."""

import numpy as np
import pinocchio as pin
import pytest

from biped import Model, configuration_to_pinocchio, dynamics, human, to_pinocchio, velocity_map, velocity_to_pinocchio

TOLERANCE = 1e-10


class Twin:
    """The same state in Pinocchio, with T the map from our velocities to its own."""

    def __init__(self, model: Model, q: np.ndarray, v: np.ndarray) -> None:
        self.model = to_pinocchio(model)
        self.data = self.model.createData()
        self.q = configuration_to_pinocchio(model, q)
        self.v = velocity_to_pinocchio(model, q, v)
        self.T = velocity_map(model, q)

    def mass_matrix(self) -> np.ndarray:
        M = pin.crba(self.model, self.data, self.q)
        return np.triu(M) + np.triu(M, 1).T


def close(ours: np.ndarray, theirs: np.ndarray) -> bool:
    scale = max(1.0, float(np.max(np.abs(theirs))))
    return bool(np.max(np.abs(np.asarray(ours) - np.asarray(theirs))) <= TOLERANCE * scale)


def test_mass_matrix(tree):
    model, q, v = tree
    twin = Twin(model, q, v)
    assert close(dynamics.mass_matrix(model, q), twin.T.T @ twin.mass_matrix() @ twin.T)


def test_poses_and_velocities(tree):
    model, q, v = tree
    twin = Twin(model, q, v)
    pin.forwardKinematics(twin.model, twin.data, twin.q, twin.v)
    ours = dynamics.forward_kinematics(model, q, v)
    for i, body in enumerate(model.bodies):
        joint = twin.model.getJointId(body.joint.name)
        placement = twin.data.oMi[joint]
        lever = twin.model.inertias[joint].lever
        assert close(ours.position[i], placement.act(lever))
        motion = pin.getVelocity(twin.model, twin.data, joint, pin.ReferenceFrame.LOCAL)
        assert close(ours.angular_velocity[i], placement.rotation @ motion.angular)
        assert close(ours.velocity[i], placement.rotation @ (motion.linear + np.cross(motion.angular, lever)))


def their_acceleration(model: Model, q: np.ndarray, v: np.ndarray, ours: np.ndarray) -> np.ndarray:
    """Pinocchio's acceleration d/dt(T v) = T v̇ + Ṫ v, in closed form: T turns world axes into body axes.

    Pinocchio's velocity of a floating or spherical joint is R_iᵀ (world quantity), and d/dt R_iᵀ x = −R_iᵀ (ω_i × x).
    """
    motion = dynamics.forward_kinematics(model, q, v)
    T = velocity_map(model, q)
    turned = np.zeros(model.nv)
    for i, body in enumerate(model.bodies):
        first = model.tree.first_v[i]
        for start in range(first, first + model.tree.dofs[i], 3):
            if body.joint.kind in ("floating", "spherical"):
                turned[start : start + 3] = -np.cross(motion.angular_velocity[i], v[start : start + 3])
    return T @ (ours + turned)


@pytest.mark.parametrize("size", [0.0, 1.0])
def test_inverse_and_forward_dynamics(tree, size):
    model, q, v = tree
    twin = Twin(model, q, v)
    acceleration = size * np.random.default_rng(5).normal(size=model.nv)
    torque = dynamics.inverse_dynamics(model, q, v, acceleration)
    theirs = pin.rnea(twin.model, twin.data, twin.q, twin.v, their_acceleration(model, q, v, acceleration))
    assert close(torque, twin.T.T @ theirs)
    assert close(dynamics.forward_dynamics(model, q, v, torque), acceleration)


def test_aba(tree):
    model, q, v = tree
    twin = Twin(model, q, v)
    torque = np.random.default_rng(6).normal(size=model.nv)
    ours = dynamics.forward_dynamics(model, q, v, torque)
    theirs = pin.aba(twin.model, twin.data, twin.q, twin.v, twin.T @ torque)
    assert close(their_acceleration(model, q, v, ours), theirs)


def test_accelerations(tree):
    model, q, v = tree
    twin = Twin(model, q, v)
    acceleration = np.random.default_rng(7).normal(size=model.nv)
    theirs = their_acceleration(model, q, v, acceleration)
    pin.forwardKinematics(twin.model, twin.data, twin.q, twin.v, theirs)
    ours = dynamics.forward_kinematics(model, q, v, acceleration)
    for i, body in enumerate(model.bodies):
        joint = twin.model.getJointId(body.joint.name)
        rotation, lever = twin.data.oMi[joint].rotation, twin.model.inertias[joint].lever
        motion = pin.getVelocity(twin.model, twin.data, joint, pin.ReferenceFrame.LOCAL)
        rate = pin.getClassicalAcceleration(twin.model, twin.data, joint, pin.ReferenceFrame.LOCAL)
        omega, alpha = motion.angular, rate.angular
        linear = rate.linear + np.cross(alpha, lever) + np.cross(omega, np.cross(omega, lever))
        assert close(ours.angular_acceleration[i], rotation @ alpha)
        assert close(ours.acceleration[i], rotation @ linear)


def test_energy_momentum_and_centre_of_mass(tree):
    model, q, v = tree
    twin = Twin(model, q, v)
    pin.computeCentroidalMomentum(twin.model, twin.data, twin.q, twin.v)
    pin.centerOfMass(twin.model, twin.data, twin.q)
    M = twin.mass_matrix()  # with rotors, which computeKineticEnergy leaves out
    pin.computePotentialEnergy(twin.model, twin.data, twin.q)
    momentum = dynamics.momentum(model, q, v)
    energy = dynamics.energy(model, q, v)
    assert close(momentum.linear, twin.data.hg.linear)
    assert close(momentum.angular, twin.data.hg.angular)
    assert close(dynamics.centre_of_mass(model, q), twin.data.com[0])
    assert close(energy.kinetic, 0.5 * twin.v @ M @ twin.v)
    assert close(energy.potential, twin.data.potential_energy)


def test_external_wrenches(tree):
    model, q, v = tree
    rng = np.random.default_rng(8)
    wrenches = rng.normal(size=(model.n, 6))
    zero = np.zeros(model.nv)
    change = dynamics.inverse_dynamics(model, q, v, zero, wrenches) - dynamics.inverse_dynamics(model, q, v, zero)
    expected = np.zeros(model.nv)
    for j, unit in enumerate(np.eye(model.nv)):
        motion = dynamics.forward_kinematics(model, q, unit)
        twists = np.hstack([motion.velocity, motion.angular_velocity])
        expected[j] = -np.sum(twists * wrenches)
    assert close(change, expected)


@pytest.mark.parametrize("seed", range(3))
def test_human(seed):
    model = human()
    rng = np.random.default_rng(seed)
    q = model.configuration(angles={joint: rng.uniform(-1, 1) for joint in model.joint_names})
    twin = Twin(model, q, np.zeros(model.nv))
    assert close(dynamics.mass_matrix(model, q), twin.T.T @ twin.mass_matrix() @ twin.T)
