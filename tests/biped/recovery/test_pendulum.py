"""The largest push of a pendulum that is held upright by a bounded torque, which is known in closed form."""

import math
from dataclasses import replace

import numpy as np
import pytest

from biped import Recursive, Scene, State, chain
from biped.recovery import AtRest, HeldTorques, Path, Settings, search
from tests.differences import derivative, jacobian

STRONGEST = 0.8  # [N·m]
EXACT = Recursive(tolerance=1e-13)
PERIOD, STEP, HORIZON = 0.01, 0.005, 1.2


class Pendulum:
    """A link on a hinge, upright, that has an angular momentum all at once: impulses here are [N·m·s]."""

    def __init__(self):
        self.model = chain(1).without_contacts()
        tree = self.model.tree
        self.weight = float(tree.mass[0]) * 9.81 * float(np.linalg.norm(tree.com_offset[0]))  # [N·m] on its side
        hanging = self.model.neutral()
        self.q = hanging + np.pi
        axis = tree.axis[0]
        arm = np.cross(axis, tree.com_offset[0])
        self.inertia = float(tree.mass[0] * (arm @ arm) + axis @ tree.inertia[0].reshape(3, 3) @ axis)
        self.high = np.array([STRONGEST])
        self.low = -self.high
        self.cost = AtRest(self.model, self.q, PERIOD, self.high, angle=0.01, momentum=0.01 * self.inertia, way=1e-3)
        self.state_weight, self.torque_weight = np.diag([100.0, 100.0]), np.eye(1)

    @property
    def limit(self):
        """[N·m·s] Against the full torque it comes to rest just where its weight is as strong."""
        angle = math.asin(STRONGEST / self.weight)
        work = STRONGEST * angle - self.weight * (1.0 - math.cos(angle))
        return math.sqrt(2.0 * self.inertia * work)

    def held(self, impulse):
        state = State.at(self.model, self.q, np.array([impulse / self.inertia]))
        return HeldTorques(Scene(self.model, state=state, step=STEP, integrator=EXACT), state, PERIOD)

    def judged(self, impulse, held, path):
        angle, rate = path.q[-1, 0] - self.q[0], path.p[-1, 0] / self.inertia
        fell = np.abs(path.q - self.q).max() > 0.5 * np.pi  # from below it might swing up again
        return "at rest" if abs(angle) < 0.02 and abs(rate) < 0.1 and not fell else None

    def path(self, impulse):
        held, count = self.held(impulse), round(HORIZON / PERIOD)
        still = Path(np.tile(self.q, (count + 1, 1)), np.zeros((count + 1, 1)), np.zeros((count + 1, 0)),
                     np.zeros((count, 1)))  # fmt: skip
        gains = np.tile([[3.0 * self.weight, 10.0]], (count, 1, 1))
        return held.follow(still, gains, limits=(np.full((count, 1), -STRONGEST), np.full((count, 1), STRONGEST)))


@pytest.fixture(scope="module")
def pendulum():
    return Pendulum()


def test_it_comes_within_a_percent_of_the_limit(pendulum):
    settings = Settings(iterations=8, budget=1)
    for factor, recovers in ((0.99, True), (1.01, False)):
        start = factor * pendulum.limit
        found = list(search(pendulum, start, pendulum.path(start), settings))
        assert (found[0].proof is not None) == recovers
        assert np.abs(found[0].path.u).max() <= STRONGEST


@pytest.mark.slow
def test_it_finds_the_limit(pendulum):
    limit = pendulum.limit
    first = 0.9 * limit
    settings = Settings(rise=0.1, tolerance=0.004, worth=1e6, cheap=1.0, iterations=8, budget=200)
    tried = list(search(pendulum, first, pendulum.path(first), settings))
    found = max(one.impulse for one in tried if one.proof)
    assert 0.99 * limit < found < limit
    assert any(one.proof is None for one in tried)
    best = next(one for one in tried if one.impulse == found)
    assert np.abs(best.path.u).max() <= STRONGEST
    np.testing.assert_array_equal(pendulum.held(found).follow(best.path).q, best.path.q)  # it is what is simulated


def test_the_limit_is_one(pendulum):
    for factor, comes_back in ((0.995, True), (1.005, False)):
        held = pendulum.held(factor * pendulum.limit)
        count = round(2.0 / PERIOD)
        empty = (np.zeros((count + 1, 1)), np.zeros((count + 1, 1)), np.zeros((count + 1, 0)))
        path = held.follow(Path(*empty, np.full((count, 1), -STRONGEST)))
        assert (np.max(path.q - pendulum.q) < 0.5 * np.pi) == comes_back


def test_derivatives_are_those_of_the_rollout(pendulum):
    held = pendulum.held(0.4 * pendulum.limit)
    path = pendulum.path(0.4 * pendulum.limit)
    A, B = held.linearize(path)

    def first_end(path):
        return np.array([path.q[1, 0], path.p[1, 0]])

    def from_elsewhere(change):
        state = held.start.copy()
        state.arrays.q[0] += change[0]
        state.arrays.momentum[0] += change[1]
        moved = HeldTorques(replace(held.scene, state=state), state, PERIOD)
        return first_end(moved.follow(Path(path.q[:2], path.p[:2], path.anchor[:2], path.u[:1])))

    def under_more(torque):
        change = np.zeros_like(path.u)
        change[0] = torque
        return first_end(held.follow(path, None, change))

    assert jacobian(from_elsewhere, np.zeros(2), 1e-3).departure(A[0], 1e-7) <= 1.0
    assert derivative(under_more, 1e-2, 1.0).departure(B[0][:, 0], 1e-6) <= 1.0
