from .config import Config
from .execution.executors import Executor, executor_named
from .execution.runner import run_trials
from .grid import Grid
from .randomization import Randomization
from .run import open_study, run_study
from .seeds import seed_of
from .sensitivity.sensitivity import sensitivity_from
from .store.folder import Study
from .sweep.sweep import sweep
from .threshold.statistics import coverage, median_interval, rank
from .threshold.threshold import Condition, SweptParameter, Threshold
from .trial import Trial
from .tuning.tuning import tuning_from

__all__ = [
    "Condition",
    "Config",
    "Executor",
    "Grid",
    "Randomization",
    "Study",
    "SweptParameter",
    "Threshold",
    "Trial",
    "coverage",
    "executor_named",
    "median_interval",
    "open_study",
    "rank",
    "run_study",
    "run_trials",
    "seed_of",
    "sensitivity_from",
    "sweep",
    "tuning_from",
]
