"""Metrics of a force plate in a laboratory, for studies of sway and landings.

    biped sweep examples/quiet-stance.toml
    biped sweep examples/steps-over-push.toml

The centre of pressure is sampled at 100 Hz and low-passed at 5 Hz (Prieto et al. 1996); trials with a fall or a loss of
contact have no value. The vertical force is low-passed at 100 Hz.
"""

import numpy as np

from biped.metrics import Measurement, Metric, low_passed, sway_measures

EVERY, LOW_PASS = 0.01, 5.0  # s, Hz
FORCE_LOW_PASS = 100.0  # Hz


def plate(run: Measurement) -> dict[str, float]:
    """Return all sway measures of the filtered centre of pressure; none after a fall or a loss of contact."""
    time, ap, ml = run["time"], run["cop_ap"], run["cop_ml"]
    first = int(np.argmax(np.isfinite(ap)))
    rows = slice(first, None, round(EVERY / (time[1] - time[0])))
    if run.fell or np.isnan(ap[rows]).any():
        return {}
    found = sway_measures(time[rows], ap[rows], ml[rows], LOW_PASS)
    return {f"plate_{name}": value for name, value in found.items()}


def landing(run: Measurement) -> dict[str, float]:
    """Return the peak force [N] after the low-pass filter, which removes peaks of a millisecond."""
    time, force = run["time"][run.first :], run["grf_normal"][run.first :]
    return {"plate_peak_grf": float(low_passed(time, force, FORCE_LOW_PASS).max())}


RMS = Metric("plate_rms_distance_ap", "m", "RMS distance AP of the filtered CoP", plate)
VELOCITY = Metric("plate_mean_velocity_ap", "m/s", "mean velocity AP of the filtered CoP", plate)
PATH = Metric("plate_path_length_ap", "m", "path AP of the filtered CoP", plate)
RANGE = Metric("plate_range_ap", "m", "range AP of the filtered CoP", plate)
HALF = Metric("plate_power_frequency_50_ap", "Hz", "50 % power frequency AP of the filtered CoP", plate)
MOST = Metric("plate_power_frequency_95_ap", "Hz", "95 % power frequency AP of the filtered CoP", plate)
PEAK = Metric("plate_peak_grf", "N", "peak GRF, low-passed at 100 Hz", landing)
