"""The linear inverted pendulum, and the largest push that it recovers from without a step.

A point mass at a constant height z obeys c̈ = ω² (c − p) + F/m, with ω² = g/z, the centre of mass c, the centre of
pressure p within the support P, and the force F of a push (Kajita et al. 2001). Of its two modes the extrapolated
centre of mass ξ = c + ċ/ω diverges, ξ̇ = ω (ξ − p) + F/(m ω) (Hof et al. 2005). It stays bounded just if

    ξ(0) + J/(m ω) ∫ e^{−ωt} f(t) dt · u  =  ω ∫ e^{−ωt} p(t) dt

of a push of impulse J along u with the shape f, ∫ f dt = 1. On the right is a mean of p, whose weights ω e^{−ωt} add up
to one: any point of the convex P, and no other. So the largest impulse is J = m ω d / ∫ e^{−ωt} f dt with the distance
d from ξ(0) to the edge of P along u, whatever its shape, for laws that know what comes. Of a push whose force never
turns round, a law that knows nothing of it attains that: it holds p at that edge.
"""

import math
from dataclasses import dataclass

import numpy as np

from biped.errors import InputError
from biped.inputs.checks import above_zero
from biped.signals import Signal
from contact.arrays import Floats

#: Of a quadrature of Gauss and Legendre on each piece of a signal.
NODES, WEIGHTS = np.polynomial.legendre.leggauss(24)


class NoLimitError(InputError):
    """No limit exists: no push is withstood, or the pendulum's bounds do not hold for it."""


@dataclass(frozen=True)
class Pendulum:
    """A point mass at a constant height.

    Attributes:
        mass: [kg].
        height: [m] above the floor.
        gravity: [m/s²].

    Raises:
        InputError: one of them is not above zero.
    """

    mass: float
    height: float
    gravity: float

    def __post_init__(self) -> None:
        for name in ("mass", "height", "gravity"):
            above_zero(getattr(self, name), f"pendulum: {name}")

    @property
    def rate(self) -> float:
        """[1/s] ω, at which it diverges."""
        return math.sqrt(self.gravity / self.height)

    @property
    def weight(self) -> float:
        """The weight m g [N]."""
        return self.mass * self.gravity

    def impulse(self, distance: float, shape: Signal, delay: float = 0.0) -> float:
        """[N·s] The largest that the centre of pressure withstands which may go so far along the push.

        Args:
            distance: [m] from the extrapolated centre of mass to the edge of the support.
            shape: the impulse given up to a time, one in the end; it begins at zero.
            delay: [s] before anything is done about the push. Until then p stays where it was, at the start of the
                pendulum at rest, which takes e^{−ω delay} of the mean's reach.
        """
        late = math.exp(-self.rate * delay)
        return self.mass * self.rate * distance * late / transform(shape, self.rate)

    def platform(self, distance: float, motion: Signal, delay: float = 0.0) -> float:
        """[m] How far the floor may be displaced, which drives the pendulum the other way.

        Seen from the floor its motion s(t) is a push by −m s̈, with ∫ e^{−ωt} s̈ dt = ω² ∫ e^{−ωt} s dt, so that
        ω ∫ e^{−ωt} s dt = ∫ e^{−ωt} ṡ dt takes the place of J/(m ω) times the push's transform.

        Args:
            distance: [m] from the extrapolated centre of mass to the edge of the support.
            motion: the displacement as a share of that in the end; it begins at zero.
            delay: [s] before anything is done about it.
        """
        return distance * math.exp(-self.rate * delay) / transform(motion, self.rate)


def transform(shape: Signal, rate: float) -> float:
    """∫ e^{−ωt} f(t) dt of the force whose impulse up to t is ``shape``: by parts, from the pieces of that."""
    total = math.exp(-rate * shape.ends) * float(shape.coefficients[-1, 0])
    for begin, end in zip(shape.knots, shape.knots[1:], strict=False):
        times = 0.5 * (begin + end) + 0.5 * (end - begin) * NODES
        total += 0.5 * (end - begin) * rate * float(WEIGHTS @ (np.exp(-rate * times) * shape(times)))
    return total


def edge(corners: Floats, direction: Floats) -> float:
    """[m] From the origin along a unit ``direction`` to the edge of the hull of ``corners`` (k, 2).

    Raises:
        NoLimitError: the origin is not within it.
    """
    normals, offsets = sides_of(corners)
    if np.any(offsets < 0.0):
        raise NoLimitError(
            f"the extrapolated centre of mass is {-offsets.min():.3g} m outside of the support: it falls without a push"
        )
    return reach_within(normals, offsets, direction)


def reach_within(normals: Floats, offsets: Floats, direction: Floats) -> float:
    """[m] From the origin along a unit ``direction`` to the first of some sides: (n, 2) normals, (n,) offsets [m]."""
    along = normals @ direction
    return float((offsets[along > 1e-12] / along[along > 1e-12]).min())


def sides_of(corners: Floats) -> tuple[Floats, Floats]:
    """(n, 2) outward unit normals and (n,) offsets [m] of the sides of the hull of ``corners``: n·x ≤ offset within.

    Raises:
        NoLimitError: the corners are on a line, or fewer than three.
    """
    from scipy.spatial import ConvexHull, QhullError

    try:
        sides = ConvexHull(corners).equations
    except (QhullError, ValueError):
        message = "a support without area: it takes at least three contact points that are not on a line"
        raise NoLimitError(message) from None
    return sides[:, :2], -sides[:, 2]
