"""Derivatives of a tree's Lagrangian, against differences of those of one order less, and of the Lagrangian itself."""

import itertools

import numpy as np
import pytest

from biped.kernels.midpoint.derivatives import (
    Triples,
    gather_beyond,
    list_lagrangian_third,
    new_beyond,
    new_triples,
    set_lagrangian_gradient,
    set_lagrangian_hessian,
)
from biped.kernels.midpoint.equations import new_midpoint_buffers, place_middle
from biped.kernels.tree.dynamics import kinetic_energy, new_tree_data, potential_energy, set_tree_data
from kernelcache import routine
from tests.differences import jacobian

from .test_equations import N, Step


@routine
def set_all(tree, x, buffers, beyond, results):
    gradient, hessian, third = results
    n = tree.parent.shape[0]
    for j in range(n):
        buffers.moved[j] = x[n + j]
    place_middle(tree, x[:n], 0.0, 1.0, buffers)
    gather_beyond(tree, buffers, beyond)
    set_lagrangian_gradient(tree, buffers, beyond, gradient)
    set_lagrangian_hessian(tree, buffers, beyond, hessian)
    list_lagrangian_third(tree, buffers, beyond, third)


def full(triples: Triples) -> np.ndarray:
    """(2n, 2n, 2n) of the list."""
    result = np.zeros((2 * N, 2 * N, 2 * N))
    for joints, values in zip(triples.joint[: triples.total[0]], triples.value, strict=False):
        for kinds in itertools.product(range(2), repeat=3):
            place = [N * kind + joint for kind, joint in zip(kinds, joints, strict=True)]
            for order in itertools.permutations(range(3)):
                result[tuple(place[k] for k in order)] += values[4 * kinds[0] + 2 * kinds[1] + kinds[2]]
    return result


class Lagrangian:
    def __init__(self, seed: int) -> None:
        self.tree = Step(seed, 0.5).tree
        self.x = np.random.default_rng(seed).normal(size=2 * N)

    def value(self, x: np.ndarray) -> float:
        data = new_tree_data(N, N, 0)
        set_tree_data(self.tree, x[:N], x[N:], data)
        return float(kinetic_energy(self.tree, data) - potential_energy(self.tree, data.poses, np.zeros(3)))

    def derivatives(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        gradient, hessian, third = np.full(2 * N, np.nan), np.zeros((2 * N, 2 * N)), new_triples(N * N * N)
        set_all(self.tree, x, new_midpoint_buffers(N, 0), new_beyond(N), (gradient, hessian, third))
        return gradient, hessian, full(third)


@pytest.mark.parametrize("seed", range(4))
def test_each_order_is_the_derivative_of_the_one_before(seed: int) -> None:
    law = Lagrangian(seed)
    exact = law.derivatives(law.x)
    lower = [law.value, *(lambda x, k=k: law.derivatives(x)[k] for k in range(2))]
    for found, function in zip(exact, lower, strict=True):
        assert jacobian(function, law.x, 3e-3).departure(found, 1e-10, alike=True) <= 1.0


def test_joints_on_different_branches_do_not_couple_and_rates_enter_twice_at_most() -> None:
    law = Lagrangian(0)
    _, hessian, third = law.derivatives(law.x)
    above = [{i} for i in range(N)]
    for i in range(1, N):
        above[i] |= above[law.tree.parent[i]]
    apart = [(a, b) for a in range(N) for b in range(N) if a not in above[b] and b not in above[a]]
    assert apart
    for a, b in apart:
        assert hessian[a, b] == hessian[N + a, b] == 0.0
        assert not np.any(third[a, b])
    assert not np.any(third[N:, N:, N:])
