"""What a run amounts to, as numbers that can stand in a paper: definitions, units and sources in ``METRICS``.

``measure`` works on the raw rows of a run, for studies; ``measure_run`` and ``series`` on a ``biped.run.Run``. All
three call the same compiled kernels.
"""

from experiments.metrics.acting import first_disturbance, stimulus_of
from experiments.metrics.circumstances import Circumstances, Stimulus
from experiments.metrics.layout import Layout
from experiments.metrics.measuring import Value, circumstances_of, measure, measure_recording, measure_run, metric_names
from experiments.metrics.registry import METRICS, Metric, metric_named, units_of
from experiments.metrics.timeseries import series

__all__ = [
    "METRICS",
    "Circumstances",
    "Layout",
    "Metric",
    "Stimulus",
    "Value",
    "circumstances_of",
    "first_disturbance",
    "measure",
    "measure_recording",
    "measure_run",
    "metric_named",
    "metric_names",
    "series",
    "stimulus_of",
    "units_of",
]
