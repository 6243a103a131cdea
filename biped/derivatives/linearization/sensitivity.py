"""Sensitivity of a closed loop's eigenvalues to the numbers of its controller."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from biped.control.numbers import numbers_of, with_number
from biped.derivatives.linearization.linearization import Linearization
from biped.derivatives.linearization.linearizer import Linearizer
from biped.errors import InputError
from biped.runs.state import State
from biped.simulation.scene import Scene
from contact.arrays import Floats

#: Step of central differences relative to a number, or absolute if it is zero.
STEP = 1e-4
#: Beginnings of the names of gains, and of weights that act as gains.
GAINS = ("gains.", "kp", "kd", "weight_")


@dataclass(frozen=True)
class GainSensitivity:
    """The derivative of the largest eigenvalue modulus ``|λ|`` with respect to a parameter of the controller.

    Attributes:
        name: name of the parameter, as in ``--set controller.NAME``.
        value: value of the parameter.
        slope: derivative ``∂|λ|/∂(parameter)``.
        decay: derivative of the decay rate ``−ln|λ|/T`` [1/s] in the control period T; positive: decay gets faster.
    """

    name: str
    value: float
    slope: float
    decay: float


def gain_sensitivities(scene: Scene, state: State, names: tuple[str, ...] = ()) -> tuple[GainSensitivity, ...]:
    """Return the derivatives of the slowest mode's ``|λ|`` with respect to the controller's gains, at a fixed state.

    ∂λ = wᵀ ∂A v for left and right eigenvectors w and v with wᵀ v = 1. ∂A is the central difference of the exact A; it
    is exact for controllers that are linear in their gains, such as the workspace controller.

    Args:
        scene: scene with the model and its controller.
        state: the state to linearize at.
        names: names of the controller's parameters, such as ``gains.kp_position[2]``; empty: all gains and weights.

    Raises:
        InputError: the controller has no such parameter, or no gains.
    """
    base = Linearizer(scene).at(state)
    size = base.spectral_radius
    sensitivities = []
    for name, value in _numbers(scene.controller, names):
        h = STEP * (abs(value) or 1.0)
        ahead, back = (
            Linearizer(replace(scene, controller=with_number(scene.controller, name, value + sign * h))).at(state)
            for sign in (1.0, -1.0)
        )
        slope = radius_slope(base, (ahead.A - back.A) / (2.0 * h))
        sensitivities.append(GainSensitivity(name, value, slope, -slope / (size * base.period)))
    return tuple(sensitivities)


def radius_slope(base: Linearization, change: Floats) -> float:
    """Return the derivative of the largest ``|λ|`` of A, if A has the derivative ``change`` (x, x).

    If several eigenvalues are equally large, the derivative of one of them is returned.
    """
    values, right, left = base.eigenvectors
    moved = complex(left[0] @ change[np.ix_(base.kept, base.kept)] @ right[:, 0])
    return float((np.conj(values[0]) * moved).real / abs(values[0]))


def _numbers(controller: Any, names: tuple[str, ...]) -> Iterator[tuple[str, float]]:
    known = dict(numbers_of(controller))
    chosen = names or tuple(name for name in known if name.startswith(GAINS))
    if not chosen:
        raise InputError(f"{type(controller).__name__} has no gains; choose from its parameters: {', '.join(known)}")
    for name in chosen:
        if name not in known:
            raise InputError(f"unknown controller parameter {name!r}; parameters are {', '.join(known)}")
        yield name, known[name]
