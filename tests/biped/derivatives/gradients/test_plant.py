"""Gradients by what is not the controller's: the model, the floor, pushes, and the start, against differences."""

from dataclasses import replace

import numpy as np
import pytest

from biped import InputError, Recursive, Scene, human
from biped.derivatives.gradients import Differentiator, Parameter, gradient
from biped.derivatives.gradients.parameters import parameters_of
from biped.derivatives.linearization.coordinates import displacement
from contact import Floor
from contact.regimes import CLIPPED, COULOMB, FREE, HELD, VISCOUS
from controllers import JointImpedance, WorkspaceController
from tests.differences import columns_of, derivative

from .test_gradients import SMOOTH, pushed, sharp, value_of


@pytest.fixture(scope="module")
def scene():
    return pushed(duration=0.1)


def difference(parameters, terms, reaches=(5e-3, 5e-4)):
    return sharp(columns_of([
        derivative(lambda x, p=p: value_of(p.scene_at(x), terms), *(part * size(p) for part in reaches), at=p.value)
        for p in parameters
    ]))  # fmt: skip


def size(parameter):
    return max(abs(parameter.value), 0.1)


def agrees(scene, parameters, terms):
    found, expected = gradient(scene, terms, parameters), difference(parameters, terms)
    assert np.abs(expected.value * [size(p) for p in parameters]).min() > 1e-7
    assert expected.departure(found.slopes, 1e-6) <= 1.0
    return found


def with_gravity(scene, down):
    model = scene.model.with_gravity((0.0, 0.0, -down))
    state = scene.state.copy()
    state.model = model
    return replace(scene, model=model, state=state)


MODEL = (
    "model.trunk.mass", "model.left_thigh.mass", "model.left_thigh.com[0]", "model.right_shank.com[2]",
    "model.trunk.inertia[1,1]", "model.trunk.inertia[0,2]",
)  # fmt: skip
FLOOR = ("floor.k_n", "floor.b_n", "floor.k_t", "floor.b_t")


def test_model_and_floor(scene):
    found = agrees(scene, parameters_of(scene, (*MODEL, *FLOOR)), SMOOTH)
    assert found.switched == found.kinks == 0


def test_the_roots_own_centre_of_mass(scene):
    agrees(scene, parameters_of(scene, ("model.trunk.com[0]",)), {"margin_of_stability_end": 1.0, "rms_torque": 0.02})


def test_pushes_and_gravity(scene):
    gravity = Parameter("gravity", 9.81, lambda value: with_gravity(scene, value))
    (given,) = scene.disturbances
    push = Parameter("push", 4.0, lambda value: replace(scene, disturbances=(replace(given, impulse=value),)))
    agrees(scene, (push, gravity), SMOOTH)


def test_friction_where_feet_slide():
    hard = pushed(duration=0.2, impulse=8.0, floor=Floor(mu_s=0.1, mu_d=0.1))
    friction = Parameter("friction", 0.1, lambda mu: replace(hard, floor=Floor(mu_s=mu, mu_d=mu)))
    differentiator = Differentiator(hard, (friction,))
    found = differentiator.of("rms_position_error")
    assert set(np.unique(differentiator._trial.record.multipliers.regime)) == {FREE, VISCOUS, COULOMB, HELD, CLIPPED}
    expected = difference((friction,), {"rms_position_error": 1.0}, reaches=(5e-5, 5e-6))
    assert expected.departure(found.slopes, 1e-3) <= 1.0


def test_joints_without_a_law():
    model = replace(human(), bodies=tuple(in_oil(body) for body in human().bodies)).without_contacts()
    scene = Scene(model, JointImpedance(40.0, 1.0), duration=0.1, step=1e-3, integrator=Recursive(tolerance=1e-12))
    spinning = scene.initial_state
    spinning.momentum[:6] = (5.0, -3.0, 2.0, 1.0, 2.0, -1.5)
    scene = replace(scene, state=bent(spinning, 0.3))
    names = (
        "model.left_shank.joint.damping", "model.left_shank.joint.armature", "model.left_foot.mass",
        "model.right_thigh.inertia[1,1]",
    )  # fmt: skip
    home = Parameter("home", 0.3, lambda value: replace(scene, state=bent(spinning, value)))
    differentiator = Differentiator(scene, (*names, home))
    weight = np.random.default_rng(1).normal(size=(2, model.nv))
    found, end = differentiator.of_end(*weight), scene.run().state

    def end_of(other):
        state = other.run().state
        return weight[0] @ displacement(model, end.q, state.q) + weight[1] @ state.momentum

    for slope, parameter in zip(found, differentiator.parameters, strict=True):
        reach = 5e-3 * size(parameter)
        expected = derivative(lambda x, p=parameter: end_of(p.scene_at(x)), reach, at=parameter.value)
        assert expected.departure(slope, 1e-6) <= 1.0


def in_oil(body):
    return replace(body, joint=replace(body.joint, damping=0.5, armature=0.01)) if body.joint.has_axis else body


def bent(state, angle):
    state = state.copy()
    state.q[8:] = angle
    return state


def test_its_own_world_leaves_nothing(scene):
    differentiator = Differentiator(scene, ("model.trunk.mass",))
    differentiator.of(SMOOTH)
    own = differentiator._trial.equations_in(scene.prepare().world)
    other = differentiator._trial.equations_in(
        parameters_of(scene, ("model.trunk.mass",))[0].scene_at(46.0).prepare().world
    )
    assert np.abs(own).max() < 1e-8 * np.abs(other).max()


def test_another_mans_law_is_not_this_mans():
    slopes = []
    for mass in (45.0, 50.0):
        scene = Scene(with_trunk(mass), WorkspaceController(), duration=0.02)
        slopes.append(gradient(scene, "rms_torque", ("controller.gains.kp_position[2]",)).slopes[0])
    assert slopes[0] != slopes[1]


def with_trunk(mass):
    model = human()
    return replace(model, bodies=tuple(replace(b, mass=mass) if b.name == "trunk" else b for b in model.bodies))


def test_what_more_than_numbers_change_is_refused(scene):
    other = Parameter(
        "pushes", 1.0, lambda value: replace(scene, disturbances=() if value > 1.0 else scene.disturbances)
    )
    with pytest.raises(InputError, match="changes the kinds or bodies of disturbances"):
        gradient(scene, "rms_torque", (other,))
