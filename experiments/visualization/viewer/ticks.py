"""Where the ticks of a plot's axis are, and what is written beside them."""

import math
from typing import Any

#: Parts of a power of ten that ticks may be apart.
STEPS = (1.0, 2.0, 5.0, 10.0)
#: [pixels] of a digit, and of tick and gap.
DIGIT, GAP = 7.0, 20.0
#: Numbers with so many decimals or digits before them are written with an exponent.
MOST_DECIMALS, MOST_DIGITS = 4, 6


def ticks_of(low: float, high: float, count: int = 6) -> tuple[list[float], list[str]]:
    """At most so many round numbers within a range, and their names, no two of which are the same."""
    rough = (high - low) / (count - 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(part for part in STEPS if part * power >= 0.999999 * rough) * power
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    values = [k * step for k in range(first, last + 1)]
    decimals, most = max(0, -math.floor(math.log10(step) + 1e-9)), max(abs(low), abs(high))
    if decimals <= MOST_DECIMALS and most < 10.0**MOST_DIGITS:
        return values, [f"{value + 0.0:.{decimals}f}" for value in values]
    digits = max(0, math.floor(math.log10(most)) - math.floor(math.log10(step) + 1e-9))
    return values, [f"{value:.{digits}e}" if value else "0" for value in values]


def axis(low: float, high: float, *, upright: bool) -> dict[str, Any]:
    """An axis of uPlot with these ticks; an upright one as wide as its names need."""
    values, names = ticks_of(low, high)
    told: dict[str, Any] = {"splits": tuple(values), "values": tuple(names)}
    return told | ({"size": GAP + DIGIT * max(map(len, names), default=0)} if upright else {})
