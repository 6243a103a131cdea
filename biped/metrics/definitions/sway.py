"""How far the body sways, and how it answers a floor that moves periodically."""

import math

import numpy as np

from biped.kernels.loop.log import ABSENT
from biped.metrics.definitions.sources import PETERKA
from biped.metrics.fourier import fourier_coefficients
from biped.metrics.kernels.support import COM, SHIFT, SWAY, TILT
from biped.metrics.measurement import ROUNDING, Measurement
from biped.metrics.metric import Metric, register

#: Columns of a series by channel of a stimulus: what moves, and the sway that answers it.
_CHANNELS = {
    "tilt_x": (TILT, SWAY),
    "tilt_y": (TILT + 1, SWAY + 1),
    "x": (SHIFT, SWAY + 1),
    "y": (SHIFT + 1, SWAY),
}
#: A stimulus of less than this [rad or m] is none.
LEAST_STIMULUS = 1e-9


def sway(run: Measurement) -> dict[str, float]:
    """Gain and phase over the last whole cycles of the lowest frequency while the floor moves periodically."""
    stimulus, time = run.context.stimulus, run.places.time
    if stimulus is None or run.places.platform == ABSENT or run.fell:
        return {}
    times = run.rows[:, time]
    begin = run.first if stimulus.begin is None else max(run.first, run.row_at(stimulus.begin))
    stop = len(times) if stimulus.end is None else int(np.searchsorted(times, stimulus.end + ROUNDING))
    cycle = 1.0 / min(stimulus.frequencies)
    cycles = math.floor((times[stop - 1] - times[begin]) / cycle + 1e-9) if begin < stop else 0
    if cycles < 1:
        return {}
    # One row less than the window, which ends where it begins again: the transform of whole cycles.
    start = int(np.searchsorted(times, times[stop - 1] - cycles * cycle + 1e-9 * cycle))
    rows, table = run.rows[:stop], run.series[:stop]
    moves, answers = _CHANNELS[stimulus.channel]
    found = {}
    both = fourier_coefficients(rows, time, table, (moves, answers), stimulus.frequencies, start).tolist()
    for number, (frequency, (support, swayed)) in enumerate(zip(stimulus.frequencies, both, strict=True), 1):
        if abs(support) > LEAST_STIMULUS:
            response = swayed / support
            found[f"sway_frequency_{number}"] = frequency
            found[f"sway_gain_{number}"] = abs(response)
            found[f"sway_phase_{number}"] = math.atan2(response.imag, response.real)
    return found


def excursion(run: Measurement) -> dict[str, float]:
    """How far the body is from where it was when the disturbance began, as what it stands on sees it."""
    if not run.model.nc:
        return {}
    table = run.series[run.first :]
    gone = np.nan_to_num(table[:, SHIFT : SHIFT + 2]) + run.carried[run.first :]
    place = table[:, COM : COM + 2] - gone
    lean = table[:, SWAY : SWAY + 2]
    return {
        "com_excursion": float(np.hypot(*(place - place[0]).T).max()),
        "sway_angle_max": float(np.hypot(*(lean - lean[0]).T).max()),
    }


register(
    Metric("com_excursion", "m", "peak excursion of the centre of mass", excursion,
           "as seen from above, from where it was when the disturbance began, less what the floor has moved, and where "
           "it is to stand has gone with steps; maximum"),
    Metric("sway_angle_max", "rad", "peak sway angle", excursion,
           "of the line from the middle of the feet to the centre of mass, from that when the disturbance began; "
           "maximum"),
    Metric("sway_frequency_FREQUENCY", "Hz", "a frequency of the floor's motion", sway,
           "the first, second, … of the stimulus, of which gain and phase have the same number", PETERKA),
    Metric("sway_gain_FREQUENCY", "1", "sway over the floor's motion at a frequency", sway,
           "modulus of the ratio of Fourier coefficients over whole cycles; rad/m where the floor shifts", PETERKA),
    Metric("sway_phase_FREQUENCY", "rad", "how far the sway is ahead of the floor's motion", sway,
           "argument of that ratio, −π … π; below zero for a lag", PETERKA),
)  # fmt: skip
