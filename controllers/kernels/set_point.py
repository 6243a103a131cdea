"""Exact position and motion of a set point from six signals."""

import math
from typing import NamedTuple

from contact.piecewise import count_signals, signal_motion
from contact.vectors import add, cross, dot, quat_exp, quat_mul, scale
from kernelcache import kernel

#: [rad²] Squared angle below which series replace quotients that lose digits. The first omitted term is then less than
#: 1e-12 of the first term.
SMALL = 1e-2


class DesiredMotion(NamedTuple):
    """Desired motion of a body at one time (Wendlandt 1997, figure 4.2); world axes."""

    position: tuple[float, float, float]  # [m]
    velocity: tuple[float, float, float]  # [m/s]
    acceleration: tuple[float, float, float]  # [m/s²]
    orientation: tuple[float, float, float, float]  # unit quaternion, body to world
    spin: tuple[float, float, float]  # [rad/s] angular velocity ω_d
    spin_rate: tuple[float, float, float]  # [rad/s²] angular acceleration ω̇_d


@kernel
def desired_motion(path, position, orientation, t):
    """Return the set point ``position`` and ``orientation``, displaced by ``path`` at time t [s].

    ``path`` has no signals, or six: a displacement [m] and a rotation vector φ [rad] from ``orientation``, both in
    world axes.
    """
    still = (0.0, 0.0, 0.0)
    if count_signals(path) == 0:
        return DesiredMotion(position, still, still, orientation, still, still)
    x, vx, ax = signal_motion(path, 0, t)
    y, vy, ay = signal_motion(path, 1, t)
    z, vz, az = signal_motion(path, 2, t)
    a, va, aa = signal_motion(path, 3, t)
    b, vb, ab = signal_motion(path, 4, t)
    c, vc, ac = signal_motion(path, 5, t)
    phi, rate = (a, b, c), (va, vb, vc)
    spin, spin_rate = turn_rates(phi, rate, (aa, ab, ac))
    turned = quat_mul(quat_exp(phi), orientation)
    return DesiredMotion(add(position, (x, y, z)), (vx, vy, vz), (ax, ay, az), turned, spin, spin_rate)


@kernel
def turn_rates(phi, rate, curve):
    """Return ω and ω̇ in world axes of the rotation exp(φ), from φ, φ̇ and φ̈.

    ω = φ̇ + A φ × φ̇ + B φ × (φ × φ̇) with A = (1 − cos θ)/θ² and B = (θ − sin θ)/θ³, the left Jacobian of SO(3) times φ̇
    (Chirikjian, Stochastic Models 2, 2012, equation 10.86), and its derivative. Ȧ = A' (φ · φ̇), with A' = (dA/dθ)/θ.
    """
    A, B, A1, B1 = turn_factors(dot(phi, phi))
    across = cross(phi, rate)
    twice = cross(phi, across)
    bent = cross(phi, curve)
    pace = dot(phi, rate)
    spin = add(rate, add(scale(A, across), scale(B, twice)))
    changing = add(scale(A1 * pace, across), scale(B1 * pace, twice))
    turning = add(scale(A, bent), scale(B, add(cross(rate, across), cross(phi, bent))))
    return spin, add(curve, add(turning, changing))


@kernel
def turn_factors(square):
    """Return A, B, (dA/dθ)/θ and (dB/dθ)/θ of ``turn_rates`` for θ² = ``square``."""
    if square < SMALL:
        A = 1.0 / 2.0 - square * (1.0 / 24.0 - square * (1.0 / 720.0 - square * (1.0 / 40320.0 - square / 3628800.0)))
        B = 1.0 / 6.0 - square * (1.0 / 120.0 - square * (1.0 / 5040.0 - square / 362880.0))
        A1 = -1.0 / 12.0 + square * (1.0 / 180.0 - square * (1.0 / 6720.0 - square / 453600.0))
        B1 = -1.0 / 60.0 + square * (1.0 / 1260.0 - square * (1.0 / 60480.0 - square / 4989600.0))
        return A, B, A1, B1
    angle = math.sqrt(square)
    cosine, sine = math.cos(angle), math.sin(angle)
    A, B = (1.0 - cosine) / square, (angle - sine) / (square * angle)
    A1 = (sine / angle - 2.0 * A) / square
    B1 = (A - 3.0 * B) / square
    return A, B, A1, B1
