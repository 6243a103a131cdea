"""E. Johnson, J. Schultz, T. Murphey, Structured Linearization of Discrete Mechanical Systems, 2014."""

from experiments.papers.item import Paper, items_of, misprints
from experiments.papers.johnson_schultz_murphey_2014 import (
    convergence,
    feedback,
    pendulum,
    puppet,
    run_times,
    singularities,
)

#: Place in the paper, printed text, correction, evidence.
MISPRINTS = (
    ("IV-A, ∂q_{k+1}/∂u_k", "0.0976 · 0.01", "0.0976 · 0.1", "D₃F⁻ = Δt; the result, 0.00976, is right"),
    ("VIII-A, the gain 𝒦(k)", "[R + BᵀPB]⁻¹ BᵀPB", "[R + BᵀPB]⁻¹ BᵀPA", "(36a); as printed it has no state's columns"),
    ("(12)", "D₃F_{k+1}^{−1}", "D₃F_{k+1}^{−}", "(2a)"),
    ("(18)", "D₂D₂F_{k+1}^{−1}", "D₂D₂F_{k+1}^{−}", "(2a)"),
    ("(29), (30), VII", "M_k", "M_{k+1}", "(8), (31)"),
    ("(32)", "[Dh M⁻¹ Dhᵀ] · […]", "[Dh M⁻¹ Dhᵀ]⁻¹ · […]",
     "(30); our second derivatives agree with differences of the first"),
    ("VII-A, L_d", "without the factor Δt", "with it, as (3a)", "(34), which holds with it alone (singularities)"),
    ("(33)", "rows ordered (φ, θ)", "(θ, φ), as q is", "∂²L/∂θ̇² = m r²"),
    ("VII-B, L_d, M_{k+1}", "without the factor Δt; −m/Δt²", "−m/Δt", "(3a), by which L_d approximates the action"),
    ("VII-A, where M_{k+1} is singular", "θ_{k+1} + θ_k = nπ", "2nπ", "(34); the determinant at π (singularities)"),
    ("VII-A, last sentence", "an upper bound on |φ_k − φ_{k+1}| keeps M regular", "none is needed",
     "(34): with Δt < √(4r/g) its bracket is positive whatever φ does, as r (2 + cos(θ + θ')) (φ − φ')² ≥ 0"),
    ("VII-B, det[Dh M⁻¹ Dhᵀ]", "−4 Δt²/m (x x' + y y')", "−4 Δt/m (x x' + y y')", "singularities"),
)  # fmt: skip

#: Name, title, place in the paper, function that recomputes the item, and packages that it needs.
_ITEMS = (
    ("pendulum", "a step of a pendulum and its derivatives", "sections II-A, IV-A, V-A 1, V-B 1", pendulum.produce),
    ("singularities", "determinants of a spherical and of a constrained pendulum", "section VII, (34)",
     singularities.produce),
    ("figure-3", "convergence of a first- and of a second-order search", "figure 3, (35)", convergence.produce),
    ("figure-4", "feedback that returns a pendulum to its trajectory", "figure 4, (36), (37)", feedback.regulate),
    ("figure-5", "the marionette", "figure 5, section VIII-B", puppet.produce),
    ("figure-6", "feedback that returns the marionette to its motion (figure 7: the torso)",
     "figures 6 and 7, section VIII-B", feedback.stabilize),
    ("run-times", "a step of the marionette and its linearizations", "section VIII-B", run_times.produce),
)  # fmt: skip
PAPER = Paper(
    "johnson-schultz-murphey-2014",
    "E. Johnson, J. Schultz, T. Murphey, Structured Linearization of Discrete Mechanical Systems for Analysis and "
    "Optimal Control, IEEE Transactions on Automation Science and Engineering, 2014",
    (*items_of("Johnson, Schultz and Murphey 2014", _ITEMS), misprints("Johnson, Schultz and Murphey 2014", MISPRINTS)),
)
