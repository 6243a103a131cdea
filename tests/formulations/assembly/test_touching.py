"""Contacts between bodies: closed forms, conservation, and structures that stand or fall."""

import math
from itertools import combinations, pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import linprog

from biped.model import box_inertia
from biped.model.geometry import quaternion_matrix
from formulations import assembly as asm
from formulations.assembly.examples import arch
from tests.refusals import refuses

from .random_assemblies import random_unit

G = 9.81
STEP = 0.01


def solid_sphere(name, mass, radius):
    moment = 0.4 * mass * radius * radius
    return asm.RigidBody(name, mass, tuple(map(tuple, moment * np.eye(3))), asm.sphere(radius))


def boxed(name, size, mass=1.0):
    return asm.RigidBody(name, mass, box_inertia(mass, size), asm.block(size))


def momenta(motion):
    """Return the total momenta (rows, 6) [N·s, N·m·s] about the origin."""
    total = np.zeros((len(motion.frame), 6))
    for body in motion.assembly.bodies:
        velocity = motion.velocity(body.name)
        linear = body.mass * velocity[:, :3]
        turns = np.array([quaternion_matrix(q) for q in motion.orientation(body.name)])
        spin = np.einsum("rij,jk,rlk,rl->ri", turns, np.array(body.inertia), turns, velocity[:, 3:])
        total += np.hstack([linear, np.cross(motion.position(body.name), linear) + spin])
    return total


def moved(motion):
    """Return the greatest distance [m] of a centre of mass from its start."""
    names = motion.assembly.body_names
    return max(float(np.abs(motion.position(name) - motion.position(name)[0]).max()) for name in names)


@pytest.mark.parametrize("friction", [0.0, 0.4])
def test_spheres_collide_with_momentum_conserved(friction):
    bodies = solid_sphere("one", 1.0, 0.1), solid_sphere("two", 2.0, 0.15)
    assembly = asm.Assembly(
        "two", bodies, touching=(asm.BodyContact("hit", "one", "two", friction),), gravity=(0.0, 0.0, 0.0)
    )
    start = assembly.place(poses={"two": ((0.5, 0.08, 0.03), (1.0, 0.0, 0.0, 0.0))})
    start = start.moving(np.array([[2.0, 0.0, 0.0, 3.0, 0.0, 5.0], [-1.0, 0.1, 0.0, 0.0, 0.0, 0.0]]))
    motion = assembly.simulate(0.5, STEP, start, tolerance=1e-14)
    total = momenta(motion)
    assert_allclose(total - total[0], 0.0, atol=1e-13)
    assert motion.frame["hit_normal"].max() > 10.0
    assert motion.frame["energy"].iloc[-1] < 0.6 * motion.frame["energy"].iloc[0]
    between = np.linalg.norm(motion.position("two") - motion.position("one"), axis=1) - 0.25
    assert_allclose(motion.frame["hit_gap"], between, atol=1e-14)
    assert between.min() > 0.0


def test_a_box_slides_on_a_slab_on_rails_as_coulomb_says():
    """Both come to one speed, after 2 v₀/(μ g (1 + m/M))/2, and the box has gone v₀ t/2 along the slab by then."""
    slab, friction, speed = boxed("slab", (4.0, 1.0, 0.2), 10.0), 0.3, 2.0
    assembly = asm.Assembly(
        "slab", (slab, boxed("box", (0.3, 0.2, 0.1), 2.0)),
        (asm.joint("prismatic", "rail", None, "slab", (1.0, 0.0, 0.0)),),
        touching=(asm.BodyContact("rub", "slab", "box", friction),),
    )  # fmt: skip
    start = assembly.place(poses={"box": ((-1.5, 0.0, 0.15), (1.0, 0.0, 0.0, 0.0))})
    velocity = np.zeros((2, 6))
    velocity[1, 0] = speed
    motion = assembly.simulate(1.0, 0.001, start.moving(velocity), record_every=5, complementarity=1e-14)
    last = speed / (friction * G * 1.2)
    until = motion.time < last - 0.001
    assert_allclose(motion.velocity("box")[until, 0], speed - friction * G * motion.time[until], atol=1e-6)
    assert_allclose(motion.frame["rub_force_x"][until][1:], -friction * 2.0 * G, rtol=1e-5)
    for name in ("box", "slab"):
        assert_allclose(motion.velocity(name)[-1, 0], speed / 6.0, atol=1e-9)
    way = motion.position("box")[-1, 0] + 1.5 - motion.position("slab")[-1, 0]
    assert_allclose(way, 0.5 * speed * last, atol=1e-6)


def test_a_capsule_rolls_on_a_box():
    """A capsule rolls on two points like a ball: v₀/(1 + J/m r²)."""
    roller = asm.RigidBody("roller", 1.0, ((0.02, 0.0, 0.0), (0.0, 0.02, 0.0), (0.0, 0.0, 0.005)),
                       asm.capsule((0.0, 0.0, -0.3), (0.0, 0.0, 0.3), 0.1))  # fmt: skip
    assembly = asm.Assembly(
        "roll", (boxed("slab", (4.0, 1.0, 0.2)), roller), (asm.joint("fixed", "hold", None, "slab"),),
        touching=(asm.BodyContact("rim", "slab", "roller", 0.5),),
    )  # fmt: skip
    half = math.sqrt(0.5)
    start = assembly.place(poses={"roller": ((-1.0, 0.0, 0.2), (half, half, 0.0, 0.0))})
    velocity = np.zeros((2, 6))
    velocity[1, 0] = 1.0
    motion = assembly.simulate(1.0, STEP, start.moving(velocity))
    assert_allclose(motion.velocity("roller")[-1], (2.0 / 3.0, 0.0, 0.0, 0.0, 20.0 / 3.0, 0.0), atol=1e-9)
    assert_allclose(motion.frame["rim_normal"].iloc[-1], G, rtol=1e-9)


def test_a_stack_of_five_boxes_stays():
    """In five seconds it moves less than 1e-9 m, and each layer carries the weight above."""
    names, size = [f"box_{k}" for k in range(1, 6)], (0.5, 0.4, 0.3)
    bodies = [boxed(name, size) for name in names]
    touching = [asm.BodyContact(f"{one}_{two}", one, two, 0.5) for one, two in pairwise(names)]
    assembly = asm.Assembly("stack", bodies, contacts=asm.floor_contacts(bodies[0], 0.5), touching=touching)
    turns = [(math.cos(0.05 * k), 0.0, 0.0, math.sin(0.05 * k)) for k in range(5)]
    start = assembly.place(poses={name: ((0.0, 0.0, (k + 0.5) * size[2]), turns[k]) for k, name in enumerate(names)})
    motion = assembly.simulate(5.0, STEP, start, record_every=10, complementarity=1e-14)
    assert moved(motion) < 1e-9
    last = motion.frame.iloc[-1]
    for k in range(1, 5):
        assert_allclose(last[f"box_{k}_box_{k + 1}_force_z"], (5 - k) * G, rtol=1e-8)
    assert assembly.fill_in == 0


def test_a_box_hangs_between_two_tilted_ones():
    """A wedge of 20° sides between walls that hold still: with friction and nearly without, they carry its weight."""
    slope = math.radians(20.0)
    wide, narrow = 0.2 + 0.2 * math.tan(slope), 0.2 - 0.2 * math.tan(slope)
    points = [(sign * x, y, z) for x, z in ((wide, 0.2), (narrow, -0.2)) for sign in (-1, 1) for y in (-0.1, 0.1)]
    wedge, center = asm.cast("wedge", points, 1000.0)
    walls = [boxed(name, (0.1, 0.4, 1.0), 5.0) for name in ("left", "right")]
    held = tuple(asm.joint("fixed", f"hold_{wall.name}", None, wall.name, inboard_point=place, alignment=turn)
                 for wall, (place, turn) in zip(walls, _walls(slope), strict=True))  # fmt: skip
    for friction in (0.5, 0.05):
        touching = tuple(asm.BodyContact(wall.name, wall.name, "wedge", friction) for wall in walls)
        assembly = asm.Assembly("wedge", (*walls, wedge), held, touching=touching)
        motion = assembly.simulate(1.0, STEP, assembly.place(poses={"wedge": (center, (1.0, 0.0, 0.0, 0.0))}))
        assert moved(motion) < 1e-7
        assert_allclose(motion.frame[["left_force_z", "right_force_z"]].iloc[-1].sum(), wedge.mass * G, rtol=1e-7)


def _walls(slope):
    """Return the walls' centres and rotations, with inner faces on the wedge's sides."""
    for sign in (-1.0, 1.0):
        out = np.array([sign * math.cos(slope), 0.0, -math.sin(slope)])
        place = np.array([sign * 0.2, 0.0, 0.0]) + 0.05 * out
        yield tuple(place), (math.cos(0.5 * slope), 0.0, sign * math.sin(0.5 * slope), 0.0)


def stands_by_statics(stones, thickness, friction=0.8):
    """Return whether compressive forces at the joints' corners can carry each stone (linear program).

    Planar limit analysis (Livesley 1978), independent of the simulation.
    """
    radii = 1.0 - 0.5 * thickness, 1.0 + 0.5 * thickness
    angles = math.pi * (1.0 - np.arange(stones + 1) / stones)
    weights = np.zeros((3 * stones, 4 * (stones + 1)))
    load = np.zeros(3 * stones)
    for k in range(stones):
        corners = np.array([(r * math.cos(a), r * math.sin(a)) for a, r in
                            ((angles[k], radii[0]), (angles[k], radii[1]), (angles[k + 1], radii[1]),
                             (angles[k + 1], radii[0]))])  # fmt: skip
        x, z = corners.T
        area = x * np.roll(z, -1) - np.roll(x, -1) * z
        center = np.array([((x + np.roll(x, -1)) * area).sum(), ((z + np.roll(z, -1)) * area).sum()]) / (
            3.0 * area.sum()
        )
        load[3 * k + 1] = abs(area.sum())
        for end, sign in ((k, 1.0), (k + 1, -1.0)):
            along = np.array([math.sin(angles[end]), -math.cos(angles[end])])  # into the stone that follows
            across = np.array([math.cos(angles[end]), math.sin(angles[end])])
            for i, r in enumerate(radii):
                arm = r * across - center
                for j, way in enumerate((along, across)):
                    force = sign * way
                    weights[3 * k : 3 * k + 3, 4 * end + 2 * i + j] = *force, arm[0] * force[1] - arm[1] * force[0]
    cones = np.zeros((4 * (stones + 1), 4 * (stones + 1)))
    for pair in range(2 * (stones + 1)):
        for row, sign in enumerate((1.0, -1.0)):
            cones[2 * pair + row, 2 * pair : 2 * pair + 2] = -friction, sign
    bounds = [(0.0, None), (None, None)] * (2 * (stones + 1))
    return linprog(np.zeros(weights.shape[1]), cones, np.zeros(len(cones)), weights, load, bounds).status == 0


def least_thickness(stones):
    thin, thick = 0.02, 0.2
    while thick - thin > 1e-4:
        middle = 0.5 * (thin + thick)
        thin, thick = (thin, middle) if stands_by_statics(stones, middle) else (middle, thick)
    return thick


@pytest.mark.parametrize("stones", [7, 11])
def test_an_arch_stands_and_falls_as_statics_say(stones):
    """An arch stands 2% thicker than the limit of a linear program, and falls 2% thinner."""
    least = least_thickness(stones)
    assert 0.05 < least < 0.1075
    assembly, start = arch(stones, 1.02 * least)
    assert moved(assembly.simulate(1.0, STEP, start, record_every=10)) < 1e-6
    assembly, start = arch(stones, 0.98 * least)
    assert moved(assembly.simulate(1.0, STEP, start, record_every=10)) > 0.01


def pile(seed, bodies=5):
    rng = np.random.default_rng(seed)
    parts, poses = [], {}
    for k in range(bodies):
        points = rng.normal(size=(12, 3))
        shape = (
            asm.block(tuple(rng.uniform(0.15, 0.4, 3))), asm.sphere(float(rng.uniform(0.08, 0.2))),
            asm.capsule((0.0, 0.0, -0.15), (0.0, 0.0, 0.15), 0.08),
            asm.Shape(tuple(map(tuple, 0.2 * points / np.linalg.norm(points, axis=1)[:, None]))),
        )[rng.integers(4)]  # fmt: skip
        parts.append(asm.RigidBody(f"b{k}", 1.0, box_inertia(1.0, (0.25, 0.25, 0.25)), shape))
        poses[f"b{k}"] = ((*rng.uniform(-0.17, 0.17, 2), 0.5 + 0.65 * k), random_unit(rng, 4))
    touching = tuple(
        asm.BodyContact(f"t{one.name}{two.name}", one.name, two.name, 0.5) for one, two in combinations(parts, 2)
    )
    floor = tuple(contact for part in parts for contact in asm.floor_contacts(part, 0.5))
    assembly = asm.Assembly(f"pile_{seed}", tuple(parts), (), floor, touching=touching)
    return assembly, assembly.place(poses=poses).moving(rng.normal(size=(bodies, 6)) * [0.5, 0.5, 0.5, 2.0, 2.0, 2.0])


def deepest(seeds, step):
    """Return the greatest penetration [m] in piles; separating the bodies adds little energy."""
    worst = []
    for seed in seeds:
        assembly, start = pile(seed)
        try:
            motion = assembly.simulate(1.5, step, start)
        except asm.AssemblyStepError as error:
            motion = error.run
        assert np.all(np.isfinite(motion.frame.to_numpy()))
        assert np.diff(motion.frame["energy"]).max() < 0.02 * motion.frame["energy"].iloc[0]
        gaps = motion.frame[[f"{pair.name}_gap" for pair in assembly.touching]].to_numpy()
        worst.append(max(0.0, -float(gaps.min())))
    return worst


def test_bodies_of_a_pile_stay_out_of_one_another():
    """Penetration stays within centimetres at 10 ms, with speeds up to 5 m/s and 20 rad/s."""
    assert max(deepest(range(3), STEP)) < 0.01


@pytest.mark.slow
def test_bodies_are_in_one_another_by_less_as_the_square_of_the_step():
    coarse, fine = (float(np.mean(deepest(range(10), step))) for step in (0.01, 0.0025))
    assert fine < coarse / 8.0


def test_bodies_on_joints_touch_others_and_the_graph_has_an_edge_for_each_pair():
    """A door swings against a post: its momentum about the hinge is transferred, and the door stops."""
    door, post = boxed("door", (1.0, 0.1, 0.5)), boxed("post", (0.1, 0.1, 0.5))
    hinge = asm.joint("revolute", "hinge", None, "door", (0.0, 0.0, 1.0), outboard_point=(-0.5, 0.0, 0.0))
    fixed = asm.joint("fixed", "hold", None, "post", inboard_point=(0.0, 0.9, 0.0))
    assembly = asm.Assembly(
        "door", (door, post), (hinge, fixed), touching=(asm.BodyContact("stop", "post", "door", 0.2),)
    )
    motion = assembly.simulate(1.5, STEP, assembly.place({"hinge": 0.0}, rates={"hinge": 2.0}))
    assert motion.frame["stop_gap"].min() > -1e-3
    assert_allclose(motion.velocity("door")[-1], 0.0, atol=5e-3)  # but for the normal's turn in the step that hits
    assert 1.3 < motion.frame["angle_hinge"].iloc[-1] < math.pi / 2.0


ONE, TWO = boxed("one", (1.0, 1.0, 1.0)), boxed("two", (1.0, 1.0, 1.0))
BARE = asm.RigidBody("bare", 1.0, box_inertia(1.0, (1.0, 1.0, 1.0)))
PAIR = asm.BodyContact("pair", "one", "two")


@refuses(
    (lambda: asm.BodyContact("self", "one", "one"), "cannot touch itself"),
    (lambda: asm.Assembly("a", (ONE, BARE), touching=(asm.BodyContact("pair", "one", "bare"),)), "has no shape"),
    (lambda: asm.floor_contacts(BARE), "no shape"),
    (lambda: asm.Assembly("a", (ONE, TWO), touching=(asm.BodyContact("pair", "one", "three"),)),
     "unknown body 'three'"),
    (lambda: asm.Assembly("a", (ONE, TWO), (asm.joint("spherical", "tie", "one", "two"),), touching=(PAIR,)),
     "joint 'tie' connects them"),
    (lambda: asm.Assembly("a", (ONE, TWO), touching=(PAIR, asm.BodyContact("again", "two", "one"))),
     "already have contact 'pair'"),
    (lambda: asm.Assembly("a", (ONE, TWO), (), asm.floor_contacts(ONE),
                          touching=(asm.BodyContact("one_1", "one", "two"),)),
     "two contacts have the name 'one_1'"),
    (lambda: asm.Assembly("a", (ONE, TWO), touching=(PAIR,)).simulate(0.1, STEP),
     "'one' and 'two' overlap by 1 m at the start"),
    error=asm.AssemblyError,
)  # fmt: skip
def test_what_cannot_touch_is_told(make):
    make()
