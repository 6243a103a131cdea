"""User-defined potentials, constraints and inequalities against equivalent built-in ones.

Twins have the same equations, each solved to the tolerance of 1e-13: a step leaves an error of that size in a momentum,
and n steps of it one of n² h/m times as much in a place.
"""

import math
import pickle
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_allclose

from formulations import assembly as asm
from formulations import mechanism as mech
from formulations.mechanism import tz
from tests.refusals import refuses

from .test_springs import STILL, UPRIGHT, apart
from .test_wrenches import BALL, NO_WEIGHT, UNEVEN, is_trusted, momentum

PLACES = {"on_a": ("a", (0.1, 0.2, 0.0)), "on_b": ("b", (0.0, -0.1, 0.15)), "hook": (None, (0.0, 0.0, 1.0))}
TURNING = ((0.2, 0.0, 0.3, 1.0, -2.0, 0.5), (-0.4, 0.2, 0.0, 0.0, 3.0, 1.0))


@dataclass(frozen=True)
class Coil(mech.CustomPotential):
    """½ k (|b − a| − L)², without second derivatives."""

    a: mech.FrameName
    b: mech.FrameName
    stiffness: float
    rest: float

    @staticmethod
    def energy(z, c):
        length = math.sqrt((z[3] - z[0]) ** 2 + (z[4] - z[1]) ** 2 + (z[5] - z[2]) ** 2)
        return 0.5 * c[0] * (length - c[1]) ** 2

    @staticmethod
    def gradient(z, c, g):
        length = math.sqrt((z[3] - z[0]) ** 2 + (z[4] - z[1]) ** 2 + (z[5] - z[2]) ** 2)
        for k in range(3):
            g[3 + k] = c[0] * (length - c[1]) * (z[3 + k] - z[k]) / length
            g[k] = -g[3 + k]


@dataclass(frozen=True)
class Middle(mech.CustomPotential):
    """½ k |a + b − 2 c|²: of three bodies."""

    a: mech.FrameName
    b: mech.FrameName
    c: mech.FrameName
    stiffness: float

    @staticmethod
    def energy(z, c):
        total = 0.0
        for k in range(3):
            total += (z[k] + z[3 + k] - 2.0 * z[6 + k]) ** 2
        return 0.5 * c[0] * total

    @staticmethod
    def gradient(z, c, g):
        for k in range(3):
            g[k] = c[0] * (z[k] + z[3 + k] - 2.0 * z[6 + k])
            g[3 + k] = g[k]
            g[6 + k] = -2.0 * g[k]


@dataclass(frozen=True)
class Together(mech.CustomConstraint):
    """b − a = 0."""

    rows = 3
    a: mech.FrameName
    b: mech.FrameName

    @staticmethod
    def value(z, c, h):  # noqa: ARG004
        for k in range(3):
            h[k] = z[3 + k] - z[k]

    @staticmethod
    def jacobian(z, c, D):  # noqa: ARG004
        for k in range(3):
            D[k, k], D[k, 3 + k] = -1.0, 1.0


@dataclass(frozen=True)
class Above(asm.CustomInequality):
    a: mech.FrameName
    height: float

    @staticmethod
    def value(z, c, h):
        h[0] = z[2] - c[0]

    @staticmethod
    def jacobian(z, c, D):  # noqa: ARG004
        D[0, 2] = 1.0


@dataclass(frozen=True)
class Along(mech.CustomPotential):
    """Potential of a coordinate, which assemblies do not support."""

    q: mech.CoordinateName

    @staticmethod
    def energy(z, c):  # noqa: ARG004
        return z[0]

    @staticmethod
    def gradient(z, c, g):  # noqa: ARG004
        g[0] = 1.0


@dataclass(frozen=True)
class Drag(mech.CustomForce):
    a: mech.FrameName

    @staticmethod
    def force(z, rate, t, c, f):  # noqa: ARG004
        f[0] = -rate[0]


def bodies(*names, shape=None):
    return tuple(
        asm.RigidBody(name, 2.0 if name == "a" else 0.5, UNEVEN if name == "a" else BALL, shape) for name in names
    )


def poses(motion):
    return motion.frame[[f"{name}_{part}" for name in ("a", "b") for part in ("x", "y", "z", "qw", "qx", "qy", "qz")]]


def assert_twins(assemblies, start, duration, step):
    first, second = (one.simulate(duration, step, start, tolerance=1e-13) for one in assemblies)
    steps = len(first.time)
    assert_allclose(poses(first), poses(second), atol=steps**2 * step * 1e-13 / 0.02)  # 0.02: the least of m and J
    assert np.ptp(poses(first).to_numpy(), axis=0).max() > 0.05
    return first, second


@pytest.mark.parametrize("hooked", [False, True])
def test_a_potential_is_a_spring(hooked):
    a = (None, (0.0, 0.0, 1.0)) if hooked else PLACES["on_a"]
    spring = asm.Spring("coil", a[0], "b", 40.0, 0.3, inboard_point=a[1], outboard_point=PLACES["on_b"][1])
    own = Coil("hook" if hooked else "on_a", "on_b", 40.0, 0.3)
    pair = (
        asm.Assembly("built in", bodies("a", "b"), springs=(spring,)),
        asm.Assembly("own", bodies("a", "b"), components=(own,), points=PLACES),
    )
    first, second = assert_twins(pair, apart((0.1, 0.6, 0.2), TURNING), 0.5, 0.005)
    assert_allclose(first.frame["potential_energy"], second.frame["potential_energy"], atol=1e-8)
    assert np.ptp(first.frame["potential_energy"]) > 0.1
    assert is_trusted(second)


def test_a_potential_acts_where_bodies_touch():
    balls = bodies("a", "b", shape=asm.sphere(0.1))
    touching = (asm.BodyContact("touch", "a", "b", friction=0.0),)
    centres = {"on_a": ("a", (0.0, 0.0, 0.0)), "on_b": ("b", (0.0, 0.0, 0.0))}
    pair = (
        asm.Assembly("built in", balls, gravity=NO_WEIGHT, touching=touching,
            springs=(asm.Spring("s", "a", "b", 9.0),)),
        asm.Assembly("own", balls, gravity=NO_WEIGHT, touching=touching, components=(Coil("on_a", "on_b", 9.0, 0.0),),
            points=centres),
    )  # fmt: skip
    _, second = assert_twins(pair, apart((0.0, 0.0, 0.4)), 0.4, 0.005)
    assert second.frame["touch_gap"].min() < 1e-9
    assert second.frame["touch_normal"].max() > 1.0


def test_a_potential_of_three_bodies_keeps_their_momenta_and_its_energy():
    names = ("a", "b", "c")
    assembly = asm.Assembly(
        "three", bodies(*names), gravity=NO_WEIGHT, components=(Middle("pa", "pb", "pc", 12.0),),
        points={f"p{name}": (name, (0.1, 0.0, 0.05 * k)) for k, name in enumerate(names)},
    )  # fmt: skip
    placed = assembly.place(poses={"b": ((0.5, 0.0, 0.3), UPRIGHT), "c": ((0.1, 0.4, 0.0), UPRIGHT)})
    start = placed.moving(np.array([*TURNING, (0.1, 0.0, -0.2, 0.0, 1.0, 0.0)]))
    errors = []
    for step in (0.004, 0.002, 0.001):
        motion = assembly.simulate(0.4, step, start, tolerance=1e-13)
        energy = motion.frame["energy"].to_numpy()
        errors.append(np.abs(energy - energy[0]).max())
        assert_allclose(momentum(assembly, motion, -1), momentum(assembly, motion, 1), atol=len(energy) * 6.0 * 1e-13)
    assert abs(np.polyfit(np.log([4.0, 2.0, 1.0]), np.log(errors), 1)[0] - 2.0) < 0.15
    assert np.ptp(motion.frame["potential_energy"]) > 100.0 * errors[-1]


def test_a_constraint_is_a_joint():
    at = {
        "hook": (None, (0.0, 0.0, 0.2)),
        "top": ("a", (0.0, 0.0, 0.2)),
        "tip": ("a", (0.0, 0.1, -0.2)),
        "b": ("b", (0.0, 0.0, 0.3)),
    }
    joints = (
        asm.joint("spherical", "one", None, "a", inboard_point=at["hook"][1], outboard_point=at["top"][1]),
        asm.joint("spherical", "two", "a", "b", inboard_point=at["tip"][1], outboard_point=at["b"][1]),
    )
    built_in = asm.Assembly("built in", bodies("a", "b"), joints)
    own = asm.Assembly("own", bodies("a", "b"), components=(Together("hook", "top"), Together("tip", "b")), points=at)
    start = built_in.place(rates={"one": (1.0, 0.5, 2.0), "two": (0.0, 2.0, 0.0)})
    first, second = assert_twins((built_in, own), start, 0.5, 0.005)
    assert own.degrees_of_freedom(start) == 6
    assert own.openness(start)["Together_tip_b"] < 1e-15
    forces = [
        np.linalg.norm(motion.frame[[f"reaction_{name}_{k}" for k in (1, 2, 3)]], axis=1)
        for motion, name in ((first, "two"), (second, "Together_tip_b"))
    ]
    assert_allclose(*forces, atol=100 * 1e-13 / 0.005**2 * 0.5)  # of places that are off, made forces: m/h²
    assert second.frame["joint_openness"].max() <= 1e-13
    assert is_trusted(second)
    ajar = start.moving(start.velocity * 0.0)
    ajar.position[1] += 0.1
    assert own.openness(own.assemble(ajar))["Together_tip_b"] < 1e-12


def test_an_inequality_is_a_contact():
    """Without friction. Products of 1e-14 N·s·m over the impulse of a step (at least 0.05 N·s) are gaps."""
    at = {f"corner_{k}": ("a", (x, y, -0.1)) for k, (x, y) in enumerate(((0.2, 0.1), (-0.2, 0.1), (0.0, -0.2)))}
    contacts = tuple(asm.PointContact(name, "a", point, 0.0, height=-0.05) for name, (_, point) in at.items())
    built_in = asm.Assembly("built in", bodies("a", "b"), contacts=contacts)
    own = asm.Assembly("own", bodies("a", "b"), components=tuple(Above(name, -0.05) for name in at), points=at)
    start = built_in.place(poses={"a": ((0.0, 0.0, 0.15), UPRIGHT)}).moving(
        np.array([(0.3, 0.0, 0.0, 0.4, 0.2, 0.0), STILL[0]])
    )
    ends = [one.simulate(0.6, 0.005, start, tolerance=1e-12, complementarity=1e-14) for one in (built_in, own)]
    assert_allclose(ends[0].position("a"), ends[1].position("a"), atol=120 * 1e-14 / 0.05 * 120)
    gaps = ends[1].frame[[f"position_Above_corner_{k}" for k in range(3)]]
    assert_allclose(gaps, ends[0].frame[[f"corner_{k}_gap" for k in range(3)]], atol=120 * 1e-14 / 0.05 * 120)
    assert -1e-12 < gaps.min().min() < 1e-9
    assert is_trusted(ends[1])


def test_an_assembly_with_components_goes_through_a_pickle():
    assembly = asm.Assembly("own", bodies("a", "b"), components=(Coil("on_a", "on_b", 40.0, 0.3),), points=PLACES)
    start = apart((0.1, 0.6, 0.2), TURNING)
    motion = assembly.simulate(0.1, 0.01, start)
    again = pickle.loads(pickle.dumps(assembly)).simulate(0.1, 0.01, start)
    assert np.array_equal(motion.frame.to_numpy(), again.frame.to_numpy())


@refuses(
    ((Coil("on_a", "nowhere", 1.0, 0.0),), "unknown point 'nowhere'"),
    ((Coil("hook", "world", 1.0, 0.0),), "must depend only on positions of points of bodies"),
    ((Along("q"),), "must depend only on positions of points of bodies"),
    ((Drag("on_a"),), "it must be a CustomPotential"),
    error=asm.AssemblyError,
)
def test_what_cannot_act_is_refused(components):
    asm.Assembly("own", bodies("a", "b"), components=components, points=PLACES)


def test_points_are_on_bodies_and_inequalities_hold_at_the_start():
    with pytest.raises(asm.AssemblyError, match="point 'p': unknown body 'z'"):
        asm.Assembly("own", bodies("a"), points={"p": ("z", (0.0, 0.0, 0.0))})
    low = asm.Assembly("own", bodies("a", "b"), components=(Above("on_a", 0.5),), points=PLACES)
    with pytest.raises(asm.AssemblyError, match=r"Above_on_a is -0\.5 at the start"):
        low.simulate(0.1, 0.01)
    own = asm.Assembly("own", bodies("a", "b"), components=(Coil("on_a", "on_b", 1.0, 0.0),), points=PLACES)
    with pytest.raises(asm.AssemblyError, match="unknown coordinate 'Coil_on_a_on_b'"):
        own.simulate(0.1, 0.01, forces={"Coil_on_a_on_b": 1.0})


def test_mechanisms_have_no_inequalities():
    with pytest.raises(mech.MechanismError, match="a Mechanism does not support inequalities"):
        mech.Mechanism("one", [tz("z", name="body", mass=1.0)], constraints=[Above("body", 0.0)])
