from .execution.executors import Executor, executor_named
from .execution.runner import run_trials
from .seeds import seed_of
from .store.folder import Study

__all__ = ["Executor", "Study", "executor_named", "run_trials", "seed_of"]
