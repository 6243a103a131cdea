"""Sentences on the identifiability of parameters from a record."""

import math

import numpy as np

from contact.arrays import Floats
from experiments.studies.fitting.estimate import Estimate

#: A parameter is poorly identifiable if its standard deviation, as a fraction of its range, is above this: half of that
#: of a uniform distribution over the range.
LITTLE = 0.5 / math.sqrt(12.0)
#: A correlation beyond this makes two parameters at least three times as uncertain as if the other one were known.
ALIKE = math.sqrt(1.0 - 1.0 / 9.0)


def at_bounds(estimate: Estimate) -> list[str]:
    """Return a sentence for each parameter whose estimate is at a bound of its range."""
    return [
        f"{name} is at the end of its range: widen the range, or doubt the model"
        for name, at in zip(estimate.table["parameter"], estimate.table["at_bound"], strict=True)
        if at
    ]


def sentences(estimate: Estimate) -> list[str]:
    """Return sentences on parameters that are poorly identifiable, alone or as pairs."""
    texts = list[str]()
    together = set[str]()
    for sentence, names in _pairs(estimate):
        texts.append(sentence)
        together |= names
    for parameter, deviation in zip(estimate.problem.parameters, estimate.spread.deviations, strict=True):
        if deviation > LITTLE and parameter.name not in together:
            texts.append(f"{parameter.name} is poorly identifiable: {_how_little(float(deviation))}")
    return texts


def _how_little(deviation: float) -> str:
    if deviation > 1.0:
        return "the record is almost insensitive to it"
    uniform = f"{1.0 / math.sqrt(12.0):.0%}"
    return f"its standard deviation is {deviation:.0%} of its range (without any data: {uniform})"


def _pairs(estimate: Estimate) -> "list[tuple[str, set[str]]]":
    """Return a sentence and the names for each pair of parameters of which only a combination is well known."""
    covariance, slopes = estimate.spread.covariance, estimate.slopes
    parameters, values = estimate.problem.parameters, estimate.problem.values(estimate.parts)
    pairs = []
    for i in range(len(parameters)):
        for j in range(i + 1, len(parameters)):
            of_pair = covariance[np.ix_((i, j), (i, j))] * np.outer(slopes[[i, j]], slopes[[i, j]])
            if of_pair[0, 1] ** 2 <= ALIKE**2 * of_pair[0, 0] * of_pair[1, 1]:
                continue
            names = parameters[i].name, parameters[j].name
            pairs.append((_best_combination(names, values[[i, j]], of_pair), set(names)))
    return pairs


def _best_combination(names: tuple[str, str], values: Floats, covariance: Floats) -> str:
    """Return a sentence on the best-known linear combination of two parameters, with the factor 1 for the first."""
    (first, second), deviations = names, np.sqrt(np.diag(covariance))
    correlation = covariance[0, 1] / (deviations[0] * deviations[1])
    factor = -covariance[0, 1] / covariance[1, 1]
    deviation = deviations[0] * math.sqrt(max(1.0 - correlation**2, 0.0))
    times = "" if abs(abs(factor) - 1.0) < 0.005 else f"{abs(factor):.3g} × "
    together = f"{first} {'+' if factor > 0.0 else '−'} {times}{second} = {values[0] + factor * values[1]:.4g}"
    return (
        f"{first} and {second} cannot be separated (correlation {correlation:.3f}): {together} ± {deviation:.2g} is "
        f"known, but each one alone only to ± {deviations[0]:.2g} and ± {deviations[1]:.2g}"
    )
