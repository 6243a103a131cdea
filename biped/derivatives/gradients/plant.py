"""Derivatives by a parameter of the plant: through the equations of the steps, the start, and the objective."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from biped.derivatives.gradients.kernels.trial import Trial
from biped.derivatives.gradients.objectives import Trajectory, value_of
from biped.derivatives.gradients.parameters import Parameter
from biped.derivatives.gradients.slopes import slopes
from biped.derivatives.linearization.coordinates import displacement
from biped.errors import InputError
from biped.kernels.loop.closed_loop import World
from biped.runs.state import State
from biped.simulation.plan import Plan
from contact.arrays import Floats
from kernelcache import kind_of


class PlantSlopes:
    """Derivatives of an objective by parameters of the plant, after the backward pass through a trial.

    Args:
        trial: the trial after its backward pass.
        plan: plan of the trial's scene.
        begin: initial state of the trial.
        trajectory: states of the trial, for the objective.
        terms: weights of the objective, by metric.
    """

    def __init__(
        self, trial: Trial, plan: Plan, begin: State, trajectory: Trajectory, terms: Mapping[str, float]
    ) -> None:
        self._trial, self._plan, self._begin, self._trajectory, self._terms = trial, plan, begin, trajectory, terms
        weight = trial.record.weight
        self._of_start = np.concatenate([weight.q, weight.momentum, weight.anchor.ravel()])

    def slope(self, parameter: Parameter) -> float:
        """Return the objective's derivative by a parameter of the plant, with the controller's torques held fixed.

        Raises:
            InputError: there is no derivative; the message says why.
        """
        return float(slopes(self._parts_at(parameter), parameter.value, parameter.name).sum())

    def _parts_at(self, parameter: Parameter) -> Callable[[float], Floats]:
        def parts_at(value: float) -> Floats:
            other = parameter.scene_at(value).prepare()
            self._check(other, parameter.name)
            start = self._start_of(other.state)  # before the other world takes the steps
            return np.concatenate([start, self._trial.equations_in(other.world), self._seen_by(other)])

        return parts_at

    def _start_of(self, state: State) -> Floats:
        """Return the differences of the start, each number times its weight."""
        moved = displacement(self._plan.model, self._begin.q, state.q)
        momentum, anchor = self._begin.momentum, self._begin.arrays.anchor
        apart = np.concatenate([moved, state.momentum - momentum, (state.arrays.anchor - anchor).ravel()])
        weighted: Floats = self._of_start * apart
        return weighted

    def _seen_by(self, other: Plan) -> Floats:
        """Return the weighted terms of the objective for the same states and torques."""
        seen = replace(self._trajectory, model=other.model)
        return np.array([weight * value_of(name, seen) for name, weight in self._terms.items()])

    def _check(self, other: Plan, name: str) -> None:
        here, there = self._plan.world, other.world
        changes = f"no derivative with respect to {name}: it changes"
        if not np.array_equal(self._begin.arrays.mode, other.state.arrays.mode):
            raise InputError(f"{changes} which contact points touch the floor at the start; start from another state")
        if _kinds(here) != _kinds(there) or not np.array_equal(here.pushes.body, there.pushes.body):
            raise InputError(f"{changes} the kinds or bodies of disturbances, not only their numbers")
        for what in ("sensors", "actuators"):
            if not _same(getattr(here, what), getattr(there, what)):
                raise InputError(f"{changes} the {what}; choose another parameter")


def _kinds(world: World) -> object:
    return kind_of((world.tree, world.ground, world.state, world.pushes)), len(world.pushes.body)


def _same(first: object, other: object) -> bool:
    if isinstance(first, tuple) and isinstance(other, tuple):
        return len(first) == len(other) and all(map(_same, first, other))
    return np.array_equal(np.asarray(first), np.asarray(other), equal_nan=True)
