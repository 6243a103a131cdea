"""J. Brüdigam, S. Sosnowski, Z. Manchester, S. Hirche, Variational integrators and graph-based solvers …, 2024."""

from functools import partial

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
    tolerances,
)
from experiments.papers.item import Paper, items_of, misprints

MISPRINTS = (
    ("5.2", "Figures 9 (c)–(d)", "Figures 9 (b)–(d)", "the figure's caption: ladder, net and crystal are b, c and d"),
    ("5.2", "matrices with 6n entries", "6n rows and columns", "the authors' program: each node has six unknowns"),
    ("4.2", "the example in Fig. 4 … is shown in Fig. 6", "the example in Fig. 5", "figure 6's caption"),
    ("5.1", "joint damping d = ½ N s/m", "½ N·m·s/rad", "the joint turns"),
    ("5.1, figure 7c", "Δt = 0.1 s", "0.05 s", "the authors' program; both are shown"),
    ("5.3, figure 11", "the time is T/2, a half swing", "2 K(sin π/4)/π T/2 = 1.180 T/2, K the elliptic integral",
     "T is the period of small swings: after T/2 a rod from π/2 is 0.16 rad from the other side; both are shown"),
)  # fmt: skip

#: Name, title, place in the paper, function that recomputes the item, and packages that it needs.
_ITEMS = (
    ("figure-7a", "constraint drift of a loop", "figure 7a, section 5.1", drift.produce),
    ("figure-7b", "energy of a double pendulum", "figure 7b, section 5.1", energy.double_pendulum),
    ("figure-7c", "energy of a damped pendulum", "figure 7c, section 5.1", energy.damped_pendulum),
    ("figure-7d", "a dropped cube", "figure 7d, section 5.1", drop.produce),
    ("figure-8a", "cost of a step of pendulums", "figure 8a, section 5.2", cost.tree),
    ("figure-8b", "cost of a step of spheres on a floor", "figure 8b, section 5.2", spheres.produce, ("mujoco",)),
    ("figure-9a", "cost of a step of chained loops", "figure 9a, section 5.2", cost.loops),
    ("figure-9b", "linear systems on a ladder", "figure 9b, section 5.2", partial(graphs.produce, "ladder")),
    ("figure-9c", "linear systems on a net", "figure 9c, section 5.2", partial(graphs.produce, "net")),
    ("figure-9d", "linear systems on a crystal", "figure 9d, section 5.2", partial(graphs.produce, "crystal")),
    ("figure-10", "long pendulums at small tolerances", "figure 10, section 5.3", tolerances.produce),
    ("figure-11", "pendulums of three sizes", "figure 11, section 5.3", scaling.scales),
    ("figure-12", "a double four-bar linkage", "figure 12, section 5.3", linkage.produce),
    ("figure-13", "a quadruped learns to walk", "figure 13, section 5.4", learning.produce),
    ("figure-14", "an exoskeleton's gains", "figure 14, section 5.4", rehabilitation.produce),
)  # fmt: skip
PAPER = Paper(
    "bruedigam-2024",
    "J. Brüdigam, S. Sosnowski, Z. Manchester, S. Hirche, Variational integrators and graph-based solvers for "
    "multibody dynamics in maximal coordinates, Multibody System Dynamics, 2024",
    (*items_of("Brüdigam et al. 2024", _ITEMS), misprints("Brüdigam et al. 2024", MISPRINTS)),
)
