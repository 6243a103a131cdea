"""E. Johnson, T. Murphey, Scalable Variational Integrators for Constrained Mechanical Systems, 2009."""

from experiments.papers.item import Paper, items_of, misprints
from experiments.papers.johnson_murphey_2009 import energy, human_tree, links, scissor, segments

_DERIVED = "derived; our derivatives agree with finite differences and with SymPy"
#: Place in the paper, printed text, correction, evidence.
MISPRINTS = (
    ("V-A, both algorithms", "while |f| < tolerance", "while |f| > tolerance", "as printed, it ends immediately"),
    ("V-A, before the rearranged algorithm", "q = (1 − α) q_k + q_{k+1}", "q = (1 − α) q_k + α q_{k+1}", "(19)"),
    ("IV-C 2, ∂²x/∂q_i∂q_j of the spring", "−½ x⁻² ∂x/∂q_j vᵀ ∂v/∂q_i",
     "−x⁻² ∂x/∂q_j vᵀ ∂v/∂q_i = −x⁻¹ ∂x/∂q_j ∂x/∂q_i", _DERIVED),
    ("VI-C, Lagrangian of the scissor lift", "m_L L² ((½ − n)² cos² θ + ½ sin² θ + I)",
     "m_L L² ((n − ½)² cos² θ + ¼ sin² θ) + I", "the energy of the mechanism's bodies (figure-11)"),
    ("listing 1, the arm K", '(tz -1.0 (Name "O")))))', '(tz -1.0 (Name "O"))))))',
     "57 parentheses are opened and 56 closed in our copy; the printed text is refused"),
    ("VI-C, caption of figure 10", "no rotational inertia", "rotational inertia I", "the text; the authors' program"),
    ("II, composition", "g_bc … from frame c to frame a", "from frame c to frame b", "the product g_ab g_bc"),
    ("III-B, before (3)", "R1 guarantees ∂g_k/∂q_i = 0, R2 implies …", "R2, and R1 with R2", "what R1 and R2 say"),
    ("table II", "(MASS $string)", "(MASS $number {$number $number $number}?)", "V-D 4; listing 1"),
    ("table II", "SYSTEM", "mechanical-system (listing 1)", "both are accepted"),
    ("table II", "POINT-CONSTRAINT … $number $number $number", "the direction in parentheses (listing 1)",
     "both are accepted"),
)  # fmt: skip

#: Name, title, place in the paper, function that recomputes the item, and packages that it needs.
_ITEMS = (
    ("figure-1", "energy of a pendulum over 5000 s", "figure 1", energy.pendulum_energy, ("pybullet",)),
    ("figure-2", "a planar human as a tree", "figure 2, table I", human_tree.produce),
    ("figure-7", "run time over the number of links", "figure 7, section VI-A", links.produce),
    ("figure-8", "energy of the closed-chain device over 120 s", "figures 6 and 8, listing 1",
     energy.closed_chain_energy, ("pybullet",)),
    ("figure-11", "trajectories of the scissor lift over 10 s", "figures 9 to 11", scissor.short_run, ("pybullet",)),
    ("figure-12", "the scissor lift after 1000 s", "figure 12", scissor.long_run),
    ("figure-13", "run time of the scissor lift at the same error", "figure 13, equation (47)", segments.produce,
     ("pybullet",)),
)  # fmt: skip
PAPER = Paper(
    "johnson-murphey-2009",
    "E. Johnson, T. Murphey, Scalable Variational Integrators for Constrained Mechanical Systems in Generalized "
    "Coordinates, IEEE Transactions on Robotics, 2009",
    (*items_of("Johnson and Murphey 2009", _ITEMS), misprints("Johnson and Murphey 2009", MISPRINTS)),
)
