"""E. Johnson, J. Schultz, T. Murphey, Structured Linearization of Discrete Mechanical Systems, 2014."""

from experiments.papers.item import Paper, misprints
from experiments.papers.johnson_schultz_murphey_2014 import (
    convergence,
    feedback,
    pendulum,
    puppet,
    run_times,
    singularities,
)

#: Place, printed, right, how one knows.
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
    ("VII-B, det[Dh M⁻¹ Dhᵀ]", "−4 Δt²/m (x x' + y y')", "−4 Δt/m (x x' + y y')", "singularities"),
)  # fmt: skip

PAPER = Paper(
    "johnson-schultz-murphey-2014",
    "E. Johnson, J. Schultz, T. Murphey, Structured Linearization of Discrete Mechanical Systems for Analysis and "
    "Optimal Control, IEEE Transactions on Automation Science and Engineering, 2014",
    (pendulum.ITEM, singularities.ITEM, convergence.ITEM, feedback.REGULATION, puppet.ITEM, feedback.STABILIZATION,
     run_times.ITEM, misprints("Johnson, Schultz and Murphey 2014", MISPRINTS)),
)  # fmt: skip
