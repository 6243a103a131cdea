"""The longhand twin of a mechanism, from what the mechanism was made of."""

from collections.abc import Sequence

import numpy as np

from formulations import mechanism as mech

from . import longhand
from .longhand import Function, System, Tree, spring


def twin_of(mechanism: mech.Mechanism, alpha: float = 0.5) -> System:
    tree = Tree(mechanism.frames)
    assert tuple(tree.variables) == mechanism.coordinates
    system = System(tree, alpha=alpha)
    if mechanism.gravity is not None:
        system.with_gravity(mechanism.gravity)
    system.potentials += [potential_of(tree, one) for one in mechanism.potentials]
    system.constraints += [row for one in mechanism.constraints for row in rows_of(tree, one)]
    system.forces += [force_of(tree, one) for one in mechanism.forces]
    return system


def constraint_jacobian(tree: Tree, constraints: Sequence[mech.Constraint]) -> np.ndarray:
    return System(tree, constraints=[row for one in constraints for row in rows_of(tree, one)]).Dh()


def potential_of(tree: Tree, one: mech.Potential) -> Function:
    names = tree.names
    match one:
        case mech.LinearSpring():
            return longhand.between(names[one.first], names[one.second], *spring(one.stiffness, one.length))
        case mech.NonlinearSpring():
            return longhand.between(names[one.first], names[one.second], *spring(one.coefficients, one.length))
        case mech.CoordinateSpring():
            return longhand.of_variable(tree.variables.index(one.coordinate), *spring(one.stiffness, one.rest))
        case mech.NewtonianGravity():
            a, b = names[one.first], names[one.second]
            return longhand.newtonian_gravity(a, b, one.constant * tree.mass(a) * tree.mass(b))
        case mech.Gravity():
            k = names[one.frame]
            return longhand.gravity(k, tree.mass(k), one.acceleration)
    raise TypeError(one)


def rows_of(tree: Tree, one: mech.Constraint) -> list[Function]:
    """One equation after the other; with the units of the mechanism's, where the paper has others."""
    match one:
        case mech.Distance():
            return [longhand.distance(tree.names[one.first], tree.names[one.second], one.length, 0.5 / one.length)]
        case mech.PointAlong():
            return [point(tree, one.first, one.second, one.direction, one.axes)]
        case mech.PointOnPlane():
            return [point(tree, one.point, one.plane, one.normal, one.plane)]
        case mech.PointOnLine():
            along = np.asarray(one.direction) / np.linalg.norm(one.direction)
            across = np.linalg.svd(along[None, :])[2][1:]
            return [point(tree, one.point, one.line, n, one.line) for n in across]
        case mech.Coincident():
            return [point(tree, one.first, one.second, np.eye(3)["xyz".index(x)]) for x in one.directions]
        case mech.Screw():
            return [affine(tree, {one.angle: one.pitch, one.shift: -1.0})]
        case mech.Gear():
            return [affine(tree, {one.first: one.ratio, one.second: -1.0}, one.offset)]
    raise TypeError(one)


def point(tree: Tree, first: str, second: str, direction, axes: str = "world") -> Function:
    n = np.asarray(direction) / np.linalg.norm(direction)
    return longhand.point(tree.names[first], tree.names[second], n, tree.names[axes])


def affine(tree: Tree, terms: dict[str, float], offset: float = 0.0) -> Function:
    return longhand.affine({tree.variables.index(name): c for name, c in terms.items()}, offset)


def force_of(tree: Tree, one: mech.Force):
    match one:
        case mech.Damper():
            return longhand.JointForce(tree.variables.index(one.coordinate), damping=one.damping)
        case mech.Torque():
            return longhand.JointForce(tree.variables.index(one.coordinate), torque=one.torque)
        case mech.BodyWrench() | mech.SpatialWrench() | mech.HybridWrench():
            axes = {mech.BodyWrench: "body", mech.SpatialWrench: "space", mech.HybridWrench: "hybrid"}[type(one)]
            parts = [*one.force, *one.moment]
            return longhand.Wrench(tree.names[one.frame], lambda t: [longhand.at(part, t) for part in parts], axes)
    raise TypeError(one)
