"""J. Lee, C. K. Liu, F. C. Park, S. S. Srinivasa, A Linear-Time Variational Integrator for Multibody Systems, 2016."""

from experiments.papers.item import Paper
from experiments.papers.lee_2016 import convergence, runs, speed

PAPER = Paper(
    "lee-2016",
    "J. Lee, C. K. Liu, F. C. Park, S. S. Srinivasa, A Linear-Time Variational Integrator for Multibody Systems, "
    "Algorithmic Foundations of Robotics XII, 2016, doi 10.1007/978-3-030-43089-4_23",
    (runs.ENERGY, speed.ITEM, convergence.ITEM, runs.ITERATIONS),
)
