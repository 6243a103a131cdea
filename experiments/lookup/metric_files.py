"""User metrics, registered by the name of their file or module."""

from biped.metrics import Metric, register
from experiments.lookup.open_registry import Entry, OpenRegistry

METRIC_FILES = OpenRegistry("metric", {}, lambda thing: isinstance(thing, Metric), "an object of biped.metrics.Metric")


def register_metric(name: str) -> Entry:
    """Add the metric ``FILE.py:NAME``, ``module:NAME``, or that of an installed package to all later runs.

    Raises:
        InputError: there is none, or another metric has its name.
    """
    entry = METRIC_FILES.find(name)
    register(entry.thing)
    return entry
