"""Section VIII-A: what the pendulum is asked to follow, and the trajectory that comes nearest to it."""

import math

import numpy as np

from biped.optimal import Iteration, Optimum, QuadraticCost, Trajectory, optimize, rollout
from biped.optimal.trajectory import Method
from experiments.papers.item import Progress
from formulations.mechanism import DiscreteMechanism

#: N of (35).
STEPS = 100
#: Of q and p, and of u.
STATE_COST, INPUT_COST = (1000.0, 1.0), 50.0
#: Quasi-Newton steps before Newton's, far from the optimum; the tolerance of the cost's slope.
FIRST, TOLERANCE = 4, 1e-6
ASSUMPTIONS = (
    f"the costs, which are not printed: Q = diag({STATE_COST[0]:g}, {STATE_COST[1]:g}), R = {INPUT_COST:g}, the end "
    f"as Q; {FIRST} quasi-Newton steps at first; the search begins with the pendulum at rest: by the authors' program",
    f"converged: the cost's slope along the descent direction is below {TOLERANCE:g}",
)


def desired() -> Trajectory:
    """Return (35): it hangs for half of the time, then stands on its head; no pendulum can."""
    x = np.zeros((STEPS + 1, 2))
    x[STEPS // 2 :, 0] = math.pi
    return Trajectory(x, np.zeros((STEPS, 1)))


def cost() -> QuadraticCost:
    """Return the cost of the distance from ``desired``."""
    return QuadraticCost(desired(), np.diag(STATE_COST), np.diag([INPUT_COST]))


def search(
    system: DiscreteMechanism, method: Method, most: int = 1000, progress: Progress = lambda _: None, expected: int = 14
) -> Optimum:
    """Return the feasible trajectory nearest to ``desired``; ``expected`` iterations count as all for ``progress``."""
    start = rollout(system, np.zeros(2), desired().u)
    done = 0

    def after(_: Iteration) -> None:
        nonlocal done
        done += 1
        progress(min(1.0, done / expected))

    return optimize(
        system, cost(), start, method=method, first_iterations=FIRST, tolerance=TOLERANCE, max_iterations=most,
        progress=after,
    )  # fmt: skip
