"""A control period with its law: against differences of the same period, and against what small deviations do."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from biped import Actuators, Controller, InputError, Recursive, Scene, Sensors, Session, Throw, human
from biped.derivatives.linearization import KinkError, Linearizer, equilibrium, gain_sensitivities, linearize
from biped.derivatives.linearization.coordinates import displaced, displacement
from biped.disturbances.sensors import ProprioceptiveChannel
from contact import Floor
from contact.regimes import HELD
from controllers import WholeBodyController, WorkspaceController, WorkspaceGains
from tests.differences import columns_of, derivative

from .varied import after


def settled(scene, seconds):
    session = Session(scene)
    session.advance(round(seconds / session.period))
    assert not session.has_ended
    return session.state.copy()


@pytest.fixture(scope="module")
def scene():
    return Scene(human(), WorkspaceController(), integrator=Recursive(tolerance=1e-11))


@pytest.fixture(scope="module")
def standing(scene):
    return equilibrium(scene, settled(scene, 3.0))


def worst(scene, state, found, columns, rel):
    """The greatest departure of a block of A, as of momenta by displacements, from differences of the period."""
    nv = scene.model.nv
    end = after(scene, state, np.zeros(2 * nv))

    def moved(change):
        there = after(scene, state, change)
        return np.concatenate([displacement(scene.model, end.q, there.q), there.momentum])

    def by(column):
        return derivative(lambda e: moved(e * np.eye(2 * nv)[column]), 1e-5 if column >= nv else 1e-6)

    difference = columns_of([by(column) for column in columns])
    first = sum(column < nv for column in columns)
    exact, halves = found.A[: 2 * nv, columns], (slice(0, nv), slice(nv, None))
    blocks = itertools.product(halves, (slice(0, first), slice(first, None)))
    return max(difference[block].departure(exact[block], rel, alike=True) for block in blocks)


@pytest.mark.parametrize("when", [0.05, 0.4])
def test_it_is_the_derivative_of_a_period(scene, when):
    state = settled(scene, when)
    columns = [0, 2, 3, 4, 7, 11, 17, 18, 22, 26, 35]
    assert worst(scene, state, linearize(scene, state), columns, 2e-6) <= 1.0


def test_names_and_units(standing):
    _, found = standing
    root = ("trunk_x", "trunk_y", "trunk_z", "trunk_turn_x", "trunk_turn_y", "trunk_turn_z")
    assert found.states[:6] == root
    assert found.states[18:24] == tuple(f"p_{name}" for name in root)
    assert found.states[36].startswith("anchor_x_")
    assert found.state_units[:4] == ("m", "m", "m", "rad")
    assert found.state_units[18:22] == ("N·s", "N·s", "N·s", "N·m·s")
    assert len(found.states) == 36 + 16
    assert len(found.inputs) == 12
    assert set(found.input_units) == {"N·m"}


def test_held_anchors_are_parameters(standing):
    _, found = standing
    assert (found.regimes == HELD).all()
    assert found.kept == tuple(range(36))
    whole = np.sort(np.abs(np.linalg.eigvals(found.A)))
    assert np.abs(whole[-16:] - 1.0).max() < 1e-9
    assert whole[:-16] == pytest.approx(np.sort(np.abs(found.eigenvalues)), abs=1e-6)


def test_an_equilibrium_stays_where_it_is(scene, standing):
    state, found = standing
    session = Session(replace(scene, state=state))
    session.advance(50)
    assert np.abs(displacement(scene.model, state.q, session.state.q)).max() < 1e-6
    assert np.abs(found.moved).max() < 1e-8


def test_the_slow_modes_are_those_of_the_law(standing):
    """ÿ = −K_d ẏ − K_p y of the trunk's place; of a turn by φ half as much of K_p, since the error is sin(φ/2)."""
    _, found = standing
    rates = [mode.rate for mode in found.mode_list]
    for kp, kd in ((50.0, 7.07), (25.0, 7.07), (200.0, 14.142)):
        wanted = complex(-kd / 2.0, np.sqrt(kp - kd * kd / 4.0))
        assert min(abs(rate - wanted) for rate in rates) < 0.08 * abs(wanted)


def test_small_deviations_decay_as_it_says(scene, standing):
    state, found = standing
    values, right = np.linalg.eig(found.dynamic)
    k = int(np.argmax(np.abs(values)))
    vector = right[:, k] / np.abs(right[:18, k]).max()
    left = np.linalg.pinv(right)[k]
    start = state.copy()
    change = 1e-5 * vector.real
    start.arrays.q[:] = displaced(scene.model, state.q, change[:18])
    start.arrays.momentum[:] += change[18:]
    session = Session(replace(scene, state=start))
    before = left @ change
    ticks = 100
    session.advance(ticks)
    live = session.state
    now = left @ np.concatenate([displacement(scene.model, state.q, live.q), live.momentum - state.momentum])
    measured = -np.log(abs(now / before)) / (ticks * found.period)
    predicted = -np.log(abs(values[k])) / found.period
    assert measured == pytest.approx(predicted, rel=0.01)


def test_sensitivities_are_the_slopes_of_eigenvalues(scene, standing):
    state, _ = standing
    slope = gain_sensitivities(scene, state, ("gains.kd_orientation[1]",))[0]
    sizes = []
    for factor in (0.99, 1.01):
        gains = WorkspaceGains(kd_orientation=(7.07, 7.07 * factor, 7.07))
        changed = replace(scene, controller=WorkspaceController(gains=gains))
        there = linearize(changed, state)
        sizes.append(next(mode.size for mode in there.mode_list if mode.shares[0][0] == "trunk_turn_y"))
    assert slope.slope == pytest.approx((sizes[1] - sizes[0]) / (0.02 * 7.07), rel=1e-3)
    assert slope.decay == pytest.approx(0.5, rel=0.05)  # the decay is K_d/2


#: Powers of ten of the thesis's gains. Little damping and much stiffness is unstable: torques are held.
GAIN_SPREADS = {
    "kp_position": (0.0, 1.7), "kd_position": (-1.3, 0.8), "kp_orientation": (0.0, 1.7), "kd_orientation": (-1.3, 0.8),
}  # fmt: skip


def agree(scene, state, seed):
    """Whether what it says of stability is what a small deviation does; None where that is too close to tell."""
    rng = np.random.default_rng(seed)
    gains = {}
    for name, spread in GAIN_SPREADS.items():
        common = rng.uniform(*spread)
        gains[name] = tuple(np.array(getattr(WorkspaceGains(), name)) * 10.0 ** (common + rng.uniform(-0.3, 0.3, 3)))
    gains = WorkspaceGains(**gains)
    changed = replace(scene, controller=WorkspaceController(gains=gains))
    try:
        at, found = equilibrium(changed, state)
    except InputError:
        return None
    if abs(found.margin) < 1e-3:
        return None
    start = at.copy()
    change = 1e-9 * rng.normal(size=36) * np.where(np.arange(36) < 18, 1.0, 10.0)
    start.arrays.q[:] = displaced(scene.model, at.q, change[:18])
    start.arrays.momentum[:] += change[18:]
    session = Session(replace(changed, state=start))
    weights = np.linalg.pinv(np.linalg.eig(found.dynamic)[1])[int(np.argmax(np.abs(np.linalg.eigvals(found.dynamic))))]
    sizes = []
    ticks = int(np.clip(round(3.0 / abs(np.log(found.spectral_radius))), 2, 3000))
    for _ in range(2):
        session.advance(ticks // 2)
        live = session.state
        moved = np.concatenate([displacement(scene.model, at.q, live.q), live.momentum - at.momentum])
        sizes.append(abs(weights @ moved))
    return (sizes[1] < sizes[0]) == found.is_stable


@pytest.mark.parametrize(("count", "least"), [(6, 3), pytest.param(200, 120, marks=pytest.mark.slow)])
def test_stability_of_many_gains_is_told_as_it_is(scene, standing, count, least):
    told = [agree(scene, standing[0], seed) for seed in range(count)]
    assert False not in told
    assert told.count(True) >= least


def test_late_sensors_and_actuators_are_states(scene):
    """Against a longhand run of deviations: a lag of 20 ms, and sensors 4 ms late."""
    late = replace(scene, disturbances=(Sensors(delay=4e-3, estimator="none"), Actuators(time_constant=0.02)))
    state = settled(late, 0.6)
    found = linearize(late, state)
    assert len(found.states) == 52 + 12 + 72
    base, ticks = Session(replace(late, state=state)), 6
    moved = Session(replace(late, state=state))
    change = np.zeros(36)
    change[[4, 8, 20, 30]] = 1e-7, 2e-7, 1e-5, -1e-5
    moved.state.arrays.q[:] = displaced(late.model, state.q, change[:18])
    moved.state.arrays.momentum[:] += change[18:]
    snapshot = moved.save()
    moved.restore(snapshot)
    x = np.zeros(len(found.states))
    x[:36] = change
    for _ in range(ticks):
        x = linearize(late, base.state).A @ x
        base.advance(1)
        moved.advance(1)
    there = np.concatenate(
        [displacement(late.model, base.state.q, moved.state.q), moved.state.momentum - base.state.momentum]
    )
    assert np.abs(there[:18] - x[:18]).max() < 1e-4 * np.abs(x[:18]).max()
    assert np.abs(there[18:] - x[18:36]).max() < 1e-4 * np.abs(x[18:36]).max()


def test_a_kink_is_reported_where_derivatives_jump(scene, standing):
    state = standing[0].copy()
    point = 2
    state.arrays.anchor[point] += 2e-4  # pulled at by some 20 N
    session = Session(replace(scene, state=state))
    session.advance(1)
    force = session.state.arrays.force[point]
    ratio = float(np.hypot(force[0], force[1]) / force[2])
    low, high = 0.8 * ratio, 1.2 * ratio
    for _ in range(60):
        mu = 0.5 * (low + high)
        floor = Floor(mu_s=mu, mu_d=min(0.9 * mu, 0.3))
        linearizer = Linearizer(replace(scene, floor=floor))
        error = None
        try:
            there = linearizer.at(state)
        except KinkError as raised:
            error = raised
        if error is not None:
            assert "holds or yields" in str(error)
            assert error.kinks[0].point == scene.model.contact_names[point]
            holds, yields = (
                linearize(replace(scene, floor=replace(floor, mu_s=(1.0 + away) * mu)), state).A
                for away in (1e-4, -1e-4)
            )
            assert np.abs(holds - yields).max() > 1e-3
            return
        slip = next(k for k in there.kinks if k.what.startswith("holds") and k.index == point)
        low, high = (mu, high) if slip.value > 0.0 else (low, mu)
    pytest.fail("no kink was found")


def pushed_with_strength(scene):
    weak = replace(scene, disturbances=(Actuators(strength="old-women"),))
    state = settled(weak, 0.2)
    state.arrays.momentum[0] += 20.0
    session = Session(replace(weak, state=state))
    session.advance(20)
    return weak, session.state


def test_strength_that_acts_is_differentiated(scene):
    """It varies with angles and rates, so that it is fed back, whatever the law asks for."""
    weak, state = pushed_with_strength(scene)
    found = linearize(weak, state)
    unlimited = linearize(replace(scene, disturbances=()), state)
    assert np.abs(found.A - unlimited.A).max() > 1e-3 * np.abs(found.A).max()
    assert not found.B[:, found.inputs.index("torque_left_ankle_pitch")].any()
    columns = [3, 4, 10, 11, 17, 22, 28, 29, 35]
    assert worst(weak, state, found, columns, 2e-6) <= 1.0


@pytest.mark.parametrize("strong", [False, True])
def test_an_actuator_just_at_its_limit_is_reported(scene, strong):
    weak, state = pushed_with_strength(scene)
    base = weak if strong else scene
    linearizer = Linearizer(base)
    linearizer.at(state)
    asked, measured = linearizer.plan.world.torque, linearizer.plan.world.measurement
    if strong:
        joint = scene.model.dof("right_ankle_pitch")
        linearizer.plan.world.actuators.strength[joint, 0, 0] *= asked[joint] / measured.most[joint]
        with pytest.raises(KinkError, match="reaches its torque limit"):
            linearizer.at(state)
        near = []
        for factor in (1.0 + 1e-5, 1.0 - 1e-5):
            linearizer.plan.world.actuators.strength[joint, 0, 0] *= factor
            near.append(linearizer.at(state).A)
            linearizer.plan.world.actuators.strength[joint, 0, 0] /= factor
    else:
        torque = abs(float(asked[scene.model.dof("left_knee_pitch")]))

        def limited(factor):
            return replace(scene, disturbances=(Actuators(limit={"left_knee_pitch": factor * torque}),))

        with pytest.raises(KinkError, match="left_knee_pitch reaches its torque limit"):
            linearize(limited(1.0), state)
        near = [linearize(limited(1.0 + sign * 1e-5), state).A for sign in (1.0, -1.0)]
    assert np.abs(near[0] - near[1]).max() > 1e-4 * np.abs(near[0]).max()


BLOCK = Throw(mass=1.8, size=(0.1, 0.1, 0.1), position=(2.0, 0.0, 1.2), velocity=(-4.0, 0.0, 0.0))


class InPython(Controller):
    period = 2e-3

    def torques(self, observation):
        return np.zeros(12)


def test_what_cannot_be_linearized_is_refused(scene, standing):
    state, _ = standing
    for changed, why in (
        (replace(scene, integrator="explicit-euler"), "variational"),
        (replace(scene, controller=InPython()), "runs in Python"),
        (replace(scene, controller=WholeBodyController()), "no exact derivative"),
        (
            replace(
                scene, disturbances=(Sensors(estimator="none", proprioceptive=ProprioceptiveChannel(joint_noise=1e-3)),)
            ),
            "noise",
        ),
        (replace(scene, disturbances=(Actuators(noise=1.0),)), "noise"),
        (replace(scene, disturbances=(BLOCK,)), "thrown box"),
    ):
        with pytest.raises(InputError, match=why):
            linearize(changed, state)


def test_open_loop_has_the_same_inputs(scene, standing):
    state, closed = standing
    held = linearize(scene, state, closed_loop=False)
    assert np.array_equal(held.B, closed.B)
    assert held.spectral_radius > 1.0
    assert held.controllability_rank == len(held.kept)
    gain = np.linalg.lstsq(held.B[:36], (closed.A - held.A)[:36, :36], rcond=None)[0]
    assert np.abs(held.B[:36] @ gain - (closed.A - held.A)[:36, :36]).max() < 1e-9 * np.abs(closed.A).max()


def test_files(standing, tmp_path):
    from scipy.io import loadmat

    _, found = standing
    for ending in ("npz", "mat", "json"):
        assert found.save(tmp_path / f"a.{ending}").is_file()
    assert np.array_equal(np.load(tmp_path / "a.npz")["A"], found.dynamic)
    assert np.array_equal(loadmat(tmp_path / "a.mat")["A"], found.dynamic)
    with pytest.raises(ValueError, match="npz"):
        found.save(tmp_path / "a.csv")
