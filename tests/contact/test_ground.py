"""The contact law on a floor that is turned and displaced anyhow, and which part of it a point stands on."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from biped.disturbances import Patch, Platform, compile_ground
from biped.kernels.state.simulation_state import new_simulation_state
from biped.model import rigid_box
from biped.signals import Signal
from contact import Floor
from contact.ground import (
    END,
    MIDDLE,
    START,
    begin_ground,
    floor_force,
    floor_force_derivative,
    force_in_floor,
    law_at,
    region_of,
    stored_at,
    to_floor,
    to_world,
)
from contact.modes import SLIDING, STICKING
from contact.point_law import stored_energy
from contact.regimes import point_force, point_force_derivative
from tests.differences import jacobian

pytestmark = pytest.mark.jit_off

H = 2e-3
FLOOR = Floor(k_n=6e4, b_n=40.0, k_t=3e4, b_t=15.0, mu_s=0.5, mu_d=0.4, stiction_velocity=2e-3)
ICE, MAT = FLOOR.with_(mu_s=0.05, mu_d=0.04), FLOOR.with_(k_n=3e4)
PATCHES = [Patch((1.0, 3.0), (-2.0, -1.0), ICE), Patch((2.0, 4.0), (-1.5, 5.0), MAT)]
CUBE = rigid_box(1.0, (1.0, 1.0, 1.0))


def turned_ground(rng):
    """A floor in a step through which it turns by radians; its frames as (origin, rotation)."""
    ground = compile_ground(FLOOR, CUBE, Platform(x=Signal.step(1.0)), PATCHES)
    frames = []
    for row in (START, MIDDLE, END):
        origin, R = rng.normal(size=3), Rotation.from_rotvec(rng.normal(size=3)).as_matrix()
        ground.frame[row, :3], ground.frame[row, 3:12] = origin, R.ravel()
        frames.append((origin, R))
    return ground, frames


@pytest.mark.parametrize("seed", range(5))
def test_forces_and_their_derivative_turn_with_the_floor(seed):
    """F = R_middle f((P_0 + P_1)/2, (P_1 − P_0)/h) with P_1 = R_endᵀ (x − o_end): by differences of x."""
    rng = np.random.default_rng(seed)
    ground, (_, (_, M), (o, Q)) = turned_ground(rng)
    arrays = new_simulation_state(CUBE.nq, CUBE.nv, CUBE.nc)
    for c, mode in enumerate((SLIDING, STICKING, SLIDING)):
        arrays.mode[c], arrays.anchor[c], ground.region[c] = mode, 0.1 * rng.normal(size=2), c
        law = (FLOOR, ICE, MAT)[c].parameters
        start = np.array([*rng.normal(size=2), -0.01])
        end = start + 1e-3 * rng.normal(size=3)
        anchor = tuple(arrays.anchor[c])

        def force(at, law=law, mode=mode, start=start, anchor=anchor):
            local = Q.T @ (at - o)
            return M @ point_force(law, mode, tuple(0.5 * (start + local)), tuple((local - start) / H), anchor)

        middle, velocity = tuple(0.5 * (start + end)), tuple((end - start) / H)
        at = o + Q @ end
        assert to_floor(ground, END, tuple(at)) == pytest.approx(end, abs=1e-14)
        ours = floor_force(ground, arrays, c, middle, velocity)
        assert ours == pytest.approx(force(at), rel=1e-9)
        assert np.linalg.norm(ours) > 100.0
        assert force_in_floor(ground, ours) == pytest.approx(M.T @ ours, rel=1e-12)
        derivative = np.reshape(floor_force_derivative(ground, arrays, c, middle, velocity, H), (3, 3))
        assert jacobian(force, at, 5e-8).departure(derivative, 1e-6, alike=True) <= 1.0
        D = np.reshape(point_force_derivative(law, mode, middle, velocity, anchor, H), (3, 3))
        assert np.abs(derivative - M @ D @ Q.T).max() < 1e-12 * np.abs(D).max()


@pytest.mark.parametrize(
    ("x", "y", "region"),
    [
        (0.0, 0.0, 0), (1.0, -2.0, 1), (1.0, -1.0, 1), (1.5, -1.2, 1), (1.999, -1.2, 1), (3.0, -2.0, 1),
        (0.999, -1.5, 0), (3.001, -1.75, 0), (1.5, -2.001, 0), (1.5, -0.999, 0),
        (2.0, -1.5, 2), (2.5, -1.25, 2), (2.5, -1.6, 1), (4.0, 5.0, 2), (4.001, 1.0, 0), (3.0, 5.001, 0),
    ],
)  # fmt: skip
def test_a_patch_reaches_to_its_edges_and_the_last_one_counts(x, y, region):
    ground = compile_ground(FLOOR, CUBE, None, PATCHES)
    assert region_of(ground, x, y) == region
    law = (FLOOR, ICE, MAT)[region].parameters
    at, anchor = (x, y, -1e-3), (x + 1e-4, y)
    assert stored_at(ground, region, STICKING, at, anchor) == stored_energy(law, STICKING, at, anchor)
    assert stored_at(ground, region, STICKING, at, anchor) > 0.0


def test_points_stand_where_the_floor_is_at_the_start_of_the_step():
    """It shifts along x by more than a patch is long; the points are relative to an origin."""
    times = np.array([0.0, 1.0, 2.0])
    platform = Platform(x=Signal.sampled(times, 3.0 * times))
    ground = compile_ground(FLOOR, CUBE, platform, PATCHES)
    contact = np.zeros((CUBE.nc, 3))
    contact[:4] = [(-1.0, 0.0, 0.0), (4.5, 0.0, 0.0), (3.5, -2.75, 0.0), (5.5, 0.0, 0.0)]
    begin_ground(ground, (0.0, 1.0, 0.0), contact, 1.0, 1.5)
    assert [ground.frame[row, 0] for row in (START, MIDDLE, END)] == pytest.approx([3.0, 3.75, 4.5])
    assert list(ground.region[:4]) == [0, 0, 0, 2]
    begin_ground(ground, (0.0, 1.0, 0.0), contact, 0.5, 1.0)
    assert list(ground.region[:4]) == [0, 2, 1, 2]
    assert [law_at(ground, c).normal.k_n for c in range(4)] == [FLOOR.k_n, MAT.k_n, ICE.k_n, MAT.k_n]


def test_a_floor_at_rest_has_the_axes_of_the_world():
    ground = compile_ground(FLOOR, CUBE)
    ground.frame[:] = np.nan  # not looked at
    point = (1.0, 2.0, 3.0)
    assert to_floor(ground, START, point) == force_in_floor(ground, point) == to_world(ground, point) == point
