"""Metrics of runs; ``METRICS`` gives their definitions, units and sources.

``measure`` takes the raw rows of a run, for studies; ``measure_run`` and ``series`` take a ``biped.runs.run.Run``.
``register`` adds a metric to all of them.
"""

import biped.metrics.definitions  # noqa: F401  (registers the metrics)
from biped.metrics.context import MeasurementContext, Stimulus
from biped.metrics.disturbance import start_time_of, stimulus_of
from biped.metrics.layout import Layout
from biped.metrics.measurement import Measurement, measure
from biped.metrics.metric import METRICS, Metric, Value, metric_named, metric_names, register, units_of
from biped.metrics.posturography import (
    detrended_fluctuation,
    diffusion_curve,
    diffusion_measures,
    fluctuation_exponent,
    mean_power_frequency,
    power_spectrum,
    sample_entropy,
    sway_density,
    sway_measures,
)
from biped.metrics.runs import JUDGED, assemble, context_of, measure_again, measure_recording, measure_run, steps
from biped.metrics.timeseries import series
from biped.signals.filters import low_passed

__all__ = [
    "JUDGED", "METRICS", "Layout", "Measurement", "MeasurementContext", "Metric", "Stimulus", "Value", "assemble",
    "context_of", "detrended_fluctuation", "diffusion_curve", "diffusion_measures", "fluctuation_exponent",
    "low_passed", "mean_power_frequency", "measure", "measure_again", "measure_recording", "measure_run",
    "metric_named", "metric_names", "power_spectrum", "register", "sample_entropy", "series",
    "start_time_of", "steps", "stimulus_of", "sway_density", "sway_measures", "units_of",
]  # fmt: skip
