"""Linearization of actuators at their torque limits, which may depend on the joints' angles and rates."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from biped.derivatives.linearization.coordinates import configuration_names, torque_names
from biped.derivatives.linearization.kernels.law import RatesLaw
from biped.derivatives.linearization.kinks import Kink
from biped.derivatives.linearization.law import LawDerivative
from biped.errors import InputError
from biped.kernels.loop.closed_loop import World
from biped.kernels.loop.measurement import FASTEST_BACK, demanded_torque, strength_at
from biped.model import Model
from contact.arrays import Floats

#: [rad/s, rad] Scale of the kinks of a strength in rates and angles.
SCALE = 1e-3
#: Length of a complex step; its square is negligible compared with one.
REACH = 1e-20

# Switches of an actuator.
LIMIT = 0  # the demanded torque reaches the limit
TURNED_BACK = 1  # the joint is at rest: shortening and lengthening muscles differ
FAST_BACK = 2  # the joint is turned back at the greatest rate with known strength
NO_STRENGTH = 3  # the strength vanishes at the angle or rate

_WORDS = {
    LIMIT: ("reaches its torque limit", "N·m"),
    TURNED_BACK: ("changes its direction at its torque limit", "rad/s"),
    FAST_BACK: ("is turned back at the greatest rate with known strength", "rad/s"),
    NO_STRENGTH: ("gains or loses its strength", "rad"),
}


@dataclass(frozen=True, eq=False)
class Limited:
    """Derivatives of actuators that exert the desired torque or are at their torque limits."""

    passes: Floats  #: (nv,) 1, or 0 for an actuator at its limit
    slopes: Floats  #: (nv, 2 nv) ∂(limit)/∂(q, p) of actuators at their limits
    kinks: tuple[Kink, ...]  #: distances from kinks


class ActuatorLimits:
    """The limits of a world's actuators at a control tick, and their derivatives.

    Args:
        model: the simulated model.
        world: the world at the tick.
    """

    def __init__(self, model: Model, world: World) -> None:
        self._model, self._world = model, world
        names, _ = configuration_names(model)
        _, _, driven = torque_names(model)
        tree = model.tree
        self._joints = [
            (names[int(tree.first_v[i])], int(tree.first_v[i]), int(tree.first_q[i]))
            for i in range(len(model.bodies))
            if tree.dofs[i] == 1 and int(tree.first_v[i]) in driven
        ]

    def at(self, demanded: Floats) -> Limited:
        """Return the derivatives of the limits at the last measured state.

        Args:
            demanded: (nv,) torques demanded by the controller, after the actuators' lag.
        """
        nv, seen = self._model.nv, self._world.measurement
        passes, slopes, kinks = np.ones(nv), np.zeros((nv, 2 * nv)), []
        for name, dof, place in self._joints:
            low, high = float(seen.least[dof]), float(seen.most[dof])
            if self._world.actuators.bounds[dof]:
                self._check_constant(name, dof, place, low, high)
                continue  # the steps' own derivative has the limit
            sign = 1.0 if demanded[dof] - high > low - demanded[dof] else -1.0
            limit = high if sign > 0.0 else -low
            if not math.isfinite(limit):
                continue
            away = sign * float(demanded[dof]) - limit
            kinks.append(_kink(name, dof, LIMIT, away, max(limit, 1.0)))
            if away <= 0.0:
                continue
            passes[dof] = 0.0
            if self._is_strength(dof, sign, limit):
                strength = self._strength(name, dof, place, sign)
                slopes[dof] = strength[0]
                kinks += strength[1]
        return Limited(passes, slopes, tuple(kinks))

    def _check_constant(self, name: str, dof: int, place: int, low: float, high: float) -> None:
        """Refuse a joint with impedance that is at a limit which varies with the state."""
        asked = float(demanded_torque(self._world.state, self._rates, dof, place))
        if not low <= asked <= high and self._is_strength(dof, asked, high if asked > 0.0 else -low):
            raise InputError(
                f"joint {name} has an impedance and is at a strength limit that varies with its angle, which cannot be "
                "linearized: choose a state within the limit, or set actuators.limit only"
            )

    def _is_strength(self, dof: int, sign: float, limit: float) -> bool:
        """Return True if the limit is the strength at the present angle and rate, not the constant limit."""
        actuators = self._world.actuators
        return len(actuators.strength) > 0 and limit < float(actuators.limit[dof])

    def _strength(self, name: str, dof: int, place: int, sign: float) -> tuple[Floats, list[Kink]]:
        """Return ∂(limit)/∂(q, p), (2 nv,), of an actuator, and its kinks."""
        strength = self._world.actuators.strength[dof, 0 if sign > 0.0 else 1]
        angle, rate = float(self._q[place]), sign * float(self._rates[dof])
        switches = {
            TURNED_BACK: rate,
            FAST_BACK: -rate - FASTEST_BACK,
            NO_STRENGTH: abs(strength[1] * (angle - strength[2])) - 0.5 * math.pi,
        }
        by_angle = complex(strength_at(strength, complex(angle, REACH), complex(rate, 0.0))).imag / REACH
        by_rate = complex(strength_at(strength, complex(angle, 0.0), complex(rate, REACH))).imag / REACH
        slope = by_rate * self._rates_by_state[dof]
        slope[dof] += sign * by_angle
        kinks = [_kink(name, dof, switch, value, SCALE) for switch, value in switches.items() if math.isfinite(value)]
        return slope, kinks

    @property
    def _q(self) -> Floats:
        return self._world.state.q

    @property
    def _rates(self) -> Floats:
        return self._world.scratch.motion.rates

    @cached_property
    def _rates_law(self) -> LawDerivative:
        return LawDerivative(RatesLaw(0), self._model.tree, 0)

    @property
    def _rates_by_state(self) -> Floats:
        """∂(M⁻¹ p)/∂(q, p), (nv, 2 nv)."""
        state = self._world.state
        return self._rates_law.at(state.q, state.momentum, 0.0)


def _kink(name: str, dof: int, switch: int, value: float, scale: float) -> Kink:
    what, unit = _WORDS[switch]
    return Kink(name, what, value, unit, 0, abs(value) / scale, switch, dof)
