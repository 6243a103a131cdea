"""Rambling and trembling: the point that a sway is about, and the sway about it (Zatsiorsky and Duarte 1999)."""

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from biped.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

#: Points of equilibrium that a cubic spline needs, to have no line for its ends.
FEWEST = 4


def rambling_trembling(time: ArrayLike, pressure: ArrayLike, force: ArrayLike) -> "pd.DataFrame":
    """A centre of pressure taken apart: where the body would be in equilibrium, and how far from there it is.

    Where the horizontal force passes zero, the body is in equilibrium for an instant, and the centre of pressure is
    below its centre of mass. A cubic spline through the centre of pressure at these instants is the rambling, and what
    is left is the trembling.

    A plate that was not zeroed adds a constant to the force. It is taken off before: a body that stays where it is has
    no mean force. The mean is taken under a Hann window, which the motion at both ends does not change.

    Args:
        time: (n,) [s], growing.
        pressure: (n,) [m] the centre of pressure along one axis.
        force: (n,) [N] the floor's along the same axis; its noise makes instants that are none: filter it before.

    Returns:
        A row for each time between the first and the last such instant: ``time`` [s], ``rambling`` and ``trembling``,
        in the unit of the centre of pressure, which is their sum.

    Raises:
        InputError: the three are not of one length, have gaps, time does not grow, or the force passes its mean less
            than four times.
    """
    import pandas as pd
    from scipy.interpolate import CubicSpline  # a quarter of a second, which no run needs

    times, places, forces = (np.asarray(values, dtype=np.float64) for values in (time, pressure, force))
    if times.ndim != 1 or not times.shape == places.shape == forces.shape:
        raise InputError(f"time, pressure and force of shapes {times.shape}, {places.shape} and {forces.shape}")
    if not (len(times) > 1 and np.isfinite([times, places, forces]).all() and (np.diff(times) > 0.0).all()):
        raise InputError("time must grow, and there must be no gaps: cut the record where they are")
    window = np.sin(math.pi * (times - times[0]) / (times[-1] - times[0])) ** 2
    forces = forces - np.average(forces, weights=window)
    before = np.flatnonzero((forces[:-1] < 0.0) != (forces[1:] < 0.0))
    if len(before) < FEWEST:
        raise InputError(f"the force passes its mean {len(before)} times: {FEWEST} are needed, in a longer record")
    part = forces[before] / (forces[before] - forces[before + 1])
    instants = times[before] + part * (times[before + 1] - times[before])
    apart = np.append(True, np.diff(instants) > 0.0)  # one for a force that is zero in a row, and passes it
    spline = CubicSpline(instants[apart], np.interp(instants[apart], times, places))
    within = (times >= instants[0]) & (times <= instants[-1])
    rambling = spline(times[within])
    return pd.DataFrame({"time": times[within], "rambling": rambling, "trembling": places[within] - rambling})
