"""Descent along exact gradients: L-BFGS-B within the unit cube of the variables, one step at a time."""

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
    """Starting point of an optimizer, with its cost and, if known, its derivatives."""

    point: Point
    costs: tuple[float, ...]
    slopes: Point = field(default_factory=dict)


#: Tolerances of the gradient, and of the relative decrease of the cost, at which a descent ends.
FLAT, STILL = 1e-7, 1e-9


class _UnknownError(Exception):
    """A descent needs the cost of a point that has not been evaluated."""

    def __init__(self, place: Floats) -> None:
        super().__init__()
        self.place = place


@dataclass
class Descent:
    """One descent: a function of its start and of the costs so far.

    Repeated, it retraces its known points to the first unknown one. SciPy's own loop stays as it is, and an interrupted
    tuning needs nothing but its trials.
    """

    start: Floats  # (variables,) in the unit cube
    known: list[tuple[Floats, float, Floats]] = field(default_factory=list)  # places, costs, gradients

    def next(self) -> Floats | None:
        """Return the next point (variables,) to evaluate; None at the end."""
        import scipy.optimize

        minimize: Any = scipy.optimize.minimize

        left = iter(self.known)

        def cost(place: Floats) -> tuple[float, Floats]:
            found = next(left, None)
            if found is None:
                raise _UnknownError(place.copy())
            return found[1], found[2]

        options = {"maxiter": 10_000, "maxfun": 100_000, "gtol": FLAT, "ftol": STILL}
        bounds = [(0.0, 1.0)] * len(self.start)
        try:
            minimize(cost, self.start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
        except _UnknownError as unknown:
            return unknown.place
        return None


class Lbfgs:
    """L-BFGS-B of Byrd, Lu, Nocedal and Zhu 1995, as SciPy has it, with exact gradients.

    As many descents as a batch has points run in parallel. The first starts at the current parameter values, the others
    at random points. A descent that has ended restarts at a random point.
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
            raise InputError("lbfgs needs derivatives, and was given none")
        for descent, place, cost, slope in zip(self._descents, self._asked, costs, slopes, strict=False):
            self._learn(descent, place, cost, slope)

    def _learn(self, descent: Descent, place: Floats, costs: tuple[float, ...], slope: Point) -> None:
        (cost,) = costs
        gradient = [slope[v.name] * v.slope_at(float(part)) for v, part in zip(self._variables, place, strict=True)]
        descent.known.append((place, cost, np.array(gradient)))
