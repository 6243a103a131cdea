"""Filters of what was sampled."""

import numpy as np

from biped.errors import InputError
from contact.arrays import Floats


def low_passed(time: Floats, values: Floats, cutoff: float, name: str = "low_pass") -> Floats:
    """Values (n,) or (n, k), at even times (n,) [s], without what is faster than a frequency.

    A Butterworth filter of second order, there and back: of fourth order in all, −6 dB at the cut-off, and nothing is
    shifted in time.

    Args:
        time: (n,) [s].
        values: as many rows.
        cutoff: [Hz].
        name: of the cut-off, for messages.

    Raises:
        InputError: the cut-off is not below half of the rate, there are gaps, or too few values.
    """
    from scipy.signal import butter, sosfiltfilt  # a quarter of a second, which no run needs

    rate = (len(time) - 1) / (time[-1] - time[0]) if len(time) > 1 else 0.0
    if not (0.0 < cutoff < rate / 2.0 and np.isfinite(values).all()):
        raise InputError(f"{name} = {cutoff!r}: it must be between 0 and {rate / 2.0:g} Hz, of values without gaps")
    try:
        return np.asarray(sosfiltfilt(butter(2, cutoff, fs=rate, output="sos"), values, axis=0))
    except ValueError as error:
        raise InputError(f"{name}: {len(time)} points are too few to be filtered") from error
