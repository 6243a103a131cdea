"""Stand-in for a generated module: the equations of one system under one method.

The equations here are those of a point on a spring, L = (v² − k q²)/2, under the midpoint rule (Wendlandt 1997, 2.23).
They say what each function is for, and let ``formulations.lagrangian.kernels.loop`` be read, checked and run as it
stands.

Symbols: q, p configuration and momentum at the start of a step, h its length, c the parameters; z the unknowns of a
step, the discrete velocity u = (y − q)/h first and the multipliers after it; y the configuration at its end.
"""

from kernelcache import kernel

#: Coordinates; unknowns of a step; unknowns that are not multipliers.
SIZE, UNKNOWNS, MOTIONS = 1, 1, 1
#: Rows of the system that gives the velocity from the momentum, and whether it is linear in the velocity.
VELOCITY_ROWS, LINEAR_VELOCITY = 1, True
#: Recorded quantities in addition to coordinates, momenta and velocities.
OBSERVED = 1
#: Whether each step ends with a projection on the hidden constraints (2.37).
PROJECTS = False
#: Factor from a multiplier of the step to one of the continuous equations.
MULTIPLIER_SCALE = 1.0


@kernel
def set_equations(q, p, z, h, c, r, A):
    """Set the step's residual r (missing momentum; constraints at y over h) and A = ∂r/∂z."""
    r[0] = p[0] - z[0] - 0.5 * h * c[0] * (q[0] + 0.5 * h * z[0])
    A[0, 0] = -1.0 - 0.25 * h * h * c[0]


@kernel
def set_end(q, p, z, r, h, c, y, p_end):
    """Set configuration and momentum at the step's end; the solver's remaining r is carried over."""
    y[0] = q[0] + h * z[0]
    p_end[0] = z[0] - 0.5 * h * c[0] * (q[0] + 0.5 * h * z[0]) + r[0]


@kernel
def set_guess(q, v, c, z):
    """Unknowns of a first step, from the velocity."""
    z[0] = v[0]


@kernel
def set_velocity_equations(q, p, w, c, r, A):
    """Set residual and derivative of p = D₂L(q, v) + Dᵀg μ, Dg v = 0 for w = (v, μ)."""
    r[0] = w[0] - p[0]
    A[0, 0] = 1.0


@kernel
def set_tangent(q, p, w, c, p_end):
    """p − Dᵀg μ."""
    p_end[0] = p[0]


@kernel
def set_momentum(q, v, c, p):
    """D₂L(q, v)."""
    p[0] = v[0]


@kernel
def set_observed(q, p, v, c, observed):
    """Energy first."""
    observed[0] = 0.5 * v[0] * v[0] + 0.5 * c[0] * q[0] * q[0]
