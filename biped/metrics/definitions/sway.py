"""Metrics of sway, and of its response to a periodic motion of the floor."""

import math

import numpy as np

from biped.kernels.loop.log import ABSENT
from biped.metrics.definitions.sources import PETERKA
from biped.metrics.fourier import fourier_coefficients
from biped.metrics.kernels.support import COM, SHIFT, SWAY, TILT
from biped.metrics.measurement import ROUNDING, Measurement
from biped.metrics.metric import Metric, register

#: Columns of a series by channel of a stimulus: the moving coordinate, and the sway that responds.
_CHANNELS = {"tilt_x": (TILT, SWAY), "tilt_y": (TILT + 1, SWAY + 1), "x": (SHIFT, SWAY + 1), "y": (SHIFT + 1, SWAY)}
#: [rad or m] Smallest amplitude of a stimulus.
LEAST_STIMULUS = 1e-9


def sway(run: Measurement) -> dict[str, float]:
    """Return the sway's gain and phase at each frequency of the floor's motion, from whole cycles of the lowest one."""
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
    # The last row of the window, the start of the next cycle, does not count.
    start = int(np.searchsorted(times, times[stop - 1] - cycles * cycle + 1e-9 * cycle))
    rows, table = run.rows[:stop], run.series[:stop]
    moves, answers = _CHANNELS[stimulus.channel]
    values = {}
    both = fourier_coefficients(rows, time, table, (moves, answers), stimulus.frequencies, start).tolist()
    for number, (frequency, (support, swayed)) in enumerate(zip(stimulus.frequencies, both, strict=True), 1):
        if abs(support) > LEAST_STIMULUS:
            response = swayed / support
            values[f"sway_frequency_{number}"] = frequency
            values[f"sway_gain_{number}"] = abs(response)
            values[f"sway_phase_{number}"] = math.atan2(response.imag, response.real)
    return values


def excursion(run: Measurement) -> dict[str, float]:
    """Return the largest displacements of the body since the start of the disturbance, relative to the floor."""
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
           "in the horizontal plane, from the start of the disturbance, less the displacement of the floor and "
           "of the stance by steps; maximum"),
    Metric("sway_angle_max", "rad", "peak sway angle", excursion,
           "change, since the start of the disturbance, of the angle of the line from the middle of the feet to the "
           "centre of mass; maximum"),
    Metric("sway_frequency_FREQUENCY", "Hz", "a frequency of the floor's motion", sway,
           "frequency 1, 2, … of the stimulus, to which the gain and phase with this number belong", PETERKA),
    Metric("sway_gain_FREQUENCY", "1", "sway over the floor's motion at a frequency", sway,
           "modulus of the ratio of Fourier coefficients over whole cycles; rad/m if the floor translates", PETERKA),
    Metric("sway_phase_FREQUENCY", "rad", "phase of the sway relative to the floor's motion", sway,
           "argument of the ratio, −π … π; negative for a lag", PETERKA),
)  # fmt: skip
