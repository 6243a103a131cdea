"""The second derivatives of steps: against central differences of the first, in one and the same coordinates."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from biped import InputError, Recursive, Scene, Sensors, Session, human
from biped.derivatives.linearization import linearize
from biped.derivatives.linearization.coordinates import displaced, displacement
from biped.derivatives.linearization.kernels.second import SecondDifferentiator
from biped.derivatives.linearization.second import Curvature, StepCurvature
from biped.model import random_tree
from contact.modes import NONE, SLIDING, STICKING
from contact.regimes import CLIPPED, COULOMB, FREE, HELD, VISCOUS
from controllers import WorkspaceController
from tests.differences import derivative, jacobian
from tests.rounding import summed

from .test_steps import ACTING, FLOOR, KINDS, limited_tree, standing_human
from .varied import REACHES, STEP, Varied, moving

BEGIN = ("q", "momentum", "mode", "anchor", "torque", "stiffness", "damping", "setpoint")


def curvature(varied, steps=1):
    """The second derivatives of the next steps by all columns of ``varied``."""
    world, model = varied.plan.world, varied.model
    twice = SecondDifferentiator(world.method.body, world.tree, world.ground, world.pushes, model.nq)
    varied.exact(0)
    found = []
    for _ in range(steps):
        before = varied.plan.state.copy()
        assert varied.lin.take(1) == 0
        for name in BEGIN:
            getattr(twice.room.begin, name)[:] = getattr(before.arrays, name)
        by_torque = 0.5 * STEP * varied.lin.room.derivative.joints.given
        found.append(StepCurvature.of(twice.between(varied.plan.state.q, STEP), by_torque, np.arange(model.nv)))
    return Curvature(tuple(found))


def transition(model, q, there):
    """(nv, nv) unit displacements at ``q`` ⊕ ``there`` by those of the coordinates about ``q``, by differences."""
    at = displaced(model, q, there)
    return jacobian(lambda delta: displacement(model, at, displaced(model, q, delta)), there, 1e-3).value


def first_derivative(varied, column, reach, steps):
    model, nv = varied.model, varied.model.nv
    here, end_q = varied.start, varied.end.q
    moved = reach * np.eye(varied.columns)[column]
    start = here.copy()
    start.arrays.q[:] = displaced(model, here.q, moved[:nv])
    start.arrays.momentum[:] += moved[varied.parts[1]]
    start.arrays.anchor.ravel()[:] += moved[varied.parts[2]]
    start.arrays.torque[:] += moved[varied.parts[3]]
    end = varied.end
    varied.start = start
    try:
        found = varied.exact(steps)
    finally:
        varied.start = here
    live_q, varied.end = varied.end.q, end
    if varied.kind(column) == 0:
        found[:, :nv] = found[:, :nv] @ transition(model, here.q, moved[:nv])
    out = transition(model, end_q, displacement(model, end_q, live_q))
    found[:nv] = np.linalg.solve(out, found[:nv])
    return found


def worst(varied, columns, rel, steps=1):
    whole = curvature(varied, steps).full()
    assert np.abs(whole - whole.transpose(0, 2, 1)).max() < 1e-9 * np.abs(whole).max()
    varied.exact(steps)
    departures = []
    for column in columns:
        kind = varied.kind(column)
        reach = 20.0 * REACHES[kind]
        difference = derivative(lambda e, column=column: first_derivative(varied, column, e, steps), reach)
        for block in itertools.product(varied.parts[:3], varied.parts):
            size = np.abs(whole[*block, varied.parts[kind]]).max(initial=0.0)
            error = np.abs(whole[*block, column] - difference.value[block]).max(initial=0.0)
            allowed = max(rel * size, difference.error[block].max(initial=0.0))
            departures.append(error / allowed if error else 0.0)
    assert np.abs(whole).max() > 1e-3
    return max(departures)


def dofs_of(model, i):
    first = int(model.tree.first_v[i])
    return range(first, first + int(model.tree.dofs[i]))


def some_columns(varied, rng, each=4):
    parts = [np.arange(part.start, part.stop) for part in varied.parts if part.stop > part.start]
    return [int(k) for part in parts for k in rng.choice(part, each, replace=False)]


@pytest.mark.parametrize("regime", [FREE, VISCOUS, COULOMB, HELD, CLIPPED, None, "stops and bearings"])
def test_it_is_the_derivative_of_the_derivative_in_each_regime(regime):
    varied = limited_tree() if regime == "stops and bearings" else standing_human(regime)
    assert worst(varied, some_columns(varied, np.random.default_rng(1)), 1e-5) <= 1.0


@pytest.mark.parametrize("floating", [True, False])
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_it_is_the_derivative_of_the_derivative_on_random_trees(seed, floating):
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 6, floating=floating, kinds=KINDS, contacts=5, armature=0.2)
    scene, state = moving(model, rng, floor=FLOOR, speed=1.0)
    varied = Varied(scene, state, modes=[SLIDING, STICKING, STICKING, NONE, SLIDING])
    turning = [dof for i in range(model.n) if model.tree.dofs[i] > 1 for dof in dofs_of(model, i)]
    assert worst(varied, [*turning, *some_columns(varied, rng, 2)], 1e-5) <= 1.0


def test_it_is_the_derivative_of_the_derivative_over_several_steps():
    varied = standing_human(None, controller=None, disturbances=ACTING)
    varied.start.arrays.stiffness[6:] = 300.0
    varied.start.arrays.damping[6:] = 5.0
    assert worst(varied, some_columns(varied, np.random.default_rng(2), 3), 1e-5, steps=2) <= 1.0


def sizes(step, weights):
    """(N, N) of what a step's weighted second derivatives are summed from: ``StepCurvature.weighted`` without signs."""
    nv, Z, inverse, first = step._nv, np.abs(step._ends), np.abs(step._inverse), np.abs(step.first)
    on_rows = np.concatenate([inverse.T @ (weights[:nv] + first[nv:, nv : 2 * nv].T @ weights[nv:]), weights[nv:]])
    found = Z.T @ np.tensordot(np.abs(step.second), on_rows, (1, 0)) @ Z
    found[:nv, :nv] += np.tensordot(first[:, :nv].T @ on_rows, np.abs(step.begin), 1)
    return step._with_torques(found + np.tensordot(weights[:nv], np.abs(step._end), 1))


def test_weighted_second_derivatives_are_the_weighted_sum():
    varied = standing_human(None)
    found = curvature(varied, 2)
    weights = np.random.default_rng(0).normal(size=52)
    size, left = np.zeros(()), np.abs(weights)
    for step, road in zip(found.steps[::-1], found._roads[::-1], strict=True):
        size = size + np.abs(road).T @ sizes(step, left) @ np.abs(road)
        left = np.abs(step.linear[0]).T @ left
    one_way = 2 * 5 * len(size)  # two steps of five products, whose sums have so many terms
    apart = np.abs(found.weighted(weights) - np.tensordot(weights, found.full(), 1))
    assert np.all(apart <= summed(2 * one_way, size))


def test_the_first_derivatives_beneath_it_are_those_of_the_step():
    varied = standing_human(None)
    A, B = curvature(varied).steps[0].linear
    exact = varied.exact()
    assert np.abs(np.hstack([A, B]) - exact).max() < 1e-11 * np.abs(exact).max()


def test_it_is_asked_for_by_order():
    scene = Scene(human(), WorkspaceController(), integrator=Recursive(tolerance=1e-11))
    session = Session(scene)
    session.advance(100)
    step = linearize(scene, session.state, span="step", order=2)
    assert step.second().shape == (52, 64, 64)
    weights = np.random.default_rng(0).normal(size=52)
    expected = np.tensordot(weights, step.second(), 1)
    assert np.abs(step.weighted_second(weights) - expected).max() < 1e-11 * np.abs(expected).max()
    held = linearize(scene, session.state, closed_loop=False, order=2)
    last = held.curvature.steps[-1]
    whole = np.hstack(last.linear) @ held.curvature._roads[-1]
    assert np.abs(whole - np.hstack([held.A, held.B])).max() < 1e-9 * np.abs(held.A).max()
    with pytest.raises(InputError, match="order=2"):
        linearize(scene, session.state, span="step").second()
    with pytest.raises(InputError, match="torques held"):
        linearize(scene, session.state, order=2)
    with pytest.raises(InputError, match="52 states"):
        step.weighted_second(weights[1:])
    late = replace(scene, disturbances=(Sensors(delay=4e-3),))
    session = Session(late)
    session.advance(20)
    with pytest.raises(InputError, match="not late"):
        linearize(late, session.state, closed_loop=False, order=2)
