"""Sensors and actuators, tick by tick and number by number, for a tree with every kind of joint."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from biped.disturbances.sensors import ProprioceptiveChannel, Sensors, VestibularChannel, VisualChannel
from biped.kernels.loop.measurement import (
    ROWS,
    Actuators,
    apply_torques,
    ideal_actuators,
    measure,
    new_measurement,
    perfect_sensors,
)
from biped.kernels.loop.random import normal
from biped.kernels.state.simulation_state import SENSED, TICKS
from biped.kernels.tree.dynamics import new_tree_data, set_tree_data
from biped.kernels.tree.tree import FLOATING
from biped.model import random_tree
from biped.runs.state import State

KINDS = ("revolute", "prismatic", "spherical")
#: Noise of position, orientation, joint, velocity, angular velocity, joint rate.
SIZES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
OFFSET = (0.1, -0.2, 0.3)
SEED = 5
PERIOD = 2e-3


class Sensed:
    """A plant at another state in every tick, and its sensors."""

    def __init__(self, floating: bool = True, delay: int = 0, sizes=(0.0,) * 6, offset=(0.0,) * 3) -> None:
        self.rng = np.random.default_rng(3)
        self.model = model = random_tree(self.rng, 7, floating=floating, kinds=KINDS)
        assert {body.joint.kind for body in model.bodies} >= {"revolute", "prismatic", "spherical"}
        arrays = State.at(model).arrays
        place, turn, joint, speed, spin, rate = sizes
        sensors = Sensors(
            delay * PERIOD,
            visual=VisualChannel(position_noise=place, velocity_noise=speed),
            vestibular=VestibularChannel(orientation_noise=turn, angular_velocity_noise=spin),
            proprioceptive=ProprioceptiveChannel(joint_noise=joint, joint_rate_noise=rate),
            seed=SEED,
        )
        self.motion = new_tree_data(model.n, model.nv, model.nc)
        self.seen = new_measurement(model.tree, model.nq, model.nv)
        self.sensors = sensors.compile(model, PERIOD, np.array(offset))
        self.arrays = arrays._replace(past=np.zeros((1 + delay + ROWS, self.sensors.late.size)))
        self.actuators = ideal_actuators(model.nv, PERIOD)
        self.history: list[tuple[np.ndarray, np.ndarray]] = []

    def tick(self):
        """Move to another state; the run's ticks are ahead of the sensors' ticks."""
        q = self.model.neutral()
        for body, first in zip(self.model.bodies, self.model.tree.first_q, strict=True):
            if body.joint.has_axis:
                q[first] = self.rng.normal()
            else:
                first += 3 * (body.joint.kind == "floating")
                q[first : first + 4] = np.roll(Rotation.random(random_state=self.rng).as_quat(), 1)
        if self.model.is_floating:
            q[:3] = self.rng.normal(size=3)
        self.arrays.q[:] = q
        self.motion.rates[:] = self.rng.normal(size=self.model.nv)
        self.arrays.counts[TICKS] = 100 + len(self.history)
        self.history.append((q, self.motion.rates.copy()))
        measure(self.model.tree, self.arrays, self.motion, self.sensors, self.actuators, self.seen)

    def noisy(self, q, v):
        """Return the numbers with noise; each has the channel of its degree of freedom, rates after all coordinates."""
        q, v, nv, tick = q.copy(), v.copy(), self.model.nv, int(self.arrays.counts[TICKS])
        place, turn, joint, speed, spin, rate = SIZES

        def draw(size, first, count):
            return size * np.array([normal(SEED, tick, first + k) for k in range(count)])

        for body, a, j in zip(self.model.bodies, *self.firsts, strict=True):
            if body.joint.has_axis:
                q[a] += draw(joint, j, 1)[0]
                v[j] += draw(rate, nv + j, 1)[0]
                continue
            size = joint
            if body.joint.kind == "floating":
                q[a : a + 3] += draw(place, j, 3)
                v[j : j + 3] += draw(speed, nv + j, 3)
                a, j, size = a + 3, j + 3, turn
                v[j : j + 3] += draw(spin, nv + j, 3)
            else:
                v[j : j + 3] += draw(rate, nv + j, 3)
            turned = Rotation.from_rotvec(draw(size, j, 3)) * Rotation.from_quat(np.roll(q[a : a + 4], -1))
            q[a : a + 4] = np.roll(turned.as_quat(), 1) * np.sign(np.dot(np.roll(turned.as_quat(), 1), q[a : a + 4]))
        return q, v

    @property
    def firsts(self):
        return [[int(k) for k in firsts] for firsts in (self.model.tree.first_q, self.model.tree.first_v)]


@pytest.mark.parametrize("floating", [True, False])
@pytest.mark.parametrize("delay", [0, 1, 3])
def test_what_is_seen_is_what_was(floating, delay):
    """Equality is bit for bit; until the delay has passed, the first state is shown, with its poses and inertias."""
    sensed = Sensed(floating, delay)
    for k in range(8):
        sensed.tick()
        q, v = sensed.history[max(k - delay, 0)]
        assert np.array_equal(sensed.seen.q, q)
        assert np.array_equal(sensed.seen.motion.rates, v)
        assert sensed.arrays.counts[SENSED] == k + 1
        fresh = new_tree_data(sensed.model.n, sensed.model.nv, sensed.model.nc)
        set_tree_data(sensed.model.tree, q, v, fresh)
        assert np.array_equal(sensed.seen.motion.poses.flat, fresh.poses.flat)
        assert np.array_equal(sensed.seen.motion.inertia, fresh.inertia)
        assert np.array_equal(sensed.arrays.q, sensed.history[-1][0])


def test_the_root_is_seen_where_it_would_be_without_its_load():
    """The shown point moves with the root: p + R r, and ṗ + ω × R r."""
    sensed = Sensed(offset=OFFSET)
    for _ in range(3):
        sensed.tick()
        q, v = sensed.history[-1]
        arm = Rotation.from_quat(np.roll(q[3:7], -1)).apply(OFFSET)
        assert sensed.seen.q[:3] == pytest.approx(q[:3] + arm, rel=1e-13)
        assert sensed.seen.motion.rates[:3] == pytest.approx(v[:3] + np.cross(v[3:6], arm), rel=1e-13)
        assert np.array_equal(sensed.seen.q[3:], q[3:])
        assert np.array_equal(sensed.seen.motion.rates[3:], v[3:])


@pytest.mark.parametrize("floating", [True, False])
def test_noise_is_drawn_for_each_number_at_each_tick(floating):
    """Noise is added to the shown values, not to the stored ones: the delay shows the past without its noise."""
    sensed = Sensed(floating, 2, SIZES)
    for k in range(6):
        sensed.tick()
        q, v = sensed.noisy(*sensed.history[max(k - 2, 0)])
        assert sensed.seen.q == pytest.approx(q, rel=1e-12, abs=1e-12)
        assert sensed.seen.motion.rates == pytest.approx(v, rel=1e-12, abs=1e-12)


def test_perfect_sensors_show_the_plant_as_it_is_in_arrays_of_their_own():
    sensed = Sensed()
    sensed.sensors = perfect_sensors()
    sensed.tick()
    q, v = sensed.history[-1]
    assert np.array_equal(sensed.seen.q, q)
    assert np.array_equal(sensed.seen.motion.rates, v)
    assert not np.shares_memory(sensed.seen.q, sensed.arrays.q)
    assert not np.shares_memory(sensed.seen.motion.rates, sensed.motion.rates)
    assert sensed.arrays.counts[SENSED] == 0


@pytest.mark.parametrize("floating", [True, False])
def test_torques_within_limits_with_noise(floating):
    """Noise has a constant and a relative part; its random channels follow those of all sensors."""
    sensed = Sensed(floating)
    model, arrays, nv = sensed.model, sensed.arrays, sensed.model.nv
    rng, span = np.random.default_rng(4), 0.25
    one = np.repeat(model.tree.dofs == 1, model.tree.dofs)
    driven = np.repeat(model.tree.kind != FLOATING, model.tree.dofs)  # a floating root has no actuator
    limit, noise, share = rng.uniform(1.0, 3.0, nv), rng.uniform(0.1, 0.3, nv), rng.uniform(0.1, 0.3, nv)
    beyond, clipped = np.zeros(nv), 0
    for tick in range(100, 140):
        asked = 2.0 * rng.normal(size=nv)
        arrays.counts[TICKS] = tick
        seed, strength = np.array([SEED]), np.zeros((0, 2, 6))
        late = np.zeros(1), np.full(len(limit), np.inf), np.zeros(len(limit), dtype=np.int64), np.zeros((2, 0))
        actuators = Actuators(limit, noise, share, seed, np.array([span]), strength, *late)
        apply_torques(model.tree, arrays, np.zeros(nv), actuators, asked.copy())
        beyond += span * (np.abs(asked) > limit)
        held = np.clip(asked, -limit, limit)
        drawn = np.array([normal(SEED, tick, 2 * nv + dof) for dof in range(nv)])
        given = held + (noise + share * np.abs(held)) * drawn
        clipped += (np.abs(given) > limit)[one].sum()
        assert arrays.torque[one] == pytest.approx(np.clip(given, -limit, limit)[one], rel=1e-13)
        assert np.array_equal(arrays.torque[~one], (asked * driven)[~one])
        assert arrays.counts[TICKS] == tick + 1
    assert arrays.ledger.saturated[one] == pytest.approx(beyond[one], rel=1e-13)
    assert not arrays.ledger.saturated[~one].any()
    assert beyond[one].min() > 0.0
    assert clipped > 0


def test_ideal_actuators_give_what_is_asked_for():
    sensed = Sensed()
    asked = 1e6 * np.arange(1.0, 1.0 + sensed.model.nv)
    nv = sensed.model.nv
    apply_torques(sensed.model.tree, sensed.arrays, np.zeros(nv), ideal_actuators(nv, 0.25), asked.copy())
    assert not sensed.arrays.torque[:6].any()  # a floating root has no actuator
    assert np.array_equal(sensed.arrays.torque[6:], asked[6:])
    assert sensed.arrays.counts[TICKS] == 1
    assert not sensed.arrays.ledger.saturated.any()


def test_what_the_actuators_can_give_is_told_where_the_joints_are_and_not_where_they_are_seen():
    sensed = Sensed(delay=3)
    nv = sensed.model.nv
    strength = np.tile([np.inf, 0.0, 0.0, 0.0, 0.0, 0.0], (nv, 2, 1))
    joint = next(body.joint.name for body in sensed.model.bodies if body.joint.has_axis)
    dof, place = sensed.model.dof(joint), sensed.model.coordinate(joint)
    strength[dof, 0], strength[dof, 1] = (80.0, 0.5, 0.1, 0.0, 0.0, 0.0), (60.0, 0.5, 0.1, 0.0, 0.0, 0.0)
    sensed.actuators = sensed.actuators._replace(limit=np.full(nv, 70.0), strength=strength)
    for _ in range(5):
        sensed.tick()
        turn = 0.5 * (sensed.arrays.q[place] - 0.1)
        share = np.cos(turn) if abs(turn) < 0.5 * np.pi else 0.0
        assert sensed.seen.most[dof] == pytest.approx(min(80.0 * share, 70.0))
        assert sensed.seen.least[dof] == pytest.approx(-60.0 * share)
    others = [sensed.model.dof(b.joint.name) for b in sensed.model.bodies if b.joint.has_axis and b.joint.name != joint]
    np.testing.assert_array_equal(sensed.seen.most[others], 70.0)
    np.testing.assert_array_equal(sensed.seen.least[others], -70.0)
