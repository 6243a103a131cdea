"""Maps between coordinates of this package and Pinocchio's."""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biped import model as bm
from biped.model.pinocchio_model import orientations

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
    """Central differences along Pinocchio's flow: the root's position, and each ball joint's rotation in world axes."""
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
    with pytest.raises(bm.ModelError, match=r"a configuration has shape \(4,\); it must be \(3,\) for this model"):
        convert(bm.chain(3), np.zeros(4))
