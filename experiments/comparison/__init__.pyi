from .backends import backends_of
from .stages import QUICK, Results, Work, run_experiment

__all__ = ["QUICK", "Results", "Work", "backends_of", "run_experiment"]
