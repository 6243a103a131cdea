"""Exact linearizations of a step, or of a control period with its controller, with eigenvalues and modes."""

from biped.derivatives.linearization.equilibrium import equilibrium
from biped.derivatives.linearization.kinks import Kink, KinkError
from biped.derivatives.linearization.linearization import Linearization, Mode
from biped.derivatives.linearization.linearizer import Linearizer, linearize
from biped.derivatives.linearization.sensitivity import GainSensitivity, gain_sensitivities, radius_slope
from biped.derivatives.linearization.stance import held_stance, linearize_stance, warm_up_stance

__all__ = [
    "GainSensitivity", "Kink", "KinkError", "Linearization", "Linearizer", "Mode", "equilibrium", "gain_sensitivities",
    "held_stance", "linearize", "linearize_stance", "radius_slope", "warm_up_stance",
]  # fmt: skip
