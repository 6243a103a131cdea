from .catalogue.experiment import Experiment
from .catalogue.parameters.controllers import controller_from, controller_parameters
from .catalogue.parameters.parameter import Parameter, Values
from .catalogue.registry import all_experiments, experiment_named
from .catalogue.rollout import Rollout, rollout
from .papers.registry import items_named, paper_named

__all__ = [
    "Experiment", "Parameter", "Rollout", "Values", "all_experiments", "controller_from", "controller_parameters",
    "experiment_named", "items_named", "paper_named", "rollout",
]  # fmt: skip
