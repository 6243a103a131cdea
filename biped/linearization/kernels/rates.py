"""The rates M⁻¹ p as what a law asks for, so that they are differentiated as laws are."""

from typing import NamedTuple

from biped.kernels.loop.closed_loop import control
from contact.vectors import copy1


class RatesLaw(NamedTuple):
    """Of a controller that shows the rates; no plant is to be driven by it."""

    number: int


@control.register(RatesLaw)
def show_rates(law, measurement, torque, recorded):
    copy1(measurement.motion.rates, torque)
