"""The linear inverted pendulum, and the largest push that it recovers from without a step.

A point mass at a constant height z obeys c̈ = ω² (c − p) + F/m, with ω² = g/z, the centre of mass c, the centre of
pressure p within the support P, and the force F of a push (Kajita et al. 2001). Its divergent mode is the extrapolated
centre of mass ξ = c + ċ/ω, with ξ̇ = ω (ξ − p) + F/(m ω) (Hof et al. 2005). For a push of impulse J along u with the
shape f, ∫ f dt = 1, it stays bounded if and only if

    ξ(0) + J/(m ω) ∫ e^{−ωt} f(t) dt · u  =  ω ∫ e^{−ωt} p(t) dt.

On the right is a mean of p with the weights ω e^{−ωt}, which sum to one: it can be any point of the convex P, and no
other. So the largest impulse is J = m ω d / ∫ e^{−ωt} f dt with the distance d from ξ(0) to the edge of P along u, for
any shape, if the controller knows the push in advance. If the force never reverses, a controller without that knowledge
attains it too: it holds p at that edge.
"""

import math
from dataclasses import dataclass

import numpy as np

from biped.errors import InputError
from biped.inputs.checks import above_zero
from biped.signals import Signal
from contact.arrays import Floats

#: Gauss–Legendre quadrature on each piece of a signal.
NODES, WEIGHTS = np.polynomial.legendre.leggauss(24)


class NoLimitError(InputError):
    """No capturability limit exists: the model falls without a push, or it is no pendulum on a support."""


@dataclass(frozen=True)
class Pendulum:
    """A point mass at a constant height.

    Attributes:
        mass: [kg].
        height: [m] height above the floor.
        gravity: [m/s²].

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
        """Return the largest recoverable impulse [N·s] if the centre of pressure can move by ``distance`` along it.

        Args:
            distance: [m] from the extrapolated centre of mass to the edge of the support.
            shape: share of the impulse given up to a time; it begins at zero and ends at one.
            delay: [s] reaction time. Until then p stays at its position at rest, which reduces the reach of its mean to
                e^{−ω delay} of it.
        """
        late = math.exp(-self.rate * delay)
        return self.mass * self.rate * distance * late / transform(shape, self.rate)

    def platform(self, distance: float, motion: Signal, delay: float = 0.0) -> float:
        """Return the largest recoverable displacement [m] of the floor, which drives the pendulum the opposite way.

        Seen from the floor its motion s(t) is a push by −m s̈, with ∫ e^{−ωt} s̈ dt = ω² ∫ e^{−ωt} s dt, so that
        ω ∫ e^{−ωt} s dt = ∫ e^{−ωt} ṡ dt replaces J/(m ω) times the push's transform.

        Args:
            distance: [m] from the extrapolated centre of mass to the edge of the support.
            motion: displacement as a share of the final one; it begins at zero.
            delay: [s] reaction time.
        """
        return distance * math.exp(-self.rate * delay) / transform(motion, self.rate)


def transform(shape: Signal, rate: float) -> float:
    """Return ∫ e^{−ωt} f(t) dt of the force f whose impulse up to t is ``shape``, integrated by parts."""
    total = math.exp(-rate * shape.ends) * float(shape.coefficients[-1, 0])
    for begin, end in zip(shape.knots, shape.knots[1:], strict=False):
        times = 0.5 * (begin + end) + 0.5 * (end - begin) * NODES
        total += 0.5 * (end - begin) * rate * float(WEIGHTS @ (np.exp(-rate * times) * shape(times)))
    return total


def edge(corners: Floats, direction: Floats) -> float:
    """Return the distance [m] from the origin along a unit ``direction`` to the edge of the hull of ``corners`` (k, 2).

    Raises:
        NoLimitError: the origin is outside of the hull.
    """
    normals, offsets = sides_of(corners)
    if np.any(offsets < 0.0):
        raise NoLimitError(
            f"the extrapolated centre of mass is {-offsets.min():.3g} m outside of the support: it falls without a push"
        )
    return reach_within(normals, offsets, direction)


def reach_within(normals: Floats, offsets: Floats, direction: Floats) -> float:
    """Return the distance [m] from the origin along a direction to the first side: (n, 2) normals, (n,) offsets."""
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
        message = "a support without area: it takes at least three contact points that are not on a line"
        raise NoLimitError(message) from None
    return sides[:, :2], -sides[:, 2]
