"""The law that steps: what a step is planned by, longhand; recoveries that need one; what it is without one."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from biped import Fall, InputError, Push, Scene, Session, chain, human, simulate
from biped.simulation.snapshot import arrays_of
from controllers import Stepping, WholeBodyController
from controllers.kernels.step_plan import (
    BACK, OMEGA, SEEN, TIMES, Seen, beyond_hull, nearest_in_hull, past_other_leg, plan_step,
)  # fmt: skip
from controllers.kernels.stepping import PHASE, STANDS, SWING, SWINGS, TAKEN

START = 0.1  # [s] of the push


def scene(law, angle, impulse, duration=3.0, **options):
    """0 drives it forwards, π/2 to its left: it faces −x."""
    push = Push("trunk", (-math.cos(angle), -math.sin(angle), 0.0), impulse=impulse, start=START, duration=0.1)
    return Scene(human(), law, disturbances=(push,), duration=duration, step=1e-3, fall=Fall(), **options)


def pushed(law, angle, impulse, **options):
    return scene(law, angle, impulse, **options).run()


def steps_of(run):
    return int(run.frame["steps_taken"].iloc[-1])


@pytest.mark.parametrize(("angle", "impulse"), [(0.0, 28.0), (1.57, 45.0), (3.14, 23.0)])
def test_below_nine_tenths_of_what_it_can_take_in_place_it_is_the_whole_body_law(angle, impulse):
    stepping, standing = (pushed(law, angle, impulse, duration=1.5) for law in (Stepping(), WholeBodyController()))
    assert steps_of(stepping) == 0
    for column in standing.frame.columns:
        np.testing.assert_array_equal(stepping.frame[column], standing.frame[column], err_msg=column)
