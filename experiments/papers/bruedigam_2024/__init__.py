"""J. Brüdigam, S. Sosnowski, Z. Manchester, S. Hirche, Variational integrators and graph-based solvers …, 2024."""

from experiments.papers.bruedigam_2024 import (
    cost,
    drift,
    drop,
    energy,
    graphs,
    learning,
    linkage,
    rehabilitation,
    scaling,
    spheres,
)
from experiments.papers.item import Paper, misprints

MISPRINTS = (
    ("5.2", "Figures 9 (c)–(d)", "Figures 9 (b)–(d)", "the figure's caption: ladder, net and crystal are b, c and d"),
    ("5.2", "matrices with 6n entries", "6n rows and columns", "the authors' program: each node has six unknowns"),
    ("4.2", "the example in Fig. 4 … is shown in Fig. 6", "the example in Fig. 5", "figure 6's caption"),
    ("5.1", "joint damping d = ½ N s/m", "½ N·m·s/rad", "the joint turns"),
    ("5.1, figure 7c", "Δt = 0.1 s", "0.05 s", "the authors' program; both are shown"),
    ("5.3, figure 11", "the time is T/2, a half swing", "2 K(sin π/4)/π T/2 = 1.180 T/2, K the elliptic integral",
     "T is the period of small swings: after T/2 a rod from π/2 is 0.16 rad from the other side; both are shown"),
)  # fmt: skip

PAPER = Paper(
    "bruedigam-2024",
    "J. Brüdigam, S. Sosnowski, Z. Manchester, S. Hirche, Variational integrators and graph-based solvers for "
    "multibody dynamics in maximal coordinates, Multibody System Dynamics, 2024",
    (drift.ITEM, energy.DOUBLE, energy.DAMPED, drop.ITEM, cost.TREE_ITEM, spheres.ITEM, cost.LOOP_ITEM,
     graphs.LADDER_ITEM, graphs.NET_ITEM, graphs.CRYSTAL_ITEM, scaling.TOLERANCE_ITEM, scaling.SCALE_ITEM, linkage.ITEM,
     learning.ITEM, rehabilitation.ITEM, misprints("Brüdigam et al. 2024", MISPRINTS)),
)  # fmt: skip
