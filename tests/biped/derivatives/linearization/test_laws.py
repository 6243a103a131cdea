"""The exact derivatives of laws other than that of the workspace: against differences of what they ask for."""

import itertools

import numpy as np
import pytest

from biped import Controller, InputError, Recursive, Scene, Signal, State, human
from biped.derivatives.linearization import linearize
from biped.derivatives.linearization.coordinates import displacement
from biped.model import random_tree
from controllers import ComputedTorque, JointPD
from tests.conftest import bent_configuration
from tests.differences import columns_of, derivative

from .varied import after

STEP, PERIOD = 1e-3, 4e-3


def targets(model, rng):
    first = model.joint_names[0]
    target = {name: float(angle) for name, angle in zip(model.joint_names, rng.normal(size=99), strict=False)}
    return target, {first: Signal.step(0.3, 0.0, 0.5)}


def computed_torque(model, rng):
    target, path = targets(model, rng)
    count = len(model.joint_names)
    coupled = rng.normal(size=(count, count))
    kp = 100.0 * np.eye(count) + 10.0 * coupled @ coupled.T
    return ComputedTorque(kp=kp, kd=30.0, target=target, path=path, period=PERIOD)


def scene_of(floating, kinds=("revolute", "prismatic")):
    rng = np.random.default_rng(7)
    model = random_tree(rng, 6, floating=floating, kinds=kinds, armature=0.1)
    q = bent_configuration(model, rng, 1.0)
    state = State.at(model, q, rng.normal(size=model.nv))
    law: Controller = computed_torque(model, rng)
    return Scene(model, law, state=state, step=STEP, integrator=Recursive(tolerance=1e-12))


@pytest.mark.parametrize("floating", [True, False])
def test_the_computed_torque_law_has_its_exact_derivative(floating):
    scene = scene_of(floating)
    model = scene.model
    found = linearize(scene, scene.state)
    nv = model.nv
    end = after(scene, scene.state, np.zeros(2 * nv))

    def moved(change):
        there = after(scene, scene.state, change)
        return np.concatenate([displacement(model, end.q, there.q), there.momentum])

    difference = columns_of([
        derivative(lambda e, unit=unit: moved(e * unit), 5e-5 if j < nv else 5e-4)
        for j, unit in enumerate(np.eye(2 * nv))
    ])  # fmt: skip
    halves = slice(0, nv), slice(nv, 2 * nv)
    for block in itertools.product(halves, halves):
        assert difference[block].departure(found.A[block], 1e-7, alike=True) <= 1.0
    open_loop = linearize(scene, scene.state, closed_loop=False)
    assert np.abs(found.A - open_loop.A).max() > 1e-2 * np.abs(found.A).max()


def test_of_a_fixed_root_it_is_that_of_its_error():
    """ë + K_v ė + K_p e = 0: with short periods, the eigenvalues of all joints are the two of that."""
    rng = np.random.default_rng(7)
    model = random_tree(rng, 4, floating=False, kinds=("revolute",))
    law = ComputedTorque(kp=25.0, kd=8.0, period=1e-4)
    state = State.at(model, model.neutral(), 0.0 * np.ones(model.nv))
    found = linearize(Scene(model, law, state=state, step=1e-4, integrator=Recursive(tolerance=1e-13)), state)
    rates = np.array([mode.rate for mode in found.mode_list])
    assert len(rates) == model.nv
    assert np.abs(rates - complex(-4.0, 3.0)).max() < 0.02


def test_on_a_floor_it_is_refused_since_it_feels_the_floor():
    model = human()
    with pytest.raises(InputError, match="what the floor"):
        linearize(Scene(model, ComputedTorque()))
    found = linearize(Scene(model, JointPD()))
    assert np.isfinite(found.A).all()
