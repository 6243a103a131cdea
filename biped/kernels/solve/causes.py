"""Causes of a failed step; a solver returns a cause, or its number of iterations.

All causes are negative and shared by trees, mechanisms, assemblies and Lagrangian systems;
``biped.integrators.causes`` has a sentence for each.
"""

import math

from kernelcache import kernel

NOT_CONVERGED = -1  # no convergence within the iterations, or no reduction within the backtracks
NOT_FINITE = -2  # a number became infinite or NaN
TURNED_TOO_FAR = -3  # a body turns by more than 90°, or a joint by more than 180°: the solution is spurious
LANDED_TOO_DEEP = -4  # a point lands deeper than ``landing_depth``; never in the smallest part of a step
COLLISION_FAILED = -5  # a collision, or the flight of a projectile, has no solution
STUCK = -6  # no part of Newton's step reduces the residual
SINGULAR = -7  # the derivative of the equations has no inverse
DEPENDENT = -8  # constraints imply one another, so that their forces are not determined
NO_VELOCITY = -9  # no velocity has this momentum
CREATES_ENERGY = -10  # joints and contacts create energy


@kernel
def cause_of(norm):
    """Return the cause of a failed search by its last residual norm, which is inf without progress."""
    return NOT_FINITE if math.isnan(norm) else NOT_CONVERGED
