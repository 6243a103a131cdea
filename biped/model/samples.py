"""Models for tests and benchmarks: chains of any length and random trees with all kinds of joints."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from biped.model.body import Body
from biped.model.contact_point import ContactPoint
from biped.model.errors import ModelError
from biped.model.geometry import Matrix3, Vector3, matrix3, vector3
from biped.model.inertia import box_inertia, principal_inertia
from biped.model.joint import Joint, Kind, floating, helical, revolute
from biped.model.model import Model

_X: Vector3 = (1.0, 0.0, 0.0)
_Y: Vector3 = (0.0, 1.0, 0.0)


def chain(
    n: int, *, length: float = 0.3, mass: float = 1.0, thickness: float = 0.05, axes: Sequence[Vector3] = (_Y, _X)
) -> Model:
    """Return a chain of ``n`` equal rods, hinged end to end and hanging from the origin of the inertial frame.

    Args:
        n: number of links, ``link_1`` … on joints ``joint_1`` …
        length: [m] length of a link, from hinge to hinge.
        mass: [kg] mass of a link.
        thickness: [m] other two edges of a link, which is a solid box.
        axes: axes of the hinges from the top, repeated as often as needed; by default Y and X in turn.

    Raises:
        ModelError: a size or the mass is zero or negative, or ``n`` is below 1.
    """
    _check_count(n)
    inertia = box_inertia(mass, (thickness, thickness, length))
    bodies = [
        Body(
            name=f"link_{i}",
            mass=mass,
            inertia=inertia,
            com=(0.0, 0.0, -length / 2),
            joint=revolute(f"joint_{i}", axes[(i - 1) % len(axes)], (0.0, 0.0, -length if i > 1 else 0.0)),
            parent=f"link_{i - 1}" if i > 1 else None,
        )
        for i in range(1, n + 1)
    ]
    tip = ContactPoint("tip", f"link_{n}", (0.0, 0.0, -length))
    return Model(f"chain_{n}", tuple(bodies), (tip,))


def random_tree(
    rng: np.random.Generator,
    n: int,
    *,
    floating: bool = True,
    kinds: Sequence[Kind] = ("revolute", "prismatic", "spherical"),
    contacts: int = 0,
    armature: float = 0.0,
) -> Model:
    """Return a tree of ``n`` bodies with random shape, joints, masses (0.5 to 3 kg), inertias and contact points.

    Args:
        rng: source of all random numbers; equal states give equal models.
        n: number of bodies, ``body_0`` … on joints ``joint_0`` …
        floating: True if the root floats; otherwise its joint is one of ``kinds``.
        kinds: possible kinds of the other joints, chosen at random.
        contacts: number of contact points, ``contact_0`` …, on random bodies.
        armature: [kg m² or kg] largest armature of joints with one degree of freedom; each gets a random share of it.

    Raises:
        ModelError: ``n`` is below 1.
    """
    _check_count(n)
    bodies = [_random_body(rng, i, _random_joint(rng, i, floating, kinds)) for i in range(n)]
    if armature:
        bodies = [replace(body, joint=_with_rotor(rng, body.joint, armature)) for body in bodies]
    points = [
        ContactPoint(f"contact_{i}", f"body_{rng.integers(n)}", _random_vector(rng, 0.2)) for i in range(contacts)
    ]
    return Model(f"random_tree_{n}", tuple(bodies), tuple(points))


def _check_count(n: int) -> None:
    if n < 1:
        raise ModelError(f"n = {n}: a model needs at least one body, n ≥ 1")


def _random_joint(rng: np.random.Generator, i: int, floats: bool, kinds: Sequence[Kind]) -> Joint:
    name, position = f"joint_{i}", _random_vector(rng, 0.4)
    if i == 0 and floats:
        return floating(name, position)
    kind = kinds[int(rng.integers(len(kinds)))]
    if kind in ("revolute", "prismatic"):
        return Joint(name, kind, _random_vector(rng, 1.0), position)
    if kind == "helical":
        return helical(name, _random_vector(rng, 1.0), float(rng.uniform(-0.2, 0.2)), position)
    return Joint(name, kind, position=position)


def _with_rotor(rng: np.random.Generator, joint: Joint, most: float) -> Joint:
    return replace(joint, armature=most * float(rng.random())) if joint.has_axis else joint


def _random_body(rng: np.random.Generator, i: int, joint: Joint) -> Body:
    parent = f"body_{rng.integers(i)}" if i > 0 else None
    mass = float(rng.uniform(0.5, 3.0))
    moments = np.diag(np.array(box_inertia(mass, rng.uniform(0.1, 0.4, 3))))
    inertia = principal_inertia(moments, _random_rotation(rng))
    return Body(f"body_{i}", mass, inertia, _random_vector(rng, 0.2), joint, parent)


def _random_vector(rng: np.random.Generator, spread: float) -> Vector3:
    return vector3(spread * rng.standard_normal(3), "random vector")


def _random_rotation(rng: np.random.Generator) -> Matrix3:
    Q, R = np.linalg.qr(rng.standard_normal((3, 3)))
    Q = Q * np.sign(np.diag(R))
    return matrix3(Q * np.linalg.det(Q), "random rotation")
