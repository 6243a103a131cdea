"""Bodies of an assembly, their contacts with planes, and their contacts with one another."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from biped.inputs.checks import above_zero, is_finite, zero_or_above
from biped.model.geometry import Matrix3, Vector3, matrix3, name_of, unit, vector3
from biped.model.inertia import checked_inertia
from formulations.assembly.errors import AssemblyError
from formulations.assembly.shapes import Shape

_ZERO: Vector3 = (0.0, 0.0, 0.0)
_UP: Vector3 = (0.0, 0.0, 1.0)


@dataclass(frozen=True)
class RigidBody:
    """Rigid body whose coordinates are the position of its centre of mass and its orientation.

    Attributes:
        name: name, unique among the bodies of an assembly.
        mass: [kg] mass, above zero.
        inertia: (3, 3) [kg m²] inertia about the centre of mass, in body axes; its eigenvalues are above zero.
        shape: shape for contacts between bodies; None: the body touches no other body.

    Raises:
        InputError: the mass is not above zero.
        ModelError: the inertia is impossible for a solid body.
    """

    name: str
    mass: float
    inertia: Matrix3
    shape: Shape | None = None

    def __post_init__(self) -> None:
        name_of(self.name, "a body")
        above_zero(self.mass, f"mass of body {self.name!r}")
        object.__setattr__(self, "mass", float(self.mass))
        tensor = checked_inertia(self.inertia, f"body {self.name!r}: inertia", solid=True)
        object.__setattr__(self, "inertia", tensor)


def cast(name: str, points: ArrayLike, density: float) -> tuple[RigidBody, Vector3]:
    """Return a solid body that fills the convex hull of ``points``, and its centre of mass (3,) [m] in their axes.

    Args:
        name: name of the body.
        points: (k, 3) [m] corners of the hull.
        density: [kg/m³] uniform density.

    Raises:
        AssemblyError: the points do not span a volume, or a point is not a corner.
        InputError: the density is not above zero.
    """
    above_zero(density, f"density of body {name!r}")
    shape = Shape(tuple(map(tuple, np.asarray(points, dtype=np.float64).tolist())))
    if not len(shape.triangles):
        raise AssemblyError(f"body {name!r} has {len(shape.points)} points; a solid body needs at least four")
    corners = shape.array[shape.triangles] - shape.array.mean(axis=0)  # tetrahedra from there
    volumes = np.linalg.det(corners) / 6.0
    sums = corners.sum(axis=1)
    center = volumes @ sums / (4.0 * volumes.sum())
    second = np.einsum("t,tki,tkj->ij", volumes, corners, corners) + np.einsum("t,ti,tj->ij", volumes, sums, sums)
    spread = density * (second / 20.0 - volumes.sum() * np.outer(center, center))
    inertia = np.trace(spread) * np.eye(3) - spread
    x, y, z = (center + shape.array.mean(axis=0)).tolist()
    hull = Shape(tuple(map(tuple, (shape.array - (x, y, z)).tolist())))
    return RigidBody(name, density * float(volumes.sum()), matrix3(inertia, f"inertia of {name!r}"), hull), (x, y, z)


@dataclass(frozen=True)
class PointContact:
    """Contact of a point of a body, or of a ball about that point, with a fixed plane.

    Attributes:
        name: name, unique among the contacts of an assembly.
        body: name of the body.
        point: (3,) [m] point, or centre of the ball, from the body's centre of mass, in body axes.
        friction: Coulomb's coefficient of friction; 0: no friction.
        normal: (3,) normal of the plane towards the body, in world axes; its length does not matter.
        height: [m] position of the plane along its normal, from the world's origin.
        radius: [m] radius of the ball, which can roll; 0: a point.

    Raises:
        InputError: the friction or the radius is negative or not finite, or the height is not finite.
        ModelError: the normal is zero, or a vector is not finite.
    """

    name: str
    body: str
    point: Vector3 = _ZERO
    friction: float = 0.8
    normal: Vector3 = _UP
    height: float = 0.0
    radius: float = 0.0

    def __post_init__(self) -> None:
        what = f"contact {self.name!r}:"
        name_of(self.name, "a contact")
        name_of(self.body, f"{what} the body")
        zero_or_above(self.friction, f"{what} friction")
        zero_or_above(self.radius, f"{what} radius")
        if not is_finite(self.height):
            raise AssemblyError(f"{what} height = {self.height!r}: it must be a finite number of metres")
        object.__setattr__(self, "point", vector3(self.point, f"{what} point"))
        object.__setattr__(self, "normal", unit(self.normal, f"{what} normal"))


def floor_contacts(
    body: RigidBody, friction: float = 0.8, normal: Vector3 = _UP, height: float = 0.0
) -> tuple[PointContact, ...]:
    """Return contacts, named ``BODY_1`` …, between a plane and all corners of a body's shape, balls of its radius.

    Args:
        body: a body with a shape.
        friction: Coulomb's coefficient of friction.
        normal: (3,) normal of the plane, towards the body.
        height: [m] position of the plane along its normal, from the world's origin.

    Raises:
        AssemblyError: the body has no shape.
    """
    if body.shape is None:
        raise AssemblyError(f"body {body.name!r} has no shape: give it one, such as sphere(0.1)")
    return tuple(
        PointContact(f"{body.name}_{k}", body.name, point, friction, normal, height, body.shape.radius)
        for k, point in enumerate(body.shape.points, 1)
    )


@dataclass(frozen=True)
class BodyContact:
    """Contact between two bodies with shapes, which may touch but not penetrate each other.

    Attributes:
        name: name, unique among all contacts of an assembly.
        first: name of the first body.
        second: name of the second body. The normal points towards this body, and recorded forces act on it.
        friction: Coulomb's coefficient of friction; 0: no friction.

    Raises:
        AssemblyError: ``first`` and ``second`` are the same body.
        InputError: the friction is negative or not finite.
    """

    name: str
    first: str
    second: str
    friction: float = 0.8

    def __post_init__(self) -> None:
        what = f"contact {self.name!r}:"
        name_of(self.name, "a contact")
        name_of(self.first, f"{what} the first body")
        name_of(self.second, f"{what} the second body")
        zero_or_above(self.friction, f"{what} friction")
        if self.first == self.second:
            raise AssemblyError(f"{what} body {self.first!r} cannot touch itself; give two different bodies")
