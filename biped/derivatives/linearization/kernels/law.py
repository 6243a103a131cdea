"""The rates M⁻¹ p as the torques of a law, so that they can be differentiated like a law."""

from typing import NamedTuple

from biped.kernels.loop.closed_loop import control
from contact.vectors import copy1


class RatesLaw(NamedTuple):
    """A control law whose torques are the rates M⁻¹ p."""

    number: int


@control.register(RatesLaw)
def show_rates(law, measurement, torque, recorded):
    copy1(measurement.motion.rates, torque)
