"""Sweeps: an experiment at all combinations of some parameters' values."""

from experiments.studies.sweep.plan import Plan, load_plan
from experiments.studies.sweep.run import run_plan, sweep

__all__ = ["Plan", "load_plan", "run_plan", "sweep"]
