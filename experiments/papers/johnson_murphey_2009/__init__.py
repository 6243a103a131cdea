"""E. Johnson, T. Murphey, Scalable Variational Integrators for Constrained Mechanical Systems, 2009."""

from experiments.papers.item import Paper
from experiments.papers.johnson_murphey_2009 import (
    closed_chain,
    human_tree,
    links,
    misprints,
    pendulum,
    precision,
    scissor,
    segments,
)

PAPER = Paper(
    "johnson-murphey-2009",
    "E. Johnson, T. Murphey, Scalable Variational Integrators for Constrained Mechanical Systems in Generalized "
    "Coordinates, IEEE Transactions on Robotics, 2009",
    (
        pendulum.ITEM,
        human_tree.ITEM,
        links.ITEM,
        closed_chain.ITEM,
        scissor.SHORT_ITEM,
        scissor.LONG_ITEM,
        segments.ITEM,
        precision.ITEM,
        misprints.ITEM,
    ),
)
