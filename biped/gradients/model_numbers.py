"""The numbers of a model by name, and a scene whose model has another one of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from biped.control.numbers import numbers_of, with_number
from biped.kernels.tree.dynamics import mass_matrix, new_tree_data
from biped.model import Body, Model
from biped.runs.state import State, of_other_masses
from biped.simulation.scene import Scene
from contact.arrays import Floats

_INERTIA = re.compile(r"inertia\[([0-2]),([0-2])\]")


def numbers_of_model(model: Model) -> Iterator[tuple[str, float]]:
    """Those that are finite: ``trunk.mass``, ``trunk.com[0]``, ``trunk.inertia[0,1]``, ``foot.joint.friction``."""
    for body in model.bodies:
        for name, value in numbers_of(body):
            if np.isfinite(value):
                yield f"{body.name}.{name}", value
        for i in range(3):
            for j in range(i, 3):
                yield f"{body.name}.inertia[{i},{j}]", float(body.inertia[i][j])


def scene_with(scene: Scene, name: str, value: float) -> Scene:
    """The scene with another number of its model.

    A state that it begins with keeps its places, velocities and anchors.
    """
    whose, _, rest = name.partition(".")
    bodies = tuple(_changed(body, rest, value) if body.name == whose else body for body in scene.model.bodies)
    model = replace(scene.model, bodies=bodies)
    return replace(scene, model=model, state=None if scene.state is None else _carried(scene.state, model))


def _changed(body: Body, name: str, value: float) -> Body:
    found = _INERTIA.fullmatch(name)
    if found is None:
        changed: Body = with_number(body, name, value)
        return changed
    inertia: Any = np.array(body.inertia)
    i, j = int(found[1]), int(found[2])
    inertia[i, j] = inertia[j, i] = value
    return replace(body, inertia=inertia)


def _carried(state: State, model: Model) -> State:
    """The same places and velocities of all bodies, as long as only masses differ."""
    moved = state.copy()
    before = np.asarray(np.linalg.solve(_mass_matrix(state.model, state.q), state.momentum), dtype=np.float64)
    moved.q[:], after = of_other_masses(state.q, before, state.model, model)
    moved.momentum[:] = _mass_matrix(model, moved.q) @ after
    moved.model = model
    return moved


def _mass_matrix(model: Model, q: Floats) -> Floats:
    found = np.zeros((model.nv, model.nv))
    mass_matrix(model.tree, q, new_tree_data(model.n, model.nv, model.nc), found)
    return found
