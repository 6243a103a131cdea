"""The double spherical pendulum of point masses in continuous time, by Lagrange multipliers."""

import numpy as np

from contact.arrays import Floats
from experiments.benchmarks.work_precision.reference import Reference, reference

#: [m/s²]
GRAVITY = 9.81


def pendulum_reference(
    masses: tuple[float, float], rods: tuple[float, float], q0: Floats, v0: Floats, times: Floats
) -> Reference:
    """The reference motion of Wendlandt 1997, (2.54): masses [kg] on rods [m], from q0 [m] and v0 [m/s]."""
    m1, m2 = masses
    weight = np.array([0.0, 0.0, -GRAVITY * m1, 0.0, 0.0, -GRAVITY * m2])
    mass = np.array([m1] * 3 + [m2] * 3)
    squares = np.square(rods)

    def rate(_: float, state: Floats) -> Floats:
        q, v = state[:6], state[6:]
        rod, swing = q[3:] - q[:3], v[3:] - v[:3]
        rows = np.array([[*q[:3], 0.0, 0.0, 0.0], [*-rod, *rod]])
        # A motion on the constraints has no error in them to be taken back; that of rounding is damped.
        drift = 0.5 * np.array([q[:3] @ q[:3], rod @ rod]) - 0.5 * squares
        slide = rows @ v
        wanted = -np.array([v[:3] @ v[:3], swing @ swing]) - 2.0 * slide - drift
        inverse = rows / mass
        multipliers = np.linalg.solve(inverse @ rows.T, wanted - inverse @ weight)
        return np.concatenate([v, (weight + rows.T @ multipliers) / mass])

    def places(state: Floats) -> Floats:
        return state[:6].reshape(2, 3)

    def energy(state: Floats) -> float:
        return float(0.5 * mass @ state[6:] ** 2 - weight @ state[:6])

    return reference(rate, np.concatenate([q0, v0]), times, places, energy)
