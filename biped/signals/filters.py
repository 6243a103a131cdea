"""Filters of sampled values."""

import numpy as np

from biped.errors import InputError
from contact.arrays import Floats


def low_passed(time: Floats, values: Floats, cutoff: float, name: str = "low_pass") -> Floats:
    """Return values (n,) or (n, k), sampled at even times (n,) [s], low-passed without a shift in time.

    A Butterworth filter of second order runs forward and backward: fourth order in all, −6 dB at the cut-off.

    Args:
        time: (n,) [s].
        values: n values or rows.
        cutoff: [Hz].
        name: name of the cut-off in messages.

    Raises:
        InputError: the cut-off is not below half of the sampling rate, or there are gaps or too few values.
    """
    from scipy.signal import butter, sosfiltfilt  # a quarter of a second, which no run needs

    rate = (len(time) - 1) / (time[-1] - time[0]) if len(time) > 1 else 0.0
    if not (0.0 < cutoff < rate / 2.0 and np.isfinite(values).all()):
        raise InputError(f"{name} = {cutoff!r}: it must be between 0 and {rate / 2.0:g} Hz, and values without gaps")
    try:
        return np.asarray(sosfiltfilt(butter(2, cutoff, fs=rate, output="sos"), values, axis=0))
    except ValueError as error:
        raise InputError(f"{name}: {len(time)} points are too few for the filter") from error
