"""Frequency responses of balance to periodic perturbations, and closed-form models of them."""

from biped.identification.channels import IndependentChannels
from biped.identification.double_pendulum import DoublePendulum
from biped.identification.response import FrequencyResponse, frequency_response, response_of
from biped.identification.spectra import Spectra, cycle_spectra
from biped.identification.windows import response_to_several, windowed_spectra

__all__ = [
    "DoublePendulum", "FrequencyResponse", "IndependentChannels", "Spectra", "cycle_spectra", "frequency_response",
    "response_of", "response_to_several", "windowed_spectra",
]  # fmt: skip
