"""Why a step, or a loop of steps, came back; ``biped.simulation.failures`` has a sentence for each cause of failure."""

import math

from contact.jit import kernel

OK = 0
LOG_FULL = 2

# Limits of a fall that were hit.
TOO_LOW = 1  # the root is too low above the floor
TOO_TILTED = 3  # its vertical axis is too far from the world's
JOINT_TOO_FAST = 4  # a joint's rate is out of control
LIMITS = (TOO_LOW, TOO_TILTED, JOINT_TOO_FAST)

# Causes of failure are negative: what solves a step returns one of them, or its number of iterations.
NOT_CONVERGED = -1  # the iterations, or the backtracks of one, are used up
NOT_FINITE = -2  # a number became infinite or NaN
TURNED_TOO_FAR = -3  # a body by more than 90°, or a joint by more than 180°: the solution is another motion's
LANDED_TOO_DEEP = -4  # a point lands deeper than ``landing_depth``; never in the smallest part of a step
COLLISION_FAILED = -5  # a collision, or the flight of a projectile, has no solution


@kernel
def cause_of(norm):
    """Why a search ended without a solution, by the residual's norm that it ended at: inf where it made no progress."""
    return NOT_FINITE if math.isnan(norm) else NOT_CONVERGED
