"""J. Lee, C. K. Liu, F. C. Park, S. S. Srinivasa, A Linear-Time Variational Integrator for Multibody Systems, 2016."""

from experiments.papers.item import Paper, items_of
from experiments.papers.lee_2016 import convergence, runs, speed

#: Name, title, place in the paper, what recomputes it, and packages that it needs.
_ITEMS = (
    ("figure-2b", "energy of a passive chain of ten bodies", "figure 2 (b)", runs.energy),
    ("figure-3", "computation time over the number of bodies", "figure 3", speed.produce),
    ("figure-4a", "error of a step over its iterations", "figure 4 (a)", convergence.produce),
    ("figure-4b", "iterations of the steps of a run", "figure 4 (b)", runs.iterations),
)  # fmt: skip
PAPER = Paper(
    "lee-2016",
    "J. Lee, C. K. Liu, F. C. Park, S. S. Srinivasa, A Linear-Time Variational Integrator for Multibody Systems, "
    "Algorithmic Foundations of Robotics XII, 2016, doi 10.1007/978-3-030-43089-4_23",
    items_of("Lee et al. 2016", _ITEMS),
)
