"""Sweeps: an experiment at all combinations of some parameters' values."""

from experiments.studies.sweep.sweep import sweep

__all__ = ["sweep"]
