"""Random trees of frames: all six primitives, constants in between, masses anywhere, branches."""

from dataclasses import replace

import numpy as np

from formulations import mechanism
from formulations import mechanism as mech

from .longhand import KINDS, System, Tree
from .twin import constraint_jacobian

GRAVITY = (0.3, -0.2, -9.81)


def make(kind: str, *arguments, **options) -> mech.Frame:
    return getattr(mechanism, kind)(*arguments, **options)


def random_mass(rng: np.random.Generator, always: bool) -> tuple[float, ...] | None:
    """A body that could be (its moments are those of three numbers), or none."""
    if not always and rng.random() < 0.5:
        return None
    a, b, c = (float(one) for one in rng.uniform(0.05, 0.3, size=3))
    return (float(rng.uniform(0.5, 2.0)), b + c, a + c, a + b)


def random_frames(rng: np.random.Generator, n: int, prescribed: int = 0) -> list[mech.Frame]:
    """n variables ``q0``, …, of which some are kinematic; frames ``a…`` are where they move, ``c…`` where they end.

    The first six are of the six kinds. About half of the frames have a constant before them and half a mass; the last
    of every branch has one, off the axes of its variables, so that the mass matrix is regular.
    """
    kinds = [str(kind) for kind in [*rng.permutation(KINDS), *rng.choice(KINDS, size=n)][:n]]
    parent = [-1, *(int(rng.integers(max(-1, i - 3), i)) for i in range(1, n))]
    driven = set(rng.choice(n, size=prescribed, replace=False))

    def constant(*children: mech.Frame, kind: str | None = None, **options) -> mech.Frame:
        kind = kind or str(rng.choice(KINDS))
        return make(kind, float(rng.uniform(0.3, 1.0) * rng.choice([-1, 1])), *children, **options)

    def grow(i: int) -> mech.Frame:
        outboard = [grow(j) for j in range(n) if parent[j] == i]
        end = constant(*outboard, name=f"c{i}", mass=random_mass(rng, not outboard))
        arm = constant(end, kind=str(rng.choice(["tx", "ty", "tz"])), mass=random_mass(rng, False))
        arm = constant(arm, kind=str(rng.choice(["tx", "ty", "tz"])))
        name = mech.kinematic(f"q{i}") if i in driven else f"q{i}"
        moving = make(kinds[i], name, arm, name=f"a{i}", mass=random_mass(rng, False))
        return moving if rng.random() < 0.5 else constant(moving, mass=random_mass(rng, False))

    return [grow(i) for i in range(n) if parent[i] < 0]


def regular_frames(rng: np.random.Generator, n: int, prescribed: int = 0) -> list[mech.Frame]:
    """The same, drawn again while their mass matrix is nearly singular, as of two variables along one line."""
    while True:
        frames = random_frames(rng, n, prescribed)
        system = System(Tree(frames))
        system.tree.set(rng.uniform(-1.0, 1.0, n), np.zeros(n))
        if np.linalg.cond(system.L_vv()) < 1e4:
            return frames


def random_mechanism(
    seed: int, n: int = 7, *, loops: int = 2, prescribed: int = 0
) -> tuple[mech.Mechanism, np.ndarray]:
    """With every kind of potential and force, and of ``loops`` constraints; and a configuration where these are met."""
    rng = np.random.default_rng(seed)
    frames = regular_frames(rng, n, prescribed)
    tree = Tree(frames)
    q = rng.uniform(-0.8, 0.8, n)
    tree.set(q, np.zeros(n))
    a, b, c, d = (f"c{i}" for i in rng.choice(n, size=4, replace=False))
    massive = [tree.frames[k].name for k in tree.massive if tree.frames[k].name]
    pairs = [(x, y) for x in massive for y in massive if x[1:] < y[1:]]  # on two bodies, and not in one place
    pairs = [(x, y) for x, y in pairs if np.linalg.norm(tree.p(tree.names[x]) - tree.p(tree.names[y])) > 0.3]
    one, other = pairs[int(rng.integers(len(pairs)))]
    mechanism = mech.Mechanism(
        f"random {seed}", frames, gravity=GRAVITY,
        potentials=[mech.LinearSpring(a, b, 12.0, 0.4), mech.LinearSpring(c, "world", 5.0),
            mech.NonlinearSpring(b, d, (3.0, -1.0, 2.0), 0.3), mech.CoordinateSpring(f"q{rng.integers(n)}", 3.0, 0.2),
            mech.CoordinateSpring(f"q{rng.integers(n)}", (1.0, 0.5), -0.1), mech.NewtonianGravity(one, other, 0.7),
            mech.Gravity(one, (0.5, 1.0, -2.0))],
        constraints=random_constraints(rng, tree, loops),
        forces=[mech.Damper("q0", 0.3), mech.Damper(f"q{n - 1}", 0.7), mech.Torque("q1", 0.4),
                mech.Torque("q0", np.sin), mech.BodyWrench(a, rng.normal(size=3).tolist(), [np.cos, 0.1, -0.2]),
                mech.SpatialWrench(d, [np.sin, 0.3, 0.0], rng.normal(size=3).tolist()),
                mech.HybridWrench(c, rng.normal(size=3).tolist(), rng.normal(size=3).tolist())],
    )  # fmt: skip
    return mechanism, q


def random_constraints(rng: np.random.Generator, tree: Tree, count: int) -> list[mech.Constraint]:
    """So many different ones that hold where the tree is now, and do not depend on each other there."""
    ends = [name for name in tree.names if name.startswith("c")]

    def apart(a: str, b: str) -> np.ndarray:
        return tree.p(tree.names[a]) - tree.p(tree.names[b])

    def across(vector: np.ndarray, axes: str) -> tuple[float, ...]:
        """A random direction at right angles to a vector of the world, in the axes of a frame."""
        return tuple(tree.g(tree.names[axes])[:3, :3].T @ np.cross(vector, rng.normal(size=3)))

    while True:
        a, b, c, d, e = (str(name) for name in rng.choice(ends, size=5, replace=False))
        i, j = (int(one) for one in rng.choice(tree.n, size=2, replace=False))
        first, second = tree.variables[i], tree.variables[j]
        found = [
            mech.Distance(a, b, float(np.linalg.norm(apart(a, b)))),
            mech.PointAlong(c, d, across(apart(c, d), "world")),
            mech.PointAlong(d, e, across(apart(d, e), a), axes=a),
            mech.PointOnPlane(b, across(apart(c, b), b), c),
            mech.Gear(first, second, -1.5, float(-1.5 * tree.q[i] - tree.q[j])),
            mech.PointOnLine("world", tuple(apart(a, "world")), a),
        ]
        chosen = [found[k] for k in rng.permutation(len(found))[:count]]
        Dh = constraint_jacobian(tree, chosen)[:, tree.dynamic]
        if not count or np.linalg.svd(Dh, compute_uv=False)[-1] > 0.05:
            return chosen


def tangent(system: System, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The part of a velocity that keeps the constraints, prescribed rates as they are."""
    system.tree.set(q, v)
    Dh, free, v = system.Dh(), system.tree.dynamic, v.copy()
    v[free] -= np.linalg.pinv(Dh[:, free]) @ (Dh @ v)
    return v


def tangent_rates(mechanism: mech.Mechanism, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return the rates nearest to v that keep the constraints, prescribed rates as they are."""
    Dh, free, v = mechanism.constraint_jacobian(q), mechanism.mechanics.prescribed == 0, v.copy()
    v[free] -= np.linalg.pinv(Dh[:, free]) @ (Dh @ v)
    return v


def conservative(seed: int, loops: int) -> tuple[mech.Mechanism, np.ndarray, np.ndarray]:
    found, q = random_mechanism(seed, loops=loops)
    mechanism = replace(found, forces=())
    return mechanism, q, tangent_rates(mechanism, q, np.random.default_rng(seed).normal(size=mechanism.size))
