"""Filters of sampled values."""

import numpy as np

from biped.errors import InputError
from contact.arrays import Floats


def low_passed(time: Floats, values: Floats, cutoff: float, name: str = "low_pass") -> Floats:
    """Return sampled values after a zero-phase low-pass filter of fourth order, with −6 dB at the cut-off frequency.

    It is a Butterworth filter of second order that runs forward and backward.

    Args:
        time: (n,) [s] evenly spaced times of the samples.
        values: (n,) or (n, k) samples.
        cutoff: [Hz] cut-off frequency.
        name: name of the cut-off frequency in messages.

    Raises:
        InputError: the cut-off is not between 0 and half of the sampling rate, or there are gaps or too few samples.
    """
    from scipy.signal import butter, sosfiltfilt  # the import takes a quarter of a second

    rate = (len(time) - 1) / (time[-1] - time[0]) if len(time) > 1 else 0.0
    if not (0.0 < cutoff < rate / 2.0 and np.isfinite(values).all()):
        raise InputError(f"{name} = {cutoff!r} Hz must be between 0 and {rate / 2.0:g} Hz; values must have no gaps")
    try:
        return np.asarray(sosfiltfilt(butter(2, cutoff, fs=rate, output="sos"), values, axis=0))
    except ValueError as error:
        raise InputError(f"{name}: {len(time)} samples are too few for the filter") from error
