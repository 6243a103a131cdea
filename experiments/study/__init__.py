"""Studies: many trials of one experiment, kept in a folder, run on all cores or many machines."""

from experiments.study.engine import run_trials
from experiments.study.executors import Executor, executor_named
from experiments.study.folder import Study
from experiments.study.seeds import seed_of

__all__ = ["Executor", "Study", "executor_named", "run_trials", "seed_of"]
