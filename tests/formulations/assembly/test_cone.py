"""Friction in Coulomb's cone: closed forms, isotropy, and the limit of pyramids."""

import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from biped.kernels.solve.cone import answer, bounded, jordan, way_in_cone
from biped.model.geometry import quaternion_matrix
from formulations.assembly import Assembly, AssemblyError, BodyContact, RigidBody, block, floor_contacts
from formulations.assembly.examples import box
from formulations.assembly.joint import quaternion_product

from .random_assemblies import random_unit
from .test_contacts import G, forces, gaps, scenes_end_well, wild_scene
from .test_rolling import FRICTION, RADIUS, ball, thrown

MU = 0.3
#: [N·s·m] What tumbling boxes are asked for: smaller products are not always found with the cone.
PRODUCT = 1e-9
SIZE = (0.4, 0.3, 0.2)
#: [rad] between directions of every pyramid that has few of them.
HEADING = 0.4


def unit(angle):
    return np.array([math.cos(angle), math.sin(angle)])


def on_floor(*, directions=0, tilt=0.0, heading=HEADING, size=SIZE, mass=2.0):
    """Return a box on a floor with tilted gravity, towards ``heading``, and its start."""
    down = (*(math.sin(tilt) * unit(heading)), -math.cos(tilt))
    assembly = replace(box(size, mass, MU, directions=directions), gravity=tuple(G * np.array(down)))
    return assembly, assembly.place(poses={"box": ((0.0, 0.0, 0.5 * size[2]), (1.0, 0.0, 0.0, 0.0))})


def inside(rng):
    """Return a random point of the second-order cone, sometimes near its boundary."""
    direction = unit(rng.uniform(0.0, 2.0 * math.pi))
    return np.array([1.0, *(1.0 - 10.0 ** rng.uniform(-6, 0)) * direction]) * 10.0 ** rng.uniform(-3, 3)


def squared(x):
    return x[0] ** 2 - x[1] ** 2 - x[2] ** 2


@pytest.mark.parametrize("seed", range(20))
def test_the_way_to_the_cones_side_is_where_its_square_is_zero(seed):
    rng = np.random.default_rng(seed)
    x, change = inside(rng), 10.0 ** rng.uniform(-3, 3) * rng.normal(size=3)
    way = way_in_cone(tuple(x), tuple(change))
    until = 1e6 if math.isinf(way) else way
    for part in np.linspace(0.0, 0.999, 50):
        assert squared(x + part * until * change) > 0.0
    if math.isfinite(way):
        end = x + way * change
        assert abs(squared(end)) < 1e-9 * (np.abs(x).max() + np.abs(way * change).max()) ** 2
        assert end[0] > 0.0


def test_inside_the_cone_all_ways_are_allowed_into_it():
    assert math.isinf(way_in_cone((1.0, 0.5, 0.0), (1.0, 0.6, -0.7)))


@pytest.mark.parametrize("seed", range(20))
def test_the_elimination_is_that_of_the_products_derivative(seed):
    """δβ ∘ η + β ∘ δη = product, dense."""
    rng = np.random.default_rng(seed)
    beta, eta, product, (top, x, y) = inside(rng), inside(rng), rng.normal(size=3), rng.normal(size=3)
    psi, bx, by = answer(tuple(beta), tuple(eta), tuple(product), (top, x, y))
    found = np.array(jordan((top, bx, by), tuple(eta))) + np.array(jordan(tuple(beta), (psi, x, y)))
    size = np.abs([top, bx, by]).max() * np.abs(eta).max() + np.abs([psi, x, y]).max() * np.abs(beta).max()
    assert_allclose(found, product, atol=1e-14 * size)


def test_eigenvalues_are_bounded_along_their_own_axes():
    assert_allclose(bounded((2.0, 3.0, 4.0), 0.5, 4.0), (2.25, 0.6 * 1.75, 0.8 * 1.75), rtol=1e-15)
    assert_allclose(bounded((2.0, 0.3, 0.4), 0.5, 4.0), (2.0, 0.3, 0.4), rtol=1e-15)
    assert bounded((9.0, 0.0, 0.0), 0.5, 4.0) == (4.0, 0.0, 0.0)


@pytest.mark.parametrize("heading", [0.0, HEADING, 2.0])
def test_friction_is_mu_of_the_load_against_the_slip_in_any_direction(heading):
    assembly, start = on_floor()
    motion = assembly.simulate(
        0.3, 0.01, start.moving(np.array([*2.0 * unit(heading), *[0.0] * 4])), complementarity=1e-14
    )
    force = forces(assembly, motion)[:-1]
    across, load = force[:, :, 1:].sum(axis=1), force[:, :, 0].sum(axis=1)
    assert_allclose(load, 2.0 * G, rtol=1e-9)
    assert_allclose(across, -MU * load[:, np.newaxis] * unit(heading), atol=1e-9)


@pytest.mark.parametrize("share", [0.9, 0.999])
@pytest.mark.parametrize("heading", [0.0, HEADING, math.pi / 4])
def test_a_block_sticks_below_the_angle_of_friction(share, heading):
    assembly, start = on_floor(tilt=math.atan(share * MU), heading=heading)
    motion = assembly.simulate(1.0, 0.01, start, complementarity=1e-16)
    assert np.linalg.norm(motion.position("box")[-1] - motion.position("box")[0]) < 1e-10


@pytest.mark.parametrize("share", [1.001, 1.5])
@pytest.mark.parametrize("heading", [0.0, HEADING, math.pi / 4])
def test_a_block_slides_above_it_as_coulomb_says(share, heading):
    """s = ½ g (sin α − μ cos α) t², which steps of second order have without error."""
    tilt = math.atan(share * MU)
    assembly, start = on_floor(tilt=tilt, heading=heading)
    motion = assembly.simulate(1.0, 0.01, start, complementarity=1e-16)
    way = motion.position("box")[-1] - motion.position("box")[0]
    expected = 0.5 * G * (math.sin(tilt) - MU * math.cos(tilt))
    assert_allclose(way, (*expected * unit(heading), 0.0), atol=1e-8)


def tumbling(angle, directions):
    """Return a run of a box thrown on the floor, everything rotated about the vertical."""
    rng = np.random.default_rng(3)
    assembly = box((0.5, 0.5, 0.5), 1.0, MU, directions=directions)
    turn = np.array([math.cos(0.5 * angle), 0.0, 0.0, math.sin(0.5 * angle)])
    around = quaternion_matrix(turn)
    pose = quaternion_product(turn, np.array(random_unit(rng, 4)))
    velocity, spin = around @ (1.0, 2.0, -1.0), around @ (2.0, -1.0, 3.0)
    start = assembly.place(poses={"box": ((0.0, 0.0, 0.6), pose)}).moving(np.concatenate([velocity, spin]))
    motion = assembly.simulate(0.25, 0.005, start, complementarity=PRODUCT, tolerance=PRODUCT)
    assert gaps(assembly, motion).min() < 1e-9
    return assembly, motion, motion.position("box") @ around


def test_a_scene_turned_about_the_vertical_moves_turned():
    for directions, least, most in ((0, 0.0, 1e-9), (8, 1e-4, math.inf)):
        _, _, one = tumbling(0.0, directions)
        _, _, other = tumbling(0.3, directions)
        assert least <= np.abs(one - other).max() <= most


def ways(assembly, motion):
    """Return the points' displacements (steps, contacts, 3) [m] along normal and tangents."""
    points = np.array([contact.point for contact in assembly.contacts])
    turns = np.array([quaternion_matrix(q) for q in motion.orientation("box")])
    at = motion.position("box")[:, np.newaxis] + np.einsum("tab,cb->tca", turns, points)
    return np.diff(at, axis=0)[:, :, [2, 0, 1]]


def test_each_step_of_a_tumbling_box_dissipates_the_most():
    """Signorini's conditions, the cone, and maximum dissipation hold at each step."""
    assembly, motion, _ = tumbling(0.7, 0)
    impulse, way = forces(assembly, motion)[:-1] * 0.005, ways(assembly, motion)[:, :, 1:]
    impulse[0] *= 0.5  # the first step has its share of time
    normal, across = impulse[:, :, 0], impulse[:, :, 1:]
    assert normal.min() >= 0.0
    assert (normal * gaps(assembly, motion)[1:]).max() <= PRODUCT * (1.0 + 1e-6)
    assert (np.linalg.norm(across, axis=2) <= MU * normal * (1.0 + 1e-12) + PRODUCT).all()
    left = MU * normal * np.linalg.norm(way, axis=2) + np.sum(across * way, axis=2)
    assert left.min() > -1e-12
    assert left.max() <= PRODUCT * (1.0 + 1e-6)
    sliding = (np.linalg.norm(way, axis=2) > 1e-3) & (normal > 1e-3)
    assert sliding.any()
    assert motion.frame["complementarity"].max() <= PRODUCT
    assert motion.frame["equations"].max() <= PRODUCT


def test_pyramids_go_over_into_the_cone_as_one_over_the_square_of_their_directions():
    """Halfway between two of f directions a box slides 1/cos(π/f) times as far; with the cone v²/2 μ g."""

    def stopped(directions, heading):
        assembly, start = on_floor(directions=directions)
        start = start.moving(np.array([*unit(heading), *[0.0] * 4]))
        motion = assembly.simulate(0.5, 0.001, start, record_every=100, complementarity=1e-14)
        return float(np.linalg.norm(motion.position("box")[-1, :2]))

    exact = stopped(0, HEADING)
    assert_allclose(exact, 1.0 / (2.0 * MU * G), atol=1e-6)
    counts = np.array([8, 16, 32])
    off = np.array([stopped(count, math.pi / count) for count in counts]) - exact
    assert_allclose(off / exact, 1.0 / np.cos(math.pi / counts) - 1.0, rtol=2e-3)
    order = np.polyfit(np.log(counts), np.log(off), 1)[0]
    assert order == pytest.approx(-2.0, abs=0.05)


def test_a_ball_slips_along_a_parabola_and_then_rolls():
    """The slip velocity keeps its direction and vanishes at 2 u₀/(7 μ g)."""
    velocity, turning, step = np.array([2.0, 0.5]), np.array([3.0, 12.0, 0.0]), 0.001
    motion = thrown(ball(directions=0), (*velocity, 0.0), turning, step)
    slip = velocity - RADIUS * np.array([turning[1], -turning[0]])
    speed = float(np.linalg.norm(slip))
    slipping = motion.time[motion.time < 2.0 * speed / (7.0 * FRICTION * G) - step]
    expected = velocity - FRICTION * G * slipping[:, np.newaxis] * slip / speed
    assert_allclose(motion.velocity("ball")[: len(slipping), :2], expected, atol=1e-7)
    assert_allclose(motion.velocity("ball")[-1, :2], velocity - 2.0 / 7.0 * slip, atol=1e-9)


def test_bodies_rub_on_one_another_with_the_cone():
    """A crate slides on a slab on ice: friction μ N opposes the slip, and momentum is conserved."""
    slab = RigidBody("slab", 5.0, ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)), block((4.0, 4.0, 0.2)))
    crate = RigidBody("crate", 2.0, ((0.1, 0.0, 0.0), (0.0, 0.1, 0.0), (0.0, 0.0, 0.1)), block(SIZE))
    pair = BodyContact("top", "slab", "crate", friction=MU)
    assembly = Assembly("pair", (slab, crate), contacts=floor_contacts(slab, 0.0), directions=0, touching=(pair,))
    poses = {"slab": ((0.0, 0.0, 0.1), (1.0, 0.0, 0.0, 0.0)), "crate": ((0.0, 0.0, 0.3), (1.0, 0.0, 0.0, 0.0))}
    velocity = np.array([[0.0] * 6, [*2.0 * unit(HEADING), *[0.0] * 4]])
    motion = assembly.simulate(0.2, 0.01, assembly.place(poses=poses).moving(velocity))
    force = motion.frame[["top_force_x", "top_force_y"]].to_numpy()
    assert_allclose(force, np.tile(-MU * 2.0 * G * unit(HEADING), (len(force), 1)), atol=1e-6)
    momentum = 5.0 * motion.velocity("slab")[:, :2] + 2.0 * motion.velocity("crate")[:, :2]
    assert_allclose(momentum, np.tile(4.0 * unit(HEADING), (len(momentum), 1)), atol=1e-12)


def in_cone(seed):
    assembly, start = wild_scene(seed)
    return replace(assembly, directions=0), start


@pytest.mark.parametrize(("count", "least"), [(20, 16), pytest.param(1000, 850, marks=pytest.mark.slow)])
def test_loops_and_wild_masses_converge_or_end_in_a_typed_error(count, least):
    assert scenes_end_well(in_cone, range(count)) >= least


@pytest.mark.parametrize("directions", [-2, 2, True, 4.5, None, "cone"])
def test_directions_that_are_none_are_refused(directions):
    with pytest.raises(AssemblyError, match="or 0 for Coulomb's friction cone"):
        box(SIZE, 1.0, MU, directions=directions)
