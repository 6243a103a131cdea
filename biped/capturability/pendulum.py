"""The linear inverted pendulum, and the largest push from which it recovers without a step.

A point mass at constant height z moves by c̈ = ω² (c − p) + F/m, with ω² = g/z, the centre of mass c, the centre of
pressure p within the support P, and the force F of a push (Kajita et al. 2001). The divergent mode is the extrapolated
centre of mass ξ = c + ċ/ω, with ξ̇ = ω (ξ − p) + F/(m ω) (Hof et al. 2005). For a push of impulse J along u with the
shape f, ∫ f dt = 1, ξ stays bounded if and only if

    ξ(0) + J/(m ω) ∫ e^{−ωt} f(t) dt · u  =  ω ∫ e^{−ωt} p(t) dt.

The right side is a mean of p with the weights ω e^{−ωt}, whose integral is one: it can be any point of the convex P and
no other point. So the largest impulse is J = m ω d / ∫ e^{−ωt} f dt, where d is the distance from ξ(0) to the edge of P
along u, for any shape, if the controller knows the push in advance. If the force does not reverse, a controller that
does not know the push attains this limit too, by holding p at that edge.
"""

import math
from dataclasses import dataclass

import numpy as np

from biped.errors import InputError
from biped.inputs.checks import above_zero
from biped.signals import Signal
from contact.arrays import Floats

#: Gauss–Legendre nodes and weights for each piece of a signal.
NODES, WEIGHTS = np.polynomial.legendre.leggauss(24)


class NoLimitError(InputError):
    """Error: no push is recoverable, since the model falls even without a push, or since its support has no area."""


@dataclass(frozen=True)
class Pendulum:
    """Linear inverted pendulum: a point mass at constant height.

    Attributes:
        mass: [kg] mass.
        height: [m] height of the mass above the floor.
        gravity: [m/s²] gravitational acceleration.

    Raises:
        InputError: a value is not above zero.
    """

    mass: float
    height: float
    gravity: float

    def __post_init__(self) -> None:
        for name in ("mass", "height", "gravity"):
            above_zero(getattr(self, name), f"pendulum: {name}")

    @property
    def rate(self) -> float:
        """Rate of divergence ω [1/s]."""
        return math.sqrt(self.gravity / self.height)

    @property
    def weight(self) -> float:
        """Weight m g [N]."""
        return self.mass * self.gravity

    def impulse(self, distance: float, shape: Signal, delay: float = 0.0) -> float:
        """Return the largest recoverable impulse [N·s] if the centre of pressure can move by ``distance``.

        Args:
            distance: [m] from the extrapolated centre of mass to the edge of the support.
            shape: share of the impulse delivered up to a time; it begins at zero and ends at one.
            delay: [s] reaction time, before which the centre of pressure p stays at its position at rest. It reduces
                the impulse by the factor e^{−ω delay}.
        """
        late = math.exp(-self.rate * delay)
        return self.mass * self.rate * distance * late / transform(shape, self.rate)

    def platform(self, distance: float, motion: Signal, delay: float = 0.0) -> float:
        """Return the largest recoverable displacement [m] of the floor, opposite to the direction of ``distance``.

        Relative to the floor, its motion s(t) is a push by −m s̈. Since ∫ e^{−ωt} s̈ dt = ω² ∫ e^{−ωt} s dt, the term
        ω ∫ e^{−ωt} s dt = ∫ e^{−ωt} ṡ dt replaces J/(m ω) times the push's transform.

        Args:
            distance: [m] from the extrapolated centre of mass to the edge of the support.
            motion: ratio of displacement to final displacement over time; it begins at zero.
            delay: [s] reaction time.
        """
        return distance * math.exp(-self.rate * delay) / transform(motion, self.rate)


def transform(shape: Signal, rate: float) -> float:
    """Return ∫ e^{−ωt} f(t) dt of the force f whose impulse up to t is ``shape``, for ω = ``rate`` [1/s]."""
    total = math.exp(-rate * shape.ends) * float(shape.coefficients[-1, 0])
    for begin, end in zip(shape.knots, shape.knots[1:], strict=False):
        times = 0.5 * (begin + end) + 0.5 * (end - begin) * NODES
        total += 0.5 * (end - begin) * rate * float(WEIGHTS @ (np.exp(-rate * times) * shape(times)))
    return total


def edge(corners: Floats, direction: Floats) -> float:
    """Return the distance [m] from the origin to the edge of the hull of ``corners`` (k, 2) along a unit direction.

    Raises:
        NoLimitError: the origin is outside the hull.
    """
    normals, offsets = sides_of(corners)
    if np.any(offsets < 0.0):
        raise NoLimitError(
            f"the extrapolated centre of mass is {-offsets.min():.3g} m outside the support: it falls without a push"
        )
    return reach_within(normals, offsets, direction)


def reach_within(normals: Floats, offsets: Floats, direction: Floats) -> float:
    """Return the distance [m] from the origin to the first side along a direction: normals (n, 2), offsets (n,)."""
    along = normals @ direction
    return float((offsets[along > 1e-12] / along[along > 1e-12]).min())


def sides_of(corners: Floats) -> tuple[Floats, Floats]:
    """Return outward unit normals (n, 2) and offsets (n,) [m] of the hull of ``corners``: n·x ≤ offset within.

    Raises:
        NoLimitError: there are fewer than three corners, or they are on a line.
    """
    from scipy.spatial import ConvexHull, QhullError

    try:
        sides = ConvexHull(corners).equations
    except (QhullError, ValueError):
        message = "the support has no area: it needs at least three contact points that are not on a line"
        raise NoLimitError(message) from None
    return sides[:, :2], -sides[:, 2]
