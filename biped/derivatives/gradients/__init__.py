"""Exact gradients of whole trials with respect to parameters of controller, model and floor (adjoint method)."""

from biped.derivatives.gradients.gradient import Differentiator, Gradient, NoGradientError, gradient
from biped.derivatives.gradients.objectives import DIFFERENTIABLE, is_differentiable
from biped.derivatives.gradients.parameters import Effect, Parameter, effect_of

__all__ = [
    "DIFFERENTIABLE", "Differentiator", "Effect", "Gradient", "NoGradientError", "Parameter", "effect_of", "gradient",
    "is_differentiable",
]  # fmt: skip
