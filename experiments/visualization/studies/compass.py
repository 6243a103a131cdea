"""Axes around a robot, seen from above, its front at the top."""

import matplotlib
import numpy as np
from matplotlib.projections.polar import PolarAxes

from experiments.studies.threshold.directions import WORDS


def face_front(axes: PolarAxes) -> None:
    """Directions in words and degrees around the axes, five circles at most."""
    axes.set_theta_zero_location("N")
    axes.set_xticks(np.radians(np.arange(0, 360, 45)), [f"{WORDS[k]}\n{45 * k}°" for k in range(8)])
    axes.tick_params(axis="x", pad=10)
    axes.set_rlabel_position(157.5)
    axes.yaxis.set_major_locator(matplotlib.ticker.MaxNLocator(5))
