"""The midpoint step in linear time, against differences of the discrete Lagrangian as it is defined."""

import numpy as np
import pytest

from biped.kernels.midpoint import equations
from biped.kernels.midpoint.elimination import eliminate_blocks, solve_blocks
from biped.kernels.tree.dynamics import kinetic_energy, new_tree_data, potential_energy, set_tree_data
from biped.kernels.tree.tree import Tree
from biped.model import random_tree
from tests.differences import jacobian

KINDS = ("revolute", "prismatic")
N = 7


class Step:
    def __init__(self, seed: int, alpha: float, h: float = 0.02, *, gravity: float = 9.81, rate: float = 3.0) -> None:
        rng = np.random.default_rng(seed)
        self.alpha, self.h = alpha, h
        tree = random_tree(rng, N, floating=False, kinds=KINDS, armature=0.3).tree
        mass, inertia = tree.mass.copy(), tree.inertia.copy()
        for i in (1, 3):
            if i in tree.parent:  # a body without a mass at the tip would have no equation
                mass[i], inertia[i] = 0.0, 0.0
        self.tree: Tree = tree._replace(mass=mass, inertia=inertia, gravity=np.array([0.3, -0.2, -1.0]) * gravity)
        self.q = rng.normal(size=N)
        self.moved = h * rate * rng.normal(size=N)
        self.p = rng.normal(size=N)
        self.free = np.zeros(N, dtype=np.int64)
        self.buffers = equations.new_midpoint_buffers(N, 0)

    def discrete_lagrangian(self, start: np.ndarray, moved: np.ndarray) -> float:
        """(19), where ``start`` is q_k and ``moved`` q_{k+1} − q_k."""
        data = new_tree_data(N, N, 0)
        set_tree_data(self.tree, start + self.alpha * moved, moved / self.h, data)
        energy = kinetic_energy(self.tree, data) - potential_energy(self.tree, data.poses, np.zeros(3))
        return float(self.h * energy)

    def residual(self, moved: np.ndarray) -> np.ndarray:
        buffers = self.buffers
        buffers.moved[:] = moved
        buffers.load[:] = self.p
        equations.place_middle(self.tree, self.q, self.alpha, self.h, buffers)
        equations.set_gravity_impulses(self.tree, buffers, (1.0 - self.alpha) * self.h)
        equations.set_midpoint_residual(self.tree, buffers, self.free)
        return buffers.residual.copy()

    def momentum(self, moved: np.ndarray) -> np.ndarray:
        self.residual(moved)
        equations.set_gravity_impulses(self.tree, self.buffers, self.alpha * self.h)
        result = np.full(N, np.nan)
        equations.set_midpoint_momentum(self.tree, self.h, self.buffers, np.zeros(N), result)
        return result

    def factored(self) -> equations.MidpointBuffers:
        self.residual(self.moved)
        equations.set_midpoint_blocks(self.tree, self.h, (1.0 - self.alpha) * self.h, self.buffers)
        singular = eliminate_blocks(self.tree, self.buffers, self.alpha, self.h, self.buffers.diagonal, self.free)
        assert singular == -1
        return self.buffers

    def solved(self, load: np.ndarray) -> np.ndarray:
        result = np.full(N, np.nan)
        solve_blocks(self.tree, self.buffers, self.alpha, load, result)
        return result

    def matrix(self) -> np.ndarray:
        return -jacobian(self.residual, self.moved, 1e-4 * self.h).value


@pytest.mark.parametrize("alpha", [0.0, 0.5, 0.8, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_residual_and_momentum_are_the_derivatives_of_the_discrete_lagrangian(seed: int, alpha: float) -> None:
    step = Step(seed, alpha)

    def by_start(change: np.ndarray) -> float:  # q_{k+1} stays
        return step.discrete_lagrangian(step.q + change, step.moved - change)

    def by_end(change: np.ndarray) -> float:
        return step.discrete_lagrangian(step.q, step.moved + change)

    first, second = jacobian(by_start, np.zeros(N), 3e-3), jacobian(by_end, np.zeros(N), 3e-3)
    assert first.departure(step.residual(step.moved) - step.p, 1e-9, alike=True) <= 1.0
    assert second.departure(step.momentum(step.moved), 1e-9, alike=True) <= 1.0


@pytest.mark.parametrize("alpha", [0.0, 0.5, 0.8, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_without_forces_the_elimination_solves_newtons_equations_exactly(seed: int, alpha: float) -> None:
    step = Step(seed, alpha, gravity=0.0)
    expected = step.matrix()
    step.factored()
    delta = np.random.default_rng(seed).normal(size=N)
    np.testing.assert_allclose(step.solved(expected @ delta), delta, rtol=0, atol=1e-9)


def test_what_gravity_leaves_out_of_newtons_matrix_is_of_third_order() -> None:
    """T is of order 1/h; what is missing is (1 − α)² h² (V × s) · δF."""
    missed = []
    steps = (0.04, 0.02, 0.01)
    for h in steps:
        step = Step(0, 0.5, h)
        expected = step.matrix()
        step.factored()
        columns = np.array([step.solved(column) for column in expected.T]).T
        missed.append(np.abs(columns - np.eye(N)).max())
    order = np.polyfit(np.log(steps), np.log(missed), 1)[0]
    assert order == pytest.approx(3.0, abs=0.15)
    assert missed[-1] < 1e-4


def test_prescribed_coordinates_stay_and_the_others_follow_exactly() -> None:
    step = Step(1, 0.5, gravity=0.0)
    expected = step.matrix()
    step.free[2] = step.free[5] = 1
    step.factored()
    kept = step.free == 0
    load = np.random.default_rng(0).normal(size=N)
    found = step.solved(load)
    assert np.all(found[~kept] == 0.0)
    np.testing.assert_allclose(expected[np.ix_(kept, kept)] @ found[kept], load[kept], rtol=0, atol=1e-8)


def test_a_coordinate_that_moves_no_mass_is_told() -> None:
    step = Step(2, 0.5)
    tip = N - 1
    for array in (step.tree.mass, step.tree.inertia, step.tree.armature):
        array[tip] = 0.0
    step.residual(step.moved)
    equations.set_midpoint_blocks(step.tree, step.h, 0.5 * step.h, step.buffers)
    assert eliminate_blocks(step.tree, step.buffers, 0.5, step.h, step.buffers.diagonal, step.free) == tip
