"""Drawings, plots and checks of runs of an assembly."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from biped.model.geometry import Vector3, quaternion_matrix, vector3
from biped.runs.march import constraint_check, drift_check, energy_check
from biped.runs.trust import Check
from biped.runs.world import Bodies, ContactMark, Hull, Plot, World
from contact.arrays import Floats
from formulations.assembly.compilation import frame_of
from formulations.mechanism.inputs import Input, sampled

if TYPE_CHECKING:
    from formulations.assembly.assembly import Assembly
    from formulations.assembly.body import RigidBody

#: Ratio of the drawn radius of a body without a shape to its greatest extent.
SLIM = 0.06
#: [m] Smallest drawn radius.
THIN = 1e-3


def world_of(assembly: Assembly, step: float) -> World:
    """Return the formulation's ``World`` for drawing and plotting runs of the assembly."""
    plots = tuple(plot for plot in _plots(assembly) if plot.columns)
    return World("an assembly", assembly.name, step, plots, _bodies(assembly))


# --- shapes ---


def _bodies(assembly: Assembly) -> Bodies:
    contacts = tuple(
        ContactMark(spot.name, spot.body, spot.point, _rows(frame_of(spot.normal))) for spot in assembly.contacts
    )
    floor = any(spot.normal == (0.0, 0.0, 1.0) and spot.height == 0.0 for spot in assembly.contacts)
    hulls = tuple(tuple(_hulls(assembly, body)) for body in assembly.bodies)
    masses = tuple(body.mass for body in assembly.bodies)
    return Bodies(assembly.name, assembly.body_names, masses, hulls, contacts, floor)


def _rows(frame: Floats) -> tuple[Vector3, ...]:
    return tuple(vector3(row, "frame") for row in np.reshape(frame, (3, 3)))


def _hulls(assembly: Assembly, body: RigidBody) -> Iterator[Hull]:
    """Yield the hulls that draw a body: its shape, or else rods between its centre of mass and its joints."""
    yield from (Hull((tip.point,), tip.radius) for tip in assembly.contacts if tip.body == body.name and tip.radius)
    if body.shape is not None:
        yield Hull(body.shape.points, body.shape.radius)
        return
    ends = [np.array(joint.inboard_point) for joint in assembly.joints if joint.inboard == body.name]
    ends += [np.array(joint.outboard_point) for joint in assembly.joints if joint.outboard == body.name]
    ends = [end for end in ends if np.linalg.norm(end) > 0.0]
    if not ends:
        yield Hull(((0.0, 0.0, 0.0),), _radius_of_gyration(body))
        return
    radius = max(THIN, SLIM * max(float(np.linalg.norm(end)) for end in ends))
    for end in ends:
        other = -end if len(ends) == 1 else np.zeros(3)
        yield Hull((vector3(other, "end"), vector3(end, "end")), radius)


def _radius_of_gyration(body: RigidBody) -> float:
    """Return the radius [m] of a ball with the body's mass and mean inertia."""
    return math.sqrt(2.5 * float(np.trace(np.array(body.inertia))) / 3.0 / body.mass)


def _plots(assembly: Assembly) -> Iterator[Plot]:
    for unit, what in (("rad", "angle"), ("m", "position")):
        names = [name for name, unit_of in assembly.coordinate_units.items() if unit_of == unit]
        yield Plot(f"{what.capitalize()}s of joints", unit, tuple(f"{what}_{name}" for name in names))
    yield Plot("Heights of bodies", "m", tuple(f"{name}_z" for name in assembly.body_names))
    yield Plot("Energy", "J", ("kinetic_energy", "potential_energy", "energy"))
    names = [*(contact.name for contact in assembly.contacts), *(contact.name for contact in assembly.touching)]
    yield Plot("Normal forces of contacts", "N", tuple(f"{name}_normal" for name in names))
    yield Plot("Joint opening", "m", ("joint_openness",) if assembly.joints else (), logarithmic=True)
    yield Plot("Newton iterations", "1", ("newton_iterations",))


# --- checks ---


def checks_of(
    assembly: Assembly, times: Floats, columns: Mapping[str, Floats], forces: Mapping[str, Input]
) -> list[Check]:
    """Return checks of energy, of joint opening, and, for bodies without contact to the ground, of momentum."""
    if not len(times):
        return []
    unexplained = _unexplained(assembly, times, columns, forces)
    checks = [energy_check(unexplained, columns["kinetic_energy"], columns["energy"])]
    if any(link.rigid_rows for link in assembly.links):
        checks.append(constraint_check(columns["joint_openness"]))
    if not assembly.contacts and not assembly.components and not any(joint.inboard is None for joint in assembly.links):
        checks += _momentum_checks(assembly, times, columns)
    return checks


def _unexplained(
    assembly: Assembly, times: Floats, columns: Mapping[str, Floats], forces: Mapping[str, Input]
) -> Floats:
    """Return the energy (rows,) [J] that no work explains; with dissipation, only increases count."""
    energy = columns["energy"].copy()
    units, middle = assembly.coordinate_units, 0.5 * (times[1:] + times[:-1])
    for name, force in forces.items():
        way = np.diff(columns[f"{'angle' if units[name] == 'rad' else 'position'}_{name}"])
        energy[1:] -= np.cumsum(sampled(force, middle, f"force along {name!r}") * way)
    energy -= columns.get("external_work", 0.0)
    takes = any(
        freedom.damping > 0.0 or math.isfinite(freedom.lower) or math.isfinite(freedom.upper)
        for joint in assembly.links
        for freedom in joint.freedoms
    )
    if takes or assembly.contacts or assembly.touching:
        return energy - np.minimum.accumulate(energy)
    return energy - energy[0]


def _momentum_checks(assembly: Assembly, times: Floats, columns: Mapping[str, Floats]) -> Iterator[Check]:
    """Yield checks that linear and angular momentum change only by gravity and external impulses."""

    def of(body: str, parts: str, before: str = "") -> Floats:
        return np.column_stack([columns[f"{body}_{before}{part}"] for part in parts])

    bodies, total = assembly.bodies, sum(body.mass for body in assembly.bodies)
    com = sum(body.mass * of(body.name, "xyz") for body in bodies) / total
    linear, angular = np.zeros((len(times), 3)), np.zeros((len(times), 3))
    for body in bodies:
        p = body.mass * of(body.name, "xyz", "v")
        R = np.array([quaternion_matrix(q) for q in of(body.name, "wxyz", "q")])
        turning = np.einsum("tji,tj->ti", R, of(body.name, "xyz", "w")) @ np.array(body.inertia)
        linear += p
        angular += np.cross(of(body.name, "xyz") - com, p) + np.einsum("tij,tj->ti", R, turning)
    if "external_work" in columns:
        linear -= of("external", "xyz", "impulse_")
        angular -= of("external", "xyz", "moment_")
    fallen = linear - total * np.outer(times - times[0], assembly.gravity)
    scale = math.sqrt(2.0 * total * float(columns["kinetic_energy"].max()))
    yield drift_check("linear momentum", fallen, "N*s", scale)
    reach = max(float(np.linalg.norm(of(body.name, "xyz") - com, axis=1).max()) for body in bodies)
    yield drift_check("angular momentum", angular, "N*m*s", scale * max(reach, _radius_of_gyration(bodies[0])))
