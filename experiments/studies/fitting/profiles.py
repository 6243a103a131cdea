"""Intervals from profiles of the sum of squares and from refits, where a linear model is not enough."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from contact.arrays import Floats
from experiments.studies.fitting.estimate import Estimate, Problem, Residuals, refit
from experiments.studies.fitting.spread import block_of

if TYPE_CHECKING:
    import pandas as pd

#: Largest number of outward steps of a bracket's end, each doubling the distance, and of refinements of the bracket.
OUTWARDS, INWARDS = 6, 8
#: Tolerance of an interval's end, relative to the quantile.
CLOSE = 0.05


def profiles(found: Estimate) -> "pd.DataFrame":
    """Return ``low`` and ``high`` (95 %) of each parameter, by ``parameter``, from profiles of the sum of squares.

    A value θ is in the interval if S(θ) − S_min ≤ t² s² f (Bates and Watts 1988, 6.1). S(θ) is the sum of squares with
    all other parameters refitted, t is Student's quantile, s² is the residuals' variance, and f is the factor by which
    the residuals' correlation increases the estimate's variance. The interval is cut at the range's bounds.
    """
    import pandas as pd

    rows = []
    for place, one in enumerate(found.problem.parameters):
        ends = [_end(found, place, side) for side in (-1.0, 1.0)]
        rows.append({"parameter": one.name, "low": one.from_unit(ends[0]), "high": one.from_unit(ends[1])})
    return pd.DataFrame(rows)


def _end(found: Estimate, place: int, side: float) -> float:
    """Return the fraction of the range at which an interval ends, on one side."""
    bound = float(side > 0.0)
    middle, deviation = float(found.parts[place]), float(found.spread.deviations[place])
    wanted = found.spread.quantile
    rises = _Profile(found, place)
    inner, low = middle, 0.0
    outer = middle + side * min(wanted * deviation, 1.0)
    for _ in range(OUTWARDS):
        outer = min(max(outer, 0.0), 1.0)
        high = rises(outer)
        if high >= (1.0 - CLOSE) * wanted:
            break
        if outer == bound:
            return bound
        inner, low, outer = outer, high, 2.0 * outer - middle
    for _ in range(INWARDS):
        if abs(high - wanted) <= CLOSE * wanted:
            break
        part = min(max((wanted - low) / (high - low), 0.1), 0.9)
        between = inner + part * (outer - inner)
        rise = rises(between)
        if rise >= (1.0 - CLOSE) * wanted:
            outer, high = between, rise
        else:
            inner, low = between, rise
    return outer


class _Profile:
    """Rise of the sum of squares with one parameter fixed, in deviations; each value is computed once."""

    def __init__(self, found: Estimate, place: int) -> None:
        self._found, self._place = found, place
        self._known: dict[float, float] = {}
        ratio = float(found.spread.covariance[place, place] / found.spread.naive[place])
        self._unit = max(found.spread.variance * ratio, np.finfo(float).tiny)
        self._least = _sum_of_squares(found.problem, found.parts, found.spread.variance)
        covariance = found.spread.covariance[place]
        self._along = np.delete(covariance / max(covariance[place], np.finfo(float).tiny), place)

    def __call__(self, part: float) -> float:
        if part not in self._known:
            self._known[part] = np.sqrt(max(self._refitted(part) - self._least, 0.0) / self._unit)
        return self._known[part]

    def _refitted(self, part: float) -> float:
        """Return the least sum of squares with the parameter fixed; the other parameters start from a linear model."""
        found, place = self._found, self._place
        problem, variance = found.problem.about(found.jacobian), found.spread.variance
        others = [one for k, one in enumerate(problem.parameters) if k != place]
        if not others:
            return _sum_of_squares(problem, np.array([part]), variance)
        own = problem.parameters[place].name
        priors = {name: prior for name, prior in problem.priors.items() if name != own}
        residuals = _with(problem.residuals, place, part)
        fixed = replace(problem, parameters=others, residuals=residuals, priors=priors)
        start = np.delete(found.parts, place) + self._along * (part - found.parts[place])
        least = refit(fixed, found, np.clip(start, 0.0, 1.0), without=place).sum
        return least + (_prior_alone(problem, place, part) * variance if own in problem.priors else 0.0)


def _prior_alone(problem: Problem, place: int, part: float) -> float:
    one = problem.parameters[place]
    prior = problem.priors[one.name]
    return ((one.from_unit(part) - prior.mean) / prior.deviation) ** 2


def _with(residuals: Residuals, place: int, part: float) -> Residuals:
    return lambda parts: residuals(np.insert(parts, place, part, axis=1))


def _sum_of_squares(problem: Problem, parts: Floats, variance: float) -> float:
    residuals, priors = problem.residuals(parts[None])[0], problem.prior_residuals(parts[None])[0]
    return float(residuals @ residuals) + variance * float(priors @ priors)


def bootstrap(found: Estimate, replicas: int, seed: int) -> Floats:
    """Return values (replicas, p) of refits to the fitted model plus resampled residuals.

    Residuals of a series are drawn in blocks as long as their correlation (Kunsch 1989), others one by one, all about
    their mean. Each refit begins at the estimate.
    """
    generator = np.random.default_rng(seed)
    problem, residuals = found.problem.about(found.jacobian), found.residuals
    centred = residuals - residuals.mean()
    refits = []
    for drawn in _drawn(centred, problem, generator, replicas):
        moved = replace(problem, residuals=_moved(problem.residuals, drawn - residuals))
        refits.append(problem.values(refit(moved, found).parts))
    return np.array(refits)


def _moved(residuals: Residuals, by: Floats) -> Residuals:
    return lambda parts: residuals(parts) + by


def _drawn(residuals: Floats, problem: Problem, generator: np.random.Generator, replicas: int) -> Iterator[Floats]:
    alone = np.ones(len(residuals), dtype=bool)
    for part in problem.series:
        alone[part] = False
    for _ in range(replicas):
        drawn = residuals.copy()
        drawn[alone] = generator.choice(residuals[alone], int(alone.sum())) if alone.any() else residuals[alone]
        for part in problem.series:
            own = residuals[part]
            length = block_of(own)
            first = generator.integers(0, len(own) - length + 1, -(-len(own) // length))
            drawn[part] = own[(first[:, None] + np.arange(length)).ravel()[: len(own)]]
        yield drawn
