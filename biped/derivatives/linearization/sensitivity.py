"""How the eigenvalues of a closed loop depend on its controller's numbers."""

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

#: Of a number, or of one where it is zero: the law is evaluated so far to either side.
STEP = 1e-4
#: What the names of gains, and of weights that stand for them, begin with.
GAINS = ("gains.", "kp", "kd", "weight_")


@dataclass(frozen=True)
class GainSensitivity:
    """The derivative of the greatest ``|λ|`` by one number of the controller.

    Attributes:
        name: of the number, as in ``--set controller.NAME``.
        value: what it is.
        slope: ``∂|λ|/∂(number)``.
        decay: ∂(decay)/∂(number), of the rate ``−ln|λ|/T`` [1/s]: above zero, more of it is faster.
    """

    name: str
    value: float
    slope: float
    decay: float


def gain_sensitivities(scene: Scene, state: State, names: tuple[str, ...] = ()) -> tuple[GainSensitivity, ...]:
    """``∂|λ|/∂K`` of the slowest mode, by each number of the controller's gains, at a state that is held.

    ∂λ = wᵀ ∂A v for left and right eigenvectors with wᵀ v = 1. ∂A is that of the exact A to either side of the number:
    a law in which gains are factors, as the workspace law's are, is linear in them, and its difference exact.

    Args:
        scene: the closed loop.
        state: where.
        names: of numbers of the controller, ``gains.kp_position[2]``; all of its gains and weights, if none is given.

    Raises:
        InputError: the controller has no such number, or no gains.
    """
    base = Linearizer(scene).at(state)
    size = base.spectral_radius
    found = []
    for name, value in _numbers(scene.controller, names):
        h = STEP * (abs(value) or 1.0)
        ahead, back = (
            Linearizer(replace(scene, controller=with_number(scene.controller, name, value + sign * h))).at(state)
            for sign in (1.0, -1.0)
        )
        slope = radius_slope(base, (ahead.A - back.A) / (2.0 * h))
        found.append(GainSensitivity(name, value, slope, -slope / (size * base.period)))
    return tuple(found)


def radius_slope(base: Linearization, change: Floats) -> float:
    """The derivative of the greatest ``|λ|`` by a number by which A has the derivative ``change`` (x, x).

    Where two eigenvalues are the greatest, that of one of them.
    """
    values, right, left = base.eigenvectors
    moved = complex(left[0] @ change[np.ix_(base.kept, base.kept)] @ right[:, 0])
    return float((np.conj(values[0]) * moved).real / abs(values[0]))


def _numbers(controller: Any, names: tuple[str, ...]) -> Iterator[tuple[str, float]]:
    known = dict(numbers_of(controller))
    chosen = names or tuple(name for name in known if name.startswith(GAINS))
    if not chosen:
        raise InputError(f"{type(controller).__name__} has no gains; name some of its numbers: {', '.join(known)}")
    for name in chosen:
        if name not in known:
            raise InputError(f"unknown number {name!r} of the controller; it has {', '.join(known)}")
        yield name, known[name]
