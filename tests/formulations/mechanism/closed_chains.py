"""Closed chains of one degree of freedom with motions in one coordinate: an oracle without constraints.

Loops are closed by trigonometry, in SymPy: every mass has a place that is a function of one angle θ. With J(θ) =
Σ m |dx/dθ|² the Lagrangian is ½ J θ̇² − V, and θ̈ = −(½ J′ θ̇² + V′) / J, integrated to rounding.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import sympy
from scipy.integrate import solve_ivp

from formulations.mechanism import Coincident, Frame, Mechanism, rx, ry, rz, tx, ty, tz

G = 9.81
THETA = sympy.Symbol("theta", real=True)


@dataclass(frozen=True)
class Chain:
    """Closed chain: frames, coincident pairs with directions, and the motion in one angle.

    angles: each coordinate's value, by name, as an expression of θ, whose coordinate is the first.
    """

    frames: list[Frame]
    joined: list[tuple[str, str, str]]
    angles: dict[str, sympy.Expr]
    inertia: sympy.Expr  # J(θ)
    potential: sympy.Expr  # V(θ)
    start: float

    def configuration(self, theta: float) -> dict[str, float]:
        return {name: float(value.subs(THETA, theta)) for name, value in self.angles.items()}

    def rates(self, theta: float, rate: float) -> dict[str, float]:
        return {name: rate * float(value.diff(THETA).subs(THETA, theta)) for name, value in self.angles.items()}

    def acceleration(self, theta: float, rate: float) -> float:
        J, J_theta, V_theta = self.terms(theta)
        return -(0.5 * J_theta * rate**2 + V_theta) / J

    @cached_property
    def terms(self) -> Callable[[float], tuple[float, float, float]]:
        found = [self.inertia, self.inertia.diff(THETA), self.potential.diff(THETA)]
        return sympy.lambdify(THETA, found, cse=True)

    def motion(self, times: np.ndarray, rate: float = 0.0) -> np.ndarray:
        """(len, 2) θ and θ̇ at times, from ``start`` and a rate."""
        found = solve_ivp(
            lambda _, y: [y[1], self.acceleration(*y)], (0.0, times[-1]), [self.start, rate], "DOP853", times,
            rtol=1e-12, atol=1e-12,
        )  # fmt: skip
        assert found.success
        return found.y.T


def energies(masses: list[tuple[float, tuple[sympy.Expr, ...]]]) -> tuple[sympy.Expr, sympy.Expr]:
    J = sum(m * sum(x.diff(THETA) ** 2 for x in place) for m, place in masses)
    return J, sum(m * G * place[-1] for m, place in masses)


def four_bar() -> Chain:
    """Crank a, coupler b, rocker c on ground d in the x-z plane; turns about y, so that z = −l sin q."""
    a, b, c, d = 0.6, 1.5, 1.2, 1.4
    masses = {"crank": 1.0, "coupler": 2.0, "rocker": 1.5}
    Bx, Bz = a * sympy.cos(THETA), -a * sympy.sin(THETA)
    f = sympy.sqrt((Bx - d) ** 2 + Bz**2)
    phi = sympy.atan2(-Bz, Bx - d) + sympy.acos((c**2 + f**2 - b**2) / (2 * c * f))
    Cx, Cz = d + c * sympy.cos(phi), -c * sympy.sin(phi)
    psi = sympy.atan2(-(Cz - Bz), Cx - Bx)
    # The crank's mass is at its end, the rocker's at its middle; the coupler's has a moment I.
    moment = 0.4
    J, V = energies([
        (masses["crank"], (Bx, Bz)),
        (masses["rocker"], ((d + Cx) / 2, Cz / 2)),
        (masses["coupler"], ((Bx + Cx) / 2, (Bz + Cz) / 2)),
    ])  # fmt: skip
    J += moment * psi.diff(THETA) ** 2
    coupler = ry(
        "coupler", tx(b / 2, mass=(masses["coupler"], 0.0, moment, 0.0)), tx(b, name="tip"), name="coupler frame"
    )
    frames = [
        ry("crank", tx(a, coupler, mass=masses["crank"])),
        tx(d, ry("rocker", tx(c / 2, mass=masses["rocker"]), tx(c, name="end"))),
    ]
    angles = {"crank": THETA, "coupler": psi - THETA, "rocker": phi}
    return Chain(frames, [("tip", "end", "xz")], angles, J, V, -0.7)


def rssr() -> Chain:
    """A spatial four-bar: a crank about x, a rocker about a skew axis, and a rod with a ball at both of its ends.

    The rod is thin and hangs on the crank by turns about x and y; the rocker stands on the crank's side, turned by 0.4
    about z.
    """
    a, c, rod = 0.5, 0.9, 1.6
    base = np.array([1.1, 0.7, 0.2])
    turn = 0.4
    A = sympy.Matrix([0, -a * sympy.sin(THETA), a * sympy.cos(THETA)])
    # The rocker turns about y of a frame that is turned about z: its end is c (sin φ, 0, cos φ) there.
    x, y = sympy.Matrix([sympy.cos(turn), sympy.sin(turn), 0]), sympy.Matrix([0, 0, 1])
    arm = sympy.Matrix(base) - A
    # |arm + c (x sin φ + z cos φ)|² = rod²
    s, k = 2 * c * arm.dot(x), 2 * c * arm.dot(y)
    phi = sympy.atan2(s, k) + sympy.acos((rod**2 - c**2 - arm.dot(arm)) / sympy.sqrt(s**2 + k**2))
    B = sympy.Matrix(base) + c * (x * sympy.sin(phi) + y * sympy.cos(phi))
    # In the crank's frame the rod is R_x(u) R_y(w) ẑ = (sin w, −sin u cos w, cos u cos w).
    along = (B - A) / rod
    back = sympy.Matrix([
        [1, 0, 0], [0, sympy.cos(THETA), sympy.sin(THETA)], [0, -sympy.sin(THETA), sympy.cos(THETA)],
    ]) * along  # fmt: skip
    angles = {"crank": THETA, "u": sympy.atan2(-back[1], back[2]), "w": sympy.asin(back[0]), "rocker": phi}
    m_crank, m_rod, m_rocker = 0.8, 1.2, 1.1
    # A thin rod moves as two thirds of its mass at its middle and a sixth at each end.
    J, V = energies([
        (m_crank + m_rod / 6, tuple(A)),
        (m_rocker + m_rod / 6, tuple(B)),
        (m_rod * 2 / 3, tuple((A + B) / 2)),
    ])  # fmt: skip
    thin = m_rod * rod**2 / 12
    rod_frames = rx("u", ry("w", tz(rod / 2, mass=(m_rod, thin, thin, 0.0)), tz(rod, name="tip")))
    frames = [
        rx("crank", tz(a, rod_frames, mass=m_crank)),
        tx(base[0], ty(base[1], tz(base[2], rz(turn, ry("rocker", tz(c, name="end", mass=m_rocker)))))),
    ]
    return Chain(frames, [("tip", "end", "xyz")], angles, J, V, 0.6)


def mechanism_of(chain: Chain) -> Mechanism:
    closing = [Coincident(a, b, directions) for a, b, directions in chain.joined]
    return Mechanism("closed chain", chain.frames, constraints=closing)
