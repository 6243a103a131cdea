"""Run one trial of a study again, from the study alone, with everything recorded."""

from experiments.rerun.again import Again, rerun

__all__ = ["Again", "rerun"]
