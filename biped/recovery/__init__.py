"""Recoveries from pushes: trajectories of a simulated scene under torques within limits that bring it back."""

from biped.recovery.cost import AtRest, Standing, Weights
from biped.recovery.optimizer import Cost, Iterate, improved, tracking_gains
from biped.recovery.plan import PlanThenLaw, RecoveryPlan
from biped.recovery.rollout import HeldTorques, NotLinearizedError, Path
from biped.recovery.search import Attempt, Problem, Settings, search

__all__ = [
    "AtRest", "Attempt", "Cost", "HeldTorques", "Iterate", "NotLinearizedError", "Path", "PlanThenLaw", "Problem",
    "RecoveryPlan", "Settings", "Standing", "Weights", "improved", "search", "tracking_gains",
]  # fmt: skip
