"""Random trees of frames: all six primitives, constants in between, masses anywhere, branches."""

import numpy as np

from biped import mechanism
from biped.mechanism import Frame, kinematic

from .longhand import (
    KINDS,
    Affine,
    BodyWrench,
    Distance,
    JointForce,
    OriginWrench,
    Point,
    SpatialWrench,
    System,
    Tree,
    linear_spring,
    newtonian_gravity,
    torsional_spring,
)

GRAVITY = (0.3, -0.2, -9.81)


def make(kind: str, *arguments, **options) -> Frame:
    return getattr(mechanism, kind)(*arguments, **options)


def random_mass(rng: np.random.Generator, always: bool) -> tuple[float, ...] | None:
    """A body that could be (its moments are those of three numbers), or none."""
    if not always and rng.random() < 0.5:
        return None
    a, b, c = (float(one) for one in rng.uniform(0.05, 0.3, size=3))
    return (float(rng.uniform(0.5, 2.0)), b + c, a + c, a + b)


def random_frames(rng: np.random.Generator, n: int, prescribed: int = 0) -> list[Frame]:
    """n variables ``q0``, …, of which some are kinematic; frames ``a…`` are where they move, ``c…`` where they end.

    The first six are of the six kinds. About half of the frames have a constant before them and half a mass; the last
    of every branch has one, off the axes of its variables, so that the mass matrix is regular.
    """
    kinds = [str(kind) for kind in [*rng.permutation(KINDS), *rng.choice(KINDS, size=n)][:n]]
    parent = [-1, *(int(rng.integers(max(-1, i - 3), i)) for i in range(1, n))]
    driven = set(rng.choice(n, size=prescribed, replace=False))

    def constant(*children: Frame, kind: str | None = None, **options) -> Frame:
        kind = kind or str(rng.choice(KINDS))
        return make(kind, float(rng.uniform(0.3, 1.0) * rng.choice([-1, 1])), *children, **options)

    def grow(i: int) -> Frame:
        outboard = [grow(j) for j in range(n) if parent[j] == i]
        end = constant(*outboard, name=f"c{i}", mass=random_mass(rng, not outboard))
        arm = constant(end, kind=str(rng.choice(["tx", "ty", "tz"])), mass=random_mass(rng, False))
        arm = constant(arm, kind=str(rng.choice(["tx", "ty", "tz"])))
        name = kinematic(f"q{i}") if i in driven else f"q{i}"
        moving = make(kinds[i], name, arm, name=f"a{i}", mass=random_mass(rng, False))
        return moving if rng.random() < 0.5 else constant(moving, mass=random_mass(rng, False))

    return [grow(i) for i in range(n) if parent[i] < 0]


def regular_frames(rng: np.random.Generator, n: int, prescribed: int = 0) -> list[Frame]:
    """The same, drawn again while their mass matrix is nearly singular, as of two variables along one line."""
    while True:
        frames = random_frames(rng, n, prescribed)
        system = System(Tree(frames))
        system.tree.set(rng.uniform(-1.0, 1.0, n), np.zeros(n))
        if np.linalg.cond(system.L_vv()) < 1e4:
            return frames


def random_system(
    rng: np.random.Generator, n: int = 7, *, loops: int = 2, prescribed: int = 0
) -> tuple[System, np.ndarray]:
    """With gravity, springs, a Newtonian attraction, dampers, wrenches and constraints; and where they are met."""
    tree = Tree(regular_frames(rng, n, prescribed))
    ends = [tree.names[f"c{i}"] for i in range(n)]
    system = System(tree).with_gravity(GRAVITY)
    a, b, c, d = (int(one) for one in rng.choice(ends, size=4, replace=False))
    system.potentials += [
        linear_spring(a, b, 12.0, 0.4),
        linear_spring(c, -1, 5.0, 0.1),
        newtonian_gravity(b, d, 0.7),
        torsional_spring(int(rng.integers(n)), 3.0, 0.2),
    ]
    system.forces += [
        JointForce(0, torque=0.4, damping=0.3),
        JointForce(n - 1, damping=0.7),
        BodyWrench(a, rng.normal(size=6)),
        SpatialWrench(d, lambda t: np.sin(t + np.arange(6.0))),
        OriginWrench(c, rng.normal(size=6)),
    ]
    system.constraints += [
        Distance(a, c, 0.0),
        Point(b, d, rng.normal(size=3), axes=b),
        Affine({0: 0.7, n - 1: -1.0}),
        Point(d, -1, rng.normal(size=3)),
    ][:loops]
    q = rng.uniform(-0.8, 0.8, n)
    fit(system, q)
    return system, q


def fit(system: System, q: np.ndarray) -> None:
    """Lengths and offsets with which a configuration satisfies the constraints."""
    tree = system.tree
    tree.set(q, np.zeros(tree.n))
    for one in system.constraints:
        if isinstance(one, Distance):
            one.length = float(one.x(tree))
        else:
            one.offset += float(one.h(tree))


def tangent(system: System, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The part of a velocity that keeps the constraints."""
    system.tree.set(q, v)
    Dh = system.Dh()
    return v - np.linalg.pinv(Dh) @ (Dh @ v)
