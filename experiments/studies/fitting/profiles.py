"""Nonlinear intervals: from profiles of the sum of squares, and from a bootstrap of refits."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from contact.arrays import Floats
from experiments.studies.fitting.estimate import Estimate, Problem, Residuals, refit
from experiments.studies.fitting.spread import block_of

if TYPE_CHECKING:
    import pandas as pd

#: Largest number of outward steps, each doubling the distance, and of refinements of the bracket.
OUTWARDS, INWARDS = 6, 8
#: Tolerance of an interval's end, relative to the quantile.
CLOSE = 0.05


def profiles(estimate: Estimate) -> "pd.DataFrame":
    """Return a table of 95 % intervals from profiles of the sum of squares: ``parameter``, ``low``, ``high``.

    A value θ is in the interval if S(θ) − S_min ≤ t² s² f (Bates and Watts 1988, 6.1). S(θ) is the sum of squares with
    all other parameters refitted, t is Student's quantile, s² is the residuals' variance, and f is the factor by which
    the residuals' correlation increases the estimate's variance. The interval is cut at the range's bounds.
    """
    import pandas as pd

    rows = []
    for place, parameter in enumerate(estimate.problem.parameters):
        low, high = (parameter.from_unit(_end(estimate, place, side)) for side in (-1.0, 1.0))
        rows.append({"parameter": parameter.name, "low": low, "high": high})
    return pd.DataFrame(rows)


def _end(estimate: Estimate, place: int, side: float) -> float:
    """Return the fraction of a parameter's range at which the interval ends; ``side`` is −1 (low) or 1 (high)."""
    bound = float(side > 0.0)
    middle, deviation = float(estimate.parts[place]), float(estimate.spread.deviations[place])
    target = estimate.spread.quantile
    rises = _Profile(estimate, place)
    inner, low = middle, 0.0
    outer = middle + side * min(target * deviation, 1.0)
    for _ in range(OUTWARDS):
        outer = min(max(outer, 0.0), 1.0)
        high = rises(outer)
        if high >= (1.0 - CLOSE) * target:
            break
        if outer == bound:
            return bound
        inner, low, outer = outer, high, 2.0 * outer - middle
    for _ in range(INWARDS):
        if abs(high - target) <= CLOSE * target:
            break
        part = min(max((target - low) / (high - low), 0.1), 0.9)
        between = inner + part * (outer - inner)
        rise = rises(between)
        if rise >= (1.0 - CLOSE) * target:
            outer, high = between, rise
        else:
            inner, low = between, rise
    return outer


class _Profile:
    """Rise of the sum of squares with one parameter fixed: √((S − S_min) / (s² f)), cached by the fraction."""

    def __init__(self, estimate: Estimate, place: int) -> None:
        self._estimate, self._place = estimate, place
        self._known: dict[float, float] = {}
        ratio = float(estimate.spread.covariance[place, place] / estimate.spread.naive[place])
        self._unit = max(estimate.spread.variance * ratio, np.finfo(float).tiny)
        self._least = _sum_of_squares(estimate.problem, estimate.parts, estimate.spread.variance)
        covariance = estimate.spread.covariance[place]
        self._along = np.delete(covariance / max(covariance[place], np.finfo(float).tiny), place)

    def __call__(self, part: float) -> float:
        if part not in self._known:
            self._known[part] = np.sqrt(max(self._refitted(part) - self._least, 0.0) / self._unit)
        return self._known[part]

    def _refitted(self, part: float) -> float:
        """Return the least sum of squares with the parameter fixed; the other parameters start from a linear model."""
        estimate, place = self._estimate, self._place
        problem, variance = estimate.problem.about(estimate.jacobian), estimate.spread.variance
        free = [parameter for k, parameter in enumerate(problem.parameters) if k != place]
        if not free:
            return _sum_of_squares(problem, np.array([part]), variance)
        name = problem.parameters[place].name
        priors = {key: prior for key, prior in problem.priors.items() if key != name}
        residuals = _with(problem.residuals, place, part)
        fixed = replace(problem, parameters=free, residuals=residuals, priors=priors)
        start = np.delete(estimate.parts, place) + self._along * (part - estimate.parts[place])
        least = refit(fixed, estimate, np.clip(start, 0.0, 1.0), without=place).sum
        return least + (_prior_alone(problem, place, part) * variance if name in problem.priors else 0.0)


def _prior_alone(problem: Problem, place: int, part: float) -> float:
    parameter = problem.parameters[place]
    prior = problem.priors[parameter.name]
    return ((parameter.from_unit(part) - prior.mean) / prior.deviation) ** 2


def _with(residuals: Residuals, place: int, part: float) -> Residuals:
    return lambda parts: residuals(np.insert(parts, place, part, axis=1))


def _sum_of_squares(problem: Problem, parts: Floats, variance: float) -> float:
    residuals, priors = problem.residuals(parts[None])[0], problem.prior_residuals(parts[None])[0]
    return float(residuals @ residuals) + variance * float(priors @ priors)


def bootstrap(estimate: Estimate, replicas: int, seed: int) -> Floats:
    """Return values (replicas, p) from refits to the fitted model plus resampled residuals.

    Residuals of a series are resampled in blocks as long as their correlation (Kunsch 1989), all others one by one.
    Their mean is subtracted. Each refit begins at the estimate.
    """
    generator = np.random.default_rng(seed)
    problem, residuals = estimate.problem.about(estimate.jacobian), estimate.residuals
    centred = residuals - residuals.mean()
    refits = []
    for drawn in _drawn(centred, problem, generator, replicas):
        moved = replace(problem, residuals=_moved(problem.residuals, drawn - residuals))
        refits.append(problem.values(refit(moved, estimate).parts))
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
            values = residuals[part]
            length = block_of(values)
            first = generator.integers(0, len(values) - length + 1, -(-len(values) // length))
            drawn[part] = values[(first[:, None] + np.arange(length)).ravel()[: len(values)]]
        yield drawn
