"""Measures of posturography for quiet stance, from arrays of a centre of pressure or of mass."""

from biped.metrics.posturography.density import sway_density
from biped.metrics.posturography.diffusion import diffusion_curve, diffusion_measures
from biped.metrics.posturography.regularity import detrended_fluctuation, fluctuation_exponent, sample_entropy
from biped.metrics.posturography.sway import AXES, mean_power_frequency, measures_of, power_spectrum, sway_measures

__all__ = [
    "AXES", "detrended_fluctuation", "diffusion_curve", "diffusion_measures", "fluctuation_exponent",
    "mean_power_frequency", "measures_of", "power_spectrum", "sample_entropy", "sway_density",
    "sway_measures",
]  # fmt: skip
