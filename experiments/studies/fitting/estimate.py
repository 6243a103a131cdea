"""Least squares for parameters between bounds, with the uncertainty of the estimates.

All computations use fractions, 0 … 1, of the parameters' ranges, so that one step size fits all of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from biped.errors import InputError
from contact.arrays import Floats
from experiments.studies.bounded import Bounded
from experiments.studies.fitting.spread import Spread, spread_of

if TYPE_CHECKING:
    import pandas as pd

#: Function that returns residuals (k, m) at k sets of fractions (k, p), which a study can run in parallel.
Residuals = Callable[[Floats], Floats]

#: Step of central differences, as a fraction of a range.
REACH = 1e-3
#: Distance from a bound, as a fraction of a range, within which a value counts as at the bound.
AT_BOUND = 1e-3
#: The weight of priors depends on the residuals' deviation, and this on the fit. Fits are repeated until its relative
#: change is below this tolerance, and at most this often.
SETTLED, PASSES = 1e-4, 20
#: Largest number of rounds of a search by secants; each round begins with derivatives by finite differences.
ROUNDS = 4
#: Largest number of residual evaluations in a round.
MOST_DEAR = 15
#: A search has converged if its step is below this, in standard deviations of the estimates (independent residuals).
STEP = 1e-2
#: A search with zero residuals has converged if its step is below this fraction of a range.
NEAR = 1e-5
#: Confidence of the intervals.
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Prior:
    """Prior knowledge of a parameter: a normal distribution of its value, in the parameter's unit."""

    mean: float
    deviation: float  # standard deviation

    def __post_init__(self) -> None:
        if not (math.isfinite(self.mean) and math.isfinite(self.deviation) and self.deviation > 0.0):
            raise InputError(
                f"prior = [{self.mean:g}, {self.deviation:g}]: it must be a mean and a standard deviation above zero"
            )


@dataclass(frozen=True)
class Problem:
    """A least-squares problem: parameters, residuals and priors.

    Attributes:
        parameters: parameters with their bounds.
        residuals: function that returns measured minus modelled values, divided by their standard deviations; these may
            have a common unknown factor.
        series: slices of residuals at evenly spaced times. After a fit, residuals of a series are correlated and have
            less information than independent ones. Residuals in no series are taken as independent.
        priors: prior distributions by parameter name.
        slopes: function that returns derivatives (m, p) of the residuals at fractions (p,), for residuals that take a
            run. A search computes them once a round, and updates them at each step (Broyden 1965). None: finite
            differences at each step.
        near: function that makes, from derivatives (m, p), approximate residuals that take fewer runs; a search uses
            these, and its result is checked. None: the search uses ``residuals``.
        deviation: standard deviation of a residual, if it is known; None to estimate it.
    """

    parameters: Sequence[Bounded]
    residuals: Residuals
    series: Sequence[slice] = ()
    priors: dict[str, Prior] = field(default_factory=dict)
    slopes: Callable[[Floats], Floats] | None = None
    near: Callable[[Floats], Residuals] | None = None
    deviation: float | None = None

    def __post_init__(self) -> None:
        names = [parameter.name for parameter in self.parameters]
        for name in set(self.priors) - set(names):
            raise InputError(f"prior of {name!r}: unknown parameter; parameters are {', '.join(names)}")

    def about(self, slopes: Floats) -> Problem:
        """Return this problem with the approximate residuals of ``near``, given derivatives (m, p)."""
        return self if self.near is None else replace(self, residuals=self.near(slopes), near=None)

    def values(self, parts: Floats) -> Floats:
        """Return the values (p,) of the parameters at fractions (p,), 0 … 1, of their ranges."""
        return np.array([k.from_unit(float(part)) for k, part in zip(self.parameters, parts, strict=True)])

    def parts(self, values: Sequence[float]) -> Floats:
        """Return the fractions (p,), 0 … 1, of the ranges at which the parameters have these values."""
        return np.array([k.to_unit(value) for k, value in zip(self.parameters, values, strict=True)])

    def prior_residuals(self, parts: Floats) -> Floats:
        """Return the residuals (k, q) of the priors at k sets of fractions (k, p)."""
        residuals = [
            [(parameter.from_unit(float(at[k])) - prior.mean) / prior.deviation for at in parts]
            for k, parameter in enumerate(self.parameters)
            if (prior := self.priors.get(parameter.name)) is not None
        ]
        return np.array(residuals).T.reshape(len(parts), -1)


@dataclass(frozen=True)
class Estimate:
    """Result of a least-squares fit: parameters, residuals, derivatives and scatter."""

    problem: Problem  #: solved problem
    parts: Floats  #: (p,) estimates as fractions, 0 … 1, of the ranges
    residuals: Floats  #: (m,) residuals of the estimates, without those of priors
    jacobian: Floats  #: (m, p) derivatives of the residuals with respect to the fractions
    spread: Spread  #: scatter of the fractions
    starts: Floats  #: (s, p + 1) fractions at which the search from each start ended, and its sum of squares
    converged: bool  #: True if the best search converged; False if it reached its largest number of steps

    @property
    def values(self) -> dict[str, float]:
        """Estimated values by parameter."""
        pairs = zip(self.problem.parameters, self.problem.values(self.parts), strict=True)
        return {parameter.name: float(value) for parameter, value in pairs}

    @property
    def slopes(self) -> Floats:
        """Derivatives (p,) of the values with respect to the fractions."""
        pairs = zip(self.problem.parameters, self.parts, strict=True)
        return np.array([parameter.slope_at(float(part)) for parameter, part in pairs])

    @property
    def table(self) -> pd.DataFrame:
        """Table with a row for each parameter: ``value``, ``sd``, ``low``, ``high`` (95 %), ``at_bound``.

        The intervals are those of a linear model about the values, cut at the bounds.
        """
        import pandas as pd

        reach = self.spread.quantile * self.spread.deviations
        ends = [self.problem.values(np.clip(self.parts + side * reach, 0.0, 1.0)) for side in (-1.0, 1.0)]
        return pd.DataFrame(
            {
                "parameter": [parameter.name for parameter in self.problem.parameters],
                "value": self.problem.values(self.parts),
                "sd": self.spread.deviations * self.slopes,
                "low": ends[0],
                "high": ends[1],
                "at_bound": (self.parts < AT_BOUND) | (self.parts > 1.0 - AT_BOUND),
            }
        )

    @property
    def correlation(self) -> pd.DataFrame:
        """Correlation (p, p) of the estimates' errors, by parameter."""
        import pandas as pd

        names = [parameter.name for parameter in self.problem.parameters]
        return pd.DataFrame(self.spread.correlation, index=names, columns=names)


def estimate(problem: Problem, starts: Floats, most_steps: int = 50) -> Estimate:
    """Return the parameters with the least sum of squares, from the best of several starts.

    Args:
        problem: problem to solve.
        starts: (s, p) fractions, 0 … 1, of the ranges.
        most_steps: largest number of steps of each search.

    Raises:
        InputError: there are fewer residuals than parameters, or some are not finite at a start.
    """
    first = _with_priors(problem)(starts)
    if first.shape[1] < len(problem.parameters):
        raise InputError(f"{first.shape[1]} measured numbers are too few to fit {len(problem.parameters)} parameters")
    if not np.isfinite(first).all():
        raise InputError("the model's values are not finite at the starting point: change starts, or narrow ranges")
    ends = [_settled(problem, start, most_steps) for start in starts]
    best = ends[int(np.argmin([end.sum for end in ends]))]
    return estimate_at(problem, best.parts, np.array([[*end.parts, end.sum] for end in ends]), best.is_least)


def refit(problem: Problem, solved: Estimate, start: Floats | None = None, without: int | None = None) -> _End:
    """Solve a problem that is similar to a solved one; the sum of squares is accurate to 1e-4.

    Args:
        problem: problem to solve; priors are weighted with the residuals' deviation of the solved one.
        solved: result of the solved problem, whose derivatives are used first.
        start: (p,) fractions at which the search starts; None for the estimates of the solved problem.
        without: index of a parameter of the solved problem that ``problem`` lacks; None if it has all.
    """
    matrix = solved.jacobian if without is None else np.delete(solved.jacobian, without, axis=1)
    at = solved.parts if start is None else start
    return _search(problem, _Slopes(problem, matrix), at, 10, math.sqrt(solved.spread.variance), 1e-4)


def searched(problem: Problem, start: Floats) -> Floats:
    """Return the fractions (p,) at which a single short search ends."""
    return _search(problem, _Slopes(problem), start, MOST_DEAR // 2).parts


class _End(NamedTuple):
    """End of a search: fractions (p,), their sum of squares, and True if they are a local minimum."""

    parts: Floats
    sum: float
    is_least: bool


def _settled(problem: Problem, start: Floats, most_steps: int) -> _End:
    """Search until the weight of the priors has converged, and finite differences predict no improvement.

    A round that begins with finite differences and improves nothing also ends the search.
    """
    end, deviation, slopes = _End(start, math.inf, False), 1.0, _Slopes(problem)
    for _ in range(PASSES if problem.slopes is None else ROUNDS):
        last, before = _search(problem, slopes, end.parts, most_steps, deviation), deviation
        variance = _variance(problem, problem.residuals(last.parts[None])[0])
        if problem.priors:
            deviation = math.sqrt(variance)
        is_settled = abs(deviation - before) <= SETTLED * deviation
        if problem.slopes is not None:
            if is_settled and last.sum > end.sum - STEP**2 * len(start) * variance:
                return min(end, last, key=lambda either: either.sum)._replace(is_least=True)
            matrix = problem.slopes(last.parts)
            slopes = _Slopes(problem, matrix)
            last = last._replace(is_least=_is_least(problem, matrix, last.parts, deviation))
        if is_settled and (last.is_least or problem.slopes is None):
            return last
        end = last
    return end


class _Slopes:
    """Derivatives (m, p) of residuals with respect to fractions: by differences, or by secants if these take runs."""

    def __init__(self, problem: Problem, matrix: Floats | None = None) -> None:
        self._slopes, self.matrix = problem.slopes, matrix
        self._at = self._residuals = np.empty(0)

    def __call__(self, residuals: Residuals, at: Floats) -> Floats:
        if self._slopes is None:
            return slopes_of(residuals, at)
        here = residuals(at[None])[0]
        if self.matrix is None:
            self.matrix = self._slopes(at)
        elif len(self._at) and (step := at - self._at).any():
            missed = here - self._residuals - self.matrix @ step
            self.matrix = self.matrix + np.outer(missed, step / (step @ step))
        self._at, self._residuals = at.copy(), here
        return self.matrix


def _search(
    problem: Problem, slopes: _Slopes, start: Floats, most_steps: int, deviation: float = 1.0, close: float = 1e-9
) -> _End:
    from scipy.optimize import least_squares

    start, near, nearest = np.clip(start, 1e-6, 1.0 - 1e-6), problem, 1e-9
    if problem.slopes is not None:
        matrix = slopes(problem.residuals, start)
        near, nearest = problem.about(matrix), NEAR
        most_steps, close = min(most_steps, MOST_DEAR), max(close, STEP**2 * len(start) / len(matrix))
    full = _with_priors(near, deviation)

    def residuals(at: Floats) -> Floats:
        return full(at[None])[0]

    def all_slopes(at: Floats) -> Floats:
        return np.vstack([slopes(near.residuals, at), deviation * slopes_of(problem.prior_residuals, at)])

    done = least_squares(
        residuals, start, all_slopes,
        bounds=(0.0, 1.0), xtol=nearest, ftol=close, gtol=1e-9, max_nfev=most_steps,
    )  # fmt: skip
    return _End(done.x, float((_with_priors(problem, deviation)(done.x[None])[0] ** 2).sum()), done.status > 0)


def _is_least(problem: Problem, slopes: Floats, parts: Floats, deviation: float) -> bool:
    """Return True if the derivatives predict no improvement: relative offset of Bates and Watts 1981."""
    from scipy.optimize import lsq_linear

    residuals = _with_priors(problem, deviation)(parts[None])[0]
    slopes = np.vstack([slopes, deviation * slopes_of(problem.prior_residuals, parts)])
    step = lsq_linear(slopes, -residuals, (-parts - 1e-12, 1.0 - parts + 1e-12)).x
    fall = float(residuals @ residuals - ((residuals + slopes @ step) ** 2).sum())
    return bool(fall <= STEP**2 * len(parts) * _variance(problem, residuals) or np.abs(step).max() <= NEAR)


def _variance(problem: Problem, residuals: Floats) -> float:
    if problem.deviation is not None:
        return problem.deviation**2
    return float(residuals @ residuals) / max(len(residuals) - len(problem.parameters), 1)


def slopes_of(residuals: Residuals, at: Floats, reach: float = REACH) -> Floats:
    """Return derivatives (m, p) of residuals with respect to fractions: central differences, one-sided at bounds."""
    ends = np.repeat(at[None], 2 * len(at), axis=0)
    for k in range(len(at)):
        ends[2 * k, k] = max(at[k] - reach, 0.0)
        ends[2 * k + 1, k] = min(at[k] + reach, 1.0)
    values = residuals(ends)
    spans = np.array([ends[2 * k + 1, k] - ends[2 * k, k] for k in range(len(at))])
    return (values[1::2] - values[::2]).T / spans


def _with_priors(problem: Problem, deviation: float = 1.0) -> Residuals:
    """Return a function for all residuals; those of priors are multiplied by the deviation of the measurements."""
    return lambda parts: np.hstack([problem.residuals(parts), deviation * problem.prior_residuals(parts)])


def estimate_at(problem: Problem, parts: Floats, ends: Floats, converged: bool) -> Estimate:
    """Return the estimate for fractions (p,) with the least sum of squares; ``ends`` as in ``Estimate.starts``."""
    residuals = problem.residuals(parts[None])[0]
    slopes = slopes_of(problem.residuals, parts) if problem.slopes is None else problem.slopes(parts)
    prior_slopes = slopes_of(problem.prior_residuals, parts)
    spread = spread_of(residuals, slopes, prior_slopes, problem.series, CONFIDENCE, problem.deviation)
    return Estimate(problem, parts, residuals, slopes, spread, ends, converged)
