"""Conversion of a mechanism to a `Model` with the same tree.

Each configuration variable becomes a body with a revolute, prismatic or helical joint, which has the name and position
of the variable. A body has no mass if its variable moves no mass except through further variables. Constraints are left
out, so that loops are open.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from biped.model import Body, Model
from biped.model.geometry import matrix3, vector3
from biped.model.inertia import is_solid
from biped.model.joint import Joint
from biped.model.regularity import loose_bodies
from contact.arrays import Floats
from formulations.mechanism.compilation import Structure
from formulations.mechanism.component import Force
from formulations.mechanism.drawing import lines_of, visuals_of
from formulations.mechanism.forces import Damper
from formulations.mechanism.frames import tree_of

if TYPE_CHECKING:
    from formulations.mechanism.mechanism import Mechanism


def to_model(mechanism: Mechanism) -> Model:
    """Return a `Model` with the kinematic tree of a mechanism; the model's ``notes`` list what was left out.

    Each configuration variable becomes a body and a joint of the same name, position and rate, in the same order. A
    variable whose motion is prescribed becomes a joint that moves freely, with an armature of 1 kg m² (or 1 kg).

    Args:
        mechanism: mechanism to convert. Its dampers become joint damping; masses that cannot move are left out.

    Raises:
        ModelError: a configuration variable moves no mass and no constraint can hold it, or nothing has mass.
    """
    notes = _left_out(mechanism)
    bodies = _bodies(mechanism.structure, _damping(mechanism.forces), notes)
    return Model(
        mechanism.name,
        tuple(_with_rotor(body, mechanism.loose.get(body.name)) for body in bodies),
        gravity=(0.0, 0.0, 0.0) if mechanism.gravity is None else vector3(mechanism.gravity, "gravity"),
        facing=(-1.0, 0.0, 0.0),  # so that x points right in a side view
        notes=tuple(notes),
        visuals=visuals_of(mechanism),
        lines=lines_of(mechanism),
    )


def loose_variables(structure: Structure) -> dict[str, float]:
    """Return the variables that move no mass in any configuration, each with a typical inertia [kg or kg m²]."""
    bodies = _bodies(structure, {}, [])
    mass = math.fsum(body.mass for body in bodies)
    if mass == 0.0 or all(is_solid(body.inertia) for body in bodies):
        return {}
    reach = max(float(np.linalg.norm(body.joint.position)) for body in bodies) or 1.0
    return {
        body.name: mass if body.joint.kind == "prismatic" else mass * reach * reach for body in loose_bodies(bodies)
    }


def _with_rotor(body: Body, armature: float | None) -> Body:
    """Return the body, with an armature [kg or kg m²] at its joint unless ``armature`` is None."""
    return body if armature is None else replace(body, joint=replace(body.joint, armature=armature))


def _bodies(structure: Structure, damping: Mapping[str, float], notes: list[str]) -> list[Body]:
    """Return one body for each configuration variable, in their order."""
    bodies: list[Body] = []
    for row, mover in enumerate(structure.coordinates):
        above = structure.coordinates[mover.parent] if mover.parent >= 0 else None
        joint = Joint(
            mover.name,
            "helical" if mover.frame.pitch else "revolute" if mover.is_rotation else "prismatic",
            axis=vector3(mover.axis, "axis"),
            position=vector3(mover.origin - (0.0 if above is None else above.origin), "position"),
            damping=damping.get(mover.name, 0.0),
            armature=1.0 if mover.frame.is_kinematic else 0.0,
            pitch=mover.frame.pitch,
        )
        inertia = structure.tree.inertia[row].reshape(3, 3)
        tensor = matrix3(_possible(0.5 * (inertia + inertia.T), mover.name, notes), "inertia")
        com = vector3(structure.com[row] - mover.origin, "com")
        mass = float(structure.tree.mass[row])
        bodies.append(Body(mover.name, mass, tensor, com, joint, None if above is None else above.name))
    return bodies


def _possible(inertia: Floats, name: str, notes: list[str]) -> Floats:
    """Return the inertia, with the smaller principal moments raised if they violate the triangle inequality."""
    moments, axes = np.linalg.eigh(inertia)
    lack = moments[2] - moments[0] - moments[1]
    if lack <= 1e-9 * moments[2]:
        return inertia
    notes.append(
        f"body {name} has an impossible inertia, a moment above the sum of the other two: the smaller ones were raised"
    )
    moments[:2] += 0.5 * lack
    raised: Floats = (axes * moments) @ axes.T
    return 0.5 * (raised + raised.T)


def _damping(forces: Sequence[Force]) -> dict[str, float]:
    damping: dict[str, float] = defaultdict(float)
    for force in forces:
        if isinstance(force, Damper):
            damping[force.coordinate] += force.damping
    return damping


def _left_out(mechanism: Mechanism) -> list[str]:
    """Return a sentence for each kind of component that a model cannot represent."""
    frames = [node.frame for node in tree_of(mechanism.frames)]
    prescribed = [frame.coordinate for frame in frames if frame.is_kinematic]
    groups: list[tuple[Collection[object], str]] = [
        (mechanism.constraint_names, "constraints of the mechanism are left out, so that loops are open"),
        (mechanism.potentials, "potentials of the mechanism are left out"),
        ([f for f in mechanism.forces if not isinstance(f, Damper)], "forces of the mechanism are left out"),
        (mechanism.loose, "variables move no mass: an armature replaces the constraints that hold them"),
    ]
    notes = [f"{len(group)} {what}" for group, what in groups if group]
    if prescribed:
        names = ", ".join(map(str, prescribed))
        notes.append(f"joints with a prescribed motion are free in the model, with an armature of 1: {names}")
    return notes
