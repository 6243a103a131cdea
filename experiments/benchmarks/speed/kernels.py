"""A compiled law that does nothing: what is left of a tick's time is the loop's."""

from typing import NamedTuple

from biped.kernels.loop.closed_loop import control


class Slack(NamedTuple):
    """A law that asks for nothing."""


@control.register(Slack)
def ask_for_nothing(law, measurement, torque, recorded):
    """Leave the torques at zero."""
