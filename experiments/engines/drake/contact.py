"""Contacts in Drake's terms. Nothing here imports Drake.

Its convex approximations have two laws of the normal force at a penetration x, with ẋ its rate:

- "sap": k (x + τ ẋ), where that is above zero (Castro, Permenter and Han 2022); a linear spring and damper.
- "similar" and "lagged": k x (1 + d ẋ), where that is above zero (Hunt and Crossley 1975; Castro, Han and
  Masterjohn 2023).
"""

import math
from dataclasses import dataclass

from biped.disturbances import Throw
from experiments.engines.engine import Case
from experiments.engines.rebound import damping_ratio, falls_to

#: [s] How long a thrown box would touch what does not move, without damping.
IMPACT = 4e-3
#: [s] τ of two geometries that Drake knows nothing of.
DEFAULT_RELAXATION = 0.2


@dataclass(frozen=True)
class PointContact:
    """The law of a pair of geometries."""

    friction: float  # its coefficient; Drake's discrete plants have one
    stiffness: float | None = None  # k [N/m], or None for Drake's default
    relaxation_time: float = 0.0  # τ [s] of "sap"
    dissipation: float = 0.0  # d [s/m] of the others


def floor_contact(case: Case) -> PointContact:
    """Our floor's: exactly so in "sap"; in the others damped as our floor's point is when all carry the weight."""
    floor, model = case.floor, case.model
    load = model.total_mass * math.hypot(*model.gravity) / max(model.nc, 1)
    dissipation = floor.b_n / load if load > 0.0 else 0.0  # b = k x d, with x = load / k
    return PointContact(floor.mu_s, floor.k_n, floor.b_n / floor.k_n, dissipation)


def block_contact(throw: Throw, step: float) -> PointContact:
    """A thrown box's: throws it back with its restitution, off what does not move.

    Drake takes the force of "sap" at the end of a step, which damps by k h / 2 more than that of its middle.
    """
    frequency = math.pi / IMPACT
    zeta = damping_ratio(throw.restitution, 20.0)
    return PointContact(
        throw.friction,
        throw.mass * frequency**2,
        max(2.0 * zeta / frequency - 0.5 * step, 0.0),
        _dissipation(max(throw.restitution, 1e-3)) / _speed(throw),
    )


def thrown_back(law: PointContact, approximation: str, throw: Throw, step: float) -> float:
    """The share of its speed with which a block leaves a wall in steps of Drake's, whose forces are those at their end.

    Drake finds a contact once there is one at the start of a step; by then the block is half a step deep on average.
    """
    speed, stiffness = _speed(throw), law.stiffness or 0.0
    x, v = 0.5 * step * speed, speed

    def too_slow(after: float) -> float:
        deep = x + step * after
        if approximation == "sap":
            pushed = max(deep + law.relaxation_time * after, 0.0)
        else:
            pushed = max(deep, 0.0) * max(1.0 + law.dissipation * after, 0.0)
        return throw.mass * (v - after) - step * stiffness * pushed

    while x > 0.0:
        v = falls_to(too_slow, 0.0, -speed, v)
        x += step * v
    return -v / speed


def _speed(throw: Throw) -> float:
    """[m/s] At which it is thrown; of one that is dropped, that of a fall by 5 cm."""
    return math.hypot(*throw.velocity) or 1.0


def _dissipation(e: float) -> float:
    """The c = d v at the speed v of approach, from m ẍ = -k x (1 + d ẋ): (1 + e) c = ln((1 + c) / (1 - e c))."""
    return falls_to(lambda c: (1.0 + e) * c + math.log((1.0 - e * c) / (1.0 + c)), 0.0, 0.0, (1.0 - 1e-12) / e)
