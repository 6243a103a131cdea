"""Functions noted from interpreted kernels: their values elsewhere, and their gradients, against complex steps."""

import cmath
import math
from dataclasses import replace

import numpy as np
import pytest

from biped import InputError, Scene, Session, human
from biped.derivatives.gradients.slopes import slopes
from biped.derivatives.linearization.law import LawDerivative
from biped.derivatives.tape import kernels
from biped.derivatives.tape.law import note_law
from biped.derivatives.tape.recorder import Recorder
from biped.kernels.loop.closed_loop import control
from biped.kernels.loop.measurement import Measurement
from biped.kernels.tree.dynamics import new_tree_data, rates_from_momentum, turn_inertias
from biped.kernels.tree.kinematics import new_poses, place_bodies
from biped.kernels.tree.tree import Tree
from biped.kernels.variational.equations import displace
from contact.analytic import bounded, cos, sin, sqrt
from contact.piecewise import Signals
from controllers import SetPointMotion, WorkspaceController
from kernelcache import Entry, Packed

#: Length of a complex step: its square is negligible beside one.
REACH = 1e-20


def complex_room(value):
    """Return nested named tuples with complex arrays; trees and functions of time stay as they are."""
    if isinstance(value, tuple) and hasattr(value, "_fields") and not isinstance(value, (Signals, Tree)):
        return type(value)(*(complex_room(item) for item in value))
    is_real = isinstance(value, np.ndarray) and value.dtype == np.float64
    return value.astype(np.complex128) if is_real else value


def many(x, y, z):
    a = sin(x) * cos(y) - z / (x * x + 2.0) + 0.0 * y
    b = sqrt(x * x + y * y + 1.0) * 1.0 - (-z) * a
    c = (3.0 - b) / (1.0 + a * a) + b * b - 2.0 / (b + 5.0)
    return [a, b * c, bounded(c, -2.0, 2.0), c - a, 0.0]


def noted(at):
    recorder = Recorder()
    inputs = recorder.arguments(at)
    return recorder.tape(inputs, many(*inputs))


def results(tape):
    return np.array([tape.value[k] if k >= 0 else 0.0 for k in tape.result])


@pytest.mark.parametrize("seed", range(5))
def test_it_is_the_function_anywhere_and_its_gradient(seed):
    rng = np.random.default_rng(seed)
    tape = noted((0.3, -0.2, 0.7))
    at, weights = rng.normal(size=3), rng.normal(size=5)
    tape.value[:3] = at
    assert kernels.evaluate_tape(tape)
    assert results(tape) == pytest.approx(many(*at), rel=1e-15, abs=1e-15)
    kernels.differentiate_tape(tape, weights)
    expected = []
    for k in range(3):
        moved = at.astype(complex)
        moved[k] += 1e-20j
        expected.append(sum(w * complex(f).imag for w, f in zip(weights, many(*moved), strict=True)) / 1e-20)
    assert tape.gradient == pytest.approx(expected, rel=1e-12, abs=1e-13)


def test_a_branch_that_comes_out_otherwise_is_told():
    recorder = Recorder()
    x = recorder.argument(1.0)
    tape = recorder.tape([x], [x * 2.0 if x > 0.5 else -x])
    assert kernels.evaluate_tape(tape)
    assert results(tape)[0] == 2.0
    tape.value[0] = 0.4
    assert not kernels.evaluate_tape(tape)


def test_what_would_lose_its_derivative_is_an_error():
    x = Recorder().argument(0.5)
    for lossy in (lambda: math.sin(x), lambda: float(x), lambda: bool(x), lambda: cmath.exp(x), lambda: int(x)):
        with pytest.raises(TypeError):
            lossy()


def by_complex_step(law, tree, q, momentum, recorded, direction, time=0.0):
    """Return a law's torques, and their derivative along a direction of (q, p), from its own kernels."""
    n, nv, nc = len(tree.parent), len(momentum), len(tree.contact_body)
    poses, motion = new_poses(n, nv, nc), complex_room(new_tree_data(n, nv, nc))
    place_bodies(tree, q, poses)
    moved, shift = q.astype(complex), np.zeros(3, dtype=complex)
    displace(tree, poses, q, np.zeros(3), 1j * REACH, direction[:nv], moved, shift)
    moved[:3] = q[:3] + shift
    place_bodies(tree, moved, motion.poses)
    turn_inertias(tree, motion.poses, motion.inertia)
    rates_from_momentum(tree, momentum + 1j * REACH * direction[nv:], motion)
    unknown, nothing = np.full((nc, 3), np.nan), np.full(nv, np.nan)
    contacts = np.zeros(nc, np.int64)
    seen = Measurement(tree, np.array([time]), moved, motion, unknown, contacts, nothing, nothing, nothing, nothing)
    torque = np.zeros(nv, dtype=complex)
    control(complex_room(law), seen, torque, np.zeros(recorded, dtype=complex))
    return torque.real, torque.imag / REACH


@pytest.mark.parametrize("seconds", [0.02, 0.3])
def test_the_law_is_the_one_that_a_complex_step_goes_through(seconds):
    scene = Scene(human(), WorkspaceController())
    session = Session(scene)
    session.advance(3)
    law, tree = scene.controller.law(scene.model), scene.model.tree
    derivative = LawDerivative(law, tree, 6)
    derivative.at(session.state.q, session.state.momentum, 0.0)
    session.advance(round(seconds / session.period))
    q, momentum = session.state.q, session.state.momentum
    for direction in np.random.default_rng(1).normal(size=(3, 2 * scene.model.nv)):
        torque, expected = by_complex_step(law, tree, q, momentum, 6, direction)
        found = derivative.at(q, momentum, 0.0, torque) @ direction
        assert found == pytest.approx(expected, rel=1e-11, abs=1e-11 * np.abs(expected).max())
    with pytest.raises(InputError, match="depend on more than configuration, velocity and time"):
        derivative.at(q, momentum, 0.0, torque + 1.0)


def test_a_law_that_depends_on_time_has_a_derivative_at_each_time():
    motion = SetPointMotion(shape="sine", displacement=(0.01, 0.0, 0.0), frequency=1.0, start=0.0)
    scene = Scene(human(), WorkspaceController(motion=motion))
    state, law, tree = scene.initial_state, scene.controller.law(scene.model), scene.model.tree
    derivative, direction = LawDerivative(law, tree, 13), np.random.default_rng(1).normal(size=2 * scene.model.nv)
    for time in (0.1, 0.3):
        torque, expected = by_complex_step(law, tree, state.q, state.momentum, 13, direction, time)
        found = derivative.at(state.q, state.momentum, time, torque) @ direction
        assert found == pytest.approx(expected, rel=1e-11, abs=1e-11 * np.abs(expected).max())


def test_a_set_point_that_moves_is_refused():
    controller = WorkspaceController(motion=SetPointMotion(shape="sine", displacement=(0.01, 0.0, 0.0)))
    scene = Scene(human(), controller)
    state = scene.initial_state
    with pytest.raises(InputError, match="not time"):
        note_law(controller.law(scene.model), scene.model.tree, state.q, state.momentum, 13, ())


def test_slopes_are_exact_of_what_is_linear_and_extrapolated_else():
    assert slopes(lambda x: np.array([3.0 * x, -x / 7.0, 5.0]), 7.07, "x") == pytest.approx(
        [3.0, -1 / 7, 0.0], rel=1e-14
    )
    assert slopes(lambda x: np.array([math.exp(x), 1.0 / x]), 1.3, "x") == pytest.approx(
        [math.exp(1.3), -1.0 / 1.69], rel=1e-9
    )
    with pytest.raises(InputError, match="not smooth"):
        slopes(lambda x: np.array([abs(x - 2.0)]), 2.001, "x")


def test_a_gain_of_zero_is_varied_to_the_side_that_there_is():
    gains = WorkspaceController().gains

    def at(value):
        return np.array([3.0 * replace(gains, kp_position=(value, 50.0, 200.0)).kp_position[0]])

    assert slopes(at, 0.0, "gain")[0] == 3.0
    with pytest.raises(InputError, match="to one side only"):
        slopes(lambda x: at(x) ** 2, 0.0, "gain")
    with pytest.raises(InputError, match="nearby values are refused"):
        slopes(at, -8.0, "gain")


def test_all_results_at_once_are_each_by_itself():
    recorder = Recorder()
    inputs = recorder.arguments((0.3, -0.2, 0.7))
    results = [*many(*inputs), *many(*inputs[::-1]), *many(inputs[1], inputs[2], inputs[0]), inputs[0]]
    tape = recorder.tape(inputs, results)
    jacobian = kernels.new_tape_jacobian(tape, 1, 2)
    assert Entry(kernels.differentiate_results, Packed(jacobian))() == kernels.DONE
    for k in range(len(results)):
        kernels.differentiate_tape(tape, np.eye(len(results))[k])
        assert np.array_equal(jacobian.derivatives[k], tape.gradient[1:])
    assert np.count_nonzero(jacobian.derivatives) > len(results)
