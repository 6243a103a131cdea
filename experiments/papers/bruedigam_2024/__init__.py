"""J. Brüdigam, S. Sosnowski, Z. Manchester, S. Hirche, Variational integrators and graph-based solvers …, 2024."""

from experiments.papers.bruedigam_2024 import (
    cost,
    damping,
    drift,
    drop,
    energy,
    graphs,
    learning,
    linkage,
    misprints,
    rehabilitation,
    scaling,
    spheres,
    tolerance,
)
from experiments.papers.item import Paper

PAPER = Paper(
    "bruedigam-2024",
    "J. Brüdigam, S. Sosnowski, Z. Manchester, S. Hirche, Variational integrators and graph-based solvers for "
    "multibody dynamics in maximal coordinates, Multibody System Dynamics, 2024",
    (
        drift.ITEM,
        energy.ITEM,
        damping.ITEM,
        drop.ITEM,
        cost.TREE_ITEM,
        spheres.ITEM,
        cost.LOOP_ITEM,
        graphs.LADDER_ITEM,
        graphs.NET_ITEM,
        graphs.CRYSTAL_ITEM,
        tolerance.ITEM,
        scaling.ITEM,
        linkage.ITEM,
        learning.ITEM,
        rehabilitation.ITEM,
        misprints.ITEM,
    ),
)
