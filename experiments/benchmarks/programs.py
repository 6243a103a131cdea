"""Programs of the whole-body law, as its ticks leave them, and as the matrices that libraries take."""

from collections.abc import Callable
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from biped.control.controller import Controller
from biped.control.observation import Observation
from biped.model import Model
from contact.arrays import Floats, Integers
from controllers.kernels.contact_qp import COSINES, INNER, SIDES, SINES, ContactQp
from controllers.kernels.whole_body import WholeBodyLaw
from controllers.whole_body import WholeBodyController

#: Function that is shown the observation, the law, and the joints' torques.
See = Callable[[Observation, WholeBodyLaw, Floats], object]


class Matrices(NamedTuple):
    """½ yᵀ P y − gᵀ y, E y = e, C y ≥ c, of the unknowns y that are not held at zero."""

    P: Floats
    g: Floats
    E: Floats
    e: Floats
    C: Floats
    c: Floats
    places: Integers  # of y among all unknowns


def matrices(qp: ContactQp, bounded: int) -> Matrices:
    """Return a program as matrices; its H must not be factored yet."""
    n, m = len(qp.gradient), len(qp.carries)
    size = n + 3 * m
    places = np.concatenate([np.arange(n), n + np.flatnonzero(np.repeat(qp.carries, 3))])
    P = np.zeros((size, size))
    P[:n, :n] = np.tril(qp.hessian) + np.tril(qp.hessian, -1).T
    P[n:, n:] = qp.spread[0] * np.eye(3 * m)
    g = np.concatenate([qp.gradient, qp.spread[0] * qp.preferred])
    pyramid = np.column_stack([-np.array(COSINES), -np.array(SINES), np.full(SIDES, qp.friction[0] * INNER)])
    sides = np.zeros((SIDES * m, size))
    for point in range(m):
        sides[SIDES * point : SIDES * (point + 1), n + 3 * point : n + 3 * point + 3] = pyramid
    sides = sides[np.repeat(qp.carries, SIDES) == 1]
    rows, lower, upper = qp.rows[:bounded], qp.lower[:bounded], qp.upper[:bounded]
    low, high = lower > -np.inf, upper < np.inf
    C = np.vstack([sides, rows[low], -rows[high]])
    c = np.concatenate([np.zeros(len(sides)), lower[low], -upper[high]])
    E = np.hstack([qp.base, -qp.grasp])
    return Matrices(P[np.ix_(places, places)], g[places], E[:, places], qp.load.copy(), C[:, places], c, places)


class Kept(WholeBodyController):
    """The whole-body controller; ``kept`` is its law, in which each tick leaves its program."""

    kept: WholeBodyLaw

    def law(self, model: Model) -> WholeBodyLaw:
        object.__setattr__(self, "kept", super().law(model))
        return self.kept


class Watched(Controller):
    """A whole-body controller that is evaluated from Python, and seen at each so many-th tick, by ``see``."""

    def __init__(self, see: See, every: int = 1, **settings: Any) -> None:
        self.asked, self.see = Kept(**settings), see
        self.period, self._every, self._ticks = self.asked.period, every, count()

    def torques(self, observation: Observation) -> Floats:
        torques = self.asked.torques(observation)
        if next(self._ticks) % self._every == 0:
            self.see(observation, self.asked.kept, torques)
        return torques


def copied(law: WholeBodyLaw) -> ContactQp:
    """Return a copy of the last tick's program, its H no longer factored."""
    own = law.qp._replace(**{name: getattr(law.qp, name).copy() for name in ContactQp._fields})
    factor = np.tril(own.hessian)
    own.hessian[:] = factor @ factor.T
    return own
