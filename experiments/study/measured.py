"""What results of an experiment have: names and units of its metrics."""

from experiments.trial import metric_units

__all__ = ["metric_units"]
