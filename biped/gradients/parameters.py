"""What gradients are taken by: numbers of a scene, and what they change of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from biped.control.controller import Impedance
from biped.control.numbers import numbers_of, with_number
from biped.errors import InputError
from biped.gradients.slopes import slopes
from biped.runs.state import fingerprint
from biped.simulation.scene import Scene
from biped.tape.law import Path, leaves_of
from contact.arrays import Floats

_PREFIX = "controller."


@dataclass(frozen=True)
class Parameter:
    """One number that a scene depends on.

    Attributes:
        name: it is called by.
        value: what it is.
        scene_at: the scene with another value of it. Only its controller may differ.
    """

    name: str
    value: float
    scene_at: Callable[[float], Scene]


def parameters_of(scene: Scene, names: Sequence[str]) -> tuple[Parameter, ...]:
    """The numbers of a scene's controller by these names, as ``controller.gains.kp_position[2]``.

    Raises:
        InputError: there is none of a name; the message lists them.
    """
    known = {} if scene.controller is None else dict(numbers_of(scene.controller))
    found = []
    for name in names:
        short = name.removeprefix(_PREFIX)
        if not name.startswith(_PREFIX) or short not in known:
            able = ", ".join(_PREFIX + other for other in known) or "none: the scene has no controller with numbers"
            raise InputError(f"no gradient by {name!r}; there is one by the controller's numbers: {able}")
        found.append(Parameter(name, known[short], _changed(scene, short)))
    return tuple(found)


def _changed(scene: Scene, name: str) -> Callable[[float], Scene]:
    return lambda value: replace(scene, controller=with_number(scene.controller, name, value))


@dataclass(frozen=True)
class Effect:
    """What parameters change: derivatives, a row for each.

    Attributes:
        paths: the numbers of the compiled law that any of them changes.
        law: (parameters, paths).
        impedance: (parameters, 3, nv) of stiffness, damping and rest.
        position: (parameters, 3) of the set point.
    """

    paths: tuple[Path, ...]
    law: Floats
    impedance: Floats
    position: Floats


def effect_of(scene: Scene, parameters: Sequence[Parameter]) -> Effect:
    """What the parameters change of a scene.

    Raises:
        InputError: one changes something else than the controller's law, its impedance, and its set point; or it has
            no derivative.
    """
    nv = scene.model.nv
    leaves = _leaves(scene)
    paths = [path for path, _ in leaves]
    rows = np.array([slopes(_numbers(scene, one), one.value, one.name) for one in parameters])
    rows = rows.reshape(len(parameters), len(paths) + 3 * nv + 7)
    if rows[:, -4:].any():
        name = parameters[int(np.flatnonzero(rows[:, -4:].any(axis=1))[0])].name
        raise InputError(f"no gradient by {name}: it turns the set point, which errors are measured from")
    law, rest = rows[:, : len(paths)], rows[:, len(paths) : -7]
    used = np.flatnonzero(law.any(axis=0))
    return Effect(tuple(paths[k] for k in used), law[:, used], rest.reshape(len(parameters), 3, nv), rows[:, -7:-4])


def _leaves(scene: Scene) -> list[tuple[Path, float]]:
    law = None if scene.controller is None else scene.controller.law(scene.model)
    return [] if law is None else list(leaves_of(law))


def _numbers(scene: Scene, parameter: Parameter) -> Callable[[float], Floats]:
    """All that may depend on a parameter, as one array."""
    shape = [path for path, _ in _leaves(scene)]

    def numbers_at(value: float) -> Floats:
        other = parameter.scene_at(value)
        _check_same(scene, other, parameter.name)
        leaves = _leaves(other)
        if [path for path, _ in leaves] != shape:
            raise InputError("the law is another one there")
        return np.concatenate([[number for _, number in leaves], _impedance(other), _set_point(other)])

    return numbers_at


def _check_same(scene: Scene, other: Scene, name: str) -> None:
    """Whether two scenes differ by their controllers at most."""
    own = {member: getattr(scene, member) for member in ("floor", "duration", "step", "fall", "record_every")}
    differ = [member for member, value in own.items() if getattr(other, member) != value]
    if fingerprint(scene.model) != fingerprint(other.model):
        differ.append("model")
    if tuple(scene.disturbances) != tuple(other.disturbances):
        differ.append("disturbances")
    start, moved = scene.initial_state, other.initial_state
    if not (np.array_equal(start.q, moved.q) and np.array_equal(start.momentum, moved.momentum)):
        differ.append("start: give the scene a state, from which it then begins")
    period = None if scene.controller is None else scene.controller.period
    if other.controller is None or other.controller.period != period:
        differ.append("controller's period")
    if differ:
        raise InputError(f"{name} changes the scene's {differ[0]}")


def _impedance(scene: Scene) -> Floats:
    controller, model = scene.controller, scene.model
    found = np.zeros((3, model.nv))
    acting = (None if controller is None else controller.impedance(model)) or Impedance()
    for row, values in zip(found, (acting.stiffness, acting.damping, acting.rest), strict=True):
        for joint, value in values.items():
            row[model.dof(joint)] = value
    return found.ravel()


def _set_point(scene: Scene) -> Floats:
    point = scene.set_point
    return np.zeros(7) if point is None else np.concatenate([point.position, point.orientation])
