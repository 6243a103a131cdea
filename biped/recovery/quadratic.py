"""Costs of trajectories that are sums of squares, and their quadratic models."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from biped.recovery.rollout import Path
from contact.arrays import Floats


@dataclass(frozen=True, eq=False)
class Residual:
    """One task: Σ ½ w r·r."""

    name: str  #: of the task
    value: Floats  #: (N + 1, m) r, in units of what costs as much as one another
    jacobian: Floats  #: (N + 1, m, nx) ∂r
    weight: Floats  #: (N + 1,) w

    @property
    def cost(self) -> float:
        """The task's part of the cost, ½ Σ w r·r."""
        return 0.5 * float(self.weight @ (self.value * self.value).sum(axis=1))


@dataclass(frozen=True, eq=False)
class Quadratic:
    """Slopes (N + 1, nx) and Gauss–Newton's second derivatives (N + 1, nx, nx) of a cost by the states of a path."""

    slope: Floats
    curve: Floats

    @classmethod
    def of(cls, residuals: list[Residual]) -> "Quadratic":
        """The sum of some tasks."""
        count, _, nx = residuals[0].jacobian.shape
        slope, curve = np.zeros((count, nx)), np.zeros((count, nx, nx))
        for task in residuals:
            used = np.flatnonzero(task.weight * (task.value != 0.0).any(axis=1))
            weighted = task.jacobian[used] * task.weight[used, None, None]
            slope[used] += (task.value[used][:, None, :] @ weighted)[:, 0]
            curve[used] += np.swapaxes(weighted, 1, 2) @ task.jacobian[used]
        return cls(slope, curve)


class LeastSquares(ABC):
    """A cost of trajectories: squares of what tasks leave, and ½ u·R u a tick of the torques."""

    input: Floats  #: (m, m) R
    damping: Floats  #: (m, m) what a change of torques by as much as is a lot costs

    @abstractmethod
    def residuals(self, path: Path, *, jacobians: bool = True) -> list[Residual]:
        """The residuals of each task along a path."""

    def parts(self, path: Path) -> dict[str, float]:
        """The cost of a path, by task."""
        parts = {task.name: task.cost for task in self.residuals(path, jacobians=False)}
        return parts | {"torque": 0.5 * float(np.sum((path.u @ self.input) * path.u))}

    def value(self, path: Path) -> float:
        """The cost of a path."""
        return sum(self.parts(path).values())

    def quadratic(self, path: Path) -> Quadratic:
        """Slopes and model along a path."""
        return Quadratic.of(self.residuals(path))
