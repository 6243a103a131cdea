"""E. Johnson, J. Schultz, T. Murphey, Structured Linearization of Discrete Mechanical Systems, 2014."""

from experiments.papers.item import Paper
from experiments.papers.johnson_schultz_murphey_2014 import (
    convergence,
    misprints,
    pendulum,
    picture,
    regulation,
    run_times,
    singularities,
    stabilization,
)

PAPER = Paper(
    "johnson-schultz-murphey-2014",
    "E. Johnson, J. Schultz, T. Murphey, Structured Linearization of Discrete Mechanical Systems for Analysis and "
    "Optimal Control, IEEE Transactions on Automation Science and Engineering, 2014",
    (
        pendulum.ITEM,
        singularities.ITEM,
        convergence.ITEM,
        regulation.ITEM,
        picture.ITEM,
        stabilization.ITEM,
        run_times.ITEM,
        misprints.ITEM,
    ),
)
