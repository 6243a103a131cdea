"""Derivatives by differences, with a bound of their error that follows from the differences themselves."""

from collections.abc import Callable
from math import comb
from typing import Any, NamedTuple

import numpy as np

#: Central differences of order four and six: weights of f(−3h) … f(3h), over h.
FOURTH = np.array([0.0, 1.0, -8.0, 0.0, 8.0, -1.0, 0.0]) / 12.0
SIXTH = np.array([-1.0, 9.0, -45.0, 0.0, 45.0, -9.0, 1.0]) / 60.0
#: Noise does no more to a difference than so many of its standard deviations over h: that of order six has 1.1 of them,
#: but what is known of them is an estimate from nine values.
SURE = 10.0


class Derivative(NamedTuple):
    """A derivative by differences: its value, and what that may be off."""

    value: np.ndarray
    error: np.ndarray

    def __getitem__(self, at: Any) -> "Derivative":  # type: ignore[override] # of a part
        return Derivative(self.value[at], self.error[at])

    def departure(self, exact: Any, rel: float, *, alike: bool = False) -> float:
        """The greatest distance of exact derivatives from it, in parts of what is allowed.

        That is the error of the differences, or ``rel`` of the value where that is more; of numbers that are ``alike``,
        the greatest.
        """
        allowed, distance = np.maximum(self.error, rel * np.abs(self.value)), np.abs(exact - self.value)
        if alike:
            allowed = allowed.max(initial=0.0)
        return float(np.max(distance / np.maximum(allowed, np.finfo(float).tiny), initial=0.0))


def derivative(function: Callable[[float], Any], *reaches: float, at: float = 0.0) -> Derivative:
    """The derivative of a function of a number by central differences, at the one of h = ``reaches`` of least error.

    The value is of order six. Its error is what one of order four differs by, and what noise does: the rounding of all
    that the function's values are computed by. The k-th difference of values with independent noise of standard
    deviation σ is (2k)!/(k!)² σ² in the mean square, whatever smooth function is beneath (Moré and Wild 2011, SIAM J.
    Sci. Comput. 33(3), section 2).
    """
    found = [_over(np.array([function(at + k * h) for k in range(-4, 5)], dtype=float), h) for h in reaches]
    errors = np.array([one.error for one in found])
    best = np.argmin(errors, axis=0)[None]
    values = np.array([one.value for one in found])
    return Derivative(np.take_along_axis(values, best, 0)[0], np.take_along_axis(errors, best, 0)[0])


def jacobian(function: Callable[[np.ndarray], Any], x: np.ndarray, *reaches: float) -> Derivative:
    columns = [derivative(lambda e, unit=unit: function(x + e * unit), *reaches) for unit in np.eye(len(x))]
    return columns_of(columns)


def columns_of(columns: list[Derivative]) -> Derivative:
    return Derivative(*(np.stack(part, axis=-1) for part in zip(*columns, strict=True)))


def _over(f: np.ndarray, h: float) -> Derivative:
    """Of f(−4h) … f(4h)."""
    fourth, sixth = (np.tensordot(weights, f[1:-1], 1) / h for weights in (FOURTH, SIXTH))
    return Derivative(sixth, np.abs(sixth - fourth) + SURE * noise_of(f) / h)


def noise_of(f: np.ndarray) -> np.ndarray:
    """Its standard deviation in nine values at equal distances; no less than their rounding."""
    noise = np.finfo(float).eps * np.abs(f).max(axis=0)
    for k in range(5, 9):
        noise = np.maximum(noise, np.sqrt(np.mean(np.diff(f, k, axis=0) ** 2, axis=0) / comb(2 * k, k)))
    return noise
