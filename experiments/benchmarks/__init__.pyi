from .comparison.backends import backends_of
from .comparison.budget import QUICK
from .comparison.results import Results
from .comparison.stages import Work, run_experiment

__all__ = [
    "QUICK", "Results", "Work", "backends_of", "run_experiment",
]  # fmt: skip
