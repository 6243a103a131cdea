"""Systems with known properties, and starts of the thesis's two systems."""

import numpy as np
import pytest
import sympy

from formulations.lagrangian import Chart, System, double_spherical_pendulum, rate, rigid_body


def dsp_start():
    """Return the start of Wendlandt 1997, section 2.4.2; z and its rate from the constraints."""
    (x1, y1), (x2, y2) = (2.820, 0.025), (5.085, 0.105)
    z1 = -np.sqrt(16.0 - x1**2 - y1**2)
    rod = np.array([x2 - x1, y2 - y1])
    dz = -np.sqrt(9.0 - rod @ rod)
    v1, v2 = np.array([3.381, 2.506]), np.array([2.497, 10.495])
    w1 = -(np.array([x1, y1]) @ v1) / z1
    w2 = w1 - rod @ (v2 - v1) / dz
    return np.array([x1, y1, z1, x2, y2, z1 + dz]), np.array([*v1, w1, *v2, w2])


def kepler():
    """Return a planar mass under −1/r, with the potential in the invariant r²."""
    x, y, s = sympy.symbols("x y s", real=True)
    u, v = rate(x), rate(y)
    return System(
        coordinates=(x, y), mass=(2, 2), potential=-1 / sympy.sqrt(s), invariants={s: x**2 + y**2},
        conserved={"angular_momentum": 2 * (x * v - y * u)},
    )  # fmt: skip


def kepler_in_polar_coordinates():
    """Return the system L = (ṙ² + r² φ̇²) + 1/r, with a mass matrix that is not constant."""
    r, phi = sympy.symbols("r phi", real=True)
    return System(coordinates=(r, phi), lagrangian=rate(r) ** 2 + r**2 * rate(phi) ** 2 + 1 / r)


def quartic():
    """Return a chain of three masses on nonlinear springs."""
    a, b, c, k, s, t = sympy.symbols("a b c k s t", real=True)
    return System(
        coordinates=(a, b, c), mass=(1, 2, 3), potential=k * (s**2 + t**2) / 4 + (s + t) / 2,
        invariants={s: (b - a) ** 2, t: (c - b) ** 2}, conserved={"momentum": rate(a) + 2 * rate(b) + 3 * rate(c)},
        parameters={k: 0.7},
    )  # fmt: skip


def crystal():
    """Return two coordinates in a potential without symmetry, and a polynomial one."""
    x, y = sympy.symbols("x y", real=True)
    return System(coordinates=(x, y), mass=(1, 2), potential=sympy.cos(x) * sympy.exp(-y / 3) + y**4 / 5 + x**2 * y**2)


def pendulum(damping=0.0):
    """Return a plane pendulum of 2 kg and 1.5 m with a chart and air drag."""
    x, z, angle, c = sympy.symbols("x z angle c", real=True)
    length = sympy.Rational(3, 2)
    return System(
        coordinates=(x, z), mass=(2, 2), potential=2 * 9.81 * z, constraints=[x**2 + z**2 - length**2],
        forces=[-c * rate(x), -c * rate(z)],
        chart=Chart([angle], [length * sympy.sin(angle), -length * sympy.cos(angle)]), parameters={c: damping},
    )  # fmt: skip


@pytest.fixture(scope="session")
def dsp():
    return double_spherical_pendulum()


@pytest.fixture(scope="session")
def body():
    return rigid_body((1.0, 2.0, 3.0))


#: (2.52); q̇ = q ⋆ (0, ω/2).
BODY_START = (np.array([1.0, 0.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.5, 2.0]))
DSP = ["x1", "y1", "z1", "x2", "y2", "z2"]
QUATERNION = ["qw", "qx", "qy", "qz"]
