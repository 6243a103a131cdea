"""Identifiability of parameters from a record, described in sentences."""

import math

import numpy as np

from contact.arrays import Floats
from experiments.studies.fitting.estimate import Estimate

#: Deviation of a parameter, as a fraction of its range, above which it is poorly identifiable: half of the 1/√12 of a
#: uniform distribution over the range.
LITTLE = 0.5 / math.sqrt(12.0)
#: Correlations beyond this leave each of two parameters at least three times as uncertain as with the other one known.
ALIKE = math.sqrt(1.0 - 1.0 / 9.0)


def at_bounds(found: Estimate) -> list[str]:
    """Return sentences on parameters that ended at a bound of their ranges."""
    return [
        f"{name} is at the end of its range: widen it, or doubt the model"
        for name, at in zip(found.table["parameter"], found.table["at_bound"], strict=True)
        if at
    ]


def sentences(found: Estimate) -> list[str]:
    """Return sentences on parameters that are poorly identifiable, alone or as pairs."""
    told = list[str]()
    together = set[str]()
    for sentence, names in _pairs(found):
        told.append(sentence)
        together |= names
    for one, deviation in zip(found.problem.parameters, found.spread.deviations, strict=True):
        if deviation > LITTLE and one.name not in together:
            told.append(f"{one.name} is poorly identifiable: {_how_little(float(deviation))}")
    return told


def _how_little(deviation: float) -> str:
    if deviation > 1.0:
        return "the record is almost insensitive to it"
    return f"its deviation is {deviation:.0%} of its range, and a range alone has {1.0 / math.sqrt(12.0):.0%}"


def _pairs(found: Estimate) -> "list[tuple[str, set[str]]]":
    """Yield pairs of which a combination is better known than each parameter, in values, not fractions."""
    covariance, slopes = found.spread.covariance, found.slopes
    parameters, values = found.problem.parameters, found.problem.values(found.parts)
    pairs = []
    for i in range(len(parameters)):
        for j in range(i + 1, len(parameters)):
            own = covariance[np.ix_((i, j), (i, j))] * np.outer(slopes[[i, j]], slopes[[i, j]])
            if own[0, 1] ** 2 <= ALIKE**2 * own[0, 0] * own[1, 1]:
                continue
            names = parameters[i].name, parameters[j].name
            pairs.append((_best_combination(names, values[[i, j]], own), set(names)))
    return pairs


def _best_combination(names: tuple[str, str], values: Floats, covariance: Floats) -> str:
    """Describe the best-known combination of two parameters, in which the first has the factor 1."""
    (first, second), deviations = names, np.sqrt(np.diag(covariance))
    correlation = covariance[0, 1] / (deviations[0] * deviations[1])
    factor = -covariance[0, 1] / covariance[1, 1]
    deviation = deviations[0] * math.sqrt(max(1.0 - correlation**2, 0.0))
    times = "" if abs(abs(factor) - 1.0) < 0.005 else f"{abs(factor):.3g} × "
    together = f"{first} {'+' if factor > 0.0 else '−'} {times}{second} = {values[0] + factor * values[1]:.4g}"
    return (
        f"{first} and {second} are not told apart (correlation {correlation:.3f}): {together} ± {deviation:.2g}, "
        f"and each alone only to {deviations[0]:.2g} and {deviations[1]:.2g}"
    )
