"""A published number beside the mean of ours, with its interval."""

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from experiments.papers.criteria import stated, when
from experiments.papers.item import Finding
from experiments.studies.mean import Mean, mean_of


def beside(quantity: str, published: float, margin: float, ours: Mean, why: str, *, lost: int = 0) -> Finding:
    """Judge our mean, or median, which agrees where it is within a margin of the published one and nobody was lost.

    Args:
        quantity: what it is, with its unit.
        published: as printed.
        margin: published spread, or what is allowed for where none is known; in the same unit.
        ours: of those who stood.
        why: one sentence, shown where it differs.
        lost: how many fell.
    """
    near = ours.of > 0 and lost == 0 and abs(ours.value - published) <= margin
    return stated(quantity, published, shown(ours, lost), when(f"{published:.4g} ± {margin:.2g}", near), why=why)


def mean_ratio(ours: ArrayLike, theirs: ArrayLike) -> Mean:
    """The geometric mean of (n,) ratios, with its interval: that of theirs over ours is one over it."""
    logs = mean_of(np.log(np.asarray(ours, dtype=float) / np.asarray(theirs, dtype=float)))
    return Mean(math.exp(logs.value), logs.of, math.exp(logs.low), math.exp(logs.high))


def shown(ours: Mean, lost: int = 0) -> str:
    """Our mean in words, with its interval, and how many fell."""
    fell = f"{lost} of {lost + ours.of} fall" if lost else ""
    if ours.of == 0:
        return fell
    interval = f" ({ours.low:.4g} … {ours.high:.4g})" if ours.of > 1 else ""
    return f"{ours.value:.4g}{interval}" + (f"; {fell}" if fell else "")


def ends(mean: Mean) -> tuple[float, float, float]:
    """A mean and the ends of its interval, as cells of a table."""
    return mean.value, mean.low, mean.high


def reaches(means: Iterable[Mean]) -> NDArray[np.float64]:
    """(2, n) how far intervals reach below and above their means, as ``errorbar`` takes it."""
    return np.array([(one.value - one.low, one.high - one.value) for one in means]).T
