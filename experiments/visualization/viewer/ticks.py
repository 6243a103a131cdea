"""Where the ticks of a plot's axis are, and what is written beside them."""

import math
from typing import Any

from matplotlib.ticker import MaxNLocator

#: [pixels] of a digit, and of tick and gap.
DIGIT, GAP = 7.0, 20.0
#: Numbers with so many decimals or digits before them are written with an exponent.
MOST_DECIMALS, MOST_DIGITS = 4, 6
_LOCATOR = MaxNLocator(5, steps=(1, 2, 5, 10), min_n_ticks=3)


def ticks_of(low: float, high: float) -> tuple[list[float], list[str]]:
    """At most six round numbers within a range, and their names, no two of which are the same."""
    room = 1e-9 * (high - low)
    values = [float(value) for value in _LOCATOR.tick_values(low, high) if low - room <= value <= high + room]
    power, most = math.log10(values[1] - values[0]), max(abs(low), abs(high))
    decimals = max(0, -math.floor(power + 1e-9))
    if decimals <= MOST_DECIMALS and most < 10.0**MOST_DIGITS:
        return values, [f"{value + 0.0:.{decimals}f}" for value in values]
    digits = max(0, math.floor(math.log10(most)) - math.floor(power + 1e-9))
    return values, [f"{value:.{digits}e}" if value else "0" for value in values]


def axis(low: float, high: float, *, upright: bool) -> dict[str, Any]:
    """An axis of uPlot with these ticks; an upright one as wide as its names need."""
    values, names = ticks_of(low, high)
    size = {"size": GAP + DIGIT * max(map(len, names), default=0)} if upright else {}
    return {"splits": tuple(values), "values": tuple(names), **size}
