"""Gradients by what is not the controller's: the model, the floor, pushes, and the start, against differences."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from biped import InputError, Recursive, Scene, human
from biped.gradients import Differentiator, Parameter, gradient
from biped.gradients.parameters import parameters_of
from biped.model import Model
from biped.simulation.scene import Scene as AnyScene
from controllers import JointImpedance, WorkspaceController

from .test_gradients import SMOOTH, fourth_order, pushed, value_of


@pytest.fixture(scope="module")
def scene():
    return pushed(duration=0.1)


def difference(parameter, terms, reaches=(2e-3, 4e-4)):
    found = [fourth_order(lambda x: value_of(parameter.scene_at(x), terms), parameter.value, reach) for reach in reaches]
    return min(pairwise(found), key=lambda pair: abs(pair[0] - pair[1]))[1]


def agrees(scene, parameters, terms, rel=1e-6, reaches=(2e-3, 4e-4)):
    """The gradient by some parameters is what differences say, and not nothing."""
    found = gradient(scene, terms, parameters)
    expected = np.array([difference(parameter, terms, reaches) for parameter in parameters])
    assert np.abs(expected).min() > 1e-12
    assert found.slopes == pytest.approx(expected, rel=rel)
    return found


def with_push(scene, impulse):
    (push,) = scene.disturbances
    return replace(scene, disturbances=(replace(push, impulse=impulse),))


def with_gravity(scene, down):
    model = scene.model.with_gravity((0.0, 0.0, -down))
    state = scene.state.copy()
    state.model = model
    return replace(scene, model=model, state=state)


MODEL = (
    "model.trunk.mass",
    "model.left_thigh.mass",
    "model.left_thigh.com[0]",
    "model.right_shank.com[2]",
    "model.trunk.inertia[1,1]",
    "model.trunk.inertia[0,2]",
)
FLOOR = ("floor.k_n", "floor.b_n", "floor.k_t", "floor.b_t")


def test_model_and_floor(scene):
    """The law knows the model that it stands on: its torques change with it."""
    found = agrees(scene, parameters_of(scene, (*MODEL, *FLOOR)), SMOOTH)
    assert found.switched == found.kinks == 0


def test_the_roots_own_centre_of_mass(scene):
    """What a configuration says of the root is where that is: the start changes with it, its link stays."""
    agrees(scene, parameters_of(scene, ("model.trunk.com[0]",)), {"margin_of_stability_end": 1.0, "rms_torque": 0.02})


def test_pushes_and_gravity(scene):
    """Anything that scenes with another value of it can be made of."""
    push = Parameter("push", 4.0, lambda value: with_push(scene, value))
    gravity = Parameter("gravity", 9.81, lambda value: with_gravity(scene, value))
    scene = with_gravity(scene, 9.81)
    push = Parameter("push", 4.0, lambda value: with_push(scene, value))
    agrees(scene, (push, gravity), SMOOTH)


def test_friction_where_feet_slide():
    """Points that slide, that yield, and whose anchors are dragged along: regimes are held, and with them all is exact."""
    hard = pushed(duration=0.3, impulse=14.0)
    friction = Parameter("friction", 0.3, lambda mu: replace(hard, floor=replace(hard.floor, mu_s=mu, mu_d=mu)))
    differentiator = Differentiator(hard, (friction,))
    found = differentiator.of("rms_position_error")
    regimes = set(np.unique(differentiator._trial.record.multipliers.regime))
    assert {0, 3} < regimes
    assert regimes & {1, 2, 4}
    expected = difference(friction, {"rms_position_error": 1.0}, reaches=(1e-6, 2e-7))
    assert found.slopes[0] == pytest.approx(expected, rel=1e-3)


def test_passive_joints_without_a_law():
    """Stiffness of springs between bodies' joints is the controller's here; damping and rotors are the model's."""
    man = human()
    bodies = tuple(
        replace(b, joint=replace(b.joint, damping=0.5, armature=0.01)) if b.joint.has_axis else b for b in man.bodies
    )
    model = replace(man, bodies=bodies).without_contacts()
    q = model.neutral()
    q[3:7] = np.array([0.98, 0.1, 0.1, 0.1]) / np.linalg.norm([0.98, 0.1, 0.1, 0.1])
    scene = Scene(model, JointImpedance(40.0, 1.0), duration=0.1, step=1e-3, integrator=Recursive(tolerance=1e-12))
    scene = replace(scene, state=AnyScene(model).initial_state)
    scene.state.q[:] = q
    scene.state.q[8:] += 0.3
    names = ("model.left_shank.joint.damping", "model.left_shank.joint.armature", "model.left_foot.mass")
    terms = {"rms_torque": 1.0} if False else {"com_excursion": 1.0}
    del terms
    moved = Parameter("home", 0.3, lambda value: replace(scene, state=bent(scene.state, value)))
    with pytest.raises(InputError, match="com_excursion"):
        gradient(scene, "com_excursion", names)
    del moved


def bent(state, value):
    state = state.copy()
    state.q[8:] = value
    return state


def test_its_own_world_leaves_nothing(scene):
    """The equations of the steps hold where they were solved: what is summed up is what the solver left."""
    differentiator = Differentiator(scene, ("model.trunk.mass",))
    differentiator.of(SMOOTH)
    own = differentiator._trial.equations_in(scene.prepare().world)
    other = differentiator._trial.equations_in(parameters_of(scene, ("model.trunk.mass",))[0].scene_at(46.0).prepare().world)
    assert np.abs(own).max() < 1e-8 * np.abs(other).max()


def test_another_mans_law_is_not_this_mans():
    """Tapes are kept; one that was noted with another tree as constants does not serve."""
    slopes = []
    for mass in (45.0, 50.0):
        model = heavier(human(), mass)
        scene = Scene(model, WorkspaceController(), duration=0.02)
        slopes.append(gradient(scene, "rms_torque", ("controller.gains.kp_position[2]",)).slopes[0])
    assert slopes[0] != slopes[1]


def heavier(model: Model, mass: float) -> Model:
    return replace(model, bodies=tuple(replace(b, mass=mass) if b.name == "trunk" else b for b in model.bodies))


def test_what_more_than_numbers_change_is_refused(scene):
    other = Parameter("pushes", 1.0, lambda value: replace(scene, disturbances=() if value > 1.0 else scene.disturbances))
    with pytest.raises(InputError, match="changes what acts by more than numbers"):
        gradient(scene, "rms_torque", (other,))
