"""J. Lee, C. K. Liu, F. C. Park, S. S. Srinivasa, A Linear-Time Variational Integrator for Multibody Systems, 2016."""

from experiments.papers.item import Paper, items_of, misprints
from experiments.papers.lee_2016 import convergence, runs, speed

#: Name, title, place in the paper, function that recomputes the item, and packages that it needs.
_ITEMS = (
    ("figure-2b", "energy of a passive chain of ten bodies", "figure 2 (b)", runs.energy),
    ("figure-3", "computation time over the number of bodies", "figure 3", speed.produce),
    ("figure-4a", "error of a step over its iterations", "figure 4 (a)", convergence.produce),
    ("figure-4b", "iterations of the steps of a run", "figure 4 (b)", runs.iterations),
)  # fmt: skip
#: Place in the paper, printed text, correction, evidence.
MISPRINTS = (
    ("2.2, before (5)", "spatial velocity V", "velocity in the body's axes", "G of (7) is constant, as in (10)"),
    ("(16b), (16c)", "D₂L_d, D₁L_d", "their negatives", "(9), (14); as printed, (17) and (21a) contradict"),
    ("(16b), (16c)", "T* P(T)", "T* ∂P/∂T", "P of (6) is a number"),
    ("(21a), algorithm 2", "no potential", "that of (16), or within F^ext", "(16), (17)"),
    ("3.1, after (19)", "V_i = S_i q̇_i of a body", "of the body against its parent", "(18)"),
    ("(25)", "M⁻¹(q^k_(l))", "M⁻¹(q^k)", "(24), algorithm 3"),
    ("algorithm 3, line 4", "‖e < ε‖", "‖e‖ < ε", "algorithm 1"),
    ("3.3, IG3", "M⁻¹(−C + Q))", "M⁻¹(−C q̇ + Q)", "(23)"),
)
PAPER = Paper(
    "lee-2016",
    "J. Lee, C. K. Liu, F. C. Park, S. S. Srinivasa, A Linear-Time Variational Integrator for Multibody Systems, "
    "Algorithmic Foundations of Robotics XII, 2016, doi 10.1007/978-3-030-43089-4_23",
    (*items_of("Lee et al. 2016", _ITEMS), misprints("Lee et al. 2016", MISPRINTS)),
)
