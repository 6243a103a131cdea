"""Random assemblies with all kinds of joints."""

import itertools
from dataclasses import replace

import numpy as np

from biped.model.geometry import quaternion_matrix
from formulations.assembly import Assembly, Joint, PointContact, RigidBody
from formulations.assembly.joint import quaternion_product
from formulations.assembly.placement import displaced

#: All twenty pairs of a translation and a turn.
PAIRS = tuple(itertools.product(("point", "line", "plane", "free"), ("fixed", "axis", "cardan", "homokinetic", "free")))


def random_unit(rng, size=3):
    value = rng.normal(size=size)
    return tuple(value / np.linalg.norm(value))


def random_body(rng, name):
    moments = rng.uniform(0.02, 0.03, 3)
    axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    inertia = (axes * moments) @ axes.T
    return RigidBody(name, rng.uniform(0.5, 2.0), tuple(map(tuple, 0.5 * (inertia + inertia.T))))


def random_joint(rng, name, inboard, outboard, translation, turn, pitch=0.0, freedoms=()):
    axis = random_unit(rng)
    second = None
    if turn == "cardan":
        second = np.cross(axis, random_unit(rng))
        second = tuple(second / np.linalg.norm(second))
    return Joint(
        name, inboard, outboard, translation, turn, axis, second, tuple(rng.normal(size=3) * 0.3),
        tuple(rng.normal(size=3) * 0.3), random_unit(rng, 4), pitch, freedoms,
    )  # fmt: skip


def pair_of_bodies(rng, translation, turn, pitch=0.0, **more):
    one = random_joint(rng, "joint", "a", "b", translation, turn, pitch, **more)
    return Assembly("pair", (random_body(rng, "a"), random_body(rng, "b")), (one,))


def random_coordinates(rng, one):
    return rng.uniform(-0.8, 0.8, len(one.free_rows))


def random_tree_assembly(rng, bodies, *, grounded=True, contacts=0, freedoms=()):
    """Return a random tree: each body on an earlier one by a joint of any kind that is not all free."""
    parts = [random_body(rng, f"body_{k}") for k in range(bodies)]
    joints = []
    for k in range(0 if grounded else 1, bodies):
        kind = PAIRS[rng.integers(len(PAIRS) - 5)]
        parent = None if k == 0 else f"body_{rng.integers(k)}"
        joints.append(random_joint(rng, f"joint_{k}", parent, f"body_{k}", *kind))
        joints[-1] = replace(joints[-1], freedoms=freedoms)
    points = tuple(
        PointContact(f"point_{c}", f"body_{rng.integers(bodies)}", tuple(rng.normal(size=3) * 0.2), 0.5)
        for c in range(contacts)
    )
    return Assembly("tree", tuple(parts), tuple(joints), points)


def random_placement(rng, assembly, *, moving=True):
    tree = assembly.structure.tree
    coordinates = {one.name: random_coordinates(rng, one) for one in assembly.joints}
    rates = {one.name: rng.normal(size=len(one.free_rows)) for one in assembly.joints} if moving else None
    roots = {
        assembly.body_names[i]: (rng.normal(size=3), random_unit(rng, 4))
        for i in range(len(assembly.bodies))
        if tree.carrier[i] < 0
    }
    return assembly.place(coordinates, roots, rates)


def anywhere(rng, assembly):
    return displaced(assembly.place(), rng.normal(size=(len(assembly.bodies), 6)) * 0.4)


def with_loops(rng, assembly, start, loops):
    """Return the assembly with ``loops`` more joints of any kind that fit its start and rates."""
    closing = tuple(closing_joint(rng, assembly, start, f"closing_{k}") for k in range(loops))
    closed = replace(assembly, joints=(*assembly.joints, *closing))
    return closed, closed.assemble(start)


def closing_joint(rng, assembly, start, name):
    a, b = (int(i) for i in rng.choice(len(assembly.bodies), 2, replace=False))
    point = start.position[[a, b]].mean(axis=0) + 0.2 * rng.normal(size=3)
    kind = PAIRS[rng.integers(len(PAIRS) - 5)]
    one = random_joint(rng, name, assembly.body_names[a], assembly.body_names[b], *kind)
    inboard, outboard = (tuple(quaternion_matrix(start.orientation[i]).T @ (point - start.position[i])) for i in (a, b))
    turn = quaternion_product(start.orientation[a] * (1.0, -1.0, -1.0, -1.0), start.orientation[b])
    return replace(one, inboard_point=inboard, outboard_point=outboard, alignment=tuple(turn / np.linalg.norm(turn)))


def of_wild_masses(rng, assembly):
    factors = 10.0 ** rng.uniform(-2.0, 2.0, len(assembly.bodies))
    bodies = tuple(
        replace(body, mass=factor * body.mass, inertia=tuple(map(tuple, factor * np.array(body.inertia))))
        for body, factor in zip(assembly.bodies, factors, strict=True)
    )
    return replace(assembly, bodies=bodies)
