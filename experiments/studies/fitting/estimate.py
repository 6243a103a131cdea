"""Least squares for parameters between bounds, and what is known of them then.

Everything is reckoned in parts, 0 … 1, of the parameters' ranges, so that one size fits all of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from biped.errors import InputError
from contact.arrays import Floats
from experiments.studies.bounded import Bounded
from experiments.studies.fitting.spread import Spread, spread_of

if TYPE_CHECKING:
    import pandas as pd

#: Residuals (k, m) at so many sets of parts (k, p): all at once, so that a study can run them beside one another.
Residuals = Callable[[Floats], Floats]

#: To each side, in parts of a range: of the differences that stand for derivatives. Their error goes with its square.
REACH = 1e-3
#: In parts of a range: nearer than this a value is at its bound.
AT_BOUND = 1e-4
#: The weight of priors follows the residuals' deviation, which follows the fit: until it changes by less than this
#: part, and so often at most.
SETTLED, PASSES = 1e-4, 20
#: Of the intervals.
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Prior:
    """What is known of a parameter beforehand, as of a normal distribution of its value, in its unit."""

    mean: float
    deviation: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.mean) and math.isfinite(self.deviation) and self.deviation > 0.0):
            raise InputError(
                f"prior = [{self.mean:g}, {self.deviation:g}]: it must be a mean and a deviation above zero"
            )


@dataclass(frozen=True)
class Problem:
    """What is to be fitted.

    Attributes:
        parameters: between their bounds.
        residuals: measured less modelled, each in parts of its deviation, or of one unknown factor times it.
        series: the residuals that follow one another at even spacing in time, a slice each. What is left of them after
            a fit is correlated from one to the next, and each tells less than an independent one would. Residuals in no
            series are taken as independent.
        priors: of those that have one, by name.
    """

    parameters: Sequence[Bounded]
    residuals: Residuals
    series: Sequence[slice] = ()
    priors: dict[str, Prior] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in set(self.priors) - {one.name for one in self.parameters}:
            raise InputError(f"prior of {name!r}: parameters are {', '.join(one.name for one in self.parameters)}")

    def values(self, parts: Floats) -> Floats:
        """(p,) of the parameters at parts of their ranges."""
        return np.array([one.from_unit(float(part)) for one, part in zip(self.parameters, parts, strict=True)])

    def parts(self, values: Sequence[float]) -> Floats:
        """(p,) of the ranges, 0 … 1, at which values lie."""
        return np.array([one.to_unit(value) for one, value in zip(self.parameters, values, strict=True)])

    def prior_residuals(self, parts: Floats) -> Floats:
        """(k, q) at so many sets of parts (k, p), one for each parameter with a prior."""
        found = [
            [
                (one.from_unit(float(at[k])) - self.priors[one.name].mean) / self.priors[one.name].deviation
                for at in parts
            ]
            for k, one in enumerate(self.parameters)
            if one.name in self.priors
        ]
        return np.array(found).T.reshape(len(parts), -1)


@dataclass(frozen=True)
class Estimate:
    """What a fit came to.

    Attributes:
        problem: that was solved.
        parts: (p,) 0 … 1 of the ranges.
        residuals: (m,) there, without those of priors.
        jacobian: (m, p) their derivatives by the parts.
        spread: of the parts, about these.
        starts: (s, p + 1) parts where the searches from all starts ended, and the sum of squares there.
        converged: whether the best search came to its end, not to its most steps.
    """

    problem: Problem
    parts: Floats
    residuals: Floats
    jacobian: Floats
    spread: Spread
    starts: Floats
    converged: bool

    @property
    def values(self) -> dict[str, float]:
        """By the parameters' names."""
        found = self.problem.values(self.parts)
        return {one.name: float(value) for one, value in zip(self.problem.parameters, found, strict=True)}

    @property
    def slopes(self) -> Floats:
        """(p,) derivatives of values by parts."""
        pairs = zip(self.problem.parameters, self.parts, strict=True)
        return np.array([one.slope_at(float(part)) for one, part in pairs])

    @property
    def table(self) -> pd.DataFrame:
        """A row for each parameter: ``value``, ``sd``, ``low``, ``high`` (95 %), ``at_bound``; in their units.

        The interval is that of a linear model about the values, cut at the bounds; see ``profiles`` for one that is
        not linear.
        """
        import pandas as pd

        reach = self.spread.quantile * self.spread.deviations
        ends = [self.problem.values(np.clip(self.parts + side * reach, 0.0, 1.0)) for side in (-1.0, 1.0)]
        return pd.DataFrame(
            {
                "parameter": [one.name for one in self.problem.parameters],
                "value": self.problem.values(self.parts),
                "sd": self.spread.deviations * self.slopes,
                "low": ends[0],
                "high": ends[1],
                "at_bound": (self.parts < AT_BOUND) | (self.parts > 1.0 - AT_BOUND),
            }
        )

    @property
    def correlation(self) -> pd.DataFrame:
        """(p, p) of the estimates' errors, by the parameters' names."""
        import pandas as pd

        names = [one.name for one in self.problem.parameters]
        return pd.DataFrame(self.spread.correlation, index=names, columns=names)


def estimate(problem: Problem, starts: Floats, most_steps: int = 50) -> Estimate:
    """The parameters with the least sum of squares, from the best of several starts.

    Args:
        problem: of it.
        starts: (s, p) in parts, 0 … 1, of the ranges.
        most_steps: of each search.

    Raises:
        InputError: there are fewer residuals than parameters, or some are not finite at a start.
    """
    first = _with_priors(problem)(starts)
    if first.shape[1] < len(problem.parameters):
        raise InputError(f"{first.shape[1]} numbers are measured, {len(problem.parameters)} parameters cannot follow")
    if not np.isfinite(first).all():
        raise InputError("the model has values that are no finite numbers where its parameters start")
    found = [_search(_with_priors(problem), start, most_steps) for start in starts]
    ends = np.array([[*one.x, 2.0 * one.cost] for one in found])
    best = found[int(np.argmin(ends[:, -1]))]
    deviation = 1.0
    for _ in range(PASSES if problem.priors else 0):
        before, deviation = deviation, math.sqrt(_variance(problem, problem.residuals(best.x[None])[0]))
        if abs(deviation - before) <= SETTLED * deviation:
            break
        best = _search(_with_priors(problem, deviation), best.x, most_steps)
    return told(problem, best.x, ends, best.status > 0)


def least_sum(problem: Problem, start: Floats, deviation: float) -> float:
    """The least sum of squares near parts (p,), priors weighing as residuals of this deviation; to a part of 1e-4."""
    return 2.0 * float(_search(_with_priors(problem, deviation), start, most_steps=10, close=1e-4).cost)


def _search(full: Residuals, start: Floats, most_steps: int, close: float = 1e-9) -> Any:
    from scipy.optimize import least_squares

    def one(at: Floats) -> Floats:
        return full(at[None])[0]

    return least_squares(
        one, np.clip(start, 1e-6, 1.0 - 1e-6), partial(slopes_of, full),
        bounds=(0.0, 1.0), xtol=1e-9, ftol=close, gtol=1e-9, max_nfev=most_steps,
    )  # fmt: skip


def _variance(problem: Problem, residuals: Floats) -> float:
    return float(residuals @ residuals) / max(len(residuals) - len(problem.parameters), 1)


def slopes_of(residuals: Residuals, at: Floats, reach: float = REACH) -> Floats:
    """(m, p) derivatives of residuals by parts, of differences to both sides, or to one side at a bound."""
    ends = np.repeat(at[None], 2 * len(at), axis=0)
    for k in range(len(at)):
        ends[2 * k, k] = max(at[k] - reach, 0.0)
        ends[2 * k + 1, k] = min(at[k] + reach, 1.0)
    found = residuals(ends)
    spans = np.array([ends[2 * k + 1, k] - ends[2 * k, k] for k in range(len(at))])
    return (found[1::2] - found[::2]).T / spans


def _with_priors(problem: Problem, deviation: float = 1.0) -> Residuals:
    """All residuals; those of priors weigh as measurements do, whose deviation is this."""
    return lambda parts: np.hstack([problem.residuals(parts), deviation * problem.prior_residuals(parts)])


def told(problem: Problem, parts: Floats, ends: Floats, converged: bool) -> Estimate:
    """What is known at parts (p,) where the least sum of squares is; ``ends`` as ``Estimate.starts``."""
    slopes = slopes_of(_with_priors(problem), parts)
    residuals = problem.residuals(parts[None])[0]
    spread = spread_of(residuals, slopes[: len(residuals)], slopes[len(residuals) :], problem.series, CONFIDENCE)
    return Estimate(problem, parts, residuals, slopes[: len(residuals)], spread, ends, converged)
