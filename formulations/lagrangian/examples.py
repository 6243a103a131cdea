"""The two systems of Wendlandt 1997, section 2.4."""

from collections.abc import Sequence

import sympy
from sympy import Expr, Matrix, Symbol

from biped.errors import InputError
from formulations.lagrangian.derive import conjugate, quaternion_product
from formulations.lagrangian.system import Chart, System, rates


def rigid_body(inertia: Sequence[float] | Sequence[Sequence[float]]) -> System:
    """Return a free rigid body in unit quaternions (Wendlandt 1997, (2.46) and the discrete Lagrangian (2.51)).

    The coordinates ``qw, qx, qy, qz`` rotate body to world axes; ``angular_momentum_x`` … ``_z`` [N·m·s] in world axes
    are conserved. The chart's coordinates ``s_x, s_y, s_z`` are (qx, qy, qz); it is valid while qw > 0.

    Args:
        inertia: [kg·m²] inertia about the centre of mass, in body axes: (3,) principal moments or (3, 3) matrix.

    Raises:
        InputError: ``inertia`` has another shape, or is not symmetric and positive definite.
    """
    import numpy as np

    given = np.array(inertia, dtype=np.float64)
    matrix = np.diag(given) if given.shape == (3,) else given
    if matrix.shape != (3, 3) or not np.all(np.isfinite(matrix)) or not np.array_equal(matrix, matrix.T):
        raise InputError(f"inertia {inertia!r}: it must be three principal values or a symmetric 3 × 3 matrix")
    if np.linalg.eigvalsh(matrix)[0] <= 0.0:
        raise InputError(f"inertia {inertia!r}: it must be positive definite")
    names = [[f"j_{'xyz'[min(i, j)]}{'xyz'[max(i, j)]}" for j in range(3)] for i in range(3)]
    J = Matrix(3, 3, lambda i, j: Symbol(names[i][j], real=True))
    q = sympy.symbols("qw qx qy qz", real=True)
    v = rates(q)
    omega = Matrix([2 * x for x in quaternion_product(conjugate(q), v)[1:]])
    spatial = quaternion_product(quaternion_product(q, [sympy.S.Zero, *(J * omega)]), conjugate(q))[1:]

    def discrete(y: tuple[Symbol, ...], x: tuple[Symbol, ...], h: Symbol) -> Expr:
        chord = Matrix(quaternion_product(conjugate(x), y)[1:]) - Matrix(quaternion_product(conjugate(y), x)[1:])
        return (chord.T * J * chord)[0, 0] / (2 * h**2)

    s = sympy.symbols("s_x s_y s_z", real=True)
    return System(
        coordinates=q,
        lagrangian=(omega.T * J * omega)[0, 0] / 2,
        constraints=[sum(x * x for x in q) - 1],
        discrete_lagrangian=discrete,
        chart=Chart(s, [sympy.sqrt(1 - sum(x * x for x in s)), *s]),
        conserved={f"angular_momentum_{axis}": row for axis, row in zip("xyz", spatial, strict=True)},
        parameters={J[i, j]: float(matrix[i, j]) for i in range(3) for j in range(i, 3)},
        inertia=J,
    )


def double_spherical_pendulum(
    m1: float = 2.0, m2: float = 3.5, l1: float = 4.0, l2: float = 3.0, g: float = 9.81
) -> System:
    """Return a double spherical pendulum, two point masses on massless rods (Wendlandt 1997, (2.54), (2.55)).

    The coordinates are ``x1, y1, z1, x2, y2, z2`` [m], z up; ``angular_momentum_z`` [N·m·s] is conserved. The chart has
    two angles [rad] of each rod: ``a`` from the downward vertical in the xz plane, ``b`` out of this plane.

    Args:
        m1: [kg] mass nearer to the pivot at the origin; all defaults are from Wendlandt 1997.
        m2: [kg] mass at the end.
        l1: [m] length of the rod between the pivot and ``m1``.
        l2: [m] length of the rod between ``m1`` and ``m2``.
        g: [m/s²] gravitational acceleration, along −z.

    Raises:
        InputError: a mass or a length is not above zero.
    """
    values = {"m1": m1, "m2": m2, "l1": l1, "l2": l2, "g": g}
    for name in ("m1", "m2", "l1", "l2"):
        if not values[name] > 0.0:
            raise InputError(f"{name} = {values[name]!r}: it must be above zero")
    M1, M2, L1, L2, G = parameters = sympy.symbols("m1 m2 l1 l2 g", real=True)
    q = sympy.symbols("x1 y1 z1 x2 y2 z2", real=True)
    v = rates(q)
    rod = [b - a for a, b in zip(q[:3], q[3:], strict=True)]
    a1, b1, a2, b2 = angles = sympy.symbols("a1 b1 a2 b2", real=True)
    first = [L1 * sympy.sin(a1) * sympy.cos(b1), L1 * sympy.sin(b1), -L1 * sympy.cos(a1) * sympy.cos(b1)]
    second = [L2 * sympy.sin(a2) * sympy.cos(b2), L2 * sympy.sin(b2), -L2 * sympy.cos(a2) * sympy.cos(b2)]
    return System(
        coordinates=q,
        mass=[M1, M1, M1, M2, M2, M2],
        potential=G * (M1 * q[2] + M2 * q[5]),
        constraints=[sum(x * x for x in q[:3]) - L1**2, sum(x * x for x in rod) - L2**2],
        chart=Chart(angles, [*first, *(a + b for a, b in zip(first, second, strict=True))]),
        conserved={"angular_momentum_z": M1 * (q[0] * v[1] - q[1] * v[0]) + M2 * (q[3] * v[4] - q[4] * v[3])},
        parameters=dict(zip(parameters, values.values(), strict=True)),
    )
