"""Optimal control of discrete systems: linear quadratic regulators and trajectories of least cost."""

from biped.optimal.linear import Regulator, regulator, steady_regulator
from biped.optimal.trajectory import (
    METHODS,
    Descent,
    DiscreteSystem,
    Iteration,
    NoDescentError,
    Optimum,
    QuadraticCost,
    Trajectory,
    closed_loop,
    descent_direction,
    optimize,
    rollout,
)

__all__ = [
    "METHODS", "Descent", "DiscreteSystem", "Iteration", "NoDescentError", "Optimum", "QuadraticCost", "Regulator",
    "Trajectory", "closed_loop", "descent_direction", "optimize", "regulator", "rollout", "steady_regulator",
]  # fmt: skip
