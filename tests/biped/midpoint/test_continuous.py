"""Accelerations in linear time, against the dynamics that ``biped.dynamics`` has for any model."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from biped import dynamics
from biped.kernels.midpoint.continuous import factor_mass, place_now, set_force_balance, solve_mass
from biped.kernels.midpoint.equations import new_midpoint_room, set_gravity_impulses
from biped.kernels.tree.dynamics import mass_matrix, new_tree_data
from biped.model import random_tree

N = 7


class Moving:
    """A random tree in violent motion under gravity and loads on its joints."""

    def __init__(self, seed: int, prescribed: tuple[int, ...] = ()) -> None:
        rng = np.random.default_rng(seed)
        self.model = random_tree(rng, N, floating=False, kinds=("revolute", "prismatic"), armature=0.3 * (seed % 2))
        self.tree = self.model.tree
        self.q, self.v, self.load = rng.normal(size=(3, N))
        self.prescribed = np.zeros(N, dtype=np.int64)
        self.prescribed[list(prescribed)] = 1
        self.given = np.where(self.prescribed, rng.normal(size=N), 0.0)
        self.room = new_midpoint_room(N, 0)

    def balance(self, acceleration: np.ndarray) -> np.ndarray:
        found, bodies = np.full(N, np.nan), np.full((N, 6), np.nan)
        self.room.load[:] = self.load
        place_now(self.tree, self.q, self.v, self.room)
        set_gravity_impulses(self.tree, self.room, 1.0)
        set_force_balance(self.tree, self.room, acceleration, bodies, found)
        return found

    def acceleration(self) -> np.ndarray:
        lacking, found = self.balance(self.given), np.full(N, np.nan)
        assert factor_mass(self.tree, self.room, self.prescribed) == -1
        solve_mass(self.tree, self.room, lacking, found)
        return self.given + found


@pytest.mark.parametrize("seed", range(4))
def test_accelerations_are_those_of_forward_dynamics(seed):
    moving = Moving(seed)
    expected = dynamics.forward_dynamics(moving.model, moving.q, moving.v, moving.load)
    assert_allclose(moving.acceleration(), expected, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("seed", range(4))
def test_prescribed_coordinates_accelerate_as_told_and_nothing_else_is_driven(seed):
    moving = Moving(seed, prescribed=(1, 4))
    acceleration = moving.acceleration()
    assert np.array_equal(acceleration[[1, 4]], moving.given[[1, 4]])
    left = moving.balance(acceleration)
    assert_allclose(left[moving.prescribed == 0], 0.0, atol=1e-11)
    driven = dynamics.inverse_dynamics(moving.model, moving.q, moving.v, acceleration)
    assert_allclose(left, moving.load - driven, rtol=1e-11, atol=1e-11)


def test_the_mass_matrix_is_solved_for_the_free_coordinates_alone():
    moving = Moving(2, prescribed=(0, 3))
    moving.acceleration()
    M, free, found = np.full((N, N), np.nan), moving.prescribed == 0, np.full(N, np.nan)
    mass_matrix(moving.tree, moving.q, new_tree_data(N, N, 0), M)
    solve_mass(moving.tree, moving.room, moving.load, found)
    assert_allclose(M[np.ix_(free, free)] @ found[free], moving.load[free], rtol=1e-11, atol=1e-11)
    assert not np.any(found[~free])


def test_where_nothing_has_inertia_the_joint_is_named():
    moving = Moving(1)
    mass, inertia, armature = moving.tree.mass.copy(), moving.tree.inertia.copy(), moving.tree.armature.copy()
    tip = N - 1
    mass[tip], inertia[tip], armature[tip] = 0.0, 0.0, 0.0
    moving.tree = moving.tree._replace(mass=mass, inertia=inertia, armature=armature)
    place_now(moving.tree, moving.q, moving.v, moving.room)
    assert factor_mass(moving.tree, moving.room, moving.prescribed) == tip
