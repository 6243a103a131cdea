"""The maps between our coordinates and Pinocchio's."""

import math

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biped import Joint, ModelError, State, WholeBody, human, scaled, simulate, standing
from biped import model as bm
from biped.model import random_tree
from biped.model.pinocchio_model import orientations
from contact import Floor

seeds = st.integers(0, 2**32 - 1)


def random_state(rng, model):
    twin = bm.to_pinocchio(model)
    q = pin.randomConfiguration(twin, -np.ones(twin.nq), np.ones(twin.nq))
    return twin, bm.configuration_from_pinocchio(model, q), rng.standard_normal(model.nv)


def test_joints_and_coordinates_stand_in_the_same_places():
    model = bm.human()
    twin = bm.to_pinocchio(model)
    assert list(twin.names)[1:] == [body.joint.name for body in model.bodies]
    assert (twin.nq, twin.nv) == (model.nq, model.nv)
    assert [twin.joints[i + 1].idx_q for i in range(model.n)] == list(model.tree.first_q)
    assert [twin.joints[i + 1].idx_v for i in range(model.n)] == list(model.tree.first_v)
    np.testing.assert_array_equal(twin.gravity.linear, model.gravity)
    assert all(twin.existFrame(name) for name in (*model.contact_names, *model.body_names))


@given(seed=seeds, floats=st.booleans())
@settings(max_examples=25)
def test_conversions_are_inverses(seed, floats):
    rng = np.random.default_rng(seed)
    model = bm.random_tree(rng, 8, floating=floats)
    _, q, v = random_state(rng, model)
    np.testing.assert_array_equal(bm.configuration_from_pinocchio(model, bm.configuration_to_pinocchio(model, q)), q)
    np.testing.assert_allclose(
        bm.velocity_from_pinocchio(model, q, bm.velocity_to_pinocchio(model, q, v)), v, atol=1e-13
    )
    T = bm.velocity_map(model, q)
    np.testing.assert_allclose(T @ T.T, np.eye(model.nv), atol=1e-13)


@given(seed=seeds, floats=st.booleans())
@settings(max_examples=25)
def test_orientations_are_pinocchios(seed, floats):
    rng = np.random.default_rng(seed)
    model = bm.random_tree(rng, 8, floating=floats, kinds=("revolute", "prismatic", "helical", "spherical"))
    twin, q, _ = random_state(rng, model)
    data = twin.createData()
    pin.forwardKinematics(twin, data, bm.configuration_to_pinocchio(model, q))
    np.testing.assert_allclose(orientations(model, q), [pose.rotation for pose in data.oMi][1:], atol=1e-13)


@given(seed=seeds, floats=st.booleans())
@settings(max_examples=25)
def test_velocities_are_what_our_convention_says(seed, floats):
    """Central differences along Pinocchio's flow: the root's place, and each ball joint's turn in world axes."""
    rng = np.random.default_rng(seed)
    model = bm.random_tree(rng, 6, floating=floats, kinds=("spherical", "revolute"))
    twin, q, v = random_state(rng, model)
    dt = 1e-5
    flow = bm.velocity_to_pinocchio(model, q, v)
    before, after = (
        bm.configuration_from_pinocchio(
            model, pin.integrate(twin, bm.configuration_to_pinocchio(model, q), sign * dt * flow)
        )
        for sign in (-0.5, 0.5)
    )
    turning = [
        pin.log3(R1 @ R0.T) / dt for R0, R1 in zip(orientations(model, before), orientations(model, after), strict=True)
    ]
    if floats:
        np.testing.assert_allclose((after[:3] - before[:3]) / dt, v[:3], atol=1e-7)
        np.testing.assert_allclose(turning[0], v[3:6], atol=1e-7)
    for i, body in enumerate(model.bodies):
        if body.joint.kind == "spherical":
            parent = model.tree.parent[i]
            relative = turning[i] - (turning[parent] if parent >= 0 else 0.0)
            np.testing.assert_allclose(relative, v[model.dofs(body.joint.name)], atol=1e-7)


def test_mass_matrix_of_the_root_is_plain():
    model = bm.random_tree(np.random.default_rng(3), 1)
    twin, q, _ = random_state(np.random.default_rng(4), model)
    T = bm.velocity_map(model, q)
    M = T.T @ pin.crba(twin, twin.createData(), bm.configuration_to_pinocchio(model, q)) @ T
    (R,) = orientations(model, q)
    np.testing.assert_allclose(M[:3, :3], model.total_mass * np.eye(3), atol=1e-13)
    np.testing.assert_allclose(M[:3, 3:], 0.0, atol=1e-13)
    np.testing.assert_allclose(M[3:, 3:], R @ model.root.inertia @ R.T, atol=1e-13)


@pytest.mark.parametrize("convert", [bm.configuration_to_pinocchio, bm.configuration_from_pinocchio])
def test_wrong_shape(convert):
    with pytest.raises(bm.ModelError, match=r"a configuration of this model has shape \(3,\), got \(4,\)"):
        convert(bm.chain(3), np.zeros(4))


LENGTH, MASS = 1.2, 1.5


@pytest.mark.parametrize("seed", range(4))
def test_it_is_dynamically_similar(seed):
    """With times by √λ and torques by μλ, angular accelerations are 1/λ of the first's, linear ones the same."""
    generator = np.random.default_rng(seed)
    model = random_tree(generator, 6, kinds=("revolute", "spherical"))
    other = scaled(model, LENGTH, MASS)
    q, v, torque = model.neutral(), generator.normal(size=model.nv), generator.normal(size=model.nv)
    big_q = q.copy()
    big_q[:3] = other.neutral()[:3]
    rate, effort = np.full(model.nv, LENGTH**-0.5), np.full(model.nv, MASS * LENGTH)
    rate[:3], effort[:3] = LENGTH**0.5, MASS
    first, second = WholeBody(model, q, v), WholeBody(other, big_q, rate * v)
    expected = np.linalg.solve(first.mass_matrix, torque - first.bias_forces) * rate / LENGTH**0.5
    found = np.linalg.solve(second.mass_matrix, effort * torque - second.bias_forces)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_limits_and_bearings_of_joints_scale_too():
    hinge = Joint("hinge", "revolute", (0, 1, 0), (0, 0, 1), -1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0)
    slide = Joint("slide", "prismatic", (0, 0, 1), (0, 0, 1), -1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0)
    person = human()
    bodies = [
        person.root,
        *(
            type(person.root)(f"{joint.name}_body", 1.0, person.root.inertia, (0.0, 0.0, 0.1), joint, person.root.name)
            for joint in (hinge, slide)
        ),
    ]
    model = type(person)("limited", tuple(bodies), posture=(("hinge", 0.1), ("slide", 0.1)))
    other = {body.joint.name: body.joint for body in scaled(model, 4.0, 3.0).bodies}
    found = other["hinge"]
    assert (found.position, found.lower, found.upper) == ((0.0, 0.0, 4.0), -1.0, 2.0)
    assert (found.max_velocity, found.max_effort, found.damping) == (3.0 / 2.0, 4.0 * 12.0, 5.0 * 24.0)
    assert (found.friction, found.armature) == (6.0 * 12.0, 7.0 * 48.0)
    found = other["slide"]
    assert (found.lower, found.upper, found.max_velocity, found.max_effort) == (-4.0, 8.0, 3.0 * 2.0, 4.0 * 3.0)
    assert (found.damping, found.friction, found.armature) == (5.0 * 3.0 / 2.0, 6.0 * 3.0, 7.0 * 3.0)
    assert dict(scaled(model, 4.0, 3.0).posture) == {"hinge": 0.1, "slide": 0.4}


def test_a_smaller_human_stands_as_the_first_does():
    small = scaled(human(), 0.8, 0.5)
    assert small.total_mass == pytest.approx(0.5 * human().total_mass)
    rigid = Floor(k_n=1e7)  # it sinks in by its weight over the springs, which are not scaled
    first, second = standing(human(), rigid), standing(small, rigid)
    np.testing.assert_allclose(second.q[:3], 0.8 * first.q[:3], atol=1e-4)
    np.testing.assert_allclose(second.q[7:], first.q[7:], atol=1e-3)


def test_a_motion_is_the_same_in_its_own_time():
    person, half = human().without_contacts(), scaled(human(), 0.25, 0.1).without_contacts()
    angles = {"left_knee_pitch": -60.0, "right_hip_pitch": 30.0}
    starts = [State.at(model, model.configuration(angles=angles, degrees=True)) for model in (person, half)]
    spin = np.zeros(person.nv)
    spin[6:] = 1.0
    states = [
        State.at(model, start.q, spin * rate)
        for model, start, rate in ((person, starts[0], 1.0), (half, starts[1], 2.0))
    ]
    runs = [
        simulate(model, state=state, duration=0.4 * time, step=1e-3 * time)
        for model, state, time in ((person, states[0], 1.0), (half, states[1], 0.5))
    ]
    np.testing.assert_allclose(runs[1].state.q[3:], runs[0].state.q[3:], atol=1e-6)  # as far as steps are solved


@pytest.mark.parametrize(("name", "value"), [("length", 0.0), ("mass", -1.0), ("length", math.nan)])
def test_a_factor_that_is_none_is_refused(name, value):
    with pytest.raises(ModelError, match=f"scaled: {name}"):
        scaled(human(), **{name: value})
