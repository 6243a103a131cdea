"""What whole-body laws are made of, on random trees and the human: against Pinocchio, and by finite differences."""

import numpy as np
import pinocchio as pin
import pytest

from biped import InputError, ModelError, WholeBody, dynamics
from biped.model import human, pinocchio_model, random_tree
from tests.conftest import random_configuration
from tests.differences import derivative

WORLD = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
KINDS = ("revolute", "prismatic", "helical", "spherical")


CASES = {"human": human} | {
    f"tree {seed} {'floats' if floating else 'is fixed'}": (
        lambda seed=seed, floating=floating: random_tree(
            np.random.default_rng(seed), 9, floating=floating, kinds=KINDS, contacts=3
        )
    )
    for seed in range(3)
    for floating in (True, False)
}


class Pair:
    def __init__(self, name: str) -> None:
        self.model = CASES[name]()
        rng = np.random.default_rng(7)
        self.q, self.v = random_configuration(self.model, rng), rng.normal(size=self.model.nv)
        self.ours = WholeBody(self.model, self.q, self.v)
        self.theirs = pinocchio_model.to_pinocchio(self.model)
        rng = np.random.default_rng(11)
        self.points = {body: rng.normal(size=3) for body in self.model.body_names}
        for i, (body, point) in enumerate(self.points.items()):
            place = pin.SE3(np.eye(3), self.model.tree.com_offset[i] + point)
            self.theirs.addFrame(pin.Frame(f"at {body}", i + 1, place, pin.FrameType.OP_FRAME))
        self.data = self.theirs.createData()
        self.T = pinocchio_model.velocity_map(self.model, self.q)
        self.their_q = pinocchio_model.configuration_to_pinocchio(self.model, self.q)
        self.their_v = pinocchio_model.velocity_to_pinocchio(self.model, self.q, self.v)
        # Pinocchio's acceleration where our v does not change: Ṫ v, with T = R_iᵀ where it is not the identity.
        self.their_a = np.zeros(self.model.nv)
        motion = dynamics.forward_kinematics(self.model, self.q, self.v)
        for i, body in enumerate(self.model.bodies):
            first = self.model.tree.first_v[i]
            for start in range(first, first + body.joint.nv, 3) if not body.joint.has_axis else ():
                turning = np.cross(motion.angular_velocity[i], self.v[start : start + 3])
                self.their_a[start : start + 3] = -self.T[start : start + 3, start : start + 3] @ turning
        pin.forwardKinematics(self.theirs, self.data, self.their_q, self.their_v, self.their_a)
        pin.computeJointJacobians(self.theirs, self.data, self.their_q)
        pin.updateFramePlacements(self.theirs, self.data)

    def moved(self, span: float) -> WholeBody:
        q = pin.integrate(self.theirs, self.their_q, span * self.their_v + 0.5 * span**2 * self.their_a)
        return WholeBody(self.model, pinocchio_model.configuration_from_pinocchio(self.model, q), self.v)

    def rate(self, of) -> np.ndarray:
        return derivative(lambda time: of(self.moved(time)), 1e-3, 1e-4).value


@pytest.fixture(scope="module", params=CASES)
def pair(request):
    return Pair(request.param)


def assert_close(ours, theirs, tolerance=1e-11):
    scale = max(1.0, float(np.abs(theirs).max()))
    np.testing.assert_allclose(ours, theirs, rtol=0.0, atol=tolerance * scale)


def test_points_of_bodies(pair):
    for body, point in pair.points.items():
        frame = pair.theirs.getFrameId(f"at {body}")
        placement = pair.data.oMf[frame]
        assert_close(pair.ours.position(body, point), placement.translation)
        assert_close(pair.ours.orientation(body), placement.rotation)
        jacobian = pin.getFrameJacobian(pair.theirs, pair.data, frame, WORLD) @ pair.T
        assert_close(pair.ours.jacobian(body, point), jacobian)
        assert_close(pair.ours.velocity(body, point), jacobian @ pair.v)
        theirs = pin.getFrameClassicalAcceleration(pair.theirs, pair.data, frame, WORLD)
        assert_close(pair.ours.bias(body, point), theirs.vector)


def test_contact_points(pair):
    for name in pair.model.contact_names:
        frame = pair.theirs.getFrameId(name)
        theirs = pin.getFrameJacobian(pair.theirs, pair.data, frame, WORLD) @ pair.T
        assert_close(pair.ours.contact_jacobian(name), theirs[:3])
        acceleration = pin.getFrameClassicalAcceleration(pair.theirs, pair.data, frame, WORLD)
        assert_close(pair.ours.contact_bias(name), acceleration.linear)


def test_the_centre_of_mass(pair):
    pin.centerOfMass(pair.theirs, pair.data, pair.their_q, pair.their_v, pair.their_a)
    assert_close(pair.ours.com, pair.data.com[0])
    assert_close(pair.ours.com_velocity, pair.data.vcom[0])
    assert_close(pair.ours.com_bias, pair.data.acom[0])
    assert_close(pair.ours.com_jacobian, pin.jacobianCenterOfMass(pair.theirs, pair.data, pair.their_q) @ pair.T)


def test_the_centroidal_map(pair):
    pin.computeCentroidalMomentumTimeVariation(pair.theirs, pair.data, pair.their_q, pair.their_v, pair.their_a)
    assert_close(pair.ours.centroidal_bias, pair.data.dhg.vector)
    assert_close(pair.ours.momentum.linear, pair.data.hg.linear)
    assert_close(pair.ours.momentum.angular, pair.data.hg.angular)
    theirs = pin.computeCentroidalMap(pair.theirs, pair.data, pair.their_q)
    assert_close(pair.ours.centroidal_map, theirs @ pair.T)


def test_forces_and_the_mass_matrix(pair):
    theirs = pin.rnea(pair.theirs, pair.data, pair.their_q, pair.their_v, pair.their_a)
    assert_close(pair.ours.bias_forces, pair.T.T @ theirs)
    theirs = pin.computeGeneralizedGravity(pair.theirs, pair.data, pair.their_q)
    assert_close(pair.ours.gravity_forces, pair.T.T @ theirs)
    theirs = pin.crba(pair.theirs, pair.data, pair.their_q)
    theirs = np.triu(theirs) + np.triu(theirs, 1).T
    assert_close(pair.ours.mass_matrix, pair.T.T @ theirs @ pair.T)


def test_a_solve_undoes_the_mass_matrix(pair):
    loads = np.random.default_rng(3).normal(size=(pair.model.nv, 4))
    state = WholeBody(pair.model, pair.q, pair.v)
    first = state.solve(loads[:, 0])
    assert_close(state.mass_matrix @ first, loads[:, 0], 1e-10)
    state.centroidal_map, state.bias_forces, state.gravity_forces, state.centroidal_bias  # noqa: B018
    again = state.solve(loads)
    assert again.shape == loads.shape
    assert_close(state.mass_matrix @ again, loads, 1e-10)
    assert np.array_equal(again[:, 0], first)


def test_biases_are_what_the_maps_change_by(pair):
    """J̇ v and Ȧ v, by finite differences of J and A along the motion of an unchanging v."""
    for body, point in pair.points.items():
        change = pair.rate(lambda state, body=body, point=point: state.jacobian(body, point))
        assert_close(pair.ours.bias(body, point), change @ pair.v, 1e-8)
    assert_close(pair.ours.com_bias, pair.rate(lambda state: state.com_jacobian) @ pair.v, 1e-8)
    assert_close(pair.ours.centroidal_bias, pair.rate(lambda state: state.centroidal_map) @ pair.v, 1e-8)


def test_newtons_and_eulers_equations(pair):
    if not pair.model.is_floating:
        return
    rng = np.random.default_rng(5)
    torques = np.concatenate([np.zeros(6), rng.normal(size=pair.model.nv - 6)])
    forces = {name: rng.normal(size=3) for name in pair.model.contact_names}
    load = torques + sum(pair.ours.contact_jacobian(name).T @ force for name, force in forces.items())
    acceleration = pair.ours.solve(load - pair.ours.bias_forces)
    places = dict(zip(forces, dynamics.forward_kinematics(pair.model, pair.q).contact, strict=True))
    linear = pair.model.total_mass * np.array(pair.model.gravity) + sum(forces.values())
    angular = sum(np.cross(places[name] - pair.ours.com, force) for name, force in forces.items())
    change = pair.ours.centroidal_bias + pair.ours.centroidal_map @ acceleration
    assert_close(change, np.concatenate([linear, angular]), 1e-9)


def test_what_is_not_there_is_told():
    state = WholeBody(human(), human().neutral())
    with pytest.raises(ModelError, match="left_foot"):
        state.jacobian("left_fot")
    with pytest.raises(ModelError, match="left_1"):
        state.contact_jacobian("left_9")
    with pytest.raises(InputError, match=r"load has shape \(3,\); it must be \(18,\) or \(18, k\)"):
        state.solve(np.zeros(3))
    with pytest.raises(InputError, match=r"point has shape \(2,\); it must be \(3,\)"):
        state.position("left_foot", (0.0, 1.0))
    with pytest.raises(InputError, match="q has numbers that are not finite"):
        WholeBody(human(), np.full(19, np.nan))
