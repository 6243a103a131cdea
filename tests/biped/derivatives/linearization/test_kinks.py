"""Kinks of what acts in joints are reported where the derivatives on both sides differ."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from biped import InputError, Midpoint, Recursive, Scene, Signal, State, human
from biped.derivatives.gradients import Differentiator
from biped.derivatives.linearization import KinkError, Linearizer, linearize
from biped.derivatives.linearization.coordinates import displacement
from biped.kernels.tree.tree import STOP_DAMPING, STOP_STIFFNESS
from biped.model import random_tree
from contact import Floor
from controllers import ComputedTorque, JointPD
from tests.conftest import bent_configuration
from tests.differences import columns_of, derivative

from .varied import after

STEP = 1e-3
JOINT, FREE = 2, {"max_effort": 60.0}


def tree(**limits):
    model = random_tree(np.random.default_rng(3), 5, floating=True, kinds=("revolute",), armature=0.05)
    bodies = list(model.bodies)
    bodies[JOINT] = replace(bodies[JOINT], joint=replace(bodies[JOINT].joint, **limits))
    return replace(model, bodies=tuple(bodies))


def moving(model):
    rng = np.random.default_rng(4)
    state = State.at(model, model.neutral(), rng.normal(size=model.nv))
    state.arrays.torque[6:] = rng.normal(size=model.nv - 6)
    how = {"step": STEP, "duration": 2 * STEP, "integrator": Recursive(tolerance=1e-12)}
    return Scene(model, floor=Floor(), state=state, **how), state


def linearizer(**limits):
    scene, state = moving(tree(**(FREE | limits)))
    return Linearizer(scene, span="step"), state


def ends_of():
    free, state = linearizer()
    found = free.at(state)
    place, dof = int(free.model.tree.first_q[JOINT]), int(free.model.tree.first_v[JOINT])
    begin = float(state.q[place])
    return begin, begin + float(found.moved[dof])


def limits_at(kind, away):
    """Limits whose kink the free step misses by ``away``, below zero on the side where they do not act."""
    begin, end = ends_of()
    rate = (end - begin) / STEP
    stop = tree(**FREE, upper=100.0).tree.passive[JOINT]
    press = STOP_DAMPING, STOP_STIFFNESS
    if kind == "end":
        return {"upper": end - away} if rate > 0.0 else {"lower": end + away}
    if kind == "begin":
        return {"upper": begin - away} if rate > 0.0 else {"lower": begin + away}
    if kind == "pressure":
        middle = 0.5 * (begin + end) + float(stop[press[0]] / stop[press[1]]) * rate
        return {"upper": middle - away} if rate < 0.0 else {"lower": middle + away}
    if kind == "speed":
        return {"max_velocity": abs(rate) - away / STEP}
    free, state = linearizer()
    return {"max_effort": abs(float(state.arrays.torque[int(free.model.tree.first_v[JOINT])])) - away}


@pytest.mark.parametrize(
    ("kind", "what"),
    [("end", "stop"), ("begin", "stop"), ("pressure", "presses"), ("speed", "speed limit"), ("effort", "limit")],
)
def test_a_kink_of_a_joint_is_reported_where_derivatives_jump(kind, what):
    at, state = linearizer(**limits_at(kind, 0.0))
    with pytest.raises(KinkError, match=what) as raised:
        at.at(state)
    here = raised.value.kinks[0]
    assert here.point == at.model.bodies[JOINT].joint.name
    nearby, apart = [], 2e-4 if kind == "effort" else 2e-7
    for sign in (1.0, -1.0):
        once, twice = (
            near.at(there) for near, there in (linearizer(**limits_at(kind, sign * k * apart)) for k in (1.0, 2.0))
        )
        nearby.append((2.0 * once.A - twice.A, 2.0 * once.B - twice.B))
    size = max(np.abs(A).max() for A, _ in nearby)
    jump = max(np.abs(nearby[0][k] - nearby[1][k]).max() for k in (0, 1))
    assert jump > 1e-7 * size


def test_away_from_kinks_their_distance_is_told():
    near, state = linearizer(**limits_at("end", 1e-5))
    found = near.at(state)
    stop = next(kink for kink in found.kinks if "stop" in kink.what and "presses" not in kink.what)
    assert stop.value == pytest.approx(1e-5, rel=0.2)
    assert stop.unit == "rad"


def test_the_midpoint_rule_is_refused_in_a_sentence():
    scene = Scene(human(), integrator=Midpoint())
    with pytest.raises(InputError, match="midpoint.*cannot be linearized"):
        Linearizer(scene, span="step")


def test_a_gradient_tells_of_a_joint_at_its_stop():
    for away, met in ((0.0, True), (1e-4, False)):
        scene, _ = moving(tree(**limits_at("end", away)))
        found = Differentiator(scene, ()).of("rms_torque")
        assert (found.kinks > 0) is met
        assert any("stop" in kink.what for kink in found.nearest)


LAW_STEP, PERIOD = 1e-3, 4e-3


def scene_of(floating):
    rng = np.random.default_rng(7)
    model = random_tree(rng, 6, floating=floating, kinds=("revolute", "prismatic"), armature=0.1)
    state = State.at(model, bent_configuration(model, rng, 1.0), rng.normal(size=model.nv))
    count = len(model.joint_names)
    target = dict(zip(model.joint_names, rng.normal(size=count).tolist(), strict=True))
    path = {model.joint_names[0]: Signal.step(0.3, 0.0, 0.5)}
    coupled = rng.normal(size=(count, count))
    kp = 100.0 * np.eye(count) + 10.0 * coupled @ coupled.T
    law = ComputedTorque(kp=kp, kd=30.0, target=target, path=path, period=PERIOD)
    return Scene(model, law, state=state, step=LAW_STEP, integrator=Recursive(tolerance=1e-12))


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
    with pytest.raises(InputError, match="ground reaction forces"):
        linearize(Scene(model, ComputedTorque()))
    found = linearize(Scene(model, JointPD()))
    assert np.isfinite(found.A).all()
