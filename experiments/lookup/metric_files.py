"""Metrics of anybody, by the file or the module that they stand in."""

from biped.metrics import Metric, register
from experiments.lookup.open_registry import Entry, OpenRegistry

METRIC_FILES = OpenRegistry("metric", {}, lambda thing: isinstance(thing, Metric), "an object of biped.metrics.Metric")


def register_metric(name: str) -> Entry:
    """Let all runs from now on have the metric ``FILE.py:NAME``, ``module:NAME``, or that of an installed package.

    Raises:
        InputError: there is none, or another metric has its name.
    """
    entry = METRIC_FILES.find(name)
    register(entry.thing)
    return entry
