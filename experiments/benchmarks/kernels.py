"""A compiled law that does nothing, so that a tick's time is the loop's; and programs, solved again."""

from typing import NamedTuple

from biped.kernels.loop.closed_loop import control
from controllers.kernels.contact_qp import SOLVED, factor_contact_qp, solve_contact_qp
from controllers.kernels.forward_model import feel_feet, swinging_foot, tell_asked
from kernelcache import routine


class Slack(NamedTuple):
    """A law that asks for nothing."""


@control.register(Slack)
def ask_for_nothing(law, measurement, torque, recorded):
    """Leave the torques at zero."""


@tell_asked.register(Slack)
def tell_nothing_asked(law, asked):
    asked[:] = 0.0


@swinging_foot.register(Slack)
def none_swings(law):
    return -1


@feel_feet.register(Slack)
def feel_nothing(law, measurement):
    pass


@routine
def solve_again(qp, hessian, bounded, count):
    """Factor and solve a program ``count`` times, as a tick does once; return how it ended."""
    ended = SOLVED
    for _ in range(count):
        for i in range(hessian.shape[0]):
            for k in range(i + 1):
                qp.hessian[i, k] = hessian[i, k]
        factor_contact_qp(qp)
        ended = solve_contact_qp(qp, bounded)
    return ended
