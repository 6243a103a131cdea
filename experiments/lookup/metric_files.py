"""User metrics, registered by the name of their file or module."""

from biped.metrics import Metric, register
from experiments.lookup.open_registry import Entry, OpenRegistry

METRIC_FILES = OpenRegistry("metric", {}, lambda thing: isinstance(thing, Metric), "an object of biped.metrics.Metric")


def register_metric(name: str) -> Entry:
    """Add a metric, given as ``FILE.py:NAME``, ``module:NAME`` or a name of an installed package, to all later runs.

    Raises:
        InputError: there is no such metric, or another metric has the same name.
    """
    entry = METRIC_FILES.find(name)
    register(entry.thing)
    return entry
