"""Parameters of gradients: numbers of a scene, and the derivatives of the scene by them."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from biped.control.controller import Impedance
from biped.control.numbers import numbers_of, with_number
from biped.derivatives.gradients.slopes import slopes
from biped.derivatives.tape.law import Path, law_and_tree, leaves_of, rest_of
from biped.errors import InputError
from biped.kernels.loop.closed_loop import Passive
from biped.kernels.tree.dynamics import mass_matrix, new_tree_data
from biped.model import Body, Model
from biped.runs.state import State, fingerprint, of_other_masses
from biped.simulation.scene import Scene
from contact.arrays import Floats
from contact.errors import did_you_mean

#: Beginnings of the names of parameters.
_CONTROLLER, _FLOOR, _MODEL = "controller.", "floor.", "model."


@dataclass(frozen=True)
class Parameter:
    """A number that a scene depends on, with respect to which metrics are differentiated.

    Attributes:
        name: name of the parameter.
        value: value of the parameter in the scene.
        scene_at: function that returns the scene for a value. Controller, model, floor, pushes and initial state may
            depend on the value.
    """

    name: str
    value: float
    scene_at: Callable[[float], Scene]


def parameters_of(scene: Scene, names: Sequence[str]) -> tuple[Parameter, ...]:
    """Return parameters of a scene by name: ``controller.gains.kp_position[2]``, ``floor.mu_s``, ``model.trunk.mass``.

    Raises:
        InputError: a name is unknown; the message lists the known ones.
    """
    controller = {} if scene.controller is None else {_CONTROLLER + name: x for name, x in numbers_of(scene.controller)}
    floor = {_FLOOR + name: x for name, x in numbers_of(scene.floor)}
    model = {_MODEL + name: x for name, x in numbers_of_model(scene.model)}
    known = controller | floor | model
    for name in names:
        if name not in known:
            body = scene.model.bodies[0].name
            allowed = ", ".join((*controller, *floor)) + f", and properties of bodies such as {_MODEL}{body}.mass"
            raise InputError(f"unknown parameter {name!r}; {did_you_mean(name, list(known))}parameters are {allowed}")
    return tuple(Parameter(name, known[name], _changed(scene, name)) for name in names)


def _changed(scene: Scene, name: str) -> Callable[[float], Scene]:
    whose, _, rest = name.partition(".")
    if whose == "controller":
        return lambda value: replace(scene, controller=with_number(scene.controller, rest, value))
    if whose == "floor":
        return lambda value: replace(scene, floor=with_number(scene.floor, rest, value))
    return lambda value: scene_with(scene, rest, value)


@dataclass(frozen=True)
class Effect:
    """The derivatives of a scene's controller with respect to parameters, one row for each parameter.

    Attributes:
        paths: positions of the numbers that change in the compiled controller, or in the model that it assumes.
        law: (parameters, paths) derivatives of the numbers at ``paths``.
        impedance: (parameters, 3, nv) derivatives of stiffness, damping and rest angles of the joint impedance.
        position: (parameters, 3) derivatives of the set point's position.
        plant: True for each parameter that changes the simulated model, the floor, disturbances, or the start.
    """

    paths: tuple[Path, ...]
    law: Floats
    impedance: Floats
    position: Floats
    plant: tuple[bool, ...]


def effect_of(scene: Scene, parameters: Sequence[Parameter]) -> Effect:
    """Return the derivatives of a scene's controller with respect to parameters, for ``Differentiator``.

    Raises:
        InputError: a parameter changes something that has no derivative, or its effect is not smooth.
    """
    nv, numbers = scene.model.nv, [_Numbers(scene, item) for item in parameters]
    paths = [path for path, _ in _leaves(scene)[0]]
    rows = np.array([slopes(number, item.value, item.name) for number, item in zip(numbers, parameters, strict=True)])
    rows = rows.reshape(len(parameters), len(paths) + 3 * nv + 7)
    if rows[:, -4:].any():
        name = parameters[int(np.flatnonzero(rows[:, -4:].any(axis=1))[0])].name
        raise InputError(f"no gradient with respect to {name}: it rotates the set point, which is not supported")
    law, rest = rows[:, : len(paths)], rows[:, len(paths) : -7]
    used = np.flatnonzero(law.any(axis=0))
    return Effect(
        tuple(paths[k] for k in used),
        law[:, used],
        rest.reshape(len(parameters), 3, nv),
        rows[:, -7:-4],
        tuple(number.changes_plant for number in numbers),
    )


def _leaves(scene: Scene) -> tuple[list[tuple[Path, float]], Hashable]:
    """Return the numbers that a scene's torques depend on, and a key of all else that they depend on."""
    law = None if scene.controller is None else scene.controller.law(scene.model)
    if law is None or isinstance(law, Passive):
        return [], None
    return list(leaves_of(law_and_tree(law, scene.model.tree))), rest_of(law)


class _Numbers:
    """All numbers that may depend on a parameter, as one array; ``changes_plant`` is True if the plant changes."""

    def __init__(self, scene: Scene, parameter: Parameter) -> None:
        self._scene, self._parameter = scene, parameter
        leaves, self._rest = _leaves(scene)
        self._paths = [path for path, _ in leaves]
        self.changes_plant = False

    def __call__(self, value: float) -> Floats:
        other = self._parameter.scene_at(value)
        _check_same(self._scene, other, self._parameter.name)
        self.changes_plant |= _differ_in_plant(self._scene, other)
        leaves, rest = _leaves(other)
        if [path for path, _ in leaves] != self._paths or rest != self._rest:
            raise InputError("for this value, more than numbers change in the compiled controller")
        return np.concatenate([[number for _, number in leaves], _impedance(other), _set_point(other)])


def _check_same(scene: Scene, other: Scene, name: str) -> None:
    """Check that two scenes differ by numbers only."""
    differ = [
        member
        for member in ("duration", "step", "fall", "record_every", "integrator")
        if getattr(other, member) != getattr(scene, member)
    ]
    period = None if scene.controller is None else scene.controller.period
    if other.controller is None or other.controller.period != period:
        differ.append("controller's period")
    if differ:
        raise InputError(f"{name} changes the scene's {differ[0]}")


def _differ_in_plant(scene: Scene, other: Scene) -> bool:
    """Return True if two scenes differ in model, floor, disturbances or start."""
    if scene.floor != other.floor or tuple(scene.disturbances) != tuple(other.disturbances):
        return True
    if fingerprint(scene.model) != fingerprint(other.model) or scene.model.gravity != other.model.gravity:
        return True
    start, moved = scene.initial_state, other.initial_state
    return not (np.array_equal(start.q, moved.q) and np.array_equal(start.momentum, moved.momentum))


def _impedance(scene: Scene) -> Floats:
    controller, model = scene.controller, scene.model
    rows = np.zeros((3, model.nv))
    impedance = (None if controller is None else controller.impedance(model)) or Impedance()
    for row, values in zip(rows, (impedance.stiffness, impedance.damping, impedance.rest), strict=True):
        for joint, value in values.items():
            row[model.dof(joint)] = value
    return rows.ravel()


def _set_point(scene: Scene) -> Floats:
    point = scene.set_point
    return np.zeros(7) if point is None else np.concatenate([point.position, point.orientation])


# --- a model's numbers ---

_INERTIA = re.compile(r"inertia\[([0-2]),([0-2])\]")


def numbers_of_model(model: Model) -> Iterator[tuple[str, float]]:
    """Yield the finite numbers of a model: ``trunk.mass``, ``trunk.com[0]``, ``trunk.inertia[0,1]``, …."""
    for body in model.bodies:
        for name, value in numbers_of(body):
            if np.isfinite(value):
                yield f"{body.name}.{name}", value
        for i in range(3):
            for j in range(i, 3):
                yield f"{body.name}.inertia[{i},{j}]", float(body.inertia[i][j])


def scene_with(scene: Scene, name: str, value: float) -> Scene:
    """Return the scene with one number of its model changed.

    A given initial state keeps its positions, velocities and anchors.
    """
    whose, _, rest = name.partition(".")
    bodies = tuple(_changed_body(body, rest, value) if body.name == whose else body for body in scene.model.bodies)
    model = replace(scene.model, bodies=bodies)
    return replace(scene, model=model, state=None if scene.state is None else _carried(scene.state, model))


def _changed_body(body: Body, name: str, value: float) -> Body:
    match = _INERTIA.fullmatch(name)
    if match is None:
        changed: Body = with_number(body, name, value)
        return changed
    inertia: Any = np.array(body.inertia)
    i, j = int(match[1]), int(match[2])
    inertia[i, j] = inertia[j, i] = value
    return replace(body, inertia=inertia)


def _carried(state: State, model: Model) -> State:
    """Return a state with the same positions and velocities of all bodies for a model with other masses."""
    moved = state.copy()
    before = np.asarray(np.linalg.solve(_mass_matrix(state.model, state.q), state.momentum), dtype=np.float64)
    moved.q[:], after = of_other_masses(state.q, before, state.model, model)
    moved.momentum[:] = _mass_matrix(model, moved.q) @ after
    moved.model = model
    return moved


def _mass_matrix(model: Model, q: Floats) -> Floats:
    matrix = np.zeros((model.nv, model.nv))
    mass_matrix(model.tree, q, new_tree_data(model.n, model.nv, model.nc), matrix)
    return matrix
