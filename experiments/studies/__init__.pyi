from .bounded import Bounded
from .config import Config
from .execution.executors import Executor, Threads, executor_named
from .execution.runner import run_trials
from .fitting.fit import fit_from
from .grid import Grid
from .identification.model_fit import ModelFit, ResponseModel, fit_response
from .limits import footholds_of, push_of
from .randomization import Randomization
from .run import open_study, run_study
from .seeds import seed_of
from .sensitivity.sensitivity import sensitivity_from
from .stability.loop import Range, StabilityField
from .stability.stability_map import stability_map
from .store.folder import Study
from .sweep.sweep import sweep
from .threshold.statistics import coverage, median_interval, rank
from .threshold.threshold import Condition, SweptParameter, Threshold
from .trial import Result, Trial, run_trial
from .tuning.tuner import Tuner
from .tuning.tuning import tuning_from

__all__ = [
    "Bounded", "Condition", "Config", "Executor", "Grid", "ModelFit", "Randomization", "Range",
    "ResponseModel", "Result", "StabilityField", "Study", "SweptParameter", "Threads", "Threshold", "Trial", "Tuner",
    "coverage", "executor_named", "fit_from", "fit_response", "footholds_of", "median_interval", "open_study",
    "push_of", "rank", "run_study", "run_trial", "run_trials", "seed_of", "sensitivity_from", "stability_map", "sweep",
    "tuning_from",
]  # fmt: skip
