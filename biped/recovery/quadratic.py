"""The quadratic model of a cost along a trajectory."""

from dataclasses import dataclass

import numpy as np

from contact.arrays import Floats


@dataclass(frozen=True, eq=False)
class Residual:
    """One task: Σ ½ w r·r.

    Attributes:
        name: of the task.
        value: (N + 1, m) r, in units of what costs as much as one another.
        jacobian: (N + 1, m, nx) ∂r.
        weight: (N + 1,) w.
    """

    name: str
    value: Floats
    jacobian: Floats
    weight: Floats

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
