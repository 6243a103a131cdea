"""Feedback along a trajectory, and how soon it leads back."""

import numpy as np

from biped.mechanism import DiscreteMechanism
from biped.optimal import Trajectory, regulator
from contact.arrays import Floats
from experiments.papers.item import Progress


def feedback(
    system: DiscreteMechanism, path: Trajectory, Q: Floats, R: Floats, progress: Progress = lambda _: None
) -> Floats:
    """Return the gains of the regulator (36), the system linearized along a trajectory, (N, m, n)."""
    A, B = np.empty((len(path.u), Q.shape[0], Q.shape[0])), np.empty((len(path.u), Q.shape[0], R.shape[0]))
    for k, (x, u) in enumerate(zip(path.x, path.u, strict=False)):
        step = system.linearize(x, u, k * system.step)
        A[k], B[k] = step.A, step.B
        progress((k + 1) / len(path.u))
    return regulator(A, B, Q, R).gains


def apart(path: Trajectory, desired: Trajectory, count: int | None = None) -> Floats:
    """Return the norm of the error of the state, or of its first so many variables, (N + 1,)."""
    return np.asarray(np.linalg.norm((path.x - desired.x)[:, :count], axis=1))


def back_after(time: Floats, error: Floats, share: float) -> float:
    """Return when the error begins to stay below a share of its first value [s]; infinity if it is above at the end."""
    above = np.flatnonzero(error >= share * error[0])
    return float(time[above[-1] + 1]) if above[-1] + 1 < len(time) else float("inf")
