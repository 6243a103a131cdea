"""L-BFGS-B with exact gradients, in the unit cube of the variables, as an optimizer that is asked for points."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from biped.errors import InputError
from contact.arrays import Floats
from experiments.studies.tuning.design_variable import DesignVariable

Point = Mapping[str, float]


@dataclass(frozen=True)
class Start:
    """Starting point of an optimizer, with its cost and, if known, the derivatives of the cost."""

    point: Point  # values by variable
    costs: tuple[float, ...]  # cost of each objective
    slopes: Point = field(default_factory=dict)  # derivatives of the only cost by variable; empty if unknown


#: Tolerances of the gradient, and of the relative decrease of the cost, at which a descent has converged.
FLAT, STILL = 1e-7, 1e-9


class _UnknownError(Exception):
    """A descent needs the cost of a point that has not been evaluated."""

    def __init__(self, place: Floats) -> None:
        super().__init__()
        self.place = place


@dataclass
class Descent:
    """One minimization by SciPy's L-BFGS-B, defined by its starting point and the costs that are known so far.

    For each new point, SciPy's optimizer is run again from the start with the known costs, until it asks for an unknown
    one. SciPy's optimizer is thus used unchanged, and an interrupted tuning continues from its stored trials.
    """

    start: Floats  # (variables,) starting point in the unit cube
    known: list[tuple[Floats, float, Floats]] = field(default_factory=list)  # places, costs, gradients

    def next(self) -> Floats | None:
        """Return the next point (variables,) to evaluate; None if the descent has converged."""
        import scipy.optimize

        minimize: Any = scipy.optimize.minimize

        remaining = iter(self.known)

        def cost(place: Floats) -> tuple[float, Floats]:
            evaluation = next(remaining, None)
            if evaluation is None:
                raise _UnknownError(place.copy())
            return evaluation[1], evaluation[2]

        options = {"maxiter": 10_000, "maxfun": 100_000, "gtol": FLAT, "ftol": STILL}
        bounds = [(0.0, 1.0)] * len(self.start)
        try:
            minimize(cost, self.start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
        except _UnknownError as unknown:
            return unknown.place
        return None


class Lbfgs:
    """L-BFGS-B (Byrd, Lu, Nocedal and Zhu 1995) of SciPy, with exact gradients.

    One descent for each point of a batch runs in parallel. The first descent starts at ``start``, the others at random
    points. A descent that has converged restarts at a random point.
    """

    def __init__(self, variables: Sequence[DesignVariable], seed: int, start: Start | None, batch: int) -> None:
        self._variables = tuple(variables)
        self._rng = np.random.default_rng(seed)
        self._descents = [Descent(self._random()) for _ in range(batch)]
        if start is not None:
            place = np.array([variable.to_unit(start.point[variable.name]) for variable in variables])
            self._descents[0] = Descent(np.clip(place, 0.0, 1.0))
            if start.slopes:
                self._learn(self._descents[0], self._descents[0].start, start.costs, start.slopes)
        self._asked: list[Floats] = []

    def _random(self) -> Floats:
        return self._rng.random(len(self._variables))

    def ask(self, count: int) -> list[dict[str, float]]:
        self._asked = [self._next(k) for k in range(count)]
        return [
            {v.name: v.from_unit(float(part)) for v, part in zip(self._variables, place, strict=True)}
            for place in self._asked
        ]

    def _next(self, k: int) -> Floats:
        place = self._descents[k].next()
        while place is None:
            self._descents[k] = Descent(self._random())
            place = self._descents[k].next()
        return place

    def tell(self, points: Sequence[Point], costs: Sequence[tuple[float, ...]], slopes: Sequence[Point] = ()) -> None:
        if len(slopes) != len(points):
            raise InputError("the optimizer lbfgs needs the derivatives of the costs, but none were given")
        for descent, place, cost, slope in zip(self._descents, self._asked, costs, slopes, strict=False):
            self._learn(descent, place, cost, slope)

    def _learn(self, descent: Descent, place: Floats, costs: tuple[float, ...], slope: Point) -> None:
        (cost,) = costs
        gradient = [slope[v.name] * v.slope_at(float(part)) for v, part in zip(self._variables, place, strict=True)]
        descent.known.append((place, cost, np.array(gradient)))
