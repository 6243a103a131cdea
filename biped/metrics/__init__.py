"""What a run amounts to, as numbers that can stand in a paper: definitions, units and sources in ``METRICS``.

``measure`` works on the raw rows of a run, for studies; ``measure_run`` and ``series`` on a ``biped.runs.run.Run``. All
three call the same compiled kernels.
"""

from biped.metrics.acting import first_disturbance, stimulus_of
from biped.metrics.circumstances import Circumstances, Stimulus
from biped.metrics.layout import Layout
from biped.metrics.measuring import Value, circumstances_of, measure, measure_recording, measure_run, metric_names
from biped.metrics.registry import METRICS, Metric, metric_named, units_of
from biped.metrics.timeseries import series

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
