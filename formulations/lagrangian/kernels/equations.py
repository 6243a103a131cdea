"""Template of a generated module: the equations of one system under one method.

As an example, it has the equations of a point on a spring, L = (v² − k q²)/2, under the midpoint rule (Wendlandt 1997,
2.23). They document each function, and make ``formulations.lagrangian.kernels.loop`` a complete module that can be
checked and run.

Symbols: q and p are configuration and momentum at the start of a step of length h, c the parameters, y the
configuration at the step's end, and z its unknowns: the discrete velocity u = (y − q)/h, then the multipliers.
"""

from kernelcache import kernel

#: Numbers of coordinates, of unknowns of a step, and of unknowns that are not multipliers.
SIZE, UNKNOWNS, MOTIONS = 1, 1, 1
#: Number of equations that give the velocity from the momentum; True if they are linear in the velocity.
VELOCITY_ROWS, LINEAR_VELOCITY = 1, True
#: Number of recorded quantities in addition to coordinates, momenta and velocities.
OBSERVED = 1
#: True if each step ends with a projection on the hidden constraints (2.37).
PROJECTS = False
#: Factor from the multipliers of a step to those of the continuous equations.
MULTIPLIER_SCALE = 1.0


@kernel
def set_equations(q, p, z, h, c, r, A):
    """Set the step's residual r (error of momentum, then constraints at y divided by h) and A = ∂r/∂z."""
    r[0] = p[0] - z[0] - 0.5 * h * c[0] * (q[0] + 0.5 * h * z[0])
    A[0, 0] = -1.0 - 0.25 * h * h * c[0]


@kernel
def set_end(q, p, z, r, h, c, y, p_end):
    """Set configuration and momentum at the step's end; the remaining residual r is added to the momentum."""
    y[0] = q[0] + h * z[0]
    p_end[0] = z[0] - 0.5 * h * c[0] * (q[0] + 0.5 * h * z[0]) + r[0]


@kernel
def set_guess(q, v, c, z):
    """Set the first guess z of the unknowns of a first step, from the velocity."""
    z[0] = v[0]


@kernel
def set_velocity_equations(q, p, w, c, r, A):
    """Set residual r and A = ∂r/∂w of p = D₂L(q, v) + Dᵀg μ and Dg v = 0, for w = (v, μ)."""
    r[0] = w[0] - p[0]
    A[0, 0] = 1.0


@kernel
def set_tangent(q, p, w, c, p_end):
    """Set ``p_end`` to p − Dᵀg μ."""
    p_end[0] = p[0]


@kernel
def set_momentum(q, v, c, p):
    """Set the momentum p to D₂L(q, v)."""
    p[0] = v[0]


@kernel
def set_observed(q, p, v, c, observed):
    """Set the recorded quantities: the energy, then conserved ones."""
    observed[0] = 0.5 * v[0] * v[0] + 0.5 * c[0] * q[0] * q[0]
